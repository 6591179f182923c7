/** The environment of a fenced process: built from nothing, never copied. */

import process from "node:process";

/** What a child's environment is made of besides the user's own variables. */
export interface EnvironmentOptions {
  /** A private empty folder: the user's own holds credentials and settings that run programs. */
  home: string;
  /** A private folder for temporary files. */
  tmp: string;
  /** Variables that the user let through by `--allow-env`. */
  names: string[];
  /** Whether a folder is one that a tool may write: a program there is not one that the user put in the path. */
  isWritable(folder: string): boolean;
}

/**
 * Never passed on, also when named: keys of the API, and what makes a runtime or the loader run other code (`BUN_OPTIONS`,
 * `BUN_BE_BUN`, `NODE_OPTIONS`, `LD_PRELOAD`, `DYLD_INSERT_LIBRARIES`).
 */
const NEVER = /^(ANTHROPIC|BUN|NODE|DENO|LD|DYLD)_/i;

/** What Windows programs need to start at all. */
const WINDOWS = ["SystemRoot", "PATHEXT", "ComSpec"];

/** Passed on where it is set: a tool's time is the user's. Where it is not, `/etc/localtime` counts. */
const TIME_ZONE = "TZ";

const FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin";

/** The whole environment for a host or a command, from the user's. Changes nothing. */
export function cleanEnvironment(
  env: Record<string, string | undefined>,
  { home, tmp, names, isWritable }: EnvironmentOptions,
  platform: string = process.platform,
): Record<string, string> {
  const windows = platform === "win32";
  const passed = [TIME_ZONE, ...(windows ? WINDOWS : []), ...names].filter((name) => !NEVER.test(name));
  const clean: Record<string, string> = {};
  for (const name of passed) {
    const value = env[name];
    if (value !== undefined) clean[name] = value;
  }
  return {
    ...clean,
    PATH: safePath(env["PATH"] ?? env["Path"] ?? "", windows, isWritable),
    HOME: home,
    TMPDIR: tmp,
    ...(windows ? { USERPROFILE: home, TEMP: tmp, TMP: tmp } : {}),
    LANG: env["LANG"] ?? "C.UTF-8",
    TERM: "dumb",
  };
}

/** Without relative entries (the empty one is the current folder) and without folders that a tool may write. */
function safePath(path: string, windows: boolean, isWritable: (folder: string) => boolean): string {
  const absolute = windows ? /^([a-z]:[\\/]|\\\\)/i : /^\//;
  const folders = path.split(windows ? ";" : ":").filter((folder) => absolute.test(folder) && !isWritable(folder));
  return folders.join(windows ? ";" : ":") || (windows ? "" : FALLBACK_PATH);
}
