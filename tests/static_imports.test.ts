import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readStaticImports } from "../core/plugins/static_imports.ts";

const found = (text: string) => readStaticImports(text).map(({ name, line }) => `${line} ${name}`);

describe("readStaticImports finds", () => {
  const rows: [what: string, text: string, found: string[]][] = [
    ["nothing in an empty file", "", []],
    ["an import for its effect", 'import "a"', ["1 a"]],
    ["a default import", "import a from 'a';", ["1 a"]],
    ["an import without blanks", 'import{a}from"a"', ["1 a"]],
    ["all of a file", 'import * as a from "a"; import d, * as b from "b"', ["1 a", "1 b"]],
    ["no names at all", 'import {} from "a"', ["1 a"]],
    ["names over several lines, with the line of the name", 'import {\n  a, // one\n  b,\n} from "a"', ["4 a"]],
    ["names that are texts", 'import { "a-b" as c } from "a"; export { d as "import" } from "b"', ["1 a", "1 b"]],
    ["names that are words of the language", 'import { import as a, export as b, from as c } from "a"', ["1 a"]],
    ["comments in between", 'import /* "x" */ a /* from "y" */ from // "z"\n "a"', ["2 a"]],
    ["exports from elsewhere", 'export * from "a"; export * as b from "b"; export { c } from "c"', [
      "1 a",
      "1 b",
      "1 c",
    ]],
    ["an import behind an export of its own", 'export { a };\nimport a from "a"', ["2 a"]],
    ["the second after one without its end", 'import a\nimport b from "b"', ["2 b"]],
    ["a mixed one", 'import { type A, b } from "a"', ["1 a"]],
    ["a default of the name type", 'import type from "a"; import type, { b } from "b"', ["1 a", "1 b"]],
    ["an import behind a template with code in it", "const t = `${f({ a: `}` })} import 'x'`; import 'a'", ["1 a"]],
    ["an import behind a regular expression with a class", "const r = /[/'`]/g;\nimport 'a'", ["2 a"]],
    ["an import behind divisions", "const n = a / 2 + (b) / 3; // '\nimport 'a'", ["2 a"]],
    ["an import behind a hashbang, a byte order mark and CRLF", "#!/usr/bin/env it's\r\nimport 'a'\r\n", ["2 a"]],
    ["an import behind a text with a quote in it", "const s = 'it\\'s'; import 'a'", ["1 a"]],
    ["no types", 'import type { A } from "a"; import type B from "b"; import type * as C from "c"', []],
    ["no types that are exported", 'export type { A } from "a"; export type * from "b"', []],
    ["no type of the name from", 'import type from from "a"', []],
    ["nothing in comments", '// import "a"\n/* import b from "b";\nimport "c" */', []],
    ["nothing in texts", `const a = 'import "a"', b = "\\nimport 'b'", c = \`\nimport c from "c"\n\``, []],
    ["nothing that is called", 'import("a"); await import("b"); const c = () => import("c")', []],
    ["nothing of import.meta", 'import.meta.resolve("a"); x.import "b"', []],
    ["nothing in functions", 'function f() { import "a" }\nconst o = { import: "b", export: "c" }', []],
    ["nothing else that is exported", 'export const from = "a"; export default "b"; export { c }; "d"', []],
    ["nothing in a comment that has no end", 'import "a" /* import "b"', ["1 a"]],
  ];
  test.each(rows)("%s", (_, text, names) => {
    expect(found(text)).toEqual(names);
  });
});

test("readStaticImports tells what names only types, and what is said of the kind of a file", () => {
  const types = ["{ type A }", "{ type A as B, type C }", "{ type as }", "{ type as as B }", "{ type type }"];
  const values = ["{ type as B }", "{ type }", "{ a }", "{ type A, b }", "{}", "* as a", "type", "d, { type A }"];
  const typesOnly = (clause: string) => readStaticImports(`import ${clause} from "a"`)[0]?.typesOnly;
  expect(types.map(typesOnly)).toEqual(types.map(() => true));
  expect(values.map(typesOnly)).toEqual(values.map(() => false));
  expect(readStaticImports('import a from "./a.json" with { type: "json" }; import b from "b"')).toMatchObject([
    { attributes: ' type: "json" ' },
    { attributes: "" },
  ]);
});

test("readStaticImports finds what the runtime's own parser finds, and nothing else, whatever stands around it", () => {
  const transpiler = new Bun.Transpiler({
    loader: "ts",
    tsconfig: '{"compilerOptions":{"verbatimModuleSyntax":true}}',
  });
  const gap = fc.constantFrom(" ", "\n", "/**/", "/* from 'x' */", "// import 'y'\n", "\t/*\n*/ ", "\r\n");
  // N is another number in each part, so that no name is declared twice.
  const clause = fc.constantFrom(
    ...["aN from", "{ aN } from", "{ a as bN, } from", "* as aN from", "aN, { bN } from", "{} from", ""],
    ...['{ "s" as cN } from', "type AN from", "type { AN } from", "{ type AN, bN } from"],
  );
  const other = fc.constantFrom(
    ...["var rN = /['\"`]/;", 'var sN = "\\"import \'x\'";', "var tN = `${1}from${'`'}import 'x'`;", "f(1) / 2;"],
    ...["/* ' */", "// `\n", "function gN() { return /[/]`/ }", "if (a) { b }\n", "var uN = [1, (2)];", "a++;"],
    ...[
      "class CN { import = 'x'; #y = 1 }",
      "type TN = typeof import('x');",
      "var iN = () => import('x');",
      "export {};",
    ],
  );
  const line = fc.tuple(clause, fc.array(gap, { minLength: 3, maxLength: 3 }), fc.nat(9))
    .map(([clause, [a, b, c], n]) => `import${a}${clause}${b}"m${n}"${c};`);
  fc.assert(
    fc.property(fc.array(fc.oneof(other, line), { maxLength: 8 }), (parts) => {
      const text = parts.map((part, index) => part.replaceAll("N", String(index))).join("\n");
      // Its scan leaves out what is not used, but for that option; calls are another kind.
      const real = transpiler.scanImports(text).filter(({ kind }) => kind === "import-statement").map(({ path }) =>
        path
      );
      expect(new Set(readStaticImports(text).map(({ name }) => name))).toEqual(new Set(real));
    }),
    { numRuns: 500 },
  );
});

test("readStaticImports is done in no time with a file that is made to hold it up", () => {
  const hostile = [
    "import/*",
    "import //",
    "'",
    "`${",
    "/[",
    "import {",
    "{import'",
    "a/",
    "\\",
    "import a from ",
    "import{a,",
  ];
  const start = performance.now();
  for (const text of hostile) readStaticImports(text.repeat(1_000_000 / text.length));
  expect(performance.now() - start).toBeLessThan(3000);
});
