/** What a key does to the line that is being typed. */

import type { Key } from "./keys.ts";
import { clustersOf } from "./width.ts";

/** A line, which may have several rows, and where the cursor is. Never changed in place. */
export interface Line {
  readonly text: string;
  /** Index into `text`, always between two grapheme clusters. */
  readonly cursor: number;
  /** Earlier lines, oldest first. */
  readonly history: readonly string[];
  /** Which of them is shown: `history.length` is the line that the user types. */
  readonly at: number;
  /** What the user had typed before looking at earlier lines. */
  readonly draft: string;
}

/** What the key asks for beyond the line itself. */
export type Wish = "submit" | "leave" | "redraw" | "suspend";

export function newLine(history: readonly string[], text = ""): Line {
  return { text, cursor: text.length, history, at: history.length, draft: "" };
}

/** The line after the key, and what else the key asks for. */
export function pressKey(line: Line, key: Key): { line: Line; wish?: Wish } {
  const { text, cursor } = line;
  switch (key.name) {
    case "text":
    case "paste":
      return { line: insert(line, key.text) };
    case "newline":
      return { line: insert(line, "\n") };
    case "enter":
      // A backslash at the end continues the line.
      if (cursor === text.length && text.endsWith("\\")) {
        return { line: insert(remove(line, cursor - 1, cursor), "\n") };
      }
      return { line: { ...line, cursor: text.length }, wish: "submit" };
    case "interrupt":
      return text === "" ? { line, wish: "leave" } : { line: newLine(line.history) };
    case "end_of_input":
      return text === "" ? { line, wish: "leave" } : { line: remove(line, cursor, after(line)) };
    case "backspace":
      return { line: remove(line, before(line), cursor) };
    case "delete":
      return { line: remove(line, cursor, after(line)) };
    case "kill_to_end":
      return { line: remove(line, cursor, cursor === rowEnd(line) ? after(line) : rowEnd(line)) };
    case "kill_to_start":
      return { line: remove(line, rowStart(line), cursor) };
    case "kill_word":
      return { line: remove(line, wordStart(line), cursor) };
    case "left":
      return { line: { ...line, cursor: before(line) } };
    case "right":
      return { line: { ...line, cursor: after(line) } };
    case "word_left":
      return { line: { ...line, cursor: onBorder(text, wordStart(line)) } };
    case "word_right":
      return { line: { ...line, cursor: onBorder(text, wordEnd(line)) } };
    case "home":
      return { line: { ...line, cursor: rowStart(line) } };
    case "end":
      return { line: { ...line, cursor: rowEnd(line) } };
    case "up":
      return { line: rowStart(line) > 0 ? moveToRow(line, rowStart(line) - 1) : recall(line, line.at - 1) };
    case "down":
      return { line: rowEnd(line) < text.length ? moveToRow(line, rowEnd(line) + 1) : recall(line, line.at + 1) };
    case "redraw":
    case "suspend":
      return { line, wish: key.name };
    case "escape":
    case "tab":
      return { line };
  }
}

function insert(line: Line, text: string): Line {
  const joined = line.text.slice(0, line.cursor) + text + line.text.slice(line.cursor);
  return { ...line, text: joined, cursor: onBorder(joined, line.cursor + text.length) };
}

function remove(line: Line, from: number, to: number): Line {
  const joined = line.text.slice(0, from) + line.text.slice(to);
  return { ...line, text: joined, cursor: onBorder(joined, from) };
}

/** Shows an earlier or later line of the history; past either end the line stays as it is. */
function recall(line: Line, at: number): Line {
  if (at < 0 || at > line.history.length) return line;
  const draft = line.at === line.history.length ? line.text : line.draft;
  const text = line.history[at] ?? draft;
  return { ...line, text, cursor: text.length, at, draft };
}

/** The same distance from the start in the row that holds this index, or its end if it is shorter. */
function moveToRow(line: Line, index: number): Line {
  const distance = clustersOf(line.text.slice(rowStart(line), line.cursor)).length;
  const start = line.text.lastIndexOf("\n", index - 1) + 1;
  const row = line.text.slice(start).split("\n", 1)[0] ?? "";
  return { ...line, cursor: start + clustersOf(row).slice(0, distance).join("").length };
}

/** Typing or removing may join characters around the cursor (an accent, a joined emoji): it moves behind them. */
function onBorder(text: string, index: number): number {
  let border = index === 0 ? 0 : text.lastIndexOf("\n", index - 1) + 1;
  const row = text.slice(border).split("\n", 1)[0] ?? "";
  for (const cluster of clustersOf(row)) {
    if (border >= index) break;
    border += cluster.length;
  }
  return border;
}

function before(line: Line): number {
  const start = rowStart(line);
  if (start === line.cursor) return Math.max(0, start - 1);
  return line.cursor - (clustersOf(line.text.slice(start, line.cursor)).at(-1)?.length ?? 0);
}

function after(line: Line): number {
  const end = rowEnd(line);
  if (end === line.cursor) return Math.min(line.text.length, end + 1);
  return line.cursor + (clustersOf(line.text.slice(line.cursor, end))[0]?.length ?? 0);
}

function rowStart({ text, cursor }: Line): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function rowEnd({ text, cursor }: Line): number {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
}

function wordStart({ text, cursor }: Line): number {
  let at = text.slice(0, cursor).trimEnd().length;
  while (at > 0 && !/\s/.test(text.charAt(at - 1))) at--;
  return at;
}

function wordEnd({ text, cursor }: Line): number {
  return cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
}
