/** One edit of a text: where the old string is, and the text with the new one in its place. */

import { countLineEnds } from "../text.ts";

/** From one offset of a text to another, the second one not included. */
export interface Place {
  start: number;
  end: number;
}

export interface Edit {
  oldText: string;
  newText: string;
}

export interface Edited {
  text: string;
  /** For each place, in order: the first and last line that differ from before, in the new text, from 1. */
  lines: { first: number; last: number }[];
}

export const BOM = "\ufeff";

/**
 * Every place of `oldText`, also those that overlap. It is matched exactly, behind the BOM, but for this: a line end that it writes as LF
 * is one of the text, LF or CRLF. Where it has a CR of its own there is no such reading.
 */
export function findPlaces(text: string, oldText: string): Place[] {
  const isLoose = oldText.includes("\n") && !oldText.includes("\r") && text.includes("\r\n");
  const searched = isLoose ? text.replaceAll("\r\n", "\n") : text;
  const [startOf, endOf] = isLoose ? [offsetsIn(text), offsetsIn(text)] : [same, same];
  const places: Place[] = [];
  let at = searched.indexOf(oldText, text.startsWith(BOM) ? BOM.length : 0);
  for (; at >= 0; at = searched.indexOf(oldText, at + 1)) {
    places.push({ start: startOf(at), end: endOf(at + oldText.length) });
  }
  return places;
}

/**
 * Replaces at each place in one pass; one that overlaps the place before it is left out. All outside of the places stays as it is. A
 * line end that `newText` writes as LF becomes the one that is there: of the same line of the old text, else of the lines around it.
 */
export function replaceAt(text: string, places: readonly Place[], edit: Edit): Edited {
  const parts: string[] = [];
  const lines: Edited["lines"] = [];
  const lineAt = lineCursor(text);
  let done = 0;
  let more = 0; // lines that the new text has more than the old one, so far
  for (const { start, end } of places) {
    if (start < done) continue;
    const was = text.slice(start, end);
    const first = lineAt(start).number + more;
    const { lineEnd } = lineAt(end);
    const put = withLineEnds(edit, was, lineEnd);
    parts.push(text.slice(done, start), put);
    const { head, tail } = inCommon(was, put);
    lines.push({
      first: first + countLineEnds(put, 0, head),
      last: first + countLineEnds(put, 0, Math.max(head, put.length - tail - 1)),
    });
    more += countLineEnds(put) - countLineEnds(was);
    done = end;
  }
  parts.push(text.slice(done));
  return { text: parts.join(""), lines };
}

/** The lines of offsets that ascend, from 1. */
export function linesAt(text: string, offsets: readonly number[]): number[] {
  const lineAt = lineCursor(text);
  return offsets.map((offset) => lineAt(offset).number);
}

interface Line {
  /** From 1. */
  number: number;
  /** How it ends; for the last line of a text, how the one before it does. */
  lineEnd: "\n" | "\r\n";
}

/** The line of an offset. Offsets must ascend, so that the text goes by only once however many there are. */
function lineCursor(text: string): (offset: number) => Line {
  let number = 1;
  let last = -1;
  let next = text.indexOf("\n");
  return (offset) => {
    for (; next >= 0 && next < offset; next = text.indexOf("\n", next + 1)) {
      number++;
      last = next;
    }
    return { number, lineEnd: text[(next >= 0 ? next : last) - 1] === "\r" ? "\r\n" : "\n" };
  };
}

/** The new text with the line ends that belong in the place of the old one. */
function withLineEnds({ oldText, newText }: Edit, replaced: string, lineEnd: Line["lineEnd"]): string {
  if (!newText.includes("\n")) return newText;
  const was = oldText.split("\n");
  const found = replaced.split("\n");
  const lines = newText.split("\n");
  // A CR that the old text does not write itself belongs to the line end.
  const ends = was.slice(0, -1).map((line, at) => (found[at] ?? "").length > line.length ? "\r\n" : "\n");
  let same = 0; // lines at the beginning that the edit leaves as they are
  while (same < ends.length && was[same] === lines[same]) same++;
  return lines.map((line, at) => {
    if (at === lines.length - 1) return line;
    if (line.endsWith("\r")) return `${line}\n`;
    // Further down, lines are told by their distance from the end.
    const from = at < same ? at : Math.max(same, at + was.length - lines.length);
    return line + (ends[Math.min(from, ends.length - 1)] ?? lineEnd);
  }).join("");
}

/** How many units two texts share at the beginning, and of the rest at the end. */
function inCommon(a: string, b: string): { head: number; tail: number } {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return { head, tail };
}

/** From offsets in a text without the CR of each CRLF, asked for in ascending order, to those in the text. */
function offsetsIn(text: string): (offset: number) => number {
  let next = text.indexOf("\r\n");
  let left = 0; // CRs left out before `next`
  return (offset) => {
    for (; next >= 0 && next - left < offset; next = text.indexOf("\r\n", next + 2)) left++;
    return offset + left;
  };
}

function same(offset: number): number {
  return offset;
}
