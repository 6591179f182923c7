/** What may be read and written: the granted roots, what is denied inside them, and the names that are refused everywhere. */

import { realpath } from "node:fs/promises";
import { fromDisk, toDisk } from "./name.ts";
import { childOf, isInside, nameOf, namesBetween, parentOf } from "../path.ts";
import { codeOf, refused } from "./refusal.ts";
import { isGitName, isSecretName } from "./secrets.ts";

/** What the user granted. Every path is absolute; a list names folders with all that is below them, and single files. */
export interface Grant {
  /** The workspace: relative paths begin here, and printed paths are relative to it. */
  root: string;
  /** The root as the user named it, where that is another path: an absolute path may begin so too. Never followed. */
  named?: string;
  read: string[];
  /** Nothing may be written when it is empty. */
  write: string[];
  denyRead: string[];
  denyWrite: string[];
  /** What the tool itself does not declare: no answer of the user gives it that. Nothing when absent. */
  undeclared?: Access[];
  /** Addresses, each `host:port` in its one spelling, that core fetches from for the tool. None when absent. */
  net?: string[];
  /** Variables that the tool may see. None when absent. */
  env?: string[];
}

/** What is done with a file. */
export type Access = "read" | "write";

/** Then nothing may be looked at either: under Deno the look itself would be refused. */
export function grantsNothing({ read, write }: Grant): boolean {
  return read.length === 0 && write.length === 0;
}

/** Why this is not done: the user did not grant it, or the tool does not declare it, and then its author has to. */
export function ungranted({ undeclared = [] }: Grant, access: Access): Error {
  if (!undeclared.includes(access)) {
    return refused(`${USING[access]} it was not granted by the user`);
  }
  // Whoever names one permission gets no other one, so both have to stand there.
  const kept = ACCESSES.filter((one) => one === access || !undeclared.includes(one)).map((one) => `${one}: true`);
  return refused(`the tool does not declare ${access}. Its definition needs permissions: { ${kept.join(", ")} }`);
}

const USING = { read: "reading", write: "writing" };
const ACCESSES: readonly Access[] = ["read", "write"];

/** A grant with every path in its real place. */
export interface Rules {
  readonly root: string;
  readonly named?: string;
  /** Every granted root as it was named and as it really is: where an absolute path may begin. */
  readonly folders: readonly string[];
  /** Whether a real path lies in any granted root or in the workspace. */
  holds(real: string): boolean;
  /** Whether a real path may be written by its own name, and nothing beside it: its folder was not granted. */
  isAlone(real: string): boolean;
  /** Throws the reason when a real path may not be used in this way. Judges the text alone: the caller has resolved every link. */
  check(real: string, access: Access): void;
}

/** Takes the grant to its real places. A path that does not exist yet is taken as far as it exists. */
export async function rulesOf(grant: Grant): Promise<Rules> {
  const look = !grantsNothing(grant);
  const root = look ? await realpathOf(grant.root) : grant.root;
  const settled = (paths: string[]) => look ? Promise.all(paths.map(settle)) : paths;
  const [read, write, denyRead, denyWrite] = await Promise.all([
    settled(grant.read),
    settled(grant.write),
    settled(grant.denyRead),
    settled(grant.denyWrite),
  ]);
  const granted = { read, write };
  const denied = { read: denyRead, write: denyWrite };
  const named = new Set([...read, ...write].filter((path) => path !== root));
  const known = [root, ...read, ...write];
  const check = (real: string, access: Access): void => {
    const outer = known.find((folder) => isInside(folder, real));
    if (outer === undefined) throw outside();
    if (denied[access].some((folder) => isInside(folder, real))) {
      throw refused(`${USING[access]} it is denied. Only the user can lift this`);
    }
    if (!granted[access].some((folder) => isInside(folder, real))) throw ungranted(grant, access);
    // Each name on the way counts, from the outermost folder that is ours: `.ssh/config` is as secret as `.ssh`.
    let place = outer;
    for (const name of namesBetween(outer, real)) {
      place = childOf(place, name);
      if (access === "write" && isGitName(name)) throw refused("nothing is written below .git. Use git itself");
      if (isSecretName(name) && !named.has(place)) {
        throw refused(
          `files named like this hold secrets. Only the user can lift this, with --allow-${access} and the path`,
        );
      }
    }
  };
  const holds = (real: string): boolean => known.some((folder) => isInside(folder, real));
  const isAlone = (real: string): boolean =>
    write.includes(real) && !write.some((folder) => isInside(folder, parentOf(real)));
  const folders = [...new Set([grant.root, ...grant.read, ...grant.write, ...known])];
  return { root, ...(grant.named === undefined ? {} : { named: grant.named }), folders, isAlone, holds, check };
}

/** The reason for a path that leads out of every granted root. */
export function outside(): Error {
  return refused("it is outside the workspace. Use a path inside it");
}

/** `realpath` for names of every kind. */
export async function realpathOf(path: string): Promise<string> {
  return fromDisk(await realpath(toDisk(path), { encoding: "buffer" }));
}

async function settle(path: string): Promise<string> {
  try {
    return await realpathOf(path);
  } catch (error) {
    const above = parentOf(path);
    if (codeOf(error) !== "ENOENT" || above === path) throw error;
    return childOf(await settle(above), nameOf(path));
  }
}
