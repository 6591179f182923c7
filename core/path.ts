/** Paths as text: `node:path` under the names of @std/path, so that the two can be exchanged here in one line. */

import * as path from "node:path";

export const { basename, dirname, extname, isAbsolute, join, normalize, relative, resolve, sep: SEPARATOR } = path;

/** The rules of one system: Windows paths can be judged on Linux, and the other way round. */
export type PathRules = Pick<typeof path, "isAbsolute" | "join" | "relative" | "resolve" | "sep">;

export const native: PathRules = path;
export const posix: PathRules = path.posix;
export const win32: PathRules = path.win32;

/** Whether an absolute path is `folder` or lies below it, by component: `/ws-secret` is not inside `/ws`. Text only, no links. */
export function isInside(folder: string, path: string, rules: PathRules = native): boolean {
  const way = rules.relative(folder, path);
  // Between two drives of Windows there is no relative way: the answer is absolute.
  return way !== ".." && !way.startsWith(`..${rules.sep}`) && !rules.isAbsolute(way);
}

/** Whether an absolute path is the root of a file system. */
export function isRoot(path: string): boolean {
  return dirname(path) === path;
}

/**
 * The rest takes real paths apart and puts them together as plain text: Bun's `node:path` turns a lone surrogate, which stands for a byte
 * of a name that is not UTF-8 (see `fromDisk`), into U+FFFD.
 */

/** A name in a folder. */
export function childOf(folder: string, ...names: string[]): string {
  return [folder.endsWith(SEPARATOR) ? folder.slice(0, -1) : folder, ...names].join(SEPARATOR);
}

/** The folder that a real path lies in; the root lies in itself. */
export function parentOf(real: string): string {
  const end = real.lastIndexOf(SEPARATOR);
  const first = real.indexOf(SEPARATOR);
  return real.slice(0, end === first ? first + 1 : end);
}

/** The last name of a real path. */
export function nameOf(real: string): string {
  return real.slice(real.lastIndexOf(SEPARATOR) + 1);
}

/** The names on the way from `folder` to a real path inside it; none for the folder itself. */
export function namesBetween(folder: string, real: string): string[] {
  return real.slice(folder.length).split(SEPARATOR).filter((name) => name !== "");
}
