/** The file that a tool is about to change: where it is, what is in it, and that the model has seen just that. */

import { sha256Of } from "../hash.ts";
import { quoted } from "./refusal.ts";
import type { Context, SeenFile, Stat } from "../tool.ts";
import { whyNotWhole } from "./unread.ts";

export interface Target {
  /** Its real path, as `workspace.resolve` gives it. */
  real: string;
  bytes: Uint8Array;
  seen: SeenFile;
  stat: Stat;
}

/** What is done with a file: for an edit a part must have been read, to be written anew the whole of it. */
export type Verb = "edit" | "write";

/** Bytes that are held at once. */
const LIMIT = 50_000_000;

/** The file at `path`, which must have been read in this session and be unchanged since. Throws for the model, in the verb of the tool. */
export async function openTarget(path: string, verb: Verb, context: Context): Promise<Target> {
  const { workspace, seen: files } = context;
  const real = await inWords(verb, path, workspace.resolve(path));
  const stat = await inWords(verb, path, workspace.stat(path));
  const { kind, size } = stat;
  if (kind === "folder") throw cannot(verb, path, "it is a folder. Name a file in it");
  if (kind === "other") throw cannot(verb, path, "it is not a regular file. Name another");
  await inWords(verb, path, workspace.resolve(real, "write"));
  const seen = files.get(real);
  if (seen === undefined && verb === "edit") {
    throw cannot(verb, path, "it was not read in this session. Read it with read_file first");
  }
  if (size > LIMIT) {
    const [is, most] = [size, LIMIT].map((bytes) => bytes.toLocaleString("en-US"));
    throw cannot(verb, path, `it has ${is} bytes, and at most ${most} can be changed here. Use a command such as sed`);
  }
  const bytes = await inWords(verb, path, workspace.readBytes(path));
  if (seen !== undefined && sha256Of(bytes) !== seen.sha256) {
    throw cannot(verb, path, "it was changed since it was read. Read it again with read_file");
  }
  if (seen === undefined || (verb === "write" && !seen.whole)) throw cannot(verb, path, whyNotWhole(bytes, seen));
  return { real, bytes, seen, stat };
}

/**
 * What has to be known of a file with several names (hard links), before or after it is changed; nothing for any other. A new file takes its
 * place under one name only: the others may lie anywhere, and are not ours to change.
 */
export function namesNote({ seen, stat: { names, inPlace } }: Target, when: "before" | "after"): string | undefined {
  if (names === 1 && (seen.names ?? 1) > 1) {
    return `it had ${seen.names} names (hard links) when it was read, and has one now: changes under another name are not in it`;
  }
  if (names === 1) return undefined;
  const [had, has, have] = when === "before" ? ["has", "will have", "will have"] : ["had", "has", "have"];
  const which = inPlace ? `all of them ${have}` : `only this one ${has}`;
  return `the file ${inPlace ? "has" : had} ${names} names (hard links): ${which} the new content`;
}

/** Notes below a result or above a diff, as one line in brackets; no line when there is none. */
export function bracketed(...notes: (string | undefined)[]): string[] {
  const told = notes.filter((note) => note !== undefined);
  return told.length > 0 ? [`[${told.join("; ")}]`] : [];
}

/** An answer of the workspace; its refusal in the verb of the tool, with the path as the model named it. */
export async function inWords<T>(verb: Verb, path: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof Error && typeof error.cause === "string" ? cannot(verb, path, error.cause) : error;
  }
}

/** The error for the model: why a file is not changed. */
export function cannot(verb: Verb, path: string, how: string): Error {
  return new Error(`Cannot ${verb} ${quoted(path)}: ${how}`);
}
