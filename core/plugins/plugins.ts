/** Plugin files: find them in a folder, import one, check what it exports. */

import { readdir, readlink, realpath, stat } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { lendModules } from "./lend.ts";
import { basename, extname, isInside, join, resolve } from "../path.ts";
import type { Loaded } from "../hosts/protocol.ts";
import { byCodePoint } from "../registry.ts";
import { readSchema, type Schema } from "./schema.ts";
import { strictProblem, wireSchema } from "./strict.ts";
import { stripped } from "../text.ts";
import type { Definition, Handler, Preview } from "../tool.ts";

/** A plugin that passed every check. */
export interface Plugin {
  loaded: Loaded;
  schema: Schema;
  handler: Handler;
  preview: Preview | undefined;
  /** Inputs that the author says pass the schema. */
  examples: unknown[];
}

/** A file that is not used, with the reason in words for its author. */
export interface SetAside {
  file: string;
  problem: string;
  /** An older version of it that worked is used on. */
  stays?: true;
}

/** For the user, on one line once it is made visible. */
export function setAsideLine({ file, problem, stays }: SetAside): string {
  const end = problem.endsWith("?") ? "" : ".";
  return `${file}: ${problem}${end} ${stays ? "The version before stays" : "Set aside"}`;
}

/** `by` is a file, or where the built-in tools are from. */
export function nameIsTaken(name: string, by: string): string {
  return `the name "${name}" is taken (${by}). Give the file and its tool another`;
}

/** Why a tool of this name does not come from this file; undefined when they are called the same. */
export function otherName(name: string, fileName: string): string | undefined {
  return name === fileName ? undefined : `definition.name: is "${name}", but the file is called "${fileName}"`;
}

/** Default and greatest limit of one call in milliseconds. */
const TIMEOUT_MS = 120_000;
export const MAX_TIMEOUT_MS = 600_000;
/** A built-in tool may take its own longest limit, and then say how far it came. */
export const OWN_TIMEOUT_MS = MAX_TIMEOUT_MS + 10_000;

/** What the API takes. */
export const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
export const NAME_NEEDS = "needs 1 to 64 of the characters a–z A–Z 0–9 _ -";

/** The tool that a plugin file holds is called like the file. */
export function toolOf(file: string): string {
  return basename(file, extname(file));
}

const ENDINGS = new Set([".ts", ".mts", ".js", ".mjs"]);

/** Whether a file of a plugins folder is a plugin: not a declaration, a test, a list of others, or private. */
export function isPluginName(name: string): boolean {
  if (!ENDINGS.has(extname(name)) || /^[_.]/.test(name)) return false;
  return !/\.d\.m?ts$|\.(test|spec)\.\w+$|_test\.\w+$|^mod\.\w+$/.test(name);
}

/** What is said of a folder that may not be listed. */
export const UNREADABLE = "cannot be read";

const LINK_OUT = "is a link to a file outside its folder. Copy the file here, or name its folder with --plugins";

/**
 * The plugin files of a folder (absolute and real), absolute, sorted by code point; one file under two names counts once. A folder
 * that is not there has none; what cannot be read, or is no regular file, is set aside. So is a link that leads out of the
 * folder: whoever runs the file may read its folder, and nobody said so of that one.
 */
export async function findPlugins(folder: string): Promise<{ files: string[]; setAside: SetAside[] }> {
  const files = new Map<string, string>();
  const setAside: SetAside[] = [];
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") {
      setAside.push({ file: folder, problem: error.code === "ENOTDIR" ? "is not a folder" : UNREADABLE });
    }
    return [];
  });
  const names = entries.filter(isPluginName).toSorted(byCodePoint);
  for (const name of names) {
    const file = join(folder, name);
    const real = await realpath(file).catch(() => undefined);
    const found = real === undefined ? undefined : await stat(real).catch(() => undefined);
    if (real === undefined || !isInside(folder, real)) {
      const problem = await linkProblem(file, folder, real);
      if (problem !== undefined) setAside.push({ file, problem });
    } else if (!found || found.isDirectory()) continue; // it went away at this moment, or is a folder
    else if (!found.isFile()) setAside.push({ file, problem: "is not a regular file" });
    // Of two names the file's own counts: a tool is called like its file.
    else if (!files.has(real) || basename(real) === name) files.set(real, file);
  }
  return { files: [...files.values()].toSorted(byCodePoint), setAside };
}

/** Undefined when the file is no link, but gone. Deno does not follow a link to where it may not read, so its text tells. */
async function linkProblem(file: string, folder: string, real: string | undefined): Promise<string | undefined> {
  if (real !== undefined) return LINK_OUT;
  const target = await readlink(file).catch(() => undefined);
  if (target === undefined) return undefined;
  return isInside(folder, resolve(folder, target)) ? "is a link whose target is not there" : LINK_OUT;
}

/** Imports a plugin file and checks it, however long that takes. Throws an `Error` that says where and why, for its author. */
export async function importPlugin(file: string): Promise<Plugin> {
  const name = toolOf(file);
  // No runtime imports every name, and no other one can be the tool's.
  if (!NAME.test(name)) throw new Error(`its name is the tool's, and ${NAME_NEEDS}`);
  lendModules();
  const module = await import(pathToFileURL(file).href).catch(async (error) => {
    const { loadProblem } = await import("./load_problem.ts");
    throw new Error(await loadProblem(error, file));
  });
  return await checkPlugin(module, name);
}

/** Checks what a module exports. The file's name is the tool's name; `longest` is the greatest limit of one call in milliseconds. */
export async function checkPlugin(
  module: { [name: string]: unknown },
  fileName: string,
  longest = MAX_TIMEOUT_MS,
): Promise<Plugin> {
  const { definition, handler, preview } = module as {
    definition?: Partial<Definition>;
    handler?: Handler;
    preview?: Preview;
  };
  if (definition === undefined) {
    const hint = "default" in module ? "; a default export does not count" : "";
    throw new Error(
      `has no export "definition"${hint}. Write export const definition = { name, description, input_schema }`,
    );
  }
  if (typeof definition !== "object" || definition === null) {
    throw new Error(`definition: needs an object with name, description and input_schema, not ${kindOf(definition)}`);
  }
  if (handler === undefined) {
    throw new Error('has no export "handler". Write export const handler = (input, context) => …');
  }
  if (typeof handler !== "function") throw new Error(`handler: needs a function, not ${kindOf(handler)}`);
  if (preview !== undefined && typeof preview !== "function") {
    throw new Error(`preview: needs a function, not ${kindOf(preview)}`);
  }
  const { name, description, timeout_ms = TIMEOUT_MS, strict = false } = definition;
  if (typeof name !== "string" || !NAME.test(name)) throw new Error(`definition.name: ${NAME_NEEDS}`);
  const other = otherName(name, fileName);
  if (other !== undefined) throw new Error(other);
  if (typeof description !== "string" || stripped(description).trim() === "") {
    throw new Error("definition.description: the model needs a sentence on what it does and when to use it");
  }
  if (description.length > 20_000) throw new Error("definition.description: is over 20,000 characters");
  if (typeof timeout_ms !== "number" || !(timeout_ms >= 1 && timeout_ms <= longest)) {
    throw new Error(`definition.timeout_ms: needs a number from 1 to ${longest}`);
  }
  const { input_examples: examples = [] } = definition;
  if (!Array.isArray(examples)) throw new Error("definition.input_examples: needs a list of inputs");
  const permissions = checkPermissions(definition.permissions ?? { read: true });
  const schema = await readSchema(definition.input_schema).catch((error) => {
    throw new Error(`definition.${error.message}`);
  });
  if (typeof strict !== "boolean") throw new Error("definition.strict: needs true or false");
  const refused = strict ? strictProblem(schema.json) : undefined;
  if (refused !== undefined) throw new Error(`definition.strict: ${refused}`);
  const input_schema = wireSchema(schema.json, strict);
  if (JSON.stringify(input_schema).length > 100_000) throw new Error("definition.input_schema: is over 100,000 bytes");
  const wire = { name, description: stripped(description).trim(), input_schema, ...(strict ? { strict } : {}) };
  return { loaded: { definition: wire, permissions, timeout_ms }, schema, handler, preview, examples };
}

/** Throws, in words for the author, when it is not what `Permissions` says. */
export function checkPermissions(permissions: unknown): Loaded["permissions"] {
  if (typeof permissions !== "object" || permissions === null || Array.isArray(permissions)) {
    throw new Error("definition.permissions: needs an object such as { read: true }");
  }
  const known: { [kind: string]: (value: unknown) => boolean } = {
    read: isBoolean,
    write: isBoolean,
    run: isBoolean,
    net: isStrings,
    env: isStrings,
  };
  for (const [kind, value] of Object.entries(permissions)) {
    const fits = Object.hasOwn(known, kind) ? known[kind] : undefined;
    if (!fits) throw new Error(`definition.permissions: there is no "${kind}"; there are read, write, run, net, env`);
    if (!fits(value)) {
      throw new Error(
        `definition.permissions.${kind}: needs ${fits === isBoolean ? "true or false" : "a list of names"}`,
      );
    }
  }
  return { ...permissions };
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return /^[aeiou]/.test(typeof value) ? `an ${typeof value}` : `a ${typeof value}`;
}

function isBoolean(value: unknown): boolean {
  return typeof value === "boolean";
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
