/** Small JSON files in the state folder: read with care, written whole. */

import { accessSync, constants, existsSync } from "node:fs";
import { mkdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import process from "node:process";
import { dirname } from "./path.ts";
import { deno, denoState, mayRead } from "./runtime.ts";

/** What the file holds; undefined when there is none, or it cannot be read, or it is no JSON. */
export async function readState(file: string): Promise<unknown> {
  if (!mayRead(file)) return undefined;
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Writes the file, as `writeWhole` does. Tells whether that went well. */
export async function writeState(file: string, value: unknown): Promise<boolean> {
  return mayWrite(file) && await writeWhole(file, `${JSON.stringify(value)}\n`).then(() => true, () => false);
}

/** Writes a file, for the user's eyes only: it is the old one or the new one, never a part. Where it throws, nothing new is left. */
export async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  const part = `${file}.${process.pid}.new`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(part, content, { mode: 0o600 });
    await rename(part, file);
  } catch (error) {
    await unlink(part).catch(() => undefined); // the disk is full: it must not stay so for a part that nobody can use
    throw error;
  }
}

/** Whether this process may write there without a question of the runtime's own. */
export function mayWrite(path: string): boolean {
  return denoState({ name: "write", path }) === "granted";
}

/**
 * What the user misses where the state folder, `kept` of the premises, cannot be written; undefined where it can. What Deno was not given
 * is told elsewhere.
 */
export function whatIsNotKept(kept: string | undefined): string | undefined {
  if (deno || canKeep(kept)) return undefined;
  const where = kept === undefined ? "" : ` in ${kept}`;
  return `Nothing can be kept${where}: there is no undo, and commands have no home and no folder for temporary files. ` +
    "Set HOME or XDG_STATE_HOME to a folder that you can write";
}

/** Whether a file of this folder, or the folder itself, can be written. */
export function canKeep(folder: string | undefined): boolean {
  return folder !== undefined && mayWrite(folder) && (deno !== undefined || canWrite(folder));
}

/** The folder, or what it would be made in. */
function canWrite(folder: string): boolean {
  const above = dirname(folder);
  if (!existsSync(folder) && above !== folder) return canWrite(above);
  try {
    accessSync(`${folder}/.`, constants.W_OK); // a file in its place is none
    return true;
  } catch {
    return false;
  }
}
