import { expect, test } from "bun:test";
import { join } from "node:path";
import { FAULTS, PROBLEMS } from "../support/faults.ts";
import { runTenon, SOURCES, TOOLS, WAYS, writeFiles } from "../support/program.ts";
import { tempWorkspace } from "../support/temp_workspace.ts";

const GOOD = `export const definition = { name: "good", description: "Answers.", input_schema: { type: "object" } };
export const handler = () => "GOOD-OK";
`;

test.each([...WAYS])(
  "tenon as %s sets aside each faulty file with its reason, and the good one works (X01, X03, X05)",
  async (way) => {
    await using temp = await tempWorkspace();
    const plugins = join(temp.top, "plugins");
    await writeFiles(plugins, { "good.ts": GOOD, "broken.ts": "export const definition = {" });
    const { code, stdout } = await runTenon(way, {
      cwd: temp.root,
      args: ["--plugins", FAULTS, "--plugins", plugins, "tools", "--json"],
      deno: { read: [".", SOURCES, plugins] },
      limitMs: 120_000,
    });
    const { tools, set_aside } = JSON.parse(stdout) as {
      tools: { name: string }[];
      set_aside: { file: string; problem: string }[];
    };
    expect(code).toBe(0);
    expect(tools.map(({ name }) => name)).toEqual([...TOOLS, "good"].sort());
    const told = Object.fromEntries(set_aside.map(({ file, problem }) => [file, problem]));
    const { [join(plugins, "broken.ts")]: broken, ...others } = told;
    expect(broken).toMatch(/^line 1: /);
    expect(others).toEqual(
      Object.fromEntries(Object.entries(PROBLEMS).map(([name, problem]) => [join(FAULTS, `${name}.ts`), problem])),
    );
  },
  180_000,
);
