/** What keeps a plugin from being imported, told from the text of its imports: the same words on every runtime. */

import { readdir, stat } from "node:fs/promises";
import { type Closure, CODE, LENT, nameIn } from "./plugin_closure.ts";
import { basename, dirname, extname, isInside, join } from "../path.ts";
import { isExecutable, programFolder } from "../runtime.ts";
import { realOf } from "../place.ts";
import { shellWord } from "./shell_word.ts";
import { readStaticImports, type StaticImport } from "./static_imports.ts";
import { oneLine } from "../text.ts";

/** Modules of Node that Bun 1.4 and Deno 2.9 both have, by the `builtinModules` of each. */
const NODE = new Set(
  ("assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns " +
    "dns/promises domain events fs fs/promises http http2 https inspector inspector/promises module net os path path/posix " +
    "path/win32 perf_hooks process punycode querystring readline readline/promises repl sqlite stream stream/consumers " +
    "stream/promises stream/web string_decoder sys test timers timers/promises tls trace_events tty url util util/types v8 " +
    "vm wasi worker_threads zlib").split(" "),
);
/** Endings of code beside those of plugins that both runtimes take. */
const OTHER_CODE = new Set([".cjs", ".cts", ".jsx", ".tsx", ".wasm"]);
/** These are there only with `node:` before them. */
const PREFIXED = new Set(["sqlite", "test"]);

/**
 * Why the plugin is set aside before anything of it runs, in words for its author; undefined where nothing is found. The runtimes
 * differ here: Bun leaves out an import whose names are not used and guesses endings, Deno does neither; so a plugin would be a
 * tool on one of them alone. Only what is imported for sure is looked at, in the plugin and in the files that it imports so: not
 * types, and not what a call of `import()` names, which is found out when it is called. `plugin` is real.
 */
export async function importProblem(plugin: string, { files }: Pick<Closure, "files">): Promise<string | undefined> {
  const folder = dirname(plugin);
  const waiting = [plugin];
  for (const path of waiting) { // which grows
    const bytes = files.get(nameIn(folder, path));
    if (!bytes || !CODE.has(extname(path))) continue;
    const where = path === plugin ? "" : `${nameIn(folder, path)} `;
    const text = textOf(bytes);
    if (text === undefined) return `${where}is not UTF-8 text. Save it as UTF-8`;
    if (path === plugin && isCommonJs(text)) return NO_EXPORTS;
    const twin = await twinOf(path);
    if (twin !== undefined) return `${where}is called like ${oneLine(twin, 80)} ${TWINS}`;
    for (const one of readStaticImports(text)) {
      const problem = await problemOf(one, path, folder);
      if (problem !== undefined) return `${where}line ${one.line}: ${problem}`;
      const next = join(dirname(path), one.name);
      if (isRelative(one.name) && !waiting.includes(next)) waiting.push(next);
    }
  }
  return undefined;
}

const NO_EXPORTS =
  "exports nothing. Write export const definition = { name, description, input_schema }, and no module.exports";

/** Bun runs such a file, and Deno does not. Whoever writes `export`, be it in a comment, is left to the runtime. */
function isCommonJs(text: string): boolean {
  return /\bexports\b|\bexport\s*=/.test(text) && !/\bexport\b(?!\s*=)/.test(text);
}

const TWINS = "but for upper and lower case, which not every system tells apart";

/** A file beside it whose name Bun takes for the same: it imports one of them for both. */
async function twinOf(path: string): Promise<string | undefined> {
  const name = basename(path);
  const names = await readdir(dirname(path)).catch(() => []);
  return names.find((other) => other !== name && other.toLowerCase() === name.toLowerCase());
}

/**
 * What to do about a package that is not there. npm looks for a project above the folder unless it is told the place. The words are
 * pasted into a shell, and the name is a plugin's: what is no name of a package is in no command.
 */
export function missingPackage(name: string, folder: string): string {
  const imports = `imports "${oneLine(name, 80)}", which is not there`;
  const own = packageOf(name);
  if (!/^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/i.test(own)) return `${imports}. Is its name right?`;
  const install = oneLine(`npm install --prefix ${shellWord(folder)} ${own}`, 300);
  return `${imports}: run ${install}. Only valibot and tenon come with the program`;
}

async function problemOf(one: StaticImport, from: string, folder: string): Promise<string | undefined> {
  const { name, typesOnly } = one;
  const imports = `imports "${oneLine(name, 80)}"`;
  // Escapes, and what a package.json or the runtime itself knows, are the runtime's.
  if (name === "" || name.includes("\\") || /^[#/]|^(?:file|data|bun):|^bun$/.test(name) || LENT.has(name)) {
    return undefined;
  }
  const builtin = /^node:(.*)$/.exec(name)?.[1];
  if (builtin !== undefined) {
    return NODE.has(builtin)
      ? undefined
      : `${imports}, which is no module of Node that both Bun and Deno have. Use another`;
  }
  if (isRelative(name)) return await fileProblem(one, imports, dirname(from), folder);
  if (/^[a-z][a-z0-9+.-]*:/i.test(name)) {
    return /^(?:npm|jsr):/.test(name)
      ? `${imports}: packages are found in node_modules alone. Install it with npm install --prefix ${
        oneLine(shellWord(folder), 200)
      }, and import it by its name`
      : `${imports}: nothing is loaded from the network. Save the file beside the plugin, and import "./FILE"`;
  }
  if (NODE.has(name) && !PREFIXED.has(name) || await isInstalled(packageOf(name), dirname(from), folder)) {
    return undefined;
  }
  const lent = packageOf(name);
  if (LENT.has(lent)) return `${imports}, but the program has "${lent}" itself alone. Import that`;
  if (!typesOnly) return missingPackage(name, folder);
  return `${imports}, which is not there: types alone are imported without it by import type { … } from "${
    oneLine(name, 80)
  }"`;
}

/** A file counts under its whole name only: endings are guessed by Bun, and not by Deno. `own` is the plugin's folder. */
async function fileProblem(
  { name, attributes }: StaticImport,
  imports: string,
  folder: string,
  own: string,
): Promise<string | undefined> {
  const path = join(folder, name.replace(/[?#].*$/, ""));
  if (!isReadable(path, own)) {
    return `${imports}, which lies outside the plugin's folder. Put it beside or below the plugin`;
  }
  if (await kindOf(path) !== "file") {
    const base = path.slice(0, path.length - extname(path).length);
    const near = [`${path}.ts`, `${base}.ts`, `${path}.js`, join(path, "mod.ts"), join(path, "index.ts")];
    const found = await Promise.all(near.map(async (other) => await kindOf(other) === "file" ? other : undefined));
    const other = found.find((one) => one !== undefined);
    const hint = other === undefined ? "Is its name right?" : `Did you mean "${nameFrom(folder, other)}"?`;
    return `${imports}, which is not there. ${hint}`;
  }
  const type = /\btype["']?\s*:\s*["'](\w+)["']/.exec(attributes)?.[1];
  const ending = extname(path);
  if (type === "text" || ending === ".json" && type === "json" || CODE.has(ending) || OTHER_CODE.has(ending)) {
    return undefined;
  }
  if (ending !== ".json") {
    return `${imports}, which is no code. As text: from "${oneLine(name, 80)}" with { type: "text" }`;
  }
  return `${imports} without saying what it is. Write: from "${oneLine(name, 80)}" with { type: "json" }`;
}

/** By a host that loads a plugin of this folder. */
function isReadable(path: string, own: string): boolean {
  return isInside(own, path) || !isExecutable() && isInside(realOf(programFolder()), path);
}

/** Whether a package lies in a folder of `from` or above it, as far as a host that loads a plugin of `own` may look. */
export async function isInstalled(name: string, from: string, own: string): Promise<boolean> {
  for (let at = from; isReadable(at, own); at = dirname(at)) {
    if (await kindOf(join(at, "node_modules", name)) === "folder") return true;
    if (at === dirname(at)) return false;
  }
  return false;
}

async function kindOf(path: string): Promise<"file" | "folder" | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? "file" : found?.isDirectory() ? "folder" : undefined;
}

/** The package of an import: its first name, or the first two after an `@`. */
export function packageOf(name: string): string {
  return /^(?:@[^/]*\/)?[^/]*/.exec(name)?.[0] ?? name;
}

function isRelative(name: string): boolean {
  return /^\.\.?(?:\/|$)/.test(name);
}

function nameFrom(folder: string, path: string): string {
  const name = nameIn(folder, path);
  return oneLine(name.startsWith("../") ? name : `./${name}`, 80);
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
