/** Patterns for the names of files: `**`, `*`, `?`, `{a,b}`, `[abc]`; matched in linear time, by code point. */

import { expandBraces } from "./braces.ts";
import { foldName, readName } from "./name.ts";
import { refused } from "./refusal.ts";

/** Characters; a longer pattern is refused. */
const LENGTH_LIMIT = 1000;

export interface GlobPattern {
  /** The plain names that the pattern begins with, as path, with its slash in front when it is absolute; `""` when there are none. */
  folder: string;
  /** Whether something more than one level below `folder` can match. */
  isDeep: boolean;
  /** It ends in a slash: folders are meant. */
  isForFolders: boolean;
  /** Whether a printed path matches, relative to where the pattern is and beginning with `folder` like the pattern. */
  matches(path: string): boolean;
  /** Whether such a path is spelled exactly like the pattern. */
  isSpelled(path: string): boolean;
}

type Token = "one" | "many" | { char: string } | { class: [from: number, to: number][]; isNegated: boolean };

/** One name of a pattern: what is in it, and its text, which also means a name that is spelled exactly so. */
interface NamePattern {
  text: string;
  tokens: Token[];
}

/** `any` stands for any number of folders. */
type Segment = "any" | NamePattern;

/**
 * Reads a pattern. One without a slash is for a name at any depth. Each name of it also matches itself as plain text, so that
 * `app/[id]/page.tsx` finds what is called so. A backslash takes the next character as it is; a bracket or brace without its other half,
 * and braces without a comma, are plain. Names are compared exactly, or else folded as in `foldName`. Throws the reason.
 */
export function parseGlob(pattern: string): GlobPattern {
  if (pattern === "") throw refused("the pattern is empty. Use * for every file");
  if (pattern.includes("\0")) throw refused("the pattern has a NUL character in it");
  if (pattern.length > LENGTH_LIMIT) {
    throw refused(`the pattern is too long (${pattern.length} characters, at most ${LENGTH_LIMIT})`);
  }
  const isAbsolute = pattern.startsWith("/");
  const names = pattern.split("/").filter((name) => name !== "" && name !== ".");
  if (names.length === 0 && !isAbsolute) throw refused("it names nothing. Use * for every file");
  if (names.includes("..")) throw refused(`".." cannot be part of a pattern. Put the folder into path`);
  const isForFolders = /\/\.?$/.test(pattern);
  const isAnywhere = !pattern.replace(/\/$/, "").includes("/");
  const plain = isAnywhere ? 0 : names.slice(0, -1).findIndex((name) => /[*?[\]{}\\]/.test(name));
  const folders = names.slice(0, plain < 0 ? -1 : plain);
  const text = [...(isAnywhere ? ["**"] : []), ...names].join("/");
  const exact = compile(text);
  const foldedText = foldName(text);
  const folded = compile(foldedText);
  return {
    folder: `${isAbsolute ? "/" : ""}${folders.join("/")}`,
    isDeep: exact.some((segments) => segments.includes("any") || segments.length > folders.length + 1),
    isForFolders,
    isSpelled: (path) => namesOf(path).join("/") === names.join("/"),
    matches(path) {
      const spellings = path.includes("\\") ? [path, readName(path)] : [path];
      return spellings.some((spelling) => {
        const parts = namesOf(spelling);
        if (exact.some((segments) => matchesPath(segments, parts))) return true;
        const twin = foldName(spelling);
        if (twin === spelling && foldedText === text) return false; // most names: nothing is left to be tried
        return folded.some((segments) => matchesPath(segments, namesOf(twin)));
      });
    },
  };
}

/** A printed path as it is below the printed path of a folder that it lies in. */
export function pathBelow(folder: string, path: string): string {
  return folder === "." ? path.replace(/^\.\//, "") : path.slice(folder.length + 1);
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}

/** The patterns without braces that a pattern stands for; the first takes the braces as plain text. */
function compile(pattern: string): Segment[][] {
  const spelled = expandBraces(pattern);
  const texts = spelled.length === 1 ? spelled : [pattern, ...spelled];
  return texts.map((text) =>
    text.split("/").filter((name) => name !== "").flatMap((name, at, names): Segment[] => {
      if (name !== "**") return [{ text: name, tokens: tokensOf(name) }];
      // At the end it stands for everything inside, not for the folder itself.
      return at === names.length - 1 ? ["any", { text: "*", tokens: ["many"] }] : ["any"];
    })
  );
}

function tokensOf(name: string): Token[] {
  const chars = [...name];
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    const next = chars[at + 1];
    const found = char === "[" ? classAt(chars, at) : undefined;
    if (found !== undefined) {
      tokens.push(found.token);
      at = found.end;
    } else if (char === "\\" && next !== undefined) {
      tokens.push({ char: next });
      at++;
    } else if (char !== "*") tokens.push(char === "?" ? "one" : { char });
    else if (tokens.at(-1) !== "many") tokens.push("many");
  }
  return tokens;
}

/** The class that begins at a `[`, and where its `]` is. A `]` right at its beginning is one of its characters. */
function classAt(chars: string[], start: number): { token: Token; end: number } | undefined {
  const isNegated = chars[start + 1] === "!" || chars[start + 1] === "^";
  const first = start + (isNegated ? 2 : 1);
  const ranges: [number, number][] = [];
  let at = first;
  const take = (): number => {
    if (chars[at] === "\\" && at + 1 < chars.length) at++;
    return chars[at++]?.codePointAt(0) ?? 0;
  };
  while (at < chars.length) {
    if (chars[at] === "]" && at > first) return { token: { class: ranges, isNegated }, end: at };
    const from = take();
    const isRange = chars[at] === "-" && at + 1 < chars.length && chars[at + 1] !== "]";
    if (isRange) at++;
    ranges.push([from, isRange ? take() : from]);
  }
  return undefined;
}

function matchesPath(segments: Segment[], names: string[]): boolean {
  return matchesRun(
    segments,
    names,
    (segment) => segment === "any",
    (segment, name) => segment !== "any" && (segment.text === name || matchesName(segment.tokens, name)),
  );
}

function matchesName(tokens: Token[], name: string): boolean {
  return matchesRun(tokens, [...name], (token) => token === "many", (token, char) => {
    if (typeof token === "string") return token === "one";
    if ("char" in token) return token.char === char;
    const code = char.codePointAt(0) ?? 0;
    return token.class.some(([from, to]) => code >= from && code <= to) !== token.isNegated;
  });
}

/** Whether items match a row of patterns of which some stand for any number of items. Goes back only to the last of those. */
function matchesRun<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  isMany: (part: Part) => boolean,
  fits: (part: Part, item: Item) => boolean,
): boolean {
  let part = 0;
  let retry: { part: number; item: number } | undefined;
  for (let item = 0; item < items.length;) {
    const now = parts[part];
    if (now !== undefined && isMany(now)) {
      retry = { part: ++part, item };
    } else if (now !== undefined && fits(now, items[item] as Item)) {
      part++;
      item++;
    } else if (retry !== undefined) {
      part = retry.part;
      item = ++retry.item;
    } else return false;
  }
  return parts.slice(part).every(isMany);
}
