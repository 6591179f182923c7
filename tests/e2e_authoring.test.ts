import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { typesText } from "../core/plugins/new_plugin.ts";
import { fakeApi, reply } from "./support/fake_api.ts";
import { runTenon, SOURCES, type Start, type Way, WAYS, writeFiles } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a run has its own limit

const FAULTS = join(SOURCES, "tests", "fixtures", "faults");
const FIXTURES = join(SOURCES, "tests", "fixtures", "plugins");
const BIN = join(SOURCES, "node_modules", ".bin");

const GOOD = `export const definition = {
  name: "good",
  description: "Answers. Use it whenever somebody asks for an answer.",
  input_schema: { type: "object", properties: {} },
};
export const handler = () => "GOOD-OK";
`;

function callLines(calls: readonly { name: string; input?: unknown }[]): string {
  return calls.map((call) => `${JSON.stringify(call)}\n`).join("");
}

async function answersOf(way: Way, start: Start): Promise<{ name: string; content: string; is_error: boolean }[]> {
  const { stdout } = await runTenon(way, start);
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

describe.concurrent.each([...WAYS])("for whoever writes a plugin, tenon as %s", (way: Way) => {
  const program = way === "executable" ? [] : [SOURCES];

  test("writes a plugin and its test that run as they are, and no second time", async () => {
    await using temp = await tempWorkspace({ "README.md": "# one\nthe two\n" });
    const folder = join(temp.top, "plugins");
    const start: Start = {
      cwd: temp.root,
      args: ["--plugins", folder, "new", "my_tool"],
      deno: { read: [".", SOURCES, folder], write: [folder] },
    };
    const made = await runTenon(way, start);
    const names = ["my_tool.ts", "my_tool.test.ts", "tenon.d.ts"];
    expect([made.code, made.stdout]).toEqual([0, names.map((name) => `${join(folder, name)}\n`).join("")]);
    const testFile = join(folder, "my_tool.test.ts");
    expect(made.stderr.split("\n").map((line) => line.slice("Test it: ".length))).toEqual([
      `tenon --plugins ${folder} call my_tool '{"path": "README.md", "text": "the"}'`,
      `bun test ${testFile}`,
      `deno test --allow-read=${folder} ${testFile}`,
      "",
    ]);
    const again = await runTenon(way, start);
    expect([again.code, again.stderr]).toEqual([
      2,
      `tenon: Cannot make a plugin named "my_tool": ${join(folder, "my_tool.ts")} is there already\n`,
    ]);
    expect(await readFile(join(folder, "tenon.d.ts"), "utf8")).toBe(await typesText());
    const call = await runTenon(way, {
      cwd: temp.root,
      args: ["--plugins", folder, "call", "my_tool", '{"path":"README.md","text":"the"}'],
      deno: { read: [".", SOURCES, folder] },
    });
    expect([call.code, call.stdout]).toEqual([0, '1 of 3 lines of "README.md" hold "the"\n']);
    const checked = await runTenon(way, {
      cwd: temp.root,
      args: ["check", join(folder, "my_tool.ts"), join(FAULTS, "no_schema.ts"), join(folder, "my_tool.test.ts")],
      deno: { read: [".", SOURCES, folder] },
    });
    expect(checked.code).toBe(1);
    const parts = checked.stdout.replace(/\d+ ms/, "N ms").split(/^(?=\/)/m);
    expect(parts).toEqual([
      `${join(folder, "my_tool.ts")}: good
  tool         my_tool
  permissions  read
  loaded in    N ms, with the start of its host
  definition   408 bytes, about 117 tokens of every request
  examples     1 of 1 pass
  strict       off: strict: true would work
`,
      `${join(FAULTS, "no_schema.ts")}: bad
  problem      definition.input_schema: needs type "object" on top
`,
      `${join(folder, "my_tool.test.ts")}: bad
  problem      a file of this name is not loaded: a plugin ends in .ts, .mts, .js or .mjs and is no test and no declaration
`,
    ]);
    const whole = await runTenon(way, {
      cwd: temp.root,
      args: ["check", folder, temp.root],
      deno: { read: [".", SOURCES, folder] },
    });
    expect([whole.code, whole.stdout.split("\n").filter((line) => /^\/|problem/.test(line))]).toEqual([1, [
      `${join(folder, "my_tool.ts")}: good`,
      `${temp.root}: bad`,
      "  problem      is a folder with no plugin file in it",
    ]]);
    if (way !== "bun") return;
    const anywhere = await runTenon(way, { cwd: "/", args: ["check", join(folder, "my_tool.ts")] });
    expect([anywhere.code, anywhere.stderr]).toEqual([0, ""]);
    for (const command of [[join(BIN, "bun"), "test"], [join(BIN, "deno"), "test", `--allow-read=${folder}`]]) {
      const run = Bun.spawnSync([...command, testFile], {
        cwd: temp.root,
        env: { PATH: "", HOME: temp.top, NO_COLOR: "1" },
      });
      expect([command, run.exitCode, `${run.stdout}${run.stderr}`]).toEqual([
        command,
        0,
        expect.stringMatching(/3 (pass|passed)\b/),
      ]);
    }
    const tsc = [join(BIN, "tsc"), "--noEmit", "--strict", "--target", "esnext", "--module", "preserve", "my_tool.ts"];
    const typed = Bun.spawnSync(tsc, { cwd: folder, env: { PATH: process.env["PATH"] ?? "" } });
    expect([typed.exitCode, `${typed.stdout}`]).toEqual([0, ""]);
  });

  test("gives a plugin the hosts and the variables that were granted, says so first, and no others", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const server = createServer((request, response) => response.end(`got ${request.headers["x-token"]}`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const plugins = join(temp.top, "plugins");
    await writeFiles(plugins, {
      "sends.ts": `import process from "node:process";
export const definition = {
  name: "sends",
  description: "Sends its token.",
  input_schema: { type: "object" },
  permissions: { net: ["${host}"], env: ["TOKEN"] },
};
const of = (name) => { try { return process.env[name] } catch { return undefined } };
export const handler = async ({ url }, { fetch, workspace }) => {
  const own = await globalThis.fetch("http://${host}/").then(() => "reached", () => "refused");
  const file = await workspace.readText("a.txt").catch((error) => error.message);
  const response = await fetch(url, { headers: { "x-token": of("TOKEN") } });
  return [response.status, await response.text(), own, String(of("OTHER")), file].join("; ");
};
`,
    });
    const start = (args: string[]): Start => ({
      cwd: temp.root,
      args: ["--plugins", plugins, ...args],
      env: { TOKEN: "t-1", OTHER: "o-1" },
      stdin: callLines([{ name: "sends", input: { url: `http://${host}/` } }, {
        name: "sends",
        input: { url: "https://example.com/" },
      }]),
      deno: { read: [".", SOURCES, plugins], net: [host], env: [...ENV, "TOKEN"] },
    });
    const { stdout, stderr } = await runTenon(way, start([`--allow-net=${host}`, "--allow-env=TOKEN", "call"]));
    const refused = await answersOf(way, start(["call"]));
    server.close();
    expect(stderr).toBe(`Granted: sends may send what it reads, and TOKEN, to ${host}\n`);
    expect(stdout.trimEnd().split("\n").map((line) => JSON.parse(line).content)).toEqual([
      '200; got t-1; refused; undefined; Cannot read "a.txt": the tool does not declare read. ' +
      "Its definition needs permissions: { read: true }",
      `Cannot fetch "https://example.com/": the user has not granted it. Granted: ${host}`,
    ]);
    expect(refused[0]?.content).toBe(
      `Not run: net and env need --allow-net=${host} and --allow-env=TOKEN, since tenon call asks nobody`,
    );
  });

  test("answers whatever a plugin returns or throws, and goes on (X07, X17)", async () => {
    await using temp = await tempWorkspace();
    const opaque = (name: string, kind: string) =>
      `Cannot send what ${name} returned as JSON: it holds what JSON does not show (${kind}). Return text, or plain values`;
    const absent = (name: string, file: string) => `Cannot run ${name}: it imports "${file}", which is not there`;
    const expected: [name: string, content: string, is_error: boolean][] = [
      ["throws_a_string", "plain string", true],
      ["throws_undefined", "The tool threw undefined", true],
      ["throws_an_object", 'The tool threw {"code":42,"detail":"why"}', true],
      ["throws_an_unreadable_error", "The tool threw a value that cannot be shown", true],
      ["returns_an_object", '{"a":[1,{"b":2}]}', false],
      [
        "returns_a_circle",
        "Cannot send what returns_a_circle returned as JSON: it is circular (it holds itself)",
        true,
      ],
      ["returns_a_bigint", "Cannot send what returns_a_bigint returned as JSON: it holds a BigInt", true],
      ["returns_a_map", '{"map":[[1,2]],"set":["a"]}', false],
      ["returns_a_response", opaque("returns_a_response", "Response"), true],
      ["returns_bytes", opaque("returns_bytes", "Uint8Array"), true],
      ["returns_a_generator", opaque("returns_a_generator", "Generator"), true],
      ["returns_a_promise_within", opaque("returns_a_promise_within", "Promise"), true],
      ["imports_when_called", absent("imports_when_called", "no-such-package"), true],
      ["imports_a_file_when_called", absent("imports_a_file_when_called", "no_such_file.ts"), true],
      ["returns_what_throws", "Cannot send what returns_what_throws returned as JSON: tj", true],
      ["returns_a_string", "done", false],
    ];
    const plugins = join(temp.top, "plugins");
    const files = await Promise.all(
      expected.map(async ([name]) => [`${name}.ts`, await readFile(join(FIXTURES, `${name}.ts`), "utf8")]),
    );
    await writeFiles(plugins, Object.fromEntries(files));
    const answers = await answersOf(way, {
      cwd: temp.root,
      args: ["--plugins", plugins, "call"],
      stdin: `${JSON.stringify(expected.map(([name]) => ({ name, input: {} })))}\n`,
      deno: { read: [".", ...program, SOURCES, plugins] },
    });
    expect(answers).toEqual(expected.map(([name, content, is_error]) => ({ name, content, is_error })));
  });

  test("tells of a file that was set aside on stderr and as an object, and its definitions are clean (X21, PLUG-09)", async () => {
    await using temp = await tempWorkspace();
    const plugins = join(temp.top, "plugins");
    const words = `Answers.\\u001b]52;c;QUJD\\u0007 Use it\\u202e always.\\u{e0041}`;
    await writeFiles(plugins, {
      "bad.ts": "export const definition = {",
      "good.ts": GOOD.replace("Answers. Use it whenever", () => words),
    });
    await using api = await fakeApi([reply({ calls: [{ name: "good", input: {} }] }), reply({ text: "done" })]);
    const { code, stdout, stderr } = await runTenon(way, {
      cwd: temp.root,
      args: ["--base-url", api.url, "-m", "fake-model", "--plugins", plugins, "--output-format", "stream-json", "go"],
      env: { ANTHROPIC_API_KEY: "sk-test" },
      deno: { read: [".", SOURCES, plugins], net: [new URL(api.url).host] },
    });
    const objects = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    expect([code, stderr]).toEqual([0, expect.stringContaining("bad.ts: line 1: ")]);
    expect(objects.filter(({ type }) => type === "warning").map(({ text }) => text)).toEqual([
      expect.stringContaining("bad.ts: line 1: "),
    ]);
    const good = api.requests[0]?.body.tools.find(({ name }: { name: string }) => name === "good");
    expect(good.description).toBe("Answers.]52;c;QUJD Use it always. somebody asks for an answer.");
    expect(JSON.stringify(api.requests[1]?.body.messages)).toContain("GOOD-OK");
  });

  test("starts with an odd folder of plugins, or with none (X23)", async () => {
    await using temp = await tempWorkspace();
    const plugins = join(temp.top, "plugins");
    await mkdir(join(plugins, "dir.ts"), { recursive: true });
    await symlink("nowhere", join(plugins, "dead.ts"));
    await writeFiles(plugins, { "good.ts": GOOD });
    await symlink("good.ts", join(plugins, "zz-same.ts"));
    const odd = await runTenon(way, {
      cwd: temp.root,
      args: ["--plugins", plugins, "call", "good"],
      deno: { read: [".", SOURCES, plugins] },
    });
    expect([odd.code, odd.stdout]).toEqual([0, "GOOD-OK\n"]);
    expect(odd.stderr.trimEnd().split("\n")).toEqual([
      expect.stringContaining("dead.ts: is a link whose target is not there"),
    ]);
    await using bare = await tempWorkspace();
    const home = join(bare.top, "home");
    await mkdir(home, { recursive: true });
    // An empty home, no network; then a file where the folder should be.
    for (const files of [{}, { plugins: "" }]) {
      await writeFiles(join(home, ".config", "tenon"), files);
      const { code, stdout, stderr } = await runTenon(way, {
        cwd: bare.root,
        args: ["call", "list_files"],
        env: { HOME: home },
        deno: { read: [".", SOURCES, join(home, ".config", "tenon")] },
      });
      expect([code, stdout]).toEqual([0, "[the folder is empty]\n"]);
      const told = Object.keys(files).length === 0
        ? ""
        : `${join(home, ".config", "tenon", "plugins")}: is not a folder`;
      expect(stderr.trimEnd()).toStartWith(told);
      expect(stderr.trimEnd().split("\n").length).toBe(1);
    }
  });
});

const ENV = ["ANTHROPIC_*", "HOME", "XDG_*", "CI", "NO_COLOR", "TERM"];
