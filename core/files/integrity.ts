/** Tells the user when a tool changed files of the workspace that other programs run later, from which the kernel cannot hold it. */

import { lstat, readlink } from "node:fs/promises";
import { realpathOf } from "./grant.ts";
import { sha256Of } from "../hash.ts";
import { entriesIn, openFile } from "./opening.ts";
import { dirname, join } from "../path.ts";
import { placeName } from "../permissions/policy.ts";
import { BUILT_IN, byCodePoint, type CallOptions, type Outcome, type Tool } from "../registry.ts";
import { oneLine } from "../text.ts";

/** What git, direnv, editors, and agents take orders from. */
const FILES = [".git", ".git/config", ".git/config.worktree", ".envrc", ".mcp.json", "package.json"];

/** Of these every file that lies directly in them. */
const FOLDERS = [".git/hooks", ".husky", ".vscode", ".cursor", ".claude"];

/** Bytes of one file that are compared; a larger one is known by its size and time. */
const FILE_LIMIT = 1_000_000;

/** Files of one folder that are looked at, the first by name; a change in the others goes unseen. */
const FOLDER_LIMIT = 200;

/** Names in one report. */
const NAMED = 8;

/** What lies at a path, as text that is equal exactly when it is the same; paths where nothing lies are not in it. */
type Look = Map<string, string>;

/**
 * The same tool, whose every call is looked at before and after. Only what starts programs, or has code of its own that may write, is:
 * every other change goes through the guard. `roots` are absolute and real; nothing in them is written, and no link is followed.
 */
export function watchIntegrity(tool: Tool, roots: readonly string[]): Tool {
  const { host, permissions, source } = tool;
  if (!permissions.run && (!permissions.write || source === BUILT_IN)) return tool;

  async function call(name: string, input: unknown, options: CallOptions): Promise<Outcome> {
    const before = await lookAt(roots);
    try {
      return await host.call(name, input, options);
    } finally {
      const changes = changesBetween(before, await lookAt(roots), roots[0] ?? "");
      if (changes.length > 0) options.warn?.(`${name} changed what other programs run: ${list(changes)}`);
    }
  }

  return { ...tool, host: { ...host, call } };
}

async function lookAt(roots: readonly string[]): Promise<Look> {
  const paths = await Promise.all(roots.flatMap((root) => [
    ...FILES.map((name) => [join(root, name)]),
    ...FOLDERS.map((name) => filesIn(join(root, name))),
  ]));
  const found = await Promise.all(paths.flat().map(async (path) => [path, await markOf(path)] as const));
  return new Map(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** The folder itself, which may be a link, and the files in it; the examples that git puts there are never run. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await entriesIn(folder).catch(() => []);
  const names = entries.map(({ name }) => name).filter((name) => !name.endsWith(".sample"));
  return [folder, ...names.slice(0, FOLDER_LIMIT).map((name) => join(folder, name))];
}

async function markOf(path: string): Promise<string | undefined> {
  try {
    // A folder on the way that is a link is told by itself: what it leads to is not the workspace's.
    if (await realpathOf(dirname(path)) !== dirname(path)) return undefined;
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) return `link to ${await readlink(path)}`;
    if (!stats.isFile()) return stats.isDirectory() ? undefined : "no file";
    const mode = (stats.mode & 0o111).toString(8); // git passes over a hook that may not be run
    if (stats.size > FILE_LIMIT) return `${mode} ${stats.size} bytes of ${stats.mtimeMs}`;
    const { handle } = await openFile(() => Promise.resolve(path));
    try {
      const bytes = new Uint8Array(stats.size);
      const { bytesRead } = await handle.read(bytes, 0, stats.size, 0);
      const content = bytes.subarray(0, bytesRead);
      return `${mode} ${sha256Of(path.endsWith("package.json") ? scriptsOf(content) : content)}`;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

/** Of a package.json only what is run; all of it where that cannot be told. */
function scriptsOf(bytes: Uint8Array): Uint8Array | string {
  try {
    const { scripts } = JSON.parse(new TextDecoder().decode(bytes));
    return JSON.stringify(scripts ?? null);
  } catch {
    return bytes;
  }
}

function changesBetween(before: Look, after: Look, root: string): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort(byCodePoint);
  return paths.filter((path) => before.get(path) !== after.get(path)).map((path) => {
    const how = !before.has(path) ? " (new)" : !after.has(path) ? " (gone)" : "";
    return `${oneLine(placeName(root, path), 60)}${how}`;
  });
}

function list(changes: readonly string[]): string {
  const named = changes.slice(0, NAMED).join(", ");
  return changes.length > NAMED ? `${named} and ${changes.length - NAMED} more` : named;
}
