import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  checkPlugin,
  findPlugins,
  importPlugin,
  isPluginName,
  MAX_TIMEOUT_MS,
  OWN_TIMEOUT_MS,
  setAsideLine,
} from "../core/plugins/plugins.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const FIXTURES = join(import.meta.dir, "fixtures", "plugins");

/** What the author of a file gets to read, or nothing. */
async function problemOf(file: string): Promise<string | undefined> {
  return await importPlugin(file).then(() => undefined, (error) => error.message);
}

const DEFINITION = { name: "t", description: "Does t.", input_schema: { type: "object", properties: {} } };
const handler = () => "done";

async function checkProblem(definition: unknown, more: object = { handler }): Promise<string | undefined> {
  return await checkPlugin({ definition, ...more }, "t").then(() => undefined, (error) => error.message);
}

describe("isPluginName", () => {
  const yes = ["a.ts", "a.mts", "a.js", "a.mjs", "a-b.ts", "test.ts", "my_tests.ts", "d.ts", "module.ts", "a.b.ts"];
  const no = [
    ...["a.d.ts", "a.d.mts", "a.test.ts", "a.spec.js", "a_test.ts", "mod.ts", "mod.js", "_a.ts", ".a.ts", "._a.ts"],
    ...["a.ts~", "a.TS", "a.tsx", "a.cjs", "a.json", "a.sh", "README.md", "a", "ts", ".ts", ""],
  ];
  for (const name of yes) test(`takes ${name}`, () => expect(isPluginName(name)).toBe(true));
  for (const name of no) test(`leaves "${name}"`, () => expect(isPluginName(name)).toBe(false));
});

describe("findPlugins", () => {
  const cases: [what: string, setup: string, files: string[], setAside: string[]][] = [
    ["finds nothing in an empty folder", "true", [], []],
    ["sorts by code point", "touch b.ts B.ts a10.ts a2.ts é.ts", ["B.ts", "a10.ts", "a2.ts", "b.ts", "é.ts"], []],
    [
      "leaves what is no plugin without a word (X15)",
      "mkdir lib .cache; touch good.ts good.d.ts good.test.ts good.spec.js helper.sh README.md 'x.ts~' ._good.ts conf.json lib/util.ts",
      ["good.ts"],
      [],
    ],
    [
      "sets aside a dangling link, leaves a folder, takes one file once (X23)",
      "mkdir dir.ts; ln -s nowhere dead.ts; touch good.ts; ln -s good.ts zz-same.ts",
      ["good.ts"],
      ["dead.ts: is a link whose target is not there"],
    ],
    [
      "takes a file under its own name, whichever comes first",
      "touch good.ts; ln -s good.ts a.ts; ln -s good.ts z.ts",
      ["good.ts"],
      [],
    ],
    ["takes a link to a file below", "mkdir -p lib; touch lib/real.ts; ln -s lib/real.ts a.ts", ["a.ts"], []],
    [
      "sets aside a link that leads out, also where nothing is or may be looked at",
      "ln -s ../out.ts a.ts; ln -s /dev/zero b.ts; ln -s /none/x.ts c.ts; touch ../out.ts",
      [],
      ["a.ts", "b.ts", "c.ts"].map((name) =>
        `${name}: is a link to a file outside its folder. Copy the file here, or name its folder with --plugins`
      ),
    ],
    ["leaves a link to a folder", "mkdir lib; ln -s lib a.ts", [], []],
    ["sets aside a pipe, and a link to one", "mkfifo p.ts; ln -s p.ts q.ts", [], [
      "p.ts: is not a regular file",
      "q.ts: is not a regular file",
    ]],
    ["sets aside a link to itself", "ln -s a.ts a.ts", [], ["a.ts: is a link whose target is not there"]],
  ];
  for (const [what, setup, files, setAside] of cases) {
    test(what, async () => {
      await using folder = await tempWorkspace();
      await folder.sh(setup);
      const found = await findPlugins(folder.root);
      const short = (file: string) => file.slice(folder.root.length + 1);
      expect(found.files.map(short)).toEqual(files);
      expect(found.setAside.map(({ file, problem }) => `${short(file)}: ${problem}`)).toEqual(setAside);
    });
  }

  test("finds nothing where there is no folder, and says so of a file (X23)", async () => {
    await using folder = await tempWorkspace({ "plugins": "" });
    expect(await findPlugins(join(folder.root, "none"))).toEqual({ files: [], setAside: [] });
    const file = join(folder.root, "plugins");
    expect(await findPlugins(file)).toEqual({ files: [], setAside: [{ file, problem: "is not a folder" }] });
  });
});

describe("importPlugin", () => {
  test("takes a plugin with JSON Schema", async () => {
    const { loaded, handler } = await importPlugin(join(FIXTURES, "returns_a_string.ts"));
    expect(loaded).toEqual({
      definition: {
        name: "returns_a_string",
        description: "Returns a string.",
        input_schema: { type: "object", properties: {}, additionalProperties: false },
      },
      permissions: { read: true },
      timeout_ms: 120_000,
    });
    expect(handler({}, {} as never)).toBe("done");
  });

  test("takes a plugin with a valibot schema", async () => {
    const { loaded } = await importPlugin(join(FIXTURES, "uses_valibot.ts"));
    expect(loaded.definition.input_schema).toEqual({
      type: "object",
      properties: { n: { type: "number", default: 3, minimum: 1 } },
      required: [],
      additionalProperties: false,
    });
  });

  const fixtures: [name: string, problem: string][] = [
    ["missing_handler", 'has no export "handler". Write export const handler = (input, context) => …'],
    [
      "missing_definition",
      'has no export "definition". Write export const definition = { name, description, input_schema }',
    ],
    ["other_name", 'definition.name: is "my_tool", but the file is called "other_name"'],
  ];
  for (const [name, problem] of fixtures) {
    test(`says what is wrong with ${name}.ts (X03)`, async () => {
      expect(await problemOf(join(FIXTURES, `${name}.ts`))).toBe(problem);
    });
  }

  const sources: [what: string, source: string, problem: RegExp][] = [
    ["ends too early (X01)", "export const definition = {", /^line 1: /],
    ["exports something else (X03)", "export const x = 1;\n", /^has no export "definition"\. Write/],
    [
      "exports a function by default (X03)",
      "export default function () { return 1 }\n",
      /^has no export "definition"; a default export does not count\. Write/,
    ],
    [
      "exports null by default (X03)",
      "export default null;\n",
      /^has no export "definition"; a default export does not count\. Write/,
    ],
    ["is empty", "", /^has no export "definition"\. Write/],
    ["throws as it is loaded", '\nthrow new Error("no luck");\n', /^line 2: throws while it is imported: no luck$/],
    ["throws no error as it is loaded", "throw 5;\n", /^throws 5 while it is imported$/],
  ];
  for (const [what, source, problem] of sources) {
    test(`says so of a file that ${what}`, async () => {
      await using folder = await tempWorkspace({ "bad.ts": source });
      expect(await problemOf(join(folder.root, "bad.ts"))).toMatch(problem);
    });
  }
});

test("importPlugin says that a file is gone, and not that it imports itself", async () => {
  await using folder = await tempWorkspace();
  const problem = "its file is gone: it was removed, or is no longer trusted";
  expect(await problemOf(join(folder.root, "gone.ts"))).toBe(problem);
});

test("setAsideLine ends what ends with a question as it is", () => {
  expect(setAsideLine({ file: "/a.ts", problem: "is gone" })).toBe("/a.ts: is gone. Set aside");
  expect(setAsideLine({ file: "/a.ts", problem: "Is its name right?", stays: true })).toBe(
    "/a.ts: Is its name right? The version before stays",
  );
});

describe("checkPlugin says that", () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const badName = "definition.name: needs 1 to 64 of the characters a–z A–Z 0–9 _ -";
  const noWords = "definition.description: the model needs a sentence on what it does and when to use it";
  const badTime = `definition.timeout_ms: needs a number from 1 to ${MAX_TIMEOUT_MS}`;
  const badPermissions = "definition.permissions: needs an object such as { read: true }";
  const open = { ...DEFINITION.input_schema };
  const cases: [what: string, definition: unknown, problem: string][] = [
    [
      "the definition is null (X03)",
      null,
      "definition: needs an object with name, description and input_schema, not null",
    ],
    [
      "the definition is a function (X03)",
      () => {},
      "definition: needs an object with name, description and input_schema, not a function",
    ],
    ["there is no name", { ...DEFINITION, name: undefined }, badName],
    ["the name has a space (X05)", { ...DEFINITION, name: "my tool" }, badName],
    ["the name has a dot and a slash (X05)", { ...DEFINITION, name: "a.b/c" }, badName],
    ["the name is not ASCII (X05)", { ...DEFINITION, name: "né" }, badName],
    ["the name is too long (X05)", { ...DEFINITION, name: "x".repeat(65) }, badName],
    ["the name is empty (X05)", { ...DEFINITION, name: "" }, badName],
    ["the name ends in a line break", { ...DEFINITION, name: "t\n" }, badName],
    ["there is no description (X03)", { ...DEFINITION, description: undefined }, noWords],
    ["the description is blank", { ...DEFINITION, description: " \n" }, noWords],
    [
      "the description is a book",
      { ...DEFINITION, description: "x".repeat(20_001) },
      "definition.description: is over 20,000 characters",
    ],
    [
      "there is no schema (X03)",
      { ...DEFINITION, input_schema: undefined },
      'definition.input_schema: needs type "object" on top',
    ],
    [
      "the schema holds itself",
      { ...DEFINITION, input_schema: circular },
      "definition.input_schema: is not plain JSON",
    ],
    [
      "the schema is a book",
      { ...DEFINITION, input_schema: { ...open, description: "x".repeat(100_000) } },
      "definition.input_schema: is over 100,000 bytes",
    ],
    ["the time is a word", { ...DEFINITION, timeout_ms: "5" }, badTime],
    ["the time is nothing", { ...DEFINITION, timeout_ms: 0 }, badTime],
    ["the time is no number", { ...DEFINITION, timeout_ms: NaN }, badTime],
    ["the time is too long", { ...DEFINITION, timeout_ms: MAX_TIMEOUT_MS + 1 }, badTime],
    ["strict is a word", { ...DEFINITION, strict: "yes" }, "definition.strict: needs true or false"],
    [
      "strict needs a closed schema",
      { ...DEFINITION, strict: true },
      "definition.strict: needs additionalProperties: false in every object of input_schema (here in input_schema)",
    ],
    [
      "strict needs a closed schema inside, too",
      {
        ...DEFINITION,
        strict: true,
        input_schema: { ...open, additionalProperties: false, properties: { a: { type: "array", items: open } } },
      },
      "definition.strict: needs additionalProperties: false in every object of input_schema (here in input_schema.a.items)",
    ],
    ["permissions are a word", { ...DEFINITION, permissions: "write" }, badPermissions],
    ["permissions are a list", { ...DEFINITION, permissions: ["write"] }, badPermissions],
    [
      "a permission does not exist",
      { ...DEFINITION, permissions: { delete: true } },
      'definition.permissions: there is no "delete"; there are read, write, run, net, env',
    ],
    [
      "a permission is that of all objects",
      { ...DEFINITION, permissions: { toString: true } },
      'definition.permissions: there is no "toString"; there are read, write, run, net, env',
    ],
    [
      "write is a list",
      { ...DEFINITION, permissions: { write: ["a"] } },
      "definition.permissions.write: needs true or false",
    ],
    [
      "net is a flag",
      { ...DEFINITION, permissions: { net: true } },
      "definition.permissions.net: needs a list of names",
    ],
  ];
  for (const [what, definition, problem] of cases) {
    test(what, async () => expect(await checkProblem(definition)).toBe(problem));
  }

  test("the handler is no function (X03)", async () => {
    const rows: [more: object, problem: string][] = [
      [{}, 'has no export "handler". Write export const handler = (input, context) => …'],
      [{ handler: null }, "handler: needs a function, not null"],
      [{ handler: "run" }, "handler: needs a function, not a string"],
    ];
    for (const [more, problem] of rows) expect(await checkProblem(DEFINITION, more)).toBe(problem);
  });

  test("nothing is wrong with the longest name, all permissions and the longest time", async () => {
    const name = "x".repeat(64);
    const permissions = { read: true, write: false, run: true, net: ["a.com:443"], env: ["A"] };
    const definition = { ...DEFINITION, name, permissions, timeout_ms: MAX_TIMEOUT_MS };
    const { loaded } = await checkPlugin({ definition, handler }, name);
    expect(loaded).toMatchObject({ permissions, timeout_ms: MAX_TIMEOUT_MS });
  });
});

test("checkPlugin takes ten minutes from a plugin, and ten seconds more from a built-in tool", async () => {
  expect(MAX_TIMEOUT_MS).toBe(600_000);
  const definition = { ...DEFINITION, timeout_ms: OWN_TIMEOUT_MS };
  expect((await checkPlugin({ definition, handler }, "t", OWN_TIMEOUT_MS)).loaded.timeout_ms).toBe(610_000);
  expect(await checkProblem(definition)).toBe("definition.timeout_ms: needs a number from 1 to 600000");
});

test("checkPlugin puts on the wire what the API takes", async () => {
  const input_schema = {
    additionalProperties: false,
    properties: { n: { minimum: 1, type: "number" } },
    type: "object",
  };
  const definition = { ...DEFINITION, description: " Does \ud83d t.\n", input_schema, strict: true };
  const { loaded, schema } = await checkPlugin({ definition, handler }, "t");
  expect(JSON.stringify(loaded.definition)).toBe(
    '{"name":"t","description":"Does \ufffd t.",' +
      '"input_schema":{"type":"object","properties":{"n":{"type":"number"}},"additionalProperties":false},"strict":true}',
  );
  expect(await schema.check({ n: 0 })).toEqual({ ok: false, problem: "n: expected at least 1, got number 0" });
});
