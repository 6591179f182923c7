import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { runTenon, writeFiles } from "../support/program.ts";
import { tempWorkspace } from "../support/temp_workspace.ts";

setDefaultTimeout(120_000);

const COUNT = 200;

function plugin(name: string): string {
  return `import * as v from "valibot";
export const definition = { name: "${name}", description: "Says it.", input_schema: v.object({ words: v.string() }) };
export const handler = () => "${name}";
`;
}

test("200 plugins load, and at the next start their definitions have the same bytes and are there at once", async () => {
  await using temp = await tempWorkspace();
  const names = Array.from({ length: COUNT }, (_, n) => `tool_${n}`);
  await writeFiles(join(temp.top, "p"), Object.fromEntries(names.map((name) => [`${name}.ts`, plugin(name)])));
  const start = { cwd: temp.root, limitMs: 100_000, env: { HOME: join(temp.top, "home") } };
  const list = async () => {
    const began = performance.now();
    const { code, stdout, stderr } = await runTenon("executable", {
      ...start,
      args: ["tools", "--json", "--plugins", "../p"],
    });
    expect([code, stderr]).toEqual([0, ""]);
    return { stdout, ms: performance.now() - began };
  };
  const [first, second, third] = [await list(), await list(), await list()];
  const { tools, set_aside } = JSON.parse(first.stdout);
  expect(set_aside).toEqual([]);
  expect(tools.filter(({ name }: { name: string }) => name.startsWith("tool_")).length).toBe(COUNT);
  expect(second.stdout).toBe(first.stdout);
  expect(third.stdout).toBe(first.stdout);
  // Nothing is imported: 200 hosts take seconds.
  expect(Math.min(second.ms, third.ms)).toBeLessThan(first.ms / 3);
});
