import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { actInRace } from "../support/race.ts";

const config = fileURLToPath(new URL("../../deno.json", import.meta.url));
// Under Deno the kernel cannot be asked where an open file is: this is the guard that compares device and inode.
const deno = ["deno", "run", "--config", config, "--allow-read=$ROOT"];

const rows: [how: "read" | "list" | "write", runtime: string, command: string[]][] = [
  ["read", "bun", [process.execPath]],
  ["list", "bun", [process.execPath]],
  ["write", "bun", [process.execPath]],
  ["read", "deno", deno],
];

test.each(rows)(
  "to %s in a race under %s touches nothing outside, 20,000 times (P21, LINK-07)",
  async (how, _runtime, command) => {
    const outcome = await actInRace(command, 20_000, how);
    expect(outcome.outside).toBe(0);
    expect(outcome.inside).toBeGreaterThan(0);
    expect(outcome.left).toEqual(["f.txt: outside", "x: x"]);
  },
  180_000,
);
