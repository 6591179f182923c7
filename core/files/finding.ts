/** From a path as text to its real place: through links, by the printed form of a name, by its near twin, or to the names beside it. */

import { lstat, readlink } from "node:fs/promises";
import { outside, realpathOf, type Rules } from "./grant.ts";
import { foldName, looksForeign, nearNames, readName, toDisk } from "./name.ts";
import { entriesIn } from "./opening.ts";
import { childOf, isInside, nameOf, namesBetween, parentOf, relative, resolve, SEPARATOR } from "../path.ts";
import { absent, codeOf, quoted, refused } from "./refusal.ts";

/** The deepest part of a path that exists, by its real path, and the names below it that do not. */
export interface Found {
  real: string;
  missing: string[];
}

/**
 * Follows an absolute path to its real place. The exact name goes first, then the printed form of a name; `isNear` also takes the one
 * name beside it that differs only in composition, spaces or apostrophes. Throws for a link that leads nowhere or in a circle. The real
 * place is not judged here: it may be outside.
 */
export async function find(path: string, rules: Rules, isNear: boolean): Promise<Found> {
  try {
    return { real: await realpathOf(path), missing: [] };
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "ENOTDIR") throw error;
    return await search(path, rules, isNear);
  }
}

async function search(path: string, rules: Rules, isNear: boolean): Promise<Found> {
  const start = rules.folders.find((folder) => isInside(folder, path)) ?? rules.root;
  // A granted file that does not exist yet is looked for in its folder.
  const isThere = await realpathOf(start).then(() => true, () => false);
  let real = await realpathOf(isThere ? start : parentOf(start));
  const names = [...(isThere ? [] : [nameOf(start)]), ...namesBetween(start, path)];
  for (const [at, asked] of names.entries()) {
    const name = await nameIn(real, asked, rules, isNear);
    if (name === undefined) return { real, missing: names.slice(at) };
    const next = childOf(real, name);
    const stats = await lstat(toDisk(next));
    real = stats.isSymbolicLink() ? await follow(next, rules) : next;
    if (at < names.length - 1 && !(await lstat(toDisk(real))).isDirectory()) {
      throw absent(`${quoted(shown(real, rules))} is a file, not a folder`);
    }
  }
  return { real: await realpathOf(real), missing: [] };
}

/** The name in the folder that is meant by `asked`, or nothing. */
async function nameIn(folder: string, asked: string, rules: Rules, isNear: boolean): Promise<string | undefined> {
  for (const name of new Set([asked, readName(asked)])) {
    try {
      await lstat(toDisk(childOf(folder, name)));
      return name;
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }
  if (!isNear) return undefined;
  const folded = foldName(asked);
  const twins = (await namesIn(folder, rules)).filter((name) => foldName(name) === folded);
  if (twins.length > 1) {
    throw refused(`no such file, but ${twins.map(quoted).join(" and ")} are near it. Use the exact name`);
  }
  return twins[0];
}

/** Where a link leads. Only its text is read when that is outside. */
async function follow(link: string, rules: Rules): Promise<string> {
  try {
    const real = await realpathOf(link);
    if (!rules.holds(real)) throw outside();
    return real;
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    const target = resolve(parentOf(link), await readlink(toDisk(link)));
    if (!rules.holds(target)) throw outside();
    if (await lstat(toDisk(target)).then((stats) => stats.isSymbolicLink(), () => false)) {
      return await follow(target, rules);
    }
    throw absent("it is a symbolic link whose target does not exist");
  }
}

/** The reason when nothing is there: up to three near names, else where to look. */
export async function missing({ real, missing }: Found, rules: Rules, what: "file" | "folder"): Promise<Error> {
  const [first = "", ...rest] = missing;
  const isHome = first === "~" ? ` ("~" is not the home folder here)` : "";
  const near: string[] = [];
  for (const name of nearNames(first, await namesIn(real, rules))) {
    const path = childOf(real, name, ...rest);
    if (rest.length === 0 || await lstat(toDisk(path)).then(() => true, () => false)) {
      near.push(quoted(shown(path, rules)));
    }
  }
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `See list_files ${quoted(shown(real, rules))}`;
  return absent(`no such ${what}${isHome}. ${hint}`);
}

/** A real path as the model reads it: relative to the root, with `/`, never like a URL or a path of Windows. Not yet escaped. */
export function shown(real: string, rules: Rules): string {
  const way = isInside(rules.root, real) ? namesBetween(rules.root, real).join(SEPARATOR) : relative(rules.root, real);
  if (way === "") return ".";
  if (SEPARATOR === "\\") return way.replaceAll("\\", "/");
  return looksForeign(way) ? `./${way}` : way;
}

/** The names beside a missing one; none where the folder may not be read. */
async function namesIn(folder: string, rules: Rules): Promise<string[]> {
  const isReadable = (path: string): boolean => {
    try {
      rules.check(path, "read");
      return true;
    } catch {
      return false;
    }
  };
  if (!isReadable(folder)) return [];
  const entries = await entriesIn(folder).catch(() => []);
  return entries.map(({ name }) => name).filter((name) => isReadable(childOf(folder, name)));
}
