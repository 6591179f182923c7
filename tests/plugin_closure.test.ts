import { describe, expect, test } from "bun:test";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { readClosure } from "../core/plugins/plugin_closure.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const LIB = { "lib/x.ts": 'import "./y.ts";\n', "lib/y.ts": "export {};\n" };

describe("readClosure", () => {
  const rows: [what: string, files: Record<string, string>, names: string[], rest: object][] = [
    ["takes a file that imports nothing", { "a.ts": "" }, ["a.ts"], { isPure: true }],
    ["follows relative imports, each once", { "a.ts": 'import "./lib/x.ts"; import "./lib/y.ts"', ...LIB }, [
      ...["a.ts", "lib/x.ts", "lib/y.ts"],
    ], { isPure: true }],
    ["follows a circle", { "a.ts": 'import "./b.ts"', "b.ts": 'import "./a.ts"' }, ["a.ts", "b.ts"], { isPure: true }],
    ["takes data as it is", { "a.ts": 'import d from "./d.json"', "d.json": 'import "./no.ts"' }, ["a.ts", "d.json"], {
      isPure: true,
    }],
    [
      "takes text of any usual kind as it is",
      { "a.ts": 'import t from "./words.md" with { type: "text" }', "words.md": 'import "./no.ts"' },
      ["a.ts", "words.md"],
      { isPure: true },
    ],
    [
      "needs no file of what the program lends, or of the runtime",
      { "a.ts": 'import "valibot"; import type {} from "tenon"; import "node:path"' },
      ["a.ts"],
      { isPure: true },
    ],
    ["tells that the file system may be read", { "a.ts": 'import "node:fs"' }, ["a.ts"], { isPure: false }],
    ["tells it of an imported file too", { "a.ts": 'import "./b.ts"', "b.ts": "process.env" }, ["a.ts", "b.ts"], {
      isPure: false,
    }],
    ["is open with a package", { "a.ts": 'import "zod"' }, ["a.ts"], { open: 'a.ts imports "zod"', isPure: false }],
    ["is open with an address", { "a.ts": 'import "https://a.com/x.ts"' }, ["a.ts"], {
      open: 'a.ts imports "https://a.com/x.ts"',
      isPure: false,
    }],
    ["is open with an absolute path", { "a.ts": 'import "/etc/x.ts"' }, ["a.ts"], {
      open: 'a.ts imports "/etc/x.ts"',
      isPure: false,
    }],
    ["is open where Bun would guess the ending", { "a.ts": 'import "./b"', "b.ts": "" }, ["a.ts"], {
      open: 'a.ts imports "./b"',
      isPure: false,
    }],
    ["is open with a query", { "a.ts": 'import "./b.ts?x"', "b.ts": "" }, ["a.ts"], {
      open: 'a.ts imports "./b.ts?x"',
      isPure: false,
    }],
    ["is open with a computed import", { "a.ts": 'import "./b.ts"', "b.ts": "import(x)" }, ["a.ts", "b.ts"], {
      open: "b.ts has import(…) of a computed name",
      isPure: false,
    }],
    ["is open when a file is not there", { "a.ts": 'import "./b.ts"' }, ["a.ts"], {
      open: 'a.ts imports "b.ts", which is not there',
      isPure: false,
    }],
    ["is open with a file that is huge", { "a.ts": 'import "./b.ts"', "b.ts": " ".repeat(2_000_001) }, ["a.ts"], {
      open: 'a.ts imports "b.ts", which is over 2 MB',
      isPure: false,
    }],
  ];
  test.each(rows)("%s", async (_, files, names, rest) => {
    await using temp = await tempWorkspace(files);
    const { files: read, sha256, ...others } = await readClosure(join(temp.root, "a.ts"));
    expect([...read.keys()]).toEqual(names);
    expect(others).toEqual(rest as typeof others);
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  const odd: [what: string, setup: string, open: string][] = [
    ["a link", "ln -s c.ts b.ts; touch c.ts", '"b.ts" is reached by a link'],
    ["a pipe", "mkfifo b.ts", 'a.ts imports "b.ts", which is not a regular file'],
    ["a folder", "mkdir b.ts", 'a.ts imports "b.ts", which is not a regular file'],
    ["a device", "ln -s /dev/zero b.ts", 'a.ts imports "b.ts", which is not a regular file'],
  ];
  test.each(odd)("is open with %s, and is not held up by it", async (_, setup, open) => {
    await using temp = await tempWorkspace({ "a.ts": 'import "./b.ts"' });
    await temp.sh(setup);
    expect((await readClosure(join(temp.root, "a.ts"))).open).toBe(open);
  });

  test("throws, in words, when the plugin itself cannot be read", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("mkfifo p.ts");
    const problem = (name: string) => readClosure(join(temp.root, name)).catch((error) => error.message);
    expect(await problem("none.ts")).toBe("is not there");
    expect(await problem("p.ts")).toBe("is not a regular file");
  });

  test("has the same hash at another place, and another one for other bytes, names or plugins", async () => {
    const files = { "a.ts": 'import "./b.ts"', "b.ts": "1" };
    const hash = async (more: Record<string, string>, plugin = "a.ts") => {
      await using temp = await tempWorkspace({ ...files, ...more });
      return (await readClosure(join(temp.root, plugin))).sha256;
    };
    const first = await hash({});
    expect(await hash({ "c.ts": "not imported" })).toBe(first);
    const others = [
      await hash({ "b.ts": "2" }),
      await hash({ "a.ts": 'import "./b.ts";' }),
      await hash({ "a.ts": 'import "./c.ts"', "c.ts": "1" }),
      await hash({ "c.ts": 'import "./b.ts"' }, "c.ts"),
    ];
    expect(new Set([first, ...others]).size).toBe(5);
    // Two that import each other have the same files.
    const circle = { "b.ts": 'import "./a.ts"' };
    expect(await hash(circle, "a.ts")).not.toBe(await hash(circle, "b.ts"));
  });

  test("sees a file that takes the place of another", async () => {
    await using temp = await tempWorkspace({ "a.ts": "1", "b.ts": "2" });
    const before = await readClosure(join(temp.root, "a.ts"));
    await rename(join(temp.root, "b.ts"), join(temp.root, "a.ts"));
    expect((await readClosure(join(temp.root, "a.ts"))).sha256).not.toBe(before.sha256);
  });
});
