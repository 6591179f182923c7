/** Small JSON files in the state folder: read with care, written whole. */

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import process from "node:process";
import { dirname } from "./path.ts";
import { denoState, mayRead } from "./runtime.ts";

/** What the file holds; undefined when there is none, or it cannot be read, or it is no JSON. */
export async function readState(file: string): Promise<unknown> {
  if (!mayRead(file)) return undefined;
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Writes the file, for the user's eyes only: it is the old one or the new one, never a part. Tells whether that went well. */
export async function writeState(file: string, value: unknown): Promise<boolean> {
  if (!mayWrite(file)) return false;
  const part = `${file}.${process.pid}.new`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(part, `${JSON.stringify(value)}\n`, { mode: 0o600 });
    await rename(part, file);
    return true;
  } catch {
    return false;
  }
}

/** Whether this process may write there without a question of the runtime's own. */
export function mayWrite(path: string): boolean {
  return denoState({ name: "write", path }) === "granted";
}
