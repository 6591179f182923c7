/** Why something cannot be done, in words for the model that are the same on every runtime. */

import { showName } from "./name.ts";
import { oneLine } from "../text.ts";

/** A reason: what follows the colon of `Cannot read "x": …`. */
export function refused(how: string): Error {
  return Object.assign(new Error(how), { code: "REFUSED" });
}

/** A reason that comes down to this: nothing is there. */
export function absent(how: string): Error {
  return Object.assign(new Error(how), { code: "ABSENT" });
}

/**
 * The error that a handler may let through: `Cannot <verb> "<path>": <reason>`, with the reason alone as its `cause`. A reason of the file system is put in fixed words,
 * without its path and number; what is neither is a bug and comes back as it is.
 */
export function cannot(verb: string, path: string, error: unknown): unknown {
  const how = reasonOf(error);
  return how === undefined ? error : new Error(`Cannot ${verb} ${quoted(path)}: ${how}`, { cause: how });
}

/** A path between quotes, on one line, at most 200 characters. */
export function quoted(path: string): string {
  return `"${oneLine(showName(path))}"`;
}

/** The code of a file system error (`ENOENT`), or of a refusal, or nothing. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === "NotCapable") return "NOT_GRANTED"; // Deno's permissions: it has no code
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

const REASONS: { [code: string]: string } = {
  ENOENT: "no such file",
  ENOTDIR: "a part of the path is a file, not a folder",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links form a loop",
  ENAMETOOLONG: "the path is too long",
  EACCES: "the system does not permit it",
  EPERM: "the system does not permit it",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the disk",
  EDQUOT: "no space is left on the disk",
  EFBIG: "it would be larger than a file may be here",
  EMFILE: "too many files are open. Try again",
  ENFILE: "too many files are open. Try again",
  ENXIO: "it is not a regular file",
  ENODEV: "it is not a regular file",
  EOPNOTSUPP: "it is not a regular file",
  NOT_GRANTED: "it is outside of what was granted",
};

function reasonOf(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === undefined || !(error instanceof Error)) return undefined;
  if (code === "REFUSED" || code === "ABSENT") return error.message;
  return Object.hasOwn(REASONS, code) || /^E[A-Z0-9]+$/.test(code) ? reasonFor(code) : undefined;
}

/** A code of the file system in fixed words. */
export function reasonFor(code: string): string {
  return REASONS[code] ?? "the system refused it";
}
