/** Writes a whole file at once: a temporary file beside the target, then one rename; in place only where that cannot be. */

import { Buffer } from "node:buffer";
import { constants, type FileHandle, lstat, mkdir, open, readdir, rename, rmdir, unlink } from "node:fs/promises";
import { bytesIn, hashOf } from "./contents.ts";
import { sha256Of } from "../hash.ts";
import { toDisk } from "./name.ts";
import { type Folder, isAt, NOT_THROUGH, openFile, openFolder, TEMPORARY } from "./opening.ts";
import { childOf, nameOf, parentOf } from "../path.ts";
import { codeOf, refused } from "./refusal.ts";
import { renameStrictly } from "./swapping.ts";

/** What an open is refused with, by the file's mode or by the fence. */
const NOT_PERMITTED = new Set(["EACCES", "EPERM"]);

/** What the removal of a folder is refused with when something is in it. rmdir(2). */
const NOT_EMPTY = new Set(["ENOTEMPTY", "EEXIST"]);

/** A temporary file that nobody wrote to for so long was left by a process that was killed. Milliseconds. */
const STALE_MS = 60_000;

export interface Replacement {
  /** A real path: the file itself, or the folder that `names` begin in. */
  real: string;
  /** What is missing below `real`; the last one is the file. */
  names: readonly string[];
  content: string | Uint8Array;
  /** Mode of a file that is not there yet; without it what the umask leaves. One that is there keeps its own. */
  mode?: number | undefined;
  /** SHA-256 in hex of the file as it must be when it is replaced; null: there must be none. Undefined: it does not matter. */
  replaces?: string | null | undefined;
  announce?: Announce | undefined;
}

/**
 * Told the real path of a temporary file, and waited for, before the file is made; what it resolves with is called once nothing is there
 * any more. Whoever keeps the paths can remove what a killed process left.
 */
export type Announce = (temporary: string) => Promise<() => void>;

/**
 * Replaces or creates a file, after making the missing folders. Whoever reads sees the old file or the new one, never a part. Keeps the
 * mode of a file that is there, and its group where the user is in it (else what the group may do goes with it), and breaks its hard
 * links; owner, times and extended attributes are those of a new file. Where anything
 * fails the old file stays, and no temporary file and no new folder is left; a temporary file that a killed process left in this folder,
 * and nobody knows of, is removed after a minute.
 *
 * `replaces` is compared at the last moment, and under Bun on Linux once more with what the rename took away; elsewhere what comes in the
 * moment between is lost.
 */
export async function replaceFile(replacement: Replacement): Promise<void> {
  const { real, names, replaces } = replacement;
  if (names.length === 0) return await replaceIn(parentOf(real), nameOf(real), replacement);
  if (typeof replaces === "string") throw refused("it is no longer there. Look for it with list_files");
  let place = real;
  const made: string[] = [];
  try {
    for (const name of names.slice(0, -1)) {
      await using folder = await openFolder(place);
      const isMade = await mkdir(toDisk(folder.at(name))).then(() => true, (error) => {
        if (codeOf(error) !== "EEXIST") throw error;
        return false; // made by someone else just now; it is opened as a folder next
      });
      if (!(await folder.isHeld())) throw refused("its folder changed while it was written. Try again");
      place = childOf(place, name);
      if (isMade) made.push(place);
    }
    await replaceIn(place, names.at(-1) ?? "", replacement);
  } catch (error) {
    for (const folder of made.reverse()) await removeFolder(folder).catch(() => undefined);
    throw error;
  }
}

/**
 * Writes a file in place: for one that is granted alone, where nothing may be put beside it and renamed. The exception to what
 * `replaceFile` promises: whoever reads meanwhile may see some of either content, and so it stays when the process is killed in the middle.
 * Where the disk is full the old content is put back, if `replaces` tells which it was. Links to the file, its mode and its owner stay. `find` as in `openFile`; `replaces` as above.
 */
export async function overwriteFile(
  find: () => Promise<string>,
  content: string | Uint8Array,
  replaces: Replacement["replaces"],
): Promise<void> {
  const { handle } = await openFile(find, replaces === undefined ? "write" : "both").catch((error) => {
    if (!NOT_PERMITTED.has(codeOf(error) ?? "")) throw error;
    throw refused(
      "it is read-only, or another file since tenon was started: a file that is granted alone has to stay the same. " +
        "The user can grant its folder instead",
    );
  });
  try {
    const old = replaces === undefined ? undefined : await bytesIn(handle);
    if (old !== undefined && sha256Of(old) !== replaces) throw refused(changed(replaces ?? null));
    try {
      await handle.writeFile(content);
      // Cut only now: the space of the old content must be there if that is to come back.
      await handle.truncate(Buffer.byteLength(content));
      await handle.sync();
    } catch (error) {
      if (old !== undefined) await putBack(handle, old).catch(() => undefined);
      throw error;
    }
  } finally {
    await handle.close();
  }
}

async function putBack(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten;
  await handle.truncate(bytes.length);
  await handle.sync();
}

/** Removes a regular file; with `replaces` only one that is still this, compared at the last moment, as above. */
export async function removeFile(real: string, replaces: string | undefined): Promise<void> {
  await using folder = await openFolder(parentOf(real));
  const target = toDisk(folder.at(nameOf(real)));
  if (!(await lstat(target)).isFile()) throw refused("it is not a regular file");
  if (!(await folder.isHeld())) throw refused("its folder changed while it was removed. Try again");
  if (replaces !== undefined && await hashOf(target) !== replaces) throw refused("it was changed since");
  await unlink(target);
  await folder.sync();
}

/** Removes a folder that is empty; tells whether it was. */
export async function removeFolder(real: string): Promise<boolean> {
  await using folder = await openFolder(parentOf(real));
  if (!(await folder.isHeld())) throw refused("its folder changed while it was removed. Try again");
  try {
    await rmdir(toDisk(folder.at(nameOf(real))));
  } catch (error) {
    if (NOT_EMPTY.has(codeOf(error) ?? "")) return false;
    throw error;
  }
  await folder.sync();
  return true;
}

async function replaceIn(place: string, name: string, replacement: Replacement): Promise<void> {
  const { content, mode, replaces, announce } = replacement;
  await using folder = await openFolder(place);
  const target = toDisk(folder.at(name));
  const old = await lstat(target).catch(() => undefined);
  if (old !== undefined && !old.isFile()) throw refused("it is not a regular file");
  // A rename asks only for the folder: a file that may not be written must be refused here.
  if (old !== undefined) await (await open(target, constants.O_WRONLY | NOT_THROUGH)).close();
  await removeStale(folder);
  const temporaryName = `.tenon-${Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex")}.tmp`;
  const temporary = toDisk(folder.at(temporaryName));
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NOT_THROUGH;
  const gone = await announce?.(childOf(place, temporaryName));
  // A new file gets what the umask leaves; one whose mode is known is private until it has that.
  const known = old === undefined ? mode : old.mode & 0o777;
  const handle = await open(temporary, flags, known === undefined ? 0o666 : 0o600).catch((error) => {
    gone?.();
    throw error;
  });
  try {
    try {
      // Nothing is written before the place of the new file is known.
      if (!(await isAt(handle, childOf(place, temporaryName)))) {
        throw refused("its folder changed while it was written. Try again");
      }
      await handle.writeFile(content);
      const isOfGroup = old === undefined || await takesGroup(handle, old.gid);
      if (known !== undefined) await handle.chmod(isOfGroup ? known : withoutGroup(known));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await putInPlace(temporary, target, replaces);
    gone?.();
  } catch (error) {
    await unlink(temporary).then(gone, () => undefined);
    throw error;
  }
  await folder.sync();
}

/**
 * Renames a temporary file to its target, if that is still the one that it replaces. Whatever else came there since the look before is
 * taken away for a moment, seen and put back, where the system can do that (`renameStrictly`).
 */
async function putInPlace(
  temporary: string | Buffer,
  target: string | Buffer,
  replaces: Replacement["replaces"],
): Promise<void> {
  if (replaces === undefined) return await rename(temporary, target);
  if (await hashOf(target) !== replaces) throw refused(changed(replaces));
  const done = await renameStrictly(temporary, target, replaces === null ? "to a free name" : "both ways");
  if (done === "taken") throw refused(changed(replaces));
  if (done === "unknown") return await rename(temporary, target);
  if (replaces === null) return;
  if (await hashOf(temporary).catch(() => undefined) === replaces) return await unlink(temporary);
  if (await renameStrictly(temporary, target, "both ways") !== "done") await rename(temporary, target);
  throw refused(changed(replaces));
}

/** Gives an open file this group, as far as the user may; tells whether it has it now. */
async function takesGroup(handle: FileHandle, group: number): Promise<boolean> {
  const { uid, gid } = await handle.stat();
  return gid === group || await handle.chown(uid, group).then(() => true, () => false);
}

/** A mode for a file that is of another group than before: that one may do what everyone may. */
function withoutGroup(mode: number): number {
  return mode & 0o707 | (mode & 0o007) << 3;
}

function changed(replaces: string | null): string {
  const what = replaces === null ? "someone made it just now" : "it was changed since it was read";
  return `${what}. Read it with read_file first`;
}

/** Removes what a killed process left. Nothing depends on it: what cannot be removed stays. */
async function removeStale(folder: Folder): Promise<void> {
  const names = await readdir(toDisk(folder.at(""))).catch(() => []);
  for (const name of names.filter((name) => TEMPORARY.test(name))) {
    const path = toDisk(folder.at(name));
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isFile() && stats.mtimeMs < Date.now() - STALE_MS) await unlink(path).catch(() => undefined);
  }
}
