import { describe, expect, test } from "bun:test";
import { macSystemRules, seatbeltCommand, seatbeltProfile } from "../core/fence/fence_macos.ts";
import type { FenceRules } from "../core/fence/fence.ts";

const rules: FenceRules = {
  readExec: ["/usr"],
  read: ["/private/etc/hosts"],
  devices: ["/dev/null"],
  write: ["/Users/u/ws"],
  writeOnly: ["/Users/u/out"],
  sockets: "none",
  exec: true,
};

const profile = (changes: Partial<FenceRules> = {}) =>
  seatbeltProfile({ ...rules, ...changes }, "/opt/tenon").split("\n");

describe("seatbeltProfile", () => {
  test("denies what it does not allow", () => {
    expect(profile().slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
  });

  test("is a list whose parentheses close on each line", () => {
    for (const line of profile({ sockets: "inet" }).filter((line) => !line.startsWith(";"))) {
      const depths = [...line.replace(/"([^"\\]|\\.)*"/g, '""')].map((char) =>
        char === "(" ? 1 : char === ")" ? -1 : 0
      );
      expect([line, depths.reduce<number>((sum, step) => sum + step, 0)]).toEqual([line, 0]);
    }
  });

  test("gives each list its operations and no more", () => {
    const about = (path: string) =>
      profile().filter((line) => line.includes(`"${path}"`)).map((line) => line.split(" ")[1]).sort();
    expect(about("/usr")).toEqual(["file-map-executable", "file-read*", "process-exec"]);
    expect(about("/private/etc/hosts")).toEqual(["file-read*"]);
    expect(about("/dev/null")).toEqual(["file-ioctl", "file-read*", "file-write-data"]);
    expect(about("/Users/u/out")).toEqual(["file-write*"]);
    expect(about("/Users/u/ws")).toEqual(["file-map-executable", "file-read*", "file-write*", "process-exec"]);
  });

  test("denies device nodes behind every rule that allows writing", () => {
    const lines = profile();
    const lastAllowed = lines.findLastIndex((line) => line.startsWith("(allow file-write"));
    expect(lines.findIndex((line) => line.includes("CHARACTER-DEVICE"))).toBeGreaterThan(lastAllowed);
    expect(lines.findIndex((line) => line.includes("BLOCK-DEVICE"))).toBeGreaterThan(lastAllowed);
  });

  test("starts nothing but the program itself where exec is false", () => {
    expect(profile({ exec: false }).filter((line) => line.includes("process-exec"))).toEqual([
      '(allow process-exec (literal "/opt/tenon"))',
    ]);
  });

  test("has a network only with sockets inet", () => {
    const network = (lines: string[]) => lines.filter((line) => /network|system-socket/.test(line));
    expect(network(profile())).toEqual([]);
    expect(network(profile({ sockets: "inet" })).length).toBeGreaterThan(0);
    expect(profile({ sockets: "inet" }).join("\n")).not.toMatch(/allow network\*|unix-socket/);
  });

  test.each([
    ['/Users/u/a"b', '"/Users/u/a\\"b"'],
    ["/Users/u/a\\b", '"/Users/u/a\\\\b"'],
    ['/Users/u/") (allow default) ("', '"/Users/u/\\") (allow default) (\\""'],
    ["/Users/u/ä (1)", '"/Users/u/ä (1)"'],
  ])("writes the path %s as one string", (path, written) => {
    expect(profile({ write: [path] })).toContain(`(allow file-write* (subpath ${written}))`);
  });

  test("refuses a path with a control character", () => {
    expect(() => profile({ write: ["/Users/u/a\nb"] })).toThrow(/control character/);
  });

  test("gives the system's lists no folder of a user, nor /private/etc or /private/var as a whole", () => {
    const { readExec, read, devices } = macSystemRules();
    for (const path of [...readExec, ...read, ...devices]) {
      expect(path).not.toMatch(/^\/(Users|private\/(etc|var|tmp))?$|^\/Users/);
    }
  });
});

test("seatbeltCommand starts the program by sandbox-exec, with its arguments as they are", () => {
  const command = seatbeltCommand(rules, ["/opt/tenon", "-p", "a b"]);
  expect(command).toEqual([
    "/usr/bin/sandbox-exec",
    "-p",
    seatbeltProfile(rules, "/opt/tenon"),
    "--",
    "/opt/tenon",
    "-p",
    "a b",
  ]);
});
