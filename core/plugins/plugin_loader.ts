/** From a plugin file to what core knows of it: trusted or not, kept or loaded anew, or why it is set aside. */

import { realpath } from "node:fs/promises";
import type { DefinitionCache } from "./definition_cache.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { permissionSet } from "../permissions/permissions.ts";
import { type Closure, readClosure } from "./plugin_closure.ts";
import { liesWithin } from "./plugin_folders.ts";
import type { Loaded } from "../hosts/protocol.ts";
import { copyClosure, type Trust, type Trustable, untrustable } from "./trust.ts";

/** A plugin file as it was when it was looked at; exactly one of `good`, `problem` alone and `untrusted` tells how it is. */
export interface Examined {
  /** As it was found. */
  file: string;
  closure: Closure | undefined;
  good?: Good;
  /** Why the file is not used; beside `good`, which then is an older version of it, why that stays. */
  problem?: string;
  untrusted?: Trustable;
}

/** What can be called. */
export interface Good {
  loaded: Loaded;
  /** The file that runs: the plugin, or a copy of it. */
  runs: string;
  closure: Closure;
}

export interface Loader {
  /** Looks at a file. What was known of it is returned as it is when nothing has changed. */
  examine(candidate: Candidate, known: Examined | undefined, again: boolean): Promise<Examined>;
}

export interface Candidate {
  file: string;
  /** Of its folder. */
  needsTrust: boolean;
}

export interface LoaderOptions {
  hosts: Pick<Hosts, "load">;
  trust: Trust;
  cache: DefinitionCache;
  /** Where copies are kept. */
  state: string | undefined;
  /** Folders that tools may write in. */
  reach: readonly string[];
}

export function createLoader({ hosts, trust, cache, state, reach }: LoaderOptions): Loader {
  /** What the file exports, from the cache where its bytes tell all. */
  async function load(runs: string, closure: Closure): Promise<Good> {
    const kept = closure.isPure ? cache.get(closure.sha256) : undefined;
    if (kept) return { loaded: kept, runs, closure };
    const [loaded] = await hosts.load({ file: runs });
    if (!loaded) throw new Error("did not load");
    // It may have been written to between the look and the load.
    if (closure.isPure && (await readClosure(runs)).sha256 === closure.sha256) cache.put(closure.sha256, loaded);
    return { loaded, runs, closure };
  }

  async function loadTrusted(file: string, closure: Closure): Promise<Pick<Examined, "good" | "untrusted">> {
    const judged = trust.judge(file, closure);
    if (typeof judged === "string") throw new Error(judged);
    if (judged.state === "untrusted") return { untrusted: judged.plugin };
    const good = await load(await trust.copyOf(file, closure), closure);
    const [shown, real] = [judged.plugin.permissions, good.loaded.permissions].map(permissionSet);
    if (shown === real) return { good };
    throw new Error(`declares ${real}, but its text says ${shown}, and that is what was trusted`);
  }

  async function lookAnew({ file, needsTrust }: Candidate, closure: Closure): Promise<Examined> {
    try {
      const real = await realpath(file);
      const found = needsTrust || real !== file && liesWithin(reach, real)
        ? await loadTrusted(file, closure)
        : { good: await load(file, closure) };
      return { file, closure, ...found };
    } catch (error) {
      return { file, closure, problem: wordsOf(error) };
    }
  }

  /** The version that worked, from a copy: its file has other bytes now. */
  async function keep({ file }: Examined, old: Good, problem: string, closure: Closure | undefined): Promise<Examined> {
    if (untrustable(old.closure) !== undefined) return { file, closure, problem };
    try {
      const runs = await copyClosure(state, file, old.closure);
      return { file, closure, good: { ...old, runs }, problem };
    } catch {
      return { file, closure, problem };
    }
  }

  return {
    async examine(candidate, known, again) {
      const { file } = candidate;
      let closure: Closure;
      try {
        closure = await readClosure(file);
      } catch (error) {
        return { file, closure: undefined, problem: wordsOf(error) };
      }
      const isSame = known?.closure?.sha256 === closure.sha256;
      const mayDiffer = known?.untrusted !== undefined || again && (!closure.isPure || known?.problem !== undefined);
      if (known && isSame && !mayDiffer) return known;
      const found = await lookAnew(candidate, closure);
      return found.problem !== undefined && known?.good ? await keep(known, known.good, found.problem, closure) : found;
    },
  };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : "did not load";
}
