/** `tenon new`: writes a plugin to start from, a test for it, and the types that editors complete from. */

import { mkdir, readFile, writeFile } from "node:fs/promises";
import * as builtin from "../../plugins/mod.ts";
import { join } from "../path.ts";
import { findPlugins, isPluginName, NAME, NAME_NEEDS, toolOf } from "./plugins.ts";
import { codeOf } from "../files/refusal.ts";
import { denoState } from "../runtime.ts";
import { oneLine } from "../text.ts";
import { usageError } from "../usage_error.ts";

/** The first line of `tenon.d.ts`: a file that begins so may be written anew. */
const MARK = "// The types of tenon's plugins, written by `tenon new`; a later version writes them anew.";

/** Whatever its ending. (Source: "Naming Files, Paths, and Namespaces", Windows documentation.) */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/** Where it goes: the first `--plugins`, else the user's own folder. Throws a usage error when there is neither. */
export function newPluginFolder(named: readonly string[], config: string | undefined): string {
  const [first] = named;
  if (first !== undefined) return first;
  if (config === undefined) {
    throw usageError("There is no folder of your own to write it to. Name one with --plugins DIR");
  }
  return join(config, "plugins");
}

/**
 * Writes the three files, and makes the folder where there is none. Resolves with their paths. Throws a usage error, before
 * anything is written, for a name that cannot be a tool's, or where one of the files is there already, or a plugin of that name in
 * another folder that plugins are loaded from: one of the two would be set aside at every start. `others` are absolute and real.
 */
export async function writeNewPlugin(name: string, folder: string, others: readonly string[] = []): Promise<string[]> {
  const shown = oneLine(name, 80);
  const fail = (how: string) => usageError(`Cannot make a plugin named "${shown}": ${how}`);
  if (!NAME.test(name)) throw fail(`a name ${NAME_NEEDS}`);
  if (!isPluginName(`${name}.ts`)) throw fail("a file of that name is no plugin. Take another");
  if (Object.hasOwn(builtin, name)) throw fail("it is the name of a built-in tool. Take another");
  if (DEVICE.test(name)) throw fail("it is the name of a device on Windows, where no file can have it. Take another");
  if (name.toLowerCase() === "tenon") throw fail("the types that plugins import are called so. Take another");
  if (denoState({ name: "write", path: folder }) !== "granted") {
    throw fail(`Deno may not write its folder. Start with deno run --allow-read="${folder}" --allow-write="${folder}"`);
  }
  const files: [file: string, text: string][] = [
    [join(folder, `${name}.ts`), pluginText(name)],
    [join(folder, `${name}.test.ts`), testText(name)],
    [join(folder, "tenon.d.ts"), await typesText()],
  ];
  for (const [file] of files) {
    const text = await readFile(file, "utf8").catch((error) => codeOf(error) === "ENOENT" ? undefined : "");
    if (text !== undefined && !text.startsWith(MARK)) throw fail(`${oneLine(file, 500)} is there already`);
  }
  const found = (await Promise.all(others.map(findPlugins))).flatMap(({ files }) => files);
  const taken = found.find((file) => toolOf(file) === name);
  if (taken !== undefined) throw fail(`the name is taken (${oneLine(taken, 500)}). Take another`);
  try {
    await mkdir(folder, { recursive: true });
    for (const [file, text] of files) await writeFile(file, text, file.endsWith(".d.ts") ? {} : { flag: "wx" });
  } catch {
    throw fail(`${oneLine(folder, 500)} cannot be written to. Name another folder with --plugins DIR`);
  }
  return files.map(([file]) => file);
}

/** `core/tool.ts`, which says it all, as a module that needs nothing installed. Embedded in the executable as well. */
export async function typesText(): Promise<string> {
  const module: unknown = await import("../tool.ts", { with: { type: "text" } });
  const source = (module as { default: string }).default.replace(/^\/\/ deno-lint-ignore .*\n/gm, "").trimEnd();
  return `${MARK}\n\ndeclare module "tenon" {\n${source.replace(/^(?=.)/gm, "  ")}\n}\n`;
}

/** A plugin that works as it is, and that uses what most plugins use. */
function pluginText(name: string): string {
  return `/// <reference path="./tenon.d.ts" />
import type { Definition, Handler } from "tenon";

export const definition: Definition = {
  name: "${name}", // = the file's name
  // For the model: what it does, when to use it, with which other tool.
  description: "Counts the lines of a text file that hold a text. Use it when the user asks how often something is there.",
  input_schema: {
    type: "object",
    properties: {
      path: { type: "string", description: "File, relative to the workspace" },
      text: { type: "string", description: "What to look for, upper and lower case as written" },
    },
    required: ["path", "text"],
    additionalProperties: false,
  },
  permissions: { read: true }, // also: write, run, net: ["api.example.com:443"], env: ["NAME"]
  input_examples: [{ path: "README.md", text: "TODO" }],
};

export const handler: Handler<{ path: string; text: string }> = async ({ path, text }, { workspace }) => {
  if (text === "") throw new Error('Cannot look for "": it is empty. Give a text'); // the model reads this
  const lines = (await workspace.readText(path)).split("\\n");
  const found = lines.filter((line) => line.includes(text)).length;
  return \`\${found} of \${lines.length} lines of "\${path}" hold "\${text}"\`;
};
`;
}

function testText(name: string): string {
  return `// Runs with \`bun test\` and with \`deno test --allow-read\`: the handler is a function, the context a plain object.
import assert from "node:assert/strict";
import { test } from "node:test";
import { definition, handler } from "./${name}.ts";

const files: { [path: string]: string } = { "a.txt": "one\\ntwo ones\\nthree" };
const context = { workspace: { readText: (path: string) => Promise.resolve(files[path] ?? "") } };

test("${name} counts the lines that hold the text", async () => {
  assert.equal(await handler({ path: "a.txt", text: "one" }, context as never), '2 of 3 lines of "a.txt" hold "one"');
});

test("${name} refuses an empty text", async () => {
  await assert.rejects(async () => await handler({ path: "a.txt", text: "" }, context as never), /it is empty/);
});

test("${name} is named like its file", () => {
  assert.equal(definition.name, "${name}");
});
`;
}
