import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type FakeApi, fakeApi, reply } from "./support/fake_api.ts";
import { copyOfProgram, executable, openTenon, type Way, writeFiles } from "./support/program.ts";
import type { Pty } from "./support/pty.ts";
import { press, PROMPT, say } from "./support/talk.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a run has its own limit

const PLUGIN = `export const definition = { name: "a", description: "Says it.", input_schema: { type: "object" },
  permissions: { read: true } };
export const handler = () => "from the plugin";
`;

async function chat(way: Way, { root, top }: TempWorkspace, api: FakeApi, program?: string): Promise<Pty> {
  const pty = await openTenon(way, {
    cwd: root,
    args: ["--base-url", api.url, "-m", "fake-model"],
    env: { HOME: join(top, "home"), ANTHROPIC_API_KEY: "sk-test" },
    ...(program === undefined ? {} : { program }),
  }, { columns: 200 });
  await pty.until(PROMPT);
  return pty;
}

const call = () => reply({ calls: [{ name: "a", input: {} }] });

/** The likeliest first use: the executable lies in the project, and the first plugin is written while a chat is open. */
const inside: [what: string, way: Way, folder: string][] = [
  ["plugins/ beside an executable in the workspace", "executable", "plugins"],
  [".tenon/plugins", "bun", ".tenon/plugins"],
];
test.concurrent.each(inside)("a chat asks for trust in a file of %s that was made after it", async (_, way, folder) => {
  await using temp = await tempWorkspace();
  if (way === "executable") await temp.sh(`ln '${await executable()}' tenon || cp '${await executable()}' tenon`);
  await using api = await fakeApi([reply({ text: "answer one" }), call(), reply({ text: "answer two" })]);
  await using pty = await chat(way, temp, api, way === "executable" ? temp.root : undefined);
  await say(pty, "go", "answer one");
  await writeFiles(temp.root, { [`${folder}/a.ts`]: PLUGIN });
  await say(pty, "go", `Trust the plugin ${folder}/a.ts (tool a; permissions: read)?`);
  await press(pty, "y", "answer two");
  expect(pty.since()).toMatch(/New tool: a \(read\)[\s\S]*from the plugin/);
});

test.concurrent("a chat makes the user's own plugins folder, and uses a file that is dropped there later", async () => {
  await using temp = await tempWorkspace();
  await using api = await fakeApi([reply({ text: "answer one" }), call(), reply({ text: "answer two" })]);
  await using pty = await chat("executable", temp, api);
  await say(pty, "go", "answer one");
  const folder = join(temp.top, "home", ".config", "tenon", "plugins");
  expect(existsSync(folder)).toBe(true);
  await writeFiles(folder, { "a.ts": PLUGIN });
  expect(await say(pty, "go", "answer two")).toMatch(/New tool: a \(read\)[\s\S]*from the plugin/);
});

test.concurrent("a chat says once that a folder beside the executable was made too late for it", async () => {
  await using temp = await tempWorkspace();
  await using copy = await copyOfProgram("executable");
  await using api = await fakeApi(["one", "two", "three"].map((text) => reply({ text: `answer ${text}` })));
  await using pty = await chat("executable", temp, api, copy.folder);
  expect(await say(pty, "go", "answer one")).not.toContain("plugins");
  await writeFiles(copy.folder, { "plugins/a.ts": PLUGIN });
  const words =
    `${copy.folder}/plugins: was made after tenon started, and the fence lets through what was there then. Start ` +
    "tenon again to load its plugins";
  expect((await say(pty, "go", "answer two")).replace(/\s+/g, " ")).toContain(words);
  expect(await say(pty, "/reload", "No plugin has changed")).not.toContain("made after");
  expect(await say(pty, "go", "answer three")).not.toContain("made after");
});
