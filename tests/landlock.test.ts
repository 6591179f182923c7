import { expect, test } from "bun:test";
import { grantedBits, rightBits, rulesetAttribute } from "../core/fence/landlock.ts";
import { openOnLinux, openOnMac } from "../core/fence/not_covered.ts";

const fields = (bytes: Uint8Array) => [...new BigUint64Array(bytes.buffer)].map(Number);

/** By the ABI: rights that are refused unless granted, and the fields behind them (TCP ports, scopes). */
const HANDLED: [abi: number, core: number[], host: number[]][] = [
  [1, [0x1fff], [0x1fff]],
  [2, [0x3fff], [0x3fff]],
  [3, [0x7fff], [0x7fff]],
  [4, [0x7fff, 0], [0x7fff, 3]],
  [5, [0xffff, 0], [0xffff, 3]],
  [6, [0xffff, 0, 3], [0xffff, 3, 3]],
  [7, [0xffff, 0, 3], [0xffff, 3, 3]],
  [9, [0x1ffff, 0, 3], [0x1ffff, 3, 3]],
];

test.each(HANDLED)("rulesetAttribute at ABI %d handles every right that the kernel knows", (abi, core, host) => {
  expect(fields(rulesetAttribute(abi, "inet"))).toEqual(core);
  expect(fields(rulesetAttribute(abi, "none"))).toEqual(host);
});

/** What each list gives to a folder and to a file, at ABI 1 and at ABI 9. */
const GRANTED: [list: Parameters<typeof grantedBits>[0], folder: [number, number], file: [number, number]][] = [
  ["readExec", [0b1101, 0b1101], [0b101, 0b101]],
  ["read", [0b1100, 0b1100], [0b100, 0b100]],
  ["devices", [0b110, 0x8006], [0b110, 0x8006]],
  ["write", [0x17bf, 0x77bf], [0b111, 0x4007]],
  ["writeOnly", [0x17ba, 0x77ba], [0b10, 0x4002]],
];

test.each(GRANTED)(
  "grantedBits of %s are those of the list that the ABI and the kind of file know",
  (list, folder, file) => {
    expect([1, 9].map((abi) => grantedBits(list, true, abi))).toEqual(folder);
    expect([1, 9].map((abi) => grantedBits(list, false, abi))).toEqual(file);
  },
);

test("grantedBits never let a device be made or controlled, nor a socket outside be reached, in a writable folder", () => {
  const never = rightBits(["MAKE_CHAR", "MAKE_BLOCK", "IOCTL_DEV", "RESOLVE_UNIX"], 9);
  expect(grantedBits("write", true, 9) & never).toBe(0);
  expect(grantedBits("write", true, 9) | never).toBe(0x1ffff);
});

test.each([[1, true], [5, true], [6, false], [7, false]])("openOnLinux at ABI %d names signals: %p", (abi, named) => {
  expect(openOnLinux(abi).some((line) => line.includes("signals"))).toBe(named);
  expect(openOnLinux(abi).length).toBe(named ? 6 : 5);
});

test("openOnLinux and openOnMac name the system's own folders, which only the file tools refuse", () => {
  for (const lines of [openOnLinux(7), openOnMac()]) {
    expect(lines.filter((line) => /^files of the system \(\/usr, .*only the file tools refuse them$/.test(line)))
      .toHaveLength(1);
  }
});
