import { expect, test } from "bun:test";
import { join } from "node:path";
import { leftBehind } from "../support/left_behind.ts";
import { runTenon, SOURCES, type Way, WAYS } from "../support/program.ts";
import { tempWorkspace } from "../support/temp_workspace.ts";

test.each([...WAYS])("a plugin that spins while tenon as %s loads it is set aside after 10 s", async (way: Way) => {
  await using temp = await tempWorkspace();
  const { stdout } = await runTenon(way, {
    cwd: temp.root,
    args: ["tools", "--json", "--plugins", join(SOURCES, "tests", "fixtures", "hostile_for_long")],
    deno: { read: [".", SOURCES] },
    limitMs: 30_000,
  });
  expect(JSON.parse(stdout).set_aside).toMatchObject([{ problem: "its host was not ready within 10 s" }]);
  expect(await leftBehind(temp.top)).toEqual([]);
}, 40_000);
