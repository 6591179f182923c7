/** The user's own folders: where they are, and which workspace would lay them open. */

import { dirname, isInside } from "./path.ts";
import { oneLine } from "./text.ts";

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
 * Why this folder is no workspace without `--allow-broad-workspace`, in words for the user; undefined when it is one.
 * Paths are compared as text: give the real ones.
 */
export function checkBroad(root: string, { home, config, state }: Folders): string | undefined {
  const holds = (folder: string | undefined) => folder !== undefined && isInside(root, folder);
  const what = dirname(root) === root
    ? "it is the root of the file system"
    : root === home
    ? "it is your home folder"
    : holds(home)
    ? "it holds your home folder"
    : holds(config)
    ? "it holds tenon's settings"
    : holds(state)
    ? "it holds tenon's sessions"
    : undefined;
  if (what === undefined) return undefined;
  return `Cannot work in "${oneLine(root)}": ${what}. Go to the folder of one project, or give --allow-broad-workspace`;
}
