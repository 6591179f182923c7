/** What the user trusts of plugins that lie within reach of tools: pinned by hash, and run from a copy out of their reach. */

import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import process from "node:process";
// @ts-types="../../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { declaredPermissions } from "../permissions/declared_permissions.ts";
import { sha256Of } from "../hash.ts";
import { createQueue } from "../hosts/queue.ts";
import { basename, dirname, extname, isInside, join } from "../path.ts";
import { parseProblem } from "./parse_problem.ts";
import { permissionSet } from "../permissions/permissions.ts";
import { type Closure, CODE, readClosure } from "./plugin_closure.ts";
import { deno } from "../runtime.ts";
import { mayWrite, readState, writeState } from "../state_file.ts";
import type { Permissions } from "../tool.ts";

/** A plugin that may be trusted, as far as its text tells. */
export interface Trustable {
  /** Absolute and real. */
  file: string;
  /** As its text declares them. */
  permissions: Permissions;
  closure: Closure;
  /** It was trusted before; the files that are others now, or new. */
  changed: string[] | undefined;
}

export interface Trust {
  /** Whether these very bytes are trusted at this place; else what there is to trust, or why it cannot be. */
  judge(file: string, closure: Closure): { state: "trusted" | "untrusted"; plugin: Trustable } | string;
  /** Pins the plugin. Throws, in words for the user, when that cannot be kept. */
  accept(plugin: Trustable): Promise<void>;
  /** Takes back every plugin below the folder, and says how many there were. Throws as `accept` does. */
  revoke(folder: string): Promise<number>;
  /**
   * A copy of the files of this hash, to be run instead of them: nobody who may write where the plugin lies may write there.
   * Throws, in words for the user, when there is no place for it.
   */
  copyOf(file: string, closure: Closure): Promise<string>;
}

const Hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const Pinned = v.object({ sha256: Hash, permissions: v.string(), files: v.record(v.string(), Hash) });
/** By the plugin's path: the same bytes at another place are another thing to trust. */
const Store = v.object({ plugins: v.record(v.string(), Pinned) });
type Store = v.InferOutput<typeof Store>;

/** Opens the list in the state folder. Where it cannot be read nothing is trusted. */
export async function openTrust(state: string | undefined): Promise<Trust> {
  const file = state === undefined ? undefined : join(state, "trust.json");
  let store = await readStore(file);

  async function change(edit: (plugins: Store["plugins"]) => void): Promise<void> {
    const { plugins } = await readStore(file); // another tenon may have written since
    const before = hashesOf(plugins);
    edit(plugins);
    if (file === undefined || !(await writeState(file, { plugins }))) throw new Error(noPlace(state));
    store = { plugins };
    await removeCopies(state, before.difference(hashesOf(plugins)));
  }

  return {
    judge(path, closure) {
      const problem = untrustable(closure);
      if (problem !== undefined) return problem;
      const permissions = declaredPermissions(new TextDecoder().decode(closure.files.get(basename(path))));
      if (!permissions) return "cannot be trusted: its permissions are not written out in one literal, { read: true }";
      const known = Object.hasOwn(store.plugins, path) ? store.plugins[path] : undefined;
      const isSame = known?.sha256 === closure.sha256 && known.permissions === permissionSet(permissions);
      const unread = isSame ? undefined : unreadable(path, closure);
      if (unread !== undefined) return `cannot be trusted: ${unread}`;
      const changed = known && !isSame ? changedFiles(known.files, closure) : undefined;
      return { state: isSame ? "trusted" : "untrusted", plugin: { file: path, permissions, closure, changed } };
    },
    async accept({ file, permissions, closure }) {
      const files = Object.fromEntries(Array.from(closure.files, ([name, bytes]) => [name, sha256Of(bytes)]));
      await change((plugins) => {
        plugins[file] = { sha256: closure.sha256, permissions: permissionSet(permissions), files };
      });
    },
    async revoke(folder) {
      let count = 0;
      await change((plugins) => {
        for (const path of Object.keys(plugins)) {
          if (!isInside(folder, path)) continue;
          delete plugins[path];
          count++;
        }
      });
      return count;
    },
    copyOf: (path, closure) => copyClosure(state, path, closure),
  };
}

function hashesOf(plugins: Store["plugins"]): Set<string> {
  return new Set(Object.values(plugins).map(({ sha256 }) => sha256));
}

/**
 * Removes the copies that no plugin needs any more. Another tenon may run one of them: what its host has loaded it has, and a
 * host that starts later says that the file is gone. Copies of versions that work on beside a bad file are nobody's trust, and stay.
 */
async function removeCopies(state: string | undefined, hashes: Iterable<string>): Promise<void> {
  for (const sha256 of hashes) {
    const folder = join(state ?? "", "trusted", sha256);
    if (state !== undefined && mayWrite(folder)) await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

/** Plugins are looked at together, and two of the same bytes have one copy. */
const inTurn = createQueue(1);

/** See `Trust.copyOf`. What lies there already is read and compared, not believed. */
export async function copyClosure(state: string | undefined, file: string, closure: Closure): Promise<string> {
  if (state === undefined) throw new Error(noPlace(state));
  return await inTurn(() => makeCopy(state, file, closure));
}

async function makeCopy(state: string, file: string, closure: Closure): Promise<string> {
  const folder = join(state, "trusted", closure.sha256);
  const copy = join(folder, basename(file));
  if (await isCopy(copy, closure)) return copy;
  const part = `${folder}.${process.pid}.new`;
  try {
    if (!mayWrite(folder)) throw new Error("not granted");
    await rm(part, { recursive: true, force: true });
    for (const [name, bytes] of closure.files) {
      await mkdir(dirname(join(part, name)), { recursive: true, mode: 0o700 });
      await writeFile(join(part, name), bytes, { mode: 0o600 });
    }
    await rm(folder, { recursive: true, force: true });
    await rename(part, folder);
  } catch {
    // Another tenon may have made it at this moment.
  }
  if (await isCopy(copy, closure)) return copy;
  throw new Error(noPlace(state));
}

async function isCopy(copy: string, closure: Closure): Promise<boolean> {
  return await readClosure(copy).then(({ sha256 }) => sha256 === closure.sha256, () => false);
}

/** Whether the bytes that are hashed are all that can run, and can be copied elsewhere. */
export function untrustable({ open, files }: Closure): string | undefined {
  const rule = "A plugin to be trusted imports only files beside or below it, node: modules, valibot and tenon";
  if (open !== undefined) return `cannot be trusted: ${open}. ${rule}`;
  const above = [...files.keys()].find((name) => name.startsWith("../"));
  return above === undefined ? undefined : `cannot be trusted: it imports "${above}". ${rule}`;
}

/** Of a file that does not parse nobody knows what it declares, and it cannot run. Once it is mended it is another one to trust. */
function unreadable(path: string, { files }: Closure): string | undefined {
  for (const [name, bytes] of files) {
    const problem = CODE.has(extname(name)) ? parseProblem(name, new TextDecoder().decode(bytes)) : undefined;
    if (problem !== undefined) return name === basename(path) ? problem : `${name} ${problem}`;
  }
  return undefined;
}

function changedFiles(known: { [name: string]: string }, { files }: Closure): string[] {
  return [...files].filter(([name, bytes]) => !Object.hasOwn(known, name) || known[name] !== sha256Of(bytes))
    .map(([name]) => name);
}

async function readStore(file: string | undefined): Promise<Store> {
  const parsed = v.safeParse(Store, file === undefined ? undefined : await readState(file));
  return parsed.success ? parsed.output : { plugins: {} };
}

function noPlace(state: string | undefined): string {
  if (state === undefined) return "there is no home folder to keep what is trusted in: set HOME to one that is there";
  const flags = deno ? `. Start with deno run --allow-read=${state} --allow-write=${state}` : "";
  return `what is trusted is kept in ${state}, which cannot be written${flags}`;
}
