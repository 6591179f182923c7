import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { readInRace } from "../support/race.ts";

const config = fileURLToPath(new URL("../../deno.json", import.meta.url));
// Under Deno the kernel cannot be asked where an open file is: this is the guard that compares device and inode.
const deno = ["deno", "run", "--config", config, "--allow-read=$ROOT"];

test.each([["bun", [process.execPath]], ["deno", deno]])(
  "20,000 reads under %s show nothing from outside (LINK-07)",
  async (_runtime, command) => {
    const outcome = await readInRace(command, 20_000, "guarded");
    expect(outcome.outside).toBe(0);
    expect(outcome.inside).toBeGreaterThan(0);
  },
  120_000,
);
