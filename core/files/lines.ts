/** One page of a text file of any size: its bytes go through once, only the lines that are asked for are kept. */

import { firstGap } from "./seen_files.ts";
import { RESULT_LIMIT } from "../text.ts";

/** Characters of a line that are shown. */
export const LINE_LIMIT = 2000;
/** Bytes that are kept of a line: enough for `LINE_LIMIT` characters of four bytes, and one more to see that it goes on. */
const KEPT_BYTES = 4 * (LINE_LIMIT + 1);
/** Of the result limit, for the notes below the page. */
const NOTES = 1000;

const LF = 10;
const CR = 13;
const BOM = [0xef, 0xbb, 0xbf];

export interface Page {
  /** The numbered lines: number right-aligned to 6, a tab, the text. */
  text: string;
  /** Number of the first and last line shown; `last` is below `first` when none is. */
  first: number;
  last: number;
  /** Lines of the whole file. A line ends at LF or CRLF; a last one without an end counts; a BOM alone is none. */
  total: number;
  /** The lines that are there and not cut, as ranges in order. */
  shown: [first: number, last: number][];
  /** Whether every line of the file is there, none of them cut. */
  whole: boolean;
  /** The first chunk of the file that is not UTF-8; judged on the whole file. */
  bad: Uint8Array | undefined;
  /** A line of the page is not UTF-8: it cannot be shown. */
  hasBadLine: boolean;
}

/** Takes the chunks of a file, then gives the page of `limit` lines from line `first` that fits into one result. */
export interface Pager {
  push(chunk: Uint8Array): void;
  end(): Page;
}

export function createPager({ first, limit }: { first: number; limit: number }): Pager {
  const judge = new TextDecoder("utf-8", { fatal: true });
  const rows: string[] = [];
  const shown: Page["shown"] = [];
  let bad: Uint8Array | undefined;
  let recent: Uint8Array = new Uint8Array();
  let head: Uint8Array = new Uint8Array(); // of the file: enough to see that it is a BOM and nothing else
  let hasBadLine = false;
  let isFull = false;
  let size = 0; // of the page, in characters
  let line = 1; // the one that the next byte belongs to
  let kept: Uint8Array[] = []; // its first bytes, if it is to be shown
  let length = 0; // its bytes so far

  const isWanted = () => !isFull && line >= first && line < first + limit;

  function take(part: Uint8Array): void {
    if (isWanted() && length < KEPT_BYTES) kept.push(part.slice(0, KEPT_BYTES - length));
    length += part.length;
  }

  function finish(isEnded: boolean): void {
    if (isWanted()) {
      const text = textOf(kept, { length, isFirst: line === 1, isEnded });
      if (text === undefined) hasBadLine = true;
      const cut = text !== undefined && text.length > LINE_LIMIT ? cutLine(text, length) : text ?? "";
      const row = `${String(line).padStart(6)}\t${cut}`;
      if (size + row.length + 1 > RESULT_LIMIT - NOTES) {
        isFull = true;
      } else {
        if (cut === text) addLine(shown, line);
        rows.push(row);
        size += row.length + 1;
      }
    }
    line++;
    kept = [];
    length = 0;
  }

  function isDecodable(chunk?: Uint8Array): boolean {
    try {
      judge.decode(chunk, { stream: chunk !== undefined });
      return true;
    } catch {
      return false;
    }
  }

  return {
    push(chunk) {
      if (bad === undefined && !isDecodable(chunk)) bad = chunk;
      recent = chunk;
      if (head.length <= BOM.length) head = join([head, chunk.slice(0, BOM.length + 1 - head.length)]);
      let at = 0;
      for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, at)) {
        take(chunk.subarray(at, end));
        finish(true);
        at = end + 1;
      }
      take(chunk.subarray(at));
    },
    end() {
      if (bad === undefined && !isDecodable()) bad = recent;
      const isOnlyBom = head.length === BOM.length && BOM.every((byte, at) => head[at] === byte);
      if (length > 0 && !isOnlyBom) finish(false);
      const total = line - 1;
      const last = first + rows.length - 1;
      const whole = firstGap({ shown, total }) === undefined;
      return { text: rows.join("\n"), first, last, total, shown, whole, bad, hasBadLine };
    },
  };
}

/** The first line of a text, from 1, that is cut on every page: it is longer than `LINE_LIMIT`. */
export function firstLongLine(text: string): number | undefined {
  let line = 1;
  for (let start = 0; start < text.length; line++) {
    const end = text.indexOf("\n", start);
    const next = end < 0 ? text.length : end;
    const length = next - start - (end > start && text[end - 1] === "\r" ? 1 : 0);
    if (length > LINE_LIMIT) return line;
    start = next + 1;
  }
  return undefined;
}

function addLine(shown: Page["shown"], line: number): void {
  const range = shown.at(-1);
  if (range?.[1] === line - 1) range[1] = line;
  else shown.push([line, line]);
}

/** A line's text without the CR of its end, and the first one's without its BOM; more than `LINE_LIMIT` characters when it goes on. */
function textOf(kept: Uint8Array[], line: { length: number; isFirst: boolean; isEnded: boolean }): string | undefined {
  let bytes = join(kept);
  const isPart = bytes.length < line.length;
  if (isPart) bytes = bytes.subarray(0, borderBefore(bytes));
  else if (line.isEnded && bytes.at(-1) === CR) bytes = bytes.subarray(0, -1);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: !line.isFirst }).decode(bytes);
  } catch {
    return undefined;
  }
}

function cutLine(text: string, length: number): string {
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(LINE_LIMIT - 1));
  return `${text.slice(0, isHalf ? LINE_LIMIT - 1 : LINE_LIMIT)}… [line cut: it has ${
    length.toLocaleString("en-US")
  } bytes]`;
}

function join(parts: Uint8Array[]): Uint8Array {
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return only;
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Where the last character begins that may be incomplete. */
function borderBefore(bytes: Uint8Array): number {
  let at = bytes.length - 1;
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}
