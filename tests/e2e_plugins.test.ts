import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type FakeApi, fakeApi, reply } from "./support/fake_api.ts";
import { copyOfProgram, runTenon, SOURCES, type Start, TOOLS, type Way, WAYS, writeFiles } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a run has its own limit

/** A plugin whose answer is its own name and the words it was given; its schema is one of valibot. */
function plugin(name: string): string {
  return `import * as v from "valibot";
import type { Definition, Handler } from "tenon";

export const definition: Definition = {
  name: "${name}",
  description: "Says what it is given.",
  input_schema: v.strictObject({ words: v.pipe(v.string(), v.minLength(1)) }),
};

export const handler: Handler<{ words: string }> = ({ words }) => \`${name} got \${words}\`;
`;
}

const BROKEN = 'export const definition = {\n  name: "broken" description\n};\n';
const UNHANDLED = plugin("unhandled").replace(/^export const handler.*$/m, "");
/** Whatever is not a plugin is not imported: each would end the program. */
const END = 'import process from "node:process";\nprocess.exit(77);\n';
const NO_PLUGINS = Object.fromEntries(
  ["types.d.ts", "a.test.ts", "b.spec.ts", "c_test.ts", "mod.ts", "_private.ts", ".hidden.ts", "read.me", "data.json"]
    .map(
      (name) => [name, END],
    ),
);

function inFolder(folder: string, files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));
}

interface Listed {
  tools: { name: string; source: string }[];
  set_aside: { file: string; problem: string }[];
}

async function toolsOf(way: Way, start: Start): Promise<Listed> {
  const { code, stdout, stderr } = await runTenon(way, { ...start, args: ["tools", "--json", ...(start.args ?? [])] });
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

/** The bytes of `tools` in the first request of a turn. */
async function toolBytes(way: Way, api: FakeApi, start: Start): Promise<string> {
  const { requests } = api;
  const before = requests.length;
  await runTenon(way, {
    ...start,
    args: ["--base-url", api.url, "-m", "fake-model", ...(start.args ?? []), "hi"],
    env: { ANTHROPIC_API_KEY: "sk-test", ...start.env },
    deno: { ...start.deno, net: [new URL(api.url).host] },
  });
  return JSON.stringify(requests[before]?.body.tools);
}

describe.concurrent.each([...WAYS])("plugins of tenon as %s", (way: Way) => {
  test("are found beside the program, and a bad one is set aside while the rest works", async () => {
    await using temp = await tempWorkspace();
    await using copy = await copyOfProgram(way);
    await writeFiles(
      copy.folder,
      inFolder("plugins", {
        ...{ "echo.ts": plugin("echo"), "broken.ts": BROKEN, "unhandled.ts": UNHANDLED },
        ...(way === "executable"
          ? NO_PLUGINS
          : { ...NO_PLUGINS, "mod.ts": await Bun.file(join(SOURCES, "plugins/mod.ts")).text() }),
      }),
    );
    const start = { cwd: temp.root, program: copy.folder };
    const listed = await toolsOf(way, start);
    expect(listed.tools.map(({ name }) => name)).toEqual([...TOOLS, "echo"].sort());
    expect(listed.tools.find(({ name }) => name === "echo")?.source).toBe(join(copy.folder, "plugins", "echo.ts"));
    expect(listed.set_aside).toEqual([
      { file: join(copy.folder, "plugins", "broken.ts"), problem: expect.stringMatching(/^line 2: [^\n]+$/) },
      {
        file: join(copy.folder, "plugins", "unhandled.ts"),
        problem: 'has no export "handler". Write export const handler = (input, context) => …',
      },
    ]);
    const called = await runTenon(way, { ...start, args: ["call", "echo", '{"words":"hello"}'] });
    expect(called).toMatchObject({ code: 0, stdout: "echo got hello\n" });
    const [broken, unhandled, ...more] = called.stderr.trimEnd().split("\n");
    expect(broken).toMatch(/plugins\/broken\.ts: line 2: .*\. Set aside$/);
    expect(unhandled).toEndWith(
      'plugins/unhandled.ts: has no export "handler". Write export const handler = (input, context) => …. Set aside',
    );
    expect(more).toEqual([]);
    const refused = await runTenon(way, { ...start, args: ["call", "echo", '{"words":""}'] });
    expect(refused.stderr).toContain("Cannot call echo: words: ");
    expect(refused.code).toBe(1);
  });

  test("are found in each --plugins folder and in the user's own; the first of a name stays", async () => {
    await using temp = await tempWorkspace();
    const { top, root: cwd } = temp;
    await writeFiles(top, {
      ...inFolder("home/.config/tenon/plugins", { "mine.ts": plugin("mine") }),
      ...inFolder("a", { "one.ts": plugin("one"), "read_file.ts": plugin("read_file") }),
      ...inFolder("b é", { "one.ts": plugin("one"), "two.ts": plugin("two") }),
    });
    const listed = await toolsOf(way, {
      cwd,
      args: ["--plugins", "../a", "--plugins", join(top, "b é")],
      env: { HOME: join(top, "home") },
      deno: { read: [".", SOURCES, top] },
    });
    expect(listed.tools.filter(({ name }) => name === "read_file" || !TOOLS.includes(name))).toMatchObject([
      { name: "mine", source: join(top, "home/.config/tenon/plugins/mine.ts") },
      { name: "one", source: join(top, "a/one.ts") },
      { name: "read_file", source: "built in" },
      { name: "two", source: join(top, "b é/two.ts") },
    ]);
    expect(listed.set_aside).toEqual([
      {
        file: join(top, "a/read_file.ts"),
        problem: 'the name "read_file" is taken (built in). Give the file and its tool another',
      },
      {
        file: join(top, "b é/one.ts"),
        problem: `the name "one" is taken (${join(top, "a/one.ts")}). Give the file and its tool another`,
      },
    ]);
  });

  test("cannot put a word between the lines of tenon's output", async () => {
    await using temp = await tempWorkspace();
    const loud = plugin("loud").replace("=> `", '=> (console.log("NOISE"), process.stdout.write("NOISE\\n"), `')
      .replace("`;", "`);");
    await writeFiles(temp.top, { "p/loud.ts": `console.log("NOISE at start");\n${loud}` });
    const called = await runTenon(way, {
      cwd: temp.root,
      args: ["call", "loud", '{"words":"x"}', "--plugins", "../p"],
      deno: { read: [".", SOURCES, join(temp.top, "p")] },
    });
    expect(called).toMatchObject({ code: 0, stdout: "loud got x\n" });
  });
});

test("the bytes of tools are the same on every runtime, in any language and any order of files", async () => {
  await using temp = await tempWorkspace();
  const names = ["b", "a", "Z", "_x", "é", "z1", "A-b"].filter((name) =>
    /^[\w-]+$/.test(name) && !name.startsWith("_")
  );
  for (const [folder, order] of [["there", names], ["back", names.toReversed()]] as const) {
    await mkdir(join(temp.top, folder));
    for (const name of order) await writeFiles(temp.top, { [`${folder}/${name}.ts`]: plugin(name) });
  }
  await cp(join(temp.top, "back"), join(temp.top, "copied"), { recursive: true });
  const starts: [way: Way, folder: string, env: Record<string, string>][] = [
    ...WAYS.map((way): [Way, string, Record<string, string>] => [way, "there", {}]),
    ["bun", "back", { LANG: "de_DE.UTF-8", LC_ALL: "tr_TR.UTF-8", TZ: "Asia/Taipei" }],
    ["deno", "copied", { LANG: "zh_TW.UTF-8", LC_ALL: "C" }],
    ["executable", "back", { LANG: "sv_SE", LC_ALL: "sv_SE", TZ: "America/New_York" }],
  ];
  await using api = await fakeApi(starts.map(() => reply({ text: "done" })));
  const seen = new Set<string>();
  for (const [way, folder, env] of starts) {
    const deno = { read: [".", SOURCES, join(temp.top, folder)] };
    seen.add(await toolBytes(way, api, { cwd: temp.root, args: ["--plugins", `../${folder}`], env, deno }));
  }
  expect([...seen].length).toBe(1);
  const sent = JSON.parse([...seen][0] ?? "").map(({ name }: { name: string }) => name);
  expect(sent).toEqual([...TOOLS, "A-b", "Z", "a", "b", "z1"].sort());
});
