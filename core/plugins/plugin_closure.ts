/** A plugin file with all that it imports, and the one hash of it: what trust and kept definitions go by. */

import { open, realpath } from "node:fs/promises";
import { constants } from "node:fs";
import { sha256Of } from "../hash.ts";
import { dirname, extname, join, relative, SEPARATOR } from "../path.ts";
import { readImports } from "./plugin_imports.ts";
import { byCodePoint } from "../registry.ts";
import { oneLine } from "../text.ts";

export interface Closure {
  /** SHA-256, in hex, of all files with their names. */
  sha256: string;
  /** The bytes by path, relative to the plugin's folder and with `/`; sorted. The plugin itself is among them. */
  files: ReadonlyMap<string, Uint8Array>;
  /** Why these may not be all the files that can run, in words; absent when they are. */
  open?: string;
  /** Whether what the plugin exports follows from these bytes alone, as far as its text tells. */
  isPure: boolean;
}

/** Lent to every plugin by the program. */
export const LENT: ReadonlySet<string> = new Set(["valibot", "tenon"]);

/** Parts of the runtime that neither read files nor start anything. */
const PURE = new Set(
  "assert buffer crypto events path path/posix querystring stream string_decoder timers url util zlib".split(" "),
);

/** The endings of files that can run. */
export const CODE: ReadonlySet<string> = new Set([".ts", ".mts", ".js", ".mjs"]);
/** Endings of files that never run on either runtime, also those that are imported as text alone. */
const DATA = new Set(".json .txt .md .csv .yaml .yml .toml .sql".split(" "));

/** Bytes of one file and number of files, at most: a plugin of more is not followed. */
const SIZE_LIMIT = 2_000_000;
const FILES_LIMIT = 200;

/** Reads the file and what it imports, once each. Throws, in words for its author, when the plugin itself cannot be read. */
export async function readClosure(plugin: string): Promise<Closure> {
  const folder = dirname(plugin);
  const files = new Map<string, Uint8Array>();
  let isPure = true;
  let problem: string | undefined;
  const waiting: { path: string; from: string }[] = [{ path: plugin, from: "" }];
  const seen = new Set([plugin]);

  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const read = await readOwn(next.path);
    if (typeof read === "string") {
      if (next.path === plugin) throw new Error(read);
      problem ??= `${next.from} imports "${nameIn(folder, next.path)}", which ${read}`;
      continue;
    }
    if (files.size >= FILES_LIMIT) {
      problem ??= `it imports more than ${FILES_LIMIT} files`;
      break;
    }
    if (read.isLink) problem ??= `"${nameIn(folder, next.path)}" is reached by a link`;
    const name = nameIn(folder, next.path);
    files.set(name, read.bytes);
    if (!CODE.has(extname(next.path))) continue;
    const imports = readImports(new TextDecoder().decode(read.bytes));
    if (imports.unknown !== undefined) problem ??= `${name} has ${imports.unknown}`;
    if (imports.looksAround) isPure = false;
    for (const imported of imports.names) {
      const kind = kindOf(imported);
      if (kind === "impure") isPure = false;
      if (kind === "unknown") problem ??= `${name} imports "${oneLine(imported, 80)}"`;
      if (kind !== "file") continue;
      const path = join(dirname(next.path), imported);
      if (!seen.has(path)) waiting.push({ path, from: name });
      seen.add(path);
    }
  }
  const sorted = new Map([...files].toSorted(([a], [b]) => byCodePoint(a, b)));
  return {
    sha256: hashOf(nameIn(folder, plugin), sorted),
    files: sorted,
    ...(problem === undefined ? {} : { open: problem }),
    isPure: isPure && problem === undefined,
  };
}

/** The list of names and hashes is plain JSON, so that no two lists have one text. */
function hashOf(plugin: string, files: ReadonlyMap<string, Uint8Array>): string {
  return sha256Of(JSON.stringify([plugin, ...Array.from(files, ([name, bytes]) => [name, sha256Of(bytes)])]));
}

/** The path as it is called in a closure: from the plugin's folder, with `/`. */
export function nameIn(folder: string, path: string): string {
  return relative(folder, path).split(SEPARATOR).join("/");
}

/** A name with an ending that is known and nothing behind it is a file; what Bun would guess and Deno would not is unknown. */
function kindOf(imported: string): "file" | "lent" | "pure" | "impure" | "unknown" {
  if (LENT.has(imported)) return "lent";
  const builtin = /^node:(.+)$/.exec(imported)?.[1];
  if (builtin !== undefined) return PURE.has(builtin) ? "pure" : "impure";
  const ending = extname(imported);
  const isFile = /^\.\.?\//.test(imported) && !/[?#%\\]/.test(imported) && (CODE.has(ending) || DATA.has(ending));
  return isFile ? "file" : "unknown";
}

/** The bytes of a regular file, or why there are none. A pipe does not hold it up, and what was looked at is what is read. */
async function readOwn(path: string): Promise<{ bytes: Uint8Array; isLink: boolean } | string> {
  try {
    const isLink = await realpath(path) !== path;
    await using handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const { size, ...stat } = await handle.stat();
    if (!isRegular(stat.mode)) return "is not a regular file";
    if (size > SIZE_LIMIT) return `is over ${SIZE_LIMIT / 1_000_000} MB`;
    const bytes = await handle.readFile();
    return bytes.length > SIZE_LIMIT ? `is over ${SIZE_LIMIT / 1_000_000} MB` : { bytes, isLink };
  } catch (error) {
    return (error as { code?: string }).code === "ENOENT" ? "is not there" : "cannot be read";
  }
}

function isRegular(mode: number): boolean {
  return (mode & constants.S_IFMT) === constants.S_IFREG;
}
