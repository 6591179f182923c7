import { expect, test } from "bun:test";
import { join } from "node:path";
import { parseProblem } from "../core/plugins/parse_problem.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const rows: [name: string, text: string, problem: string | undefined][] = [
  ["a.ts", "export const definition = {", "line 1: Expected identifier but found end of file"],
  ["a.ts", "\nfunction f() { const a = ; }", "line 2: Unexpected ;"],
  ["a.ts", "let a = 1;\nlet a = 2;\nlet b = ;", 'line 2: "a" has already been declared'],
  ["a.js", "let a: number;", 'line 1: Expected ";" but found ":"'],
  ["a.mts", "let a: number; enum B { c } const d = <T,>(e: T) => e;", undefined],
  ["a.js", "if (a) /[{]/.test(b); await c;", undefined],
  ["a.ts", 'import a from "./nowhere.ts"; throw a;', undefined],
];
test.each(rows)("parseProblem of %s with %j is %j", (name, text, problem) => {
  expect(parseProblem(name, text)).toBe(problem as string);
});

test("parseProblem runs nothing of the text, no macro either", async () => {
  await using temp = await tempWorkspace({ "m.ts": 'globalThis.MACRO_RAN = true;\nexport default () => "c";\n' });
  const file = JSON.stringify(join(temp.root, "m.ts"));
  parseProblem("a.ts", `import m from ${file} with { type: "macro" };\nexport const name = m();\n`);
  expect("MACRO_RAN" in globalThis).toBe(false);
});
