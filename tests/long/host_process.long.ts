import { expect, test } from "bun:test";
import { join } from "node:path";
import { leftBehind } from "../support/left_behind.ts";
import { runTenon, SOURCES, type Way, WAYS } from "../support/program.ts";
import { tempWorkspace } from "../support/temp_workspace.ts";

test.each([...WAYS])(
  "a plugin that spins while tenon as %s loads it delays the start by 5 s, and is set aside",
  async (way: Way) => {
    await using temp = await tempWorkspace();
    const began = performance.now();
    const { stdout } = await runTenon(way, {
      cwd: temp.root,
      args: ["tools", "--json", "--plugins", join(SOURCES, "tests", "fixtures", "hostile_for_long")],
      deno: { read: [".", SOURCES] },
      limitMs: 30_000,
    });
    expect(JSON.parse(stdout).set_aside).toMatchObject([{
      problem: "did not finish loading within 5 s (a top-level await, or a loop?)",
    }]);
    expect(performance.now() - began).toBeLessThan(8000); // its start included, on a busy machine
    expect(await leftBehind(temp.top)).toEqual([]);
  },
  40_000,
);
