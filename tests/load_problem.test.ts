import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadProblem } from "../core/plugins/load_problem.ts";

/** What Deno rejects with was read off it: its errors cannot be made here. */
const deno = (message: string) => new TypeError(message);

describe("loadProblem", () => {
  const rows: [what: string, source: string, problem: RegExp][] = [
    ["two syntax errors", "const a = 1;\nconst b = { c d };\nconst e = ];\n", /^line 2: Expected "}" but found "d"$/],
    ["a name twice", "const a = 1;\nconst a = 2;\n", /^line 2: "a" has already been declared$/],
    ["a throw", '// one\n\nthrow new Error("boom\\nmore");\n', /^line 3: throws while it is imported: boom$/],
    ["a throw without words", "// one\nthrow new RangeError();\n", /^line 2: throws while it is imported: RangeError$/],
    ["a thrown string", 'throw "a string";\n', /^throws "a string" while it is imported$/],
    ["a thrown nothing", "throw undefined;\n", /^throws undefined while it is imported$/],
    ["a thrown BigInt", "throw 5n;\n", /^throws what cannot be shown while it is imported$/],
    ["a thrown circle", "const a = {}; a.a = a; throw a;\n", /^throws what cannot be shown while it is imported$/],
    [
      "an error that cannot be read",
      'throw Object.defineProperty(new Error("x"), "message", { get() { throw 1; } });\n',
      /^throws what cannot be shown while it is imported$/,
    ],
    [
      "an import of a file that is not there",
      '// one\nimport "./none.ts";\n',
      /^line 2: imports ".\/none.ts", which is not there$/,
    ],
    [
      "an import of a package that is not there",
      "\n\nimport '@no/such-package';\n",
      /^line 3: imports "@no\/such-package", which is not there: run npm install --prefix .+ @no\/such-package\. Only/,
    ],
  ];
  test.each(rows)("tells line and reason of %s, in one line", async (_, source, problem) => {
    const folder = await mkdtemp(join(tmpdir(), "tenon-load é-"));
    try {
      const file = join(folder, "plugin.ts");
      await writeFile(file, source);
      const thrown = await import(file).then(() => undefined, (error) => error);
      const told = await loadProblem(thrown, file);
      expect(told).toMatch(problem);
      expect(told).not.toContain("\n");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  const fromDeno: [message: string, file: string, problem: string][] = [
    [
      "SyntaxError: Expected ',', got 'd'\n  |\n2 |   c d\n    at file:///p/a%20b.ts:2:15",
      "/p/a b.ts",
      "line 2: Expected ',', got 'd'",
    ],
    [
      'Module not found "file:///p/none.ts".\n    at \x1b[36mfile:///p/a.ts\x1b[0m:\x1b[33m7\x1b[0m:\x1b[33m19\x1b[0m',
      "/p/a.ts",
      'line 7: imports "none.ts", which is not there',
    ],
    ['Module not found "file:///p/a.ts".', "/p/a.ts", "its file is gone: it was removed, or is no longer trusted"],
    [
      "The requested module './x.ts' does not provide an export named 'no' at file:///p/a.ts:4:10",
      "/p/a.ts",
      'line 4: imports no, which "x.ts" does not export',
    ],
    [
      'Unsupported scheme "bun" for module "bun:ffi". Supported schemes:\n - "blob"\n    at file:///p/a.ts:1:22',
      "/p/a.ts",
      'line 1: imports "bun:ffi", which only Bun has',
    ],
    [
      "Identifier 'a' has already been declared at file:///p/a.ts:2:7",
      "/p/a.ts",
      "line 2: Identifier 'a' has already been declared",
    ],
    [
      'Import "zod" not a dependency and not in import map from "file:///p/a.ts"\n    at file:///p/a.ts:3:19',
      "/p/a.ts",
      'line 3: imports "zod", which is not there: run npm install --prefix /p zod. Only valibot and tenon come ' +
      "with the program",
    ],
    [
      'Requires read access to "/etc/x", run again with the --allow-read flag',
      "/p/a.ts",
      'needs read access to "/etc/x" while it is imported, and has none',
    ],
  ];
  test.each(fromDeno)("takes %j of Deno apart", async (message, file, problem) => {
    expect(await loadProblem(deno(message), file)).toBe(problem);
  });
});
