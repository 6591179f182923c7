/** Where plugins come from, and which of these places must be trusted first. */

import { statSync } from "node:fs";
import { isInside, join } from "../path.ts";

export interface PluginFolder {
  /** Absolute and real; it may not be there. */
  path: string;
  /** Who has only the workspace may have put the files there, or may change them: each is run only when it is trusted. */
  needsTrust: boolean;
}

export interface Places {
  /** The workspace: absolute and real. */
  root: string;
  /** Where tools may write. */
  writable: readonly string[];
  /** Beside the program. */
  own: string;
  /** The program is its sources: what lies beside it is run already. */
  isSource: boolean;
  /** The user's own folder and those of `--plugins`. */
  further: readonly string[];
  realOf(path: string): string;
}

/** What a repository can bring along, relative to the workspace. */
const WORKSPACE_PLUGINS = join(".tenon", "plugins");

/**
 * In the order in which names are given away; each place once. A folder of `--plugins` inside the workspace needs trust like
 * any other one there: the flag names a place, not what the next pull, or a tool, puts there.
 */
export function pluginFoldersOf({ root, writable, own, isSource, further, realOf }: Places): PluginFolder[] {
  const isInReach = (path: string) =>
    [root, ...writable].some((folder) => isInside(folder, path) || isInside(path, folder));
  const [ownReal, ...others] = [own, ...further].map(realOf);
  const ours = join(root, WORKSPACE_PLUGINS);
  const folders: PluginFolder[] = [
    { path: ownReal ?? own, needsTrust: !isSource && isInReach(ownReal ?? own) },
    ...others.map((path) => ({ path, needsTrust: isInReach(path) })),
    // A link to elsewhere would be a way to point at files that nobody was shown.
    ...(realOf(ours) === ours ? [{ path: ours, needsTrust: true }] : []),
  ];
  return folders.filter(({ path }, index) => folders.findIndex((folder) => folder.path === path) === index);
}

/** What lies at a path now, to be compared: the fence lets through this folder and no other one that is made in its place. */
export function folderAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** Of a folder that the fence does not let through, since it was not there when the fence was raised. */
export const MADE_LATER =
  "was made after tenon started, and the fence lets through what was there then. Start tenon again " +
  "to load its plugins";
