import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runPlugin } from "../core/hosts/run_plugin.ts";
import { createHosts } from "../core/hosts/hosts.ts";
import { parseArgv } from "../core/options.ts";
import { importPlugin } from "../core/plugins/plugins.ts";
import { connectInProcess } from "./support/host_in_process.ts";
import { copyOfProgram, runTenon, SOURCES, writeFiles } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const README = await Bun.file(join(SOURCES, "README.md")).text();

/** The blocks of one language, in order. */
function blocksOf(language: string): string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(([, block]) => block ?? "");
}

const plugins = blocksOf("ts").flatMap((source) => {
  const [, name] = /^ {2}name: "(\w+)"/m.exec(source) ?? [];
  return name !== undefined && source.includes("export const definition") ? [{ name, source }] : [];
});

/** A call of each plugin that the README shows, and what comes of it in a folder with these files. */
const FILES = {
  "a.txt": "one two\nthree\n",
  "src/b.txt": "two\n",
  ".gitignore": "out\n",
  "out/c.txt": "two\n",
  "many.txt": "many\n".repeat(60),
};
const MANY = Array.from({ length: 50 }, (_, index) => `many.txt:${index + 1}: many\n`).join("");
const CALLS: Record<string, [input: unknown, content: string][]> = {
  word_count: [
    [{ path: "a.txt" }, '"a.txt" has 3 words'],
    [{ path: "b.txt" }, 'Cannot read "b.txt": no such file. Did you mean "a.txt"?'],
  ],
  find_text: [
    [{ text: "two" }, "a.txt:1: one two\nsrc/b.txt:1: two"],
    [{ text: "many" }, `${MANY}[50 hits shown; use a longer text]`],
    [{ text: "four" }, 'No file holds "four". Use a shorter text'],
    [{ text: "" }, "Cannot call find_text: text: expected at least 1 character, got 0"],
  ],
};

/** Nothing but a loopback that is down; where the system gives no such thing, the network stays. */
const isCut = Bun.spawnSync(["sh", "-c", "unshare -rn true"]).exitCode === 0;
const OFFLINE = isCut ? 'exec unshare -rn "$@"' : 'exec "$@"';

/** It may do without. */
const HELP = blocksOf("text").filter((block) => block.startsWith("$ tenon --help\n"));

describe("the README", () => {
  test("has less than 250 lines", () => expect(README.split("\n").length).toBeLessThan(250));

  test("shows plugins of which this test has a call", () => {
    expect(plugins.length).toBeGreaterThan(0);
    for (const { name } of plugins) expect(Object.keys(CALLS)).toContain(name);
  });

  test.each(plugins)("shows a plugin $name that loads and does what it says", async ({ name, source }) => {
    await using files = await tempWorkspace(FILES);
    await using folder = await tempWorkspace({ [`${name}.ts`]: source });
    const file = join(folder.root, `${name}.ts`);
    const [loaded] = await createHosts(connectInProcess, new Map()).load({ file });
    expect(loaded?.definition.name).toBe(name);
    const plugin = await importPlugin(file);
    for (const [input, content] of CALLS[name] ?? []) {
      expect((await runPlugin(plugin, input, files.context)).content).toBe(content);
    }
    expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(25);
  });

  test(
    "shows plugins that work at the first start of an executable alone, with an empty home and no network",
    async () => {
      await using files = await tempWorkspace(FILES);
      await using copy = await copyOfProgram("executable");
      const texts = plugins.map(({ name, source }) => [`plugins/${name}.ts`, source]);
      await writeFiles(copy.folder, Object.fromEntries(texts));
      const calls = plugins.flatMap(({ name }) =>
        (CALLS[name] ?? []).map(([input, content]) => ({ name, input, content }))
      );
      const { stdout, stderr } = await runTenon("executable", {
        cwd: files.root,
        program: copy.folder,
        args: ["call"],
        stdin: calls.map(({ name, input }) => `${JSON.stringify({ name, input })}\n`).join(""),
        shell: OFFLINE,
      });
      const answers = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
      expect(answers.map(({ name, content }) => [name, content])).toEqual(
        calls.map(({ name, content }) => [name, content]),
      );
      expect(stderr).toBe("");
    },
    60_000,
  );

  test.each(HELP)("shows --help as the program prints it", (shown) => {
    const { task } = parseArgv(["--help"]);
    expect(shown.replace("$ tenon --help\n", "")).toBe(task.name === "show" ? task.text : "");
  });
});
