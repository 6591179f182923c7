/** Opens real paths so that what was judged is what is opened, also while someone swaps folders for links. */

import type { BigIntStats, Dirent } from "node:fs";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink } from "node:fs/promises";
import { realpathOf } from "./grant.ts";
import { byCodePoint, fromDisk, toDisk } from "./name.ts";
import { childOf } from "../path.ts";
import { codeOf, refused } from "./refusal.ts";
import type { Entry } from "../tool.ts";

/** A file that is being replaced has this name for a moment; it is listed nowhere. */
export const TEMPORARY = /^\.tenon-[0-9a-f]+\.tmp$/;

/** Neither follows a link nor waits for a pipe. */
export const NOT_THROUGH = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** How often an opening is tried again when the place changed under it. */
const ATTEMPTS = 5;

/** Pairs of looks at a path where the kernel cannot be asked. */
const LOOKS = 12;

/** Codes of an opening that met another state than the look before it. */
const MOVED = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/**
 * An open regular file and the real path that it was opened by. `find` resolves and judges the path, again for each attempt.
 * A pipe, socket or device is refused without being opened; the handle does not block. To open changes nothing in the
 * file, also for writing.
 */
export async function openFile(
  find: () => Promise<string>,
  access: "read" | "write" | "both" = "read",
): Promise<{ handle: FileHandle; real: string }> {
  const flags = { read: constants.O_RDONLY, write: constants.O_WRONLY, both: constants.O_RDWR }[access] | NOT_THROUGH;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const real = await find();
    let handle: FileHandle | undefined;
    try {
      const seen = await lstat(toDisk(real), { bigint: true });
      if (!seen.isFile() && !seen.isSymbolicLink()) throw refused(notAFile(seen));
      handle = await open(toDisk(real), flags);
      if ((await handle.stat()).isFile() && (await isAt(handle, real))) return { handle, real };
    } catch (error) {
      await handle?.close();
      if (!MOVED.has(codeOf(error) ?? "")) throw error;
      continue;
    }
    await handle.close();
  }
  throw refused("it changed while it was opened. Try again");
}

/** A folder held open, so that names in it mean the same folder even after its path leads elsewhere. */
export interface Folder extends AsyncDisposable {
  /** Where a name in it is found. On Linux the path goes through the open handle; elsewhere it is the plain path. */
  at(name: string): string;
  /** Whether the path of the folder still leads to it. Always true where `at` goes through the handle. */
  isHeld(): Promise<boolean>;
  /** Waits until the names in it are on the disk, where the system can do that. */
  sync(): Promise<void>;
}

/** Opens a folder by its real path. */
export async function openFolder(real: string): Promise<Folder> {
  // Windows opens no folder as a file: there the folder is compared before and after.
  const handle = constants.O_DIRECTORY === undefined
    ? undefined
    : await open(toDisk(real), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const first = handle === undefined ? await lstat(toDisk(real), { bigint: true }) : undefined;
    const isHeld = async () => handle === undefined ? await isSame(first, real) : await isAt(handle, real);
    if (!(await isHeld())) throw refused("it changed while it was opened. Try again");
    const isProc = handle !== undefined && await placeOf(handle) !== undefined;
    return {
      at: (name) => isProc ? `/proc/self/fd/${handle.fd}/${name}` : childOf(real, name),
      isHeld: async () => isProc || await isHeld(),
      sync: async () => await handle?.sync().catch(() => undefined),
      [Symbol.asyncDispose]: async () => await handle?.close(),
    };
  } catch (error) {
    await handle?.close();
    throw error;
  }
}

/** What lies in a folder, by its real path: sorted by code point, names as in `fromDisk`. */
export async function entriesIn(real: string): Promise<{ name: string; kind: Entry["kind"] }[]> {
  await using folder = await openFolder(real);
  const found = await readdir(toDisk(folder.at("")), { withFileTypes: true });
  const entries = await Promise.all(
    found.filter((entry) => !entry.name.includes("\ufffd")).map(async (entry) => ({
      name: entry.name,
      kind: kindOf(entry) ?? await kindAt(folder.at(entry.name)),
    })),
  );
  if (entries.length < found.length) {
    // Some name is not UTF-8 (or has a U+FFFD of its own): only its bytes tell it from another.
    for (const bytes of await readdir(toDisk(folder.at("")), { encoding: "buffer" })) {
      const name = fromDisk(bytes);
      if (/[\ufffd\udc80-\udcff]/u.test(name)) entries.push({ name, kind: await kindAt(folder.at(name)) });
    }
  }
  if (!(await folder.isHeld())) throw refused("it changed while it was read. Try again");
  return entries.filter(({ name }) => !TEMPORARY.test(name)).sort((a, b) => byCodePoint(a.name, b.name));
}

/** Whether the open file is what lies at this real path, and no part of the path has become a link. */
export async function isAt(handle: FileHandle, real: string): Promise<boolean> {
  const place = await placeOf(handle);
  if (place !== undefined) return place === real;
  return await isSame(await handle.stat({ bigint: true }), real);
}

/**
 * Without the kernel's answer there is no single look that tells both what lies at a path and that no link is on the way. A swapper can
 * pass one pair of looks by luck, about one time in four; it has to pass all of them.
 */
async function isSame(held: BigIntStats | undefined, real: string): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    const now = await lstat(toDisk(real), { bigint: true });
    if (now.dev !== held?.dev || now.ino !== held.ino || await realpathOf(real) !== real) return false;
  }
  return true;
}

/** Where the kernel says that an open file is now; nothing where it cannot be asked (no Linux, or Deno's permissions). */
async function placeOf(handle: FileHandle): Promise<string | undefined> {
  try {
    return fromDisk(await readlink(`/proc/self/fd/${handle.fd}`, { encoding: "buffer" }));
  } catch {
    return undefined;
  }
}

async function kindAt(path: string): Promise<Entry["kind"]> {
  try {
    return kindOf(await lstat(toDisk(path))) ?? "other";
  } catch {
    return "other"; // gone since, or a name that this runtime cannot express
  }
}

/** The kind, or nothing where the file system did not tell. */
function kindOf(entry: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">): Entry["kind"] | undefined {
  return entry.isFile() ? "file" : entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : undefined;
}

function notAFile(stats: BigIntStats): string {
  if (stats.isDirectory()) return "it is a directory. Use list_files";
  const kind = stats.isFIFO() ? "a named pipe" : stats.isSocket() ? "a socket" : "a device";
  return `it is ${kind}, not a regular file`;
}
