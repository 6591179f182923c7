/** Real places of paths that the user names. */

import { realpathSync } from "node:fs";
import type { Folders } from "./folders.ts";
import { basename, dirname, isAbsolute, join, resolve } from "./path.ts";
import type { Place } from "./permissions/policy.ts";
import { mayRead } from "./runtime.ts";

/** The workspace at `root`, where a path that is a link counts as what it leads to: a link may not widen a ceiling. */
export function placeAt(root: string, named?: string): Place {
  return { root, ...(named === undefined ? {} : { named }), resolve: (path) => realOf(resolve(root, path)) };
}

/**
 * The folder `name` as an absolute path in the user's own words, where a link makes that another one than the real path. `pwd` is the
 * shell's word for the current folder (`cd link` leaves the link in it); it counts only if it is that folder.
 */
export function namedRoot(name: string, root: string, pwd: string | undefined): string | undefined {
  const spellings = [...(pwd !== undefined && isAbsolute(pwd) ? [resolve(pwd, name)] : []), resolve(name)];
  return spellings.find((path) => path !== root && realOf(path) === root);
}

/**
 * The real path of an absolute one, as far as it exists. Where Deno may not look it stays as it is: nothing is granted
 * there anyhow.
 */
export function realOf(path: string): string {
  if (!mayRead(path)) return path;
  try {
    return realpathSync.native(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realOf(above), basename(path));
  }
}

/** The user's folders where they really are: a home that is reached by a link is compared with real workspaces. */
export function realFolders({ home, config, state }: Folders): Folders {
  const real = (path: string | undefined) => path === undefined ? undefined : realOf(path);
  return { home: real(home), config: real(config), state: real(state) };
}
