/** Writes a whole file at once: a temporary file beside the target, then one rename. */

import { constants, lstat, mkdir, open, rename, unlink } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { toDisk } from "./name.ts";
import { isAt, openFolder } from "./opening.ts";
import { childOf, nameOf, parentOf } from "./path.ts";
import { codeOf, refused } from "./refusal.ts";

/** Neither follows a link nor waits for a pipe. */
const NOT_THROUGH = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Replaces or creates the file at a real path, after making the missing folders of `names` (the last one is the file). Whoever reads sees
 * the old file or the new one, never a part. Keeps the mode of a file that is there and breaks its hard links; owner, times and
 * extended attributes are those of a new file. Where anything fails the old file stays and no temporary file is left.
 */
export async function replaceFile(real: string, names: readonly string[], text: string): Promise<void> {
  if (names.length === 0) return await replaceIn(parentOf(real), nameOf(real), text);
  let place = real;
  for (const name of names.slice(0, -1)) {
    await using folder = await openFolder(place);
    await mkdir(toDisk(folder.at(name))).catch((error) => {
      if (codeOf(error) !== "EEXIST") throw error; // made by someone else just now; it is opened as a folder next
    });
    if (!(await folder.isHeld())) throw refused("its folder changed while it was written. Try again");
    place = childOf(place, name);
  }
  await replaceIn(place, names.at(-1) ?? "", text);
}

async function replaceIn(place: string, name: string, text: string): Promise<void> {
  await using folder = await openFolder(place);
  const target = toDisk(folder.at(name));
  const old = await lstat(target).catch(() => undefined);
  if (old !== undefined && !old.isFile()) throw refused("it is not a regular file");
  // A rename asks only for the folder: a file that may not be written must be refused here.
  if (old !== undefined) await (await open(target, constants.O_WRONLY | NOT_THROUGH)).close();
  const temporaryName = `.tenon-${randomBytes(8).toString("hex")}.tmp`;
  const temporary = toDisk(folder.at(temporaryName));
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NOT_THROUGH;
  // A new file gets what the umask leaves; one that replaces another is private until it has the other's mode.
  const handle = await open(temporary, flags, old === undefined ? 0o666 : 0o600);
  try {
    try {
      // Nothing is written before the place of the new file is known.
      if (!(await isAt(handle, childOf(place, temporaryName)))) {
        throw refused("its folder changed while it was written. Try again");
      }
      await handle.writeFile(text);
      if (old !== undefined) await handle.chmod(old.mode & 0o777);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await folder.sync();
}
