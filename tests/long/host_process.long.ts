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
    const late = "did not finish loading within 5 s (a top-level await, or a loop?)";
    const [{ problem }, ...more] = JSON.parse(stdout).set_aside;
    expect(more).toEqual([]);
    // Deno was not given the state folder, where it would be kept.
    if (way === "deno") expect(problem).toBe(late);
    else expect(problem).toStartWith(`${late}. It is not tried again until the file changes, or tenon check `);
    expect(performance.now() - began).toBeLessThan(8000); // its start included, on a busy machine
    expect(await leftBehind(temp.top)).toEqual([]);
  },
  40_000,
);
