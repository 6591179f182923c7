/** Why an old string is not in a text, as near as it can be told: what differs at the place that was probably meant. */

import { BOM, findPlaces, linesAt } from "./edit.ts";
import { oneLine } from "../text.ts";

/** Characters of a line that are quoted. */
const QUOTED = 120;

/** One or two sentences. `oldText` is in the text nowhere. */
export function notFoundHint(text: string, oldText: string): string {
  if (oldText.startsWith(BOM)) return "Leave out the byte order mark at its beginning";
  return numbersCopied(text, oldText) ?? sameButFor(text, oldText) ?? brokenOff(text, oldText) ??
    nearest(text, oldText) ??
    "No line is like it. Read the file again with read_file";
}

/** The line numbers of read_file were taken for a part of the file. */
function numbersCopied(text: string, oldText: string): string | undefined {
  const plain = oldText.replace(/^ *\d+\t/gm, "");
  if (plain === oldText || plain.trim() === "") return undefined;
  const [place] = findPlaces(text, plain);
  if (place === undefined) return undefined;
  const [line] = linesAt(text, [place.start]);
  return `It has the line numbers of read_file in it. Leave out the number and the tab before each line, then it is at line ${line}`;
}

/** The same characters are there, but for white space, case, and quotes and dashes of another shape. */
function sameButFor(text: string, oldText: string): string | undefined {
  const wanted = fold(oldText);
  const at = wanted === "" ? -1 : fold(text).indexOf(wanted);
  if (at < 0) return undefined;
  const { offset, down, here, there } = firstDifference(text, unfold(text, at), oldText);
  const [line = 1] = linesAt(text, [offset]);
  return `At line ${line + down} the file has ${nameOf(here)} where old_string has ${nameOf(there)}`;
}

/** Its first lines are there, but then it goes on in another way. */
function brokenOff(text: string, oldText: string): string | undefined {
  const wanted = oldText.split("\n").map(trimmed);
  if (wanted.length < 2 || wanted[0] === "") return undefined;
  const lines = text.split("\n").map(trimmed);
  let best = { at: -1, length: 0 };
  for (let at = lines.indexOf(wanted[0] ?? ""); at >= 0; at = lines.indexOf(wanted[0] ?? "", at + 1)) {
    let length = 1;
    while (length < wanted.length && lines[at + length] === wanted[length]) length++;
    if (length > best.length) best = { at, length };
  }
  if (best.length === 0) return undefined;
  const next = best.at + best.length;
  const goesOn = lines[next] === undefined ? "there the file ends" : `line ${next + 1} is ${quote(lines[next])}`;
  const first = best.length === 1 ? "Its first line is" : `Its first ${best.length} lines are`;
  return `${first} at line ${best.at + 1}, but ${goesOn} where old_string has ${quote(wanted[best.length] ?? "")}`;
}

/** The line that shares most pairs of neighbouring characters with the longest line of the old text. */
function nearest(text: string, oldText: string): string | undefined {
  const goal = oldText.split("\n").map(trimmed).reduce((a, b) => b.length > a.length ? b : a);
  const pairs = new Set(Array.from(goal.slice(1), (_, at) => pairAt(goal, at)));
  const lines = text.split("\n");
  let best = { at: -1, score: 0.5 };
  for (const [at, line] of lines.entries()) {
    const own = trimmed(line);
    let shared = 0;
    for (let i = 0; i < own.length - 1; i++) if (pairs.has(pairAt(own, i))) shared++;
    const score = 2 * Math.min(shared, pairs.size) / (pairs.size + own.length - 1);
    if (score > best.score) best = { at, score };
  }
  return best.at < 0 ? undefined : `The nearest is line ${best.at + 1}: ${quote(trimmed(lines[best.at] ?? ""))}`;
}

function pairAt(line: string, at: number): number {
  return line.charCodeAt(at) * 0x10000 + line.charCodeAt(at + 1);
}

function trimmed(line: string): string {
  return line.trim();
}

function quote(line: string): string {
  return `"${oneLine(line, QUOTED)}"`;
}

/** White space, and what is as invisible. */
const BLANK = "[\\s\\u200b\\u00ad\\u2060\\ufeff]";
const BLANKS = new RegExp(`${BLANK}+`, "g");
const BLANKS_HERE = new RegExp(`${BLANK}*`, "y");

/** Without what is easily mistaken. Each unit becomes one or none, so that `unfold` finds the way back. */
function fold(text: string): string {
  return text
    .replace(BLANKS, "")
    .replace(/[\u2018\u2019\u201a\u201b\u2032`]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Where in the text the character is that `fold` put at an offset. */
function unfold(text: string, offset: number): number {
  let left = 0;
  for (const { 0: blanks, index } of text.matchAll(BLANKS)) {
    if (index - left > offset) break;
    left += blanks.length;
  }
  return offset + left;
}

interface Difference {
  /** In the text. */
  offset: number;
  /** Lines further down, or up where it is below zero. */
  down: number;
  here: string;
  there: string;
}

/** The first difference between the old string and the text where its first visible character is at `start`. */
function firstDifference(text: string, start: number, oldText: string): Difference {
  const lead = blanksAt(oldText, 0);
  const before = inLead(blanksBefore(text, start), lead, oldText);
  if (before !== undefined) return { offset: start, ...before };
  let [at, there] = [start, lead.length];
  while (there < oldText.length) {
    const theirs = blanksAt(oldText, there);
    const found = blanksAt(text, at);
    const ours = lineEndsOf(found, oldText);
    if (ours !== theirs) return { offset: at, ...inBlanks(ours, theirs) };
    [at, there] = [at + found.length, there + theirs.length];
    if (text[at] !== oldText[there]) break;
    [at, there] = [at + 1, there + 1];
  }
  return { offset: at, down: 0, here: charAt(text, at), there: charAt(oldText, there) };
}

/** White space before the first visible character: only as many lines of the text count as the old string has. */
function inLead(before: string, lead: string, oldText: string): Omit<Difference, "offset"> | undefined {
  const there = lead.split("\n");
  const here = lineEndsOf(before, oldText).split("\n").slice(-there.length);
  if (here.length < there.length) return { down: 1 - here.length, here: here.join("\n"), there: lead };
  const at = there.findIndex((line, at) => at === 0 ? !here[at]?.endsWith(line) : here[at] !== line);
  return at < 0 ? undefined : { down: at + 1 - here.length, here: here[at] ?? "", there: there[at] ?? "" };
}

/** Two runs of white space, from the line on in which they differ. */
function inBlanks(here: string, there: string): Omit<Difference, "offset"> {
  let [skipped, down] = [0, 0];
  for (let at = 0; at < here.length && here[at] === there[at]; at++) {
    if (here[at] === "\n") [skipped, down] = [at + 1, down + 1];
  }
  return { down, here: here.slice(skipped), there: there.slice(skipped) };
}

function blanksBefore(text: string, end: number): string {
  let from = end;
  while (from > 0 && blanksAt(text, from - 1) !== "") from--;
  return text.slice(from, end);
}

function blanksAt(text: string, at: number): string {
  BLANKS_HERE.lastIndex = at;
  return BLANKS_HERE.exec(text)?.[0] ?? "";
}

/** White space of the text as it is compared: a CR before LF counts only where the old string has some. */
function lineEndsOf(blanks: string, oldText: string): string {
  return oldText.includes("\r") ? blanks : blanks.replaceAll("\r\n", "\n");
}

function charAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

const NAMES: { [char: string]: string } = { "\r\n": "CRLF line end", "\n": "line end", "\t": "tab", " ": "space" };

/** `4 spaces`, `a tab and a line end`, `"\u2019" (U+2019)`. */
function nameOf(chars: string): string {
  if (chars === "") return "no white space";
  const groups = [...chars.matchAll(/(\r\n|[^])\1*/gu)].slice(0, 4);
  return groups.map(({ 0: run, 1: one = "" }) => {
    const name = NAMES[one] ?? `${quote(one)} (U+${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")})`;
    const count = run.length / one.length;
    return one in NAMES ? (count === 1 ? `a ${name}` : `${count} ${name}s`) : name;
  }).join(" and ");
}
