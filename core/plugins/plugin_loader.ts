/** From a plugin file to what core knows of it: trusted or not, kept or loaded anew, or why it is set aside. */

import { realpath } from "node:fs/promises";
import type { DefinitionCache, Refused } from "./definition_cache.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { permissionSet } from "../permissions/permissions.ts";
import { type Closure, readClosure } from "./plugin_closure.ts";
import { type Failure, loadPlugin } from "./load_plugin.ts";
import type { Loaded } from "../hosts/protocol.ts";
import { shellWord } from "./shell_word.ts";
import { canKeep } from "../state_file.ts";
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
  /** The problem lies in what is beside the file, and may be gone without a change of it. */
  isBeside?: true;
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
}

/**
 * What may make a file fail at one time and not at another, though it looks at no file: with it no failure is kept. (Of a file
 * that loads the definition is kept all the same, for a handler may well ask for the time.)
 */
const BY_CHANCE = /\b(?:fetch|WebSocket|EventSource|Date|Temporal|random|crypto|performance|navigator|setTimeout)\b/;

export function createLoader({ hosts, trust, cache, state }: LoaderOptions): Loader {
  /** What the file exports, or why it does not load; known from before where its bytes tell all, unless it failed and is tried `again`. */
  async function load({ file, runs, closure, again }: Subject): Promise<Found> {
    const kept = closure.open === undefined ? cache.get(closure.sha256) : undefined;
    if (kept && !("problem" in kept)) {
      if (closure.isPure) return { good: { loaded: kept, runs, closure } };
    } else if (kept && !again) return { problem: wordsFor(kept, file) };
    const found = await loadPlugin(hosts, { file: runs, closure });
    const verdict = "problem" in found ? keptFailure(found, closure) : closure.isPure ? found : undefined;
    // It may have been written to between the look and the load.
    if (verdict && (await readClosure(runs)).sha256 === closure.sha256) cache.put(closure.sha256, verdict);
    if (!("problem" in found)) {
      if (kept && !verdict) cache.forget(closure.sha256);
      return { good: { loaded: found, runs, closure } };
    }
    if (found.in === "beside") return { problem: found.problem, isBeside: true };
    return { problem: verdict && "problem" in verdict ? wordsFor(verdict, file) : found.problem };
  }

  /** To be kept over the next start, which tells by the file alone how to try again; where nothing can be kept there is none. */
  function wordsFor({ problem, late }: Refused, file: string): string {
    if (!late || !canKeep(state)) return problem;
    return `${problem}. It is not tried again until the file changes, or tenon check ${shellWord(file)} finds it well`;
  }

  async function loadTrusted(subject: Subject): Promise<Found> {
    const { file, closure } = subject;
    const judged = trust.judge(file, closure);
    if (typeof judged === "string") return { problem: judged };
    if (judged.state === "untrusted") return { untrusted: judged.plugin };
    const found = await load({ ...subject, runs: await trust.copyOf(file, closure) });
    if (!found.good) return found;
    const [shown, real] = [judged.plugin.permissions, found.good.loaded.permissions].map(permissionSet);
    if (shown === real) return found;
    return { problem: `declares ${real}, but its text says ${shown}, and that is what was trusted` };
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

  async function lookAnew(subject: Subject, needsTrust: boolean): Promise<Found> {
    try {
      return await (needsTrust ? loadTrusted(subject) : load(subject));
    } catch (error) {
      return { problem: wordsOf(error) };
    }
  }

  return {
    async examine({ file, needsTrust }, known, again) {
      const runs = await realpath(file).catch(() => file); // then it is gone, and the next line says so
      let closure: Closure;
      try {
        // A link is never trusted, and the closure tells of it; else the file itself runs, under its own name and among its own.
        closure = await readClosure(needsTrust ? file : runs);
      } catch (error) {
        return { file, closure: undefined, problem: wordsOf(error) };
      }
      const isSame = known?.closure?.sha256 === closure.sha256;
      const isOpen = known?.untrusted !== undefined || known?.isBeside;
      const mayDiffer = isOpen || again && (!closure.isPure || known?.problem !== undefined);
      if (known && isSame && !mayDiffer) return known;
      const found = await lookAnew({ file, runs, closure, again }, needsTrust);
      if (known && isSame && found.problem !== undefined && found.problem === known.problem) return known;
      if (found.problem === undefined || !known?.good) return { file, closure, ...found };
      return { ...found, ...await keep(known, known.good, found.problem, closure) };
    },
  };
}

type Found = Omit<Examined, "file" | "closure">;

interface Subject {
  /** As it was found. */
  file: string;
  /** The file that is loaded. */
  runs: string;
  closure: Closure;
  again: boolean;
}

/**
 * What is worth keeping of a failure: what follows from the bytes that were hashed, and so comes back at every start, be it at
 * once or after the five seconds that a file is given which never ends. Not what depends on what is around the file (a package
 * that is missing, a host that was killed, a file that it reads): that may be mended without a change of it. That it took too
 * long is kept also where the file looks around, since each start would wait as long; the user is told.
 */
function keptFailure({ problem, in: where }: Failure, { open, isPure, files }: Closure): Refused | undefined {
  if (where === "time") return open === undefined ? { problem, late: true } : undefined;
  const byChance = [...files.values()].some((bytes) => BY_CHANCE.test(new TextDecoder().decode(bytes)));
  return where === "file" && isPure && !byChance ? { problem } : undefined;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : "did not load";
}
