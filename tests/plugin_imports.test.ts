import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readImports } from "../core/plugins/plugin_imports.ts";

describe("readImports finds", () => {
  const rows: [what: string, text: string, names: string[]][] = [
    ["nothing in an empty file", "", []],
    ["a default import", 'import a from "./a.ts";', ["./a.ts"]],
    ["an import without blanks", 'import{a}from"./a.ts"', ["./a.ts"]],
    ["an import over several lines", "import {\n  a, // one\n  b,\n} from './a.ts'", ["./a.ts"]],
    ["an import of all", 'import * as v from "valibot"', ["valibot"]],
    ["a default beside all", 'import d, * as v from "./v.ts"', ["./v.ts"]],
    ["an import for its effect", 'import "./a.ts"', ["./a.ts"]],
    ["a type import", 'import type { Definition } from "tenon"', ["tenon"]],
    ["an export from elsewhere", 'export { a } from "./a.ts"; export * from "./b.ts"; export * as c from "./c.ts"', [
      ...["./a.ts", "./b.ts", "./c.ts"],
    ]],
    ["names that are strings", 'import { "a-b" as c } from "./a.ts"; export * as "x y" from "./b.ts"', [
      ...["./a.ts", "./b.ts"],
    ]],
    ["comments in between", 'import /* a */ a /* b */ from /* c */ // d\n "./a.ts"', ["./a.ts"]],
    ["data", 'import d from "./d.json" with { type: "json" }', ["./d.json"]],
    [
      "text",
      "export { default } from './d.txt' with { type: 'text' }; import('./e.txt', { with: { type: 'text' } },)",
      [
        ...["./d.txt", "./e.txt"],
      ],
    ],
    ["a literal import()", 'await import ( /* x */ "./a.ts" ); import("./b.ts", { with: { type: "json" } })', [
      ...["./a.ts", "./b.ts"],
    ]],
    ["an import after a division that looks like a comment", 'const x = 4 / 2; /* */ import "./a.ts"', ["./a.ts"]],
    ["an import behind a regular expression that looks like a comment", 'const x = /[/*]/; import "./a.ts"', [
      "./a.ts",
    ]],
    ["one name once", 'import "./a.ts"; import a from "./a.ts"', ["./a.ts"]],
    ["an import in a comment, since it cannot be told from one", '// import "./a.ts"', ["./a.ts"]],
    ["no import in prose", 'description: "Reads a row from \'table\' or from \\"views\\"."', []],
    ["no import in other words", 'important("./a.ts"); Array.from("abc"); x.from; reimport("y")', []],
  ];
  test.each(rows)("%s", (_, text, names) => {
    expect(readImports(text)).toEqual({ names, looksAround: false });
  });
});

describe("readImports cannot follow", () => {
  const rows: [text: string, unknown: string | RegExp][] = [
    ...[
      'import d from "./d.json" with { type: "ts" }',
      'import d from "./d.json" /* a */ with /* b */ { type: "json", /* c */ type: "ts" }',
      `import d from "./d.json" //${" ".repeat(11_000)}\nwith { type: "ts" }`,
      'export * from "./d.txt" assert { type: "js" }',
      'import "./d.txt" with { "type": "ts" }',
      'import("./d.json", { with: { type: "ts" } })',
      'import("./d.json", { with: { ["ty" + "pe"]: "ts" } })',
      'import("./d.json", options)',
    ].map((text): [string, string] => [text, "an import of a type that is not written out as json or text"]),
    ["import(name)", "import(…) of a computed name"],
    ['import("./a" + ".ts")', "import(…) of a computed name"],
    ["import(`./a.ts`)", "import(…) of a computed name"],
    ['import /* */ (x ? "./a.ts" : "./b.ts")', "import(…) of a computed name"],
    ['import "./\\u0061.ts"', "an import with an escape in its name"],
    ['import a from "./\\x61.ts"', "an import with an escape in its name"],
    ['import.defer("./a.ts")', "import.defer or import.source"],
    ['require("./a.ts")', "require(…)"],
    ["require.resolve(x)", "require(…)"],
    ['import fs = require("fs")', "require(…)"],
    ["createRequire(import.meta.url)(x)", "createRequire(…)"],
    ['process.getBuiltinModule("fs")', "getBuiltinModule(…)"],
    ["import /* no end", "comments or imports that cannot be told apart"],
    [`import ${" ".repeat(50)}x`.repeat(500) + `import${" ".repeat(100_000)}`, /computed|apart|^undefined$/],
  ];
  test.each(rows)("%s", (text, unknown) => {
    const read = readImports(text);
    if (typeof unknown === "string") expect(read).toMatchObject({ unknown, looksAround: true });
    else expect(String(read.unknown)).toMatch(unknown);
  });
});

describe("readImports tells that code looks around", () => {
  const yes = [
    "eval(x)",
    "new Function(x)",
    "process.env.A",
    "Bun.file(x)",
    "Deno.readTextFileSync(x)",
    "import.meta.url",
  ];
  for (const text of yes) test(text, () => expect(readImports(text).looksAround).toBe(true));
  test("but not that it processes a file", () => {
    expect(readImports('description: "Process the file; a function of its lines."').looksAround).toBe(false);
  });
});

test("readImports finds what the runtime's own parser finds, whatever stands between the words", () => {
  const gap = fc.constantFrom(" ", "\n", "/**/", "/* from 'x.ts' */", "// import\n", "\t/*\n*/ ", "\u2028", "\ufeff");
  const clause = fc.constantFrom("a", "{ a }", "{ a as b }", "* as a", "a, { b }", "a, * as b", "{}", '{ "s" as c }');
  const place = fc.record({
    clause,
    gaps: fc.array(gap, { minLength: 4, maxLength: 4 }),
    quote: fc.constantFrom('"', "'"),
  });
  const before = fc.constantFrom(
    "",
    "const r = /['\"]/;",
    'const s = "\\"";',
    "const t = `${1}from`;",
    "/* ' */",
    "f(1) / 2;",
  );
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  fc.assert(
    fc.property(before, place, fc.nat(9), (code, { clause, gaps, quote }, n) => {
      const [a, b, c, d] = gaps;
      const text = `${code}${d}import${a}${clause}${b}from${c}${quote}./m${n}.ts${quote};\nconsole.log(a, b, c)`;
      const real = transpiler.scanImports(text.replace(/console.*$/, "export default [a, b, c]")).map(({ path }) =>
        path
      );
      const { names, unknown } = readImports(text);
      for (const path of real) expect(unknown !== undefined || names.includes(path)).toBe(true);
      expect(unknown !== undefined || names.includes(`./m${n}.ts`)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("readImports is done in no time with a file that is made to hold it up", () => {
  const hostile = [
    "from'".repeat(400_000),
    "import a from'".repeat(140_000),
    `${"a".repeat(290)}' from'`.repeat(6000),
    "import/*".repeat(100_000) + "*/",
    "import //".repeat(100_000),
    `import${" ".repeat(1000)}`.repeat(900),
  ];
  const start = performance.now();
  for (const text of hostile) readImports(text);
  expect(performance.now() - start).toBeLessThan(2000);
});
