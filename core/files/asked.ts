/** What the model wrote as a path, turned into an absolute one; refused here is what needs no look at the disk. */

import { outside, type Rules } from "./grant.ts";
import { isInside, native, type PathRules } from "../path.ts";
import { refused } from "./refusal.ts";

/** Longer paths are refused; Linux takes 4,095 bytes. */
const PATH_LIMIT = 4000;

export interface Asked {
  /** Absolute, without `.` and `..`, inside one of the folders as text. */
  path: string;
  /** What it ended in, if only a folder can be meant by that. */
  folderEnd?: "slash" | "slash and dot";
}

/**
 * `path` relative to the root, or absolute; `""` is the root. `..` goes back in the text, before any link is followed. An absolute one
 * may begin with the root as the user named it: that is taken for the root, whatever the link leads to by now. Throws the reason for what
 * cannot be a path inside: NUL, a URL, a drive or share of Windows on another system, a stream, a place outside of every folder.
 */
export function readPath(
  path: string,
  { root, named, folders }: Pick<Rules, "root" | "named" | "folders">,
  rules: PathRules = native,
): Asked {
  if (path.includes("\0")) throw refused("the path has a NUL character in it");
  if (path.length > PATH_LIMIT) {
    throw refused(`the path is too long (${path.length} characters, at most ${PATH_LIMIT})`);
  }
  if (/^[a-z]{2,}:\/|^file:/i.test(path)) throw refused("it is a URL. Use a plain path");
  if (!path.isWellFormed()) throw refused("the path has half a character in it");
  const isWindows = rules.sep === "\\";
  if (isWindows ? /(?<!^[a-z]):|^[a-z]:(?![\\/])/i.test(path) : /^[a-z]:[\\/]|^\\\\/i.test(path)) {
    throw refused("it names a drive, a share or a stream of Windows. Use a path relative to the workspace");
  }
  const asked = rules.resolve(root, path);
  const isKnown = (place: string) => folders.some((folder) => isInside(folder, place, rules));
  const byName = named !== undefined && !isKnown(asked) && isInside(named, asked, rules);
  const absolute = byName ? rules.resolve(root, rules.relative(named, asked)) : asked;
  if (!isKnown(absolute)) throw outside();
  const [end, dot] = (isWindows ? /[\\/](\.?)$/ : /\/(\.?)$/).exec(path) ?? [];
  return { path: absolute, ...(end === undefined ? {} : { folderEnd: dot ? "slash and dot" : "slash" }) };
}
