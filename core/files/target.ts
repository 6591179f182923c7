/** The file that a tool is about to change: where it is, what is in it, and that the model has seen just that. */

import { sha256Of } from "../hash.ts";
import { quoted } from "./refusal.ts";
import type { Context, SeenFile } from "../tool.ts";

export interface Target {
  /** Its real path, as `workspace.resolve` gives it. */
  real: string;
  bytes: Uint8Array;
  seen: SeenFile;
}

export interface Need {
  verb: "edit" | "write";
  /** All of it must have been read; otherwise a part is enough. */
  whole: boolean;
  /** What to do when it was not read, as a sentence without a stop. */
  otherwise: string;
}

/** Bytes that are held at once. */
const LIMIT = 50_000_000;

/**
 * The file at `path`, which must have been read in this session and be unchanged since. Throws for the model, in the verb of the tool,
 * before the content is looked at where that can be.
 */
export async function openTarget(path: string, { verb, whole, otherwise }: Need, context: Context): Promise<Target> {
  const { workspace, seen: files } = context;
  const real = await inWords(verb, path, workspace.resolve(path));
  const { kind, size } = await inWords(verb, path, workspace.stat(path));
  if (kind === "folder") throw cannot(verb, path, "it is a folder. Name a file in it");
  if (kind === "other") throw cannot(verb, path, "it is not a regular file");
  await inWords(verb, path, workspace.resolve(real, "write"));
  const seen = files.get(real);
  if (seen === undefined || (whole && !seen.whole)) throw cannot(verb, path, otherwise);
  if (size > LIMIT) {
    const [is, most] = [size, LIMIT].map((bytes) => bytes.toLocaleString("en-US"));
    throw cannot(verb, path, `it has ${is} bytes, and at most ${most} can be changed here. Use a command such as sed`);
  }
  const bytes = await inWords(verb, path, workspace.readBytes(path));
  if (sha256Of(bytes) !== seen.sha256) {
    throw cannot(verb, path, "it was changed since it was read. Read it again with read_file");
  }
  return { real, bytes, seen };
}

/** An answer of the workspace; its refusal in the verb of the tool, with the path as the model named it. */
export async function inWords<T>(verb: Need["verb"], path: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const how = error instanceof Error
      ? /^Cannot (?:open|read|write) ".*?": (.*)$/s.exec(error.message)?.[1]
      : undefined;
    throw how === undefined ? error : cannot(verb, path, how);
  }
}

/** The error for the model: why a file is not changed. */
export function cannot(verb: Need["verb"], path: string, how: string): Error {
  return new Error(`Cannot ${verb} ${quoted(path)}: ${how}`);
}
