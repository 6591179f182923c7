/** The user's own folders: where they are, and which workspace would lay them open. */

import { dirname, isInside } from "./path.ts";

/** Absolute. Without a known home folder some are unknown too; a guess could lie in the workspace. */
export interface Folders {
  home: string | undefined;
  /** Settings and the user's plugins. */
  config: string | undefined;
  /** Sessions and the list of trusted plugins. */
  state: string | undefined;
}

export interface System {
  env(name: string): string | undefined;
  /** As `process.platform`. */
  platform: string;
  /** Absolute; empty when it is not known. */
  home: string;
}

/**
 * `$XDG_CONFIG_HOME` and `$XDG_STATE_HOME` on every system, where they are absolute (XDG Base Directory Specification: a
 * relative one is to be ignored); else `~/.config` and `~/.local/state`, on macOS `~/Library/Application Support`, on
 * Windows `%APPDATA%` and `%LOCALAPPDATA%`. Pure: nothing is made or looked at.
 */
export function foldersOf({ env, platform, home }: System): Folders {
  const isWindows = platform === "win32";
  const absolute = (path: string | undefined) =>
    path !== undefined && (isWindows ? /^(?:[a-z]:[/\\]|\\\\)/i : /^\//).test(path) ? path : undefined;
  const below = (folder: string | undefined, ...names: string[]) =>
    folder === undefined ? undefined : [folder.replace(/[/\\]+$/, ""), ...names].join(isWindows ? "\\" : "/");
  const ownHome = absolute(home);
  const first = (name: string) => absolute(env(name));

  const xdgConfig = below(first("XDG_CONFIG_HOME"), "tenon");
  const xdgState = below(first("XDG_STATE_HOME"), "tenon");
  const [config, state] = isWindows
    ? [
      below(first("APPDATA") ?? below(ownHome, "AppData", "Roaming"), "tenon"),
      below(first("LOCALAPPDATA") ?? below(ownHome, "AppData", "Local"), "tenon"),
    ]
    : platform === "darwin"
    ? [
      below(ownHome, "Library", "Application Support", "tenon"),
      below(ownHome, "Library", "Application Support", "tenon", "state"),
    ]
    : [below(ownHome, ".config", "tenon"), below(ownHome, ".local", "state", "tenon")];
  return { home: ownHome, config: xdgConfig ?? config, state: xdgState ?? state };
}

/**
 * What speaks against this folder as a workspace, unless `--allow-broad-workspace` is given: `it is your home folder`; undefined
 * when nothing does. Paths are compared as text: give the real ones.
 */
export function broadness(root: string, { home, config, state }: Folders): string | undefined {
  const holds = (folder: string | undefined) => folder !== undefined && isInside(root, folder);
  if (dirname(root) === root) return "it is the root of the file system";
  if (root === home) return "it is your home folder";
  if (holds(home)) return "it holds your home folder";
  if (holds(config)) return "it holds tenon's settings";
  return holds(state) ? "it holds tenon's sessions" : undefined;
}

/** What to do about `broadness`. */
export const NARROWER = "Go to the folder of one project, or give --allow-broad-workspace";
