import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { checkFile, checkLines } from "../core/plugins/check.ts";
import { createHosts } from "../core/hosts/hosts.ts";
import { SOURCES } from "./support/program.ts";
import { connectInProcess } from "./support/host_in_process.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const hosts = createHosts(connectInProcess, new Map());

async function linesOf(definition: string): Promise<string[]> {
  const text = `export const definition = { name: "t", ${definition} };\nexport const handler = () => "";\n`;
  await using folder = await tempWorkspace({ "t.ts": text });
  const checked = await checkFile(join(folder.root, "t.ts"), hosts);
  const [first = "", ...lines] = checkLines(checked);
  return [first.replace(/^.*: /, ""), ...lines.map((line) => line.trim().replace(/\d+ ms/, "N ms"))];
}

const WORDS = 'description: "Does nothing at all. Use it whenever nothing is to be done."';

describe("checkFile", () => {
  test("says what a good plugin costs and may do", async () => {
    const permissions = 'permissions: { read: true, net: ["b.com:443", "a.com"], env: ["X"] }';
    expect(await linesOf(`${WORDS}, input_schema: { type: "object", additionalProperties: false }, ${permissions}`))
      .toEqual([
        "good",
        "tool         t",
        "permissions  read+net=a.com:443,b.com:443+env=X",
        "loaded in    N ms, with the start of its host",
        "definition   150 bytes, about 43 tokens of every request",
        "examples     none: definition.input_examples has inputs to try",
        "strict       off: strict: true would work",
      ]);
  });

  test("runs the examples through the schema, with what it mends", async () => {
    const schema =
      'input_schema: { type: "object", properties: { n: { type: "number", minimum: 1 } }, required: ["n"] }';
    const lines = await linesOf(`${WORDS}, ${schema}, input_examples: [{ n: 1 }, { n: "2" }, { n: 0 }, {}]`);
    expect(lines[0]).toBe("bad");
    expect(lines).toContain("examples     2 of 4 pass");
    expect(lines.filter((line) => line.startsWith("problem"))).toEqual([
      "problem      definition.input_examples.2: n: expected at least 1, got number 0",
      "problem      definition.input_examples.3: n: expected number, got nothing",
    ]);
  });

  test("warns of a short and of a long description, and of what strict leaves out", async () => {
    const strict =
      'strict: true, input_schema: { type: "object", properties: { n: { type: "number", minimum: 1 } }, additionalProperties: false }';
    expect(await linesOf(`description: "Does it.", ${strict}`)).toEqual(expect.arrayContaining([
      "good",
      "strict       on: the API holds the model to the schema",
      "warning      description: 8 characters. Say what it does, when to use it, and what it returns",
      "warning      input_schema.n: minimum: checked here, but not sent: strict refuses it",
    ]));
    expect((await linesOf(`description: "Word ".repeat(300), input_schema: { type: "object" }`)).at(-1)).toBe(
      "warning      description: 1499 characters go with every request. Three or four sentences are enough",
    );
  });

  test("warns of a format that nothing is held to, and of a definition that is large", async () => {
    const schema = `input_schema: { type: "object", properties: Object.fromEntries(Array.from({ length: 100 }, (_, n) =>
      ["p" + n, { type: "string", description: "One more.", ...(n === 0 ? { format: "color" } : {}) }])) }`;
    expect((await linesOf(`${WORDS}, ${schema}`)).slice(-2)).toEqual([
      "warning      definition: about 1470 tokens go with every request. Most tools need fewer than 1000",
      'warning      input_schema.p0: format "color" is not checked',
    ]);
  });

  test("warns of a host and of a variable that nobody can grant", async () => {
    const permissions = 'permissions: { net: ["a.com", "https://b.com/x", "*.c.com"], env: ["A", "NODE_OPTIONS"] }';
    const lines = await linesOf(`${WORDS}, input_schema: { type: "object" }, ${permissions}`);
    expect(lines.filter((line) => line.startsWith("warning"))).toEqual([
      'warning      definition.permissions.net: "https://b.com/x" is never granted: it is a URL. Give "host:port", as in example.com:443',
      'warning      definition.permissions.net: "*.c.com" is never granted: a wildcard lets in hosts that nobody named. Name each host',
      'warning      definition.permissions.env: "NODE_OPTIONS" is never granted: no tool ever gets this variable. Leave it out',
    ]);
  });

  test("says what keeps a schema from strict", async () => {
    const lines = await linesOf(
      `${WORDS}, input_schema: { type: "object", properties: { a: { type: "object" } }, additionalProperties: false }`,
    );
    expect(lines).toContain(
      "strict       off: strict: true needs additionalProperties: false in every object of input_schema (here in input_schema.a)",
    );
  });

  const names: [path: string, problem: string][] = [
    ["nope.ts", "no such file"],
    ["folder.ts", "is a folder with no plugin file in it"],
    [
      "types.d.ts",
      "a file of this name is not loaded: a plugin ends in .ts, .mts, .js or .mjs and is no test and no declaration",
    ],
    [
      "a.test.ts",
      "a file of this name is not loaded: a plugin ends in .ts, .mts, .js or .mjs and is no test and no declaration",
    ],
    ["glob.ts", 'the name "glob" is taken (built in). Give the file and its tool another'],
  ];
  test.each(names)("says of %s: %s", async (path, problem) => {
    await using folder = await tempWorkspace({ "folder.ts/x": "", "types.d.ts": "", "a.test.ts": "", "glob.ts": "" });
    const file = join(folder.root, path);
    expect(await checkFile(file, hosts)).toEqual({ file, good: false, lines: [["problem", problem]] });
  });

  test("takes a built-in tool for what it is", async () => {
    expect((await checkFile(join(SOURCES, "plugins", "glob.ts"), hosts)).good).toBe(true);
  });
});
