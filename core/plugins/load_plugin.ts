/** Loads one plugin file in a host of its own, and tells its author why that fails. */

import type { Hosts } from "../hosts/hosts.ts";
import type { Loaded } from "../hosts/protocol.ts";
import { importProblem } from "./import_problem.ts";
import type { Closure } from "./plugin_closure.ts";
import { otherName, toolOf } from "./plugins.ts";

export interface Failure {
  /** In words for the author. */
  problem: string;
  /**
   * What it lies in: what is `beside` the file, such as a package that is missing; the `file` itself; the `time` that it took; or
   * how its `host` ended.
   */
  in: "beside" | "file" | "time" | "host";
}

/** `file` is real, and its bytes are those of the closure. `inspect` is for `tenon check`. */
export async function loadPlugin(
  hosts: Pick<Hosts, "load">,
  { file, closure, inspect = false }: { file: string; closure: Closure; inspect?: boolean },
): Promise<Loaded | Failure> {
  const problem = await importProblem(file, closure);
  if (problem !== undefined) return { problem, in: "beside" };
  try {
    const [loaded] = await hosts.load({ file, ...(inspect ? { inspect } : {}) });
    if (!loaded) return { problem: "did not load", in: "host" };
    // The host has checked it; but while it was imported the file could speak in its place, and name itself like another one.
    const other = otherName(loaded.definition.name, toolOf(file));
    return other === undefined ? loaded : { problem: other, in: "host" };
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : new Error("did not load");
    if (cause === "plugin") return { problem: message, in: "file" };
    if (cause === "late") return { problem: message, in: "time" };
    return { problem: wordsForEnd(message), in: "host" };
  }
}

/** A plugin that ends its host is told what to do; whatever else a host dies of is not the author's. */
function wordsForEnd(reason: string): string {
  const end = /^its process (ended by itself|crashed)|^it ran out of memory|^its plugin wrote/.test(reason);
  return end ? `while it was imported, ${reason}. Only export there, and do the work in the handler` : reason;
}
