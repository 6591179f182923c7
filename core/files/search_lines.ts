/** The lines of a file that a pattern matches. */

import { Buffer, isUtf8 } from "node:buffer";
import { describeBytes } from "./encoding.ts";
import type { SearchPattern } from "./search_pattern.ts";
import { headOf, tailOf } from "../text.ts";

/** Characters of a line that are shown. */
export const SHOWN = 400;
/** Of these, how many stand in front of the match in a line that is cut. */
const BEFORE = 100;

const LF = 10;
const CR = 13;

export interface Hit {
  /** From 1. A line ends at LF or CRLF. */
  line: number;
  /** The line, cut around the match when it is long. */
  text: string;
}

/** Why a file is not searched, or nothing for UTF-8 text. */
export function unsearchable(bytes: Uint8Array): "binary" | "not UTF-8" | undefined {
  const hasNul = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(0) >= 0;
  if (!hasNul && isUtf8(bytes)) return undefined;
  return describeBytes(bytes.subarray(0, 65_536), bytes.length).startsWith("binary") ? "binary" : "not UTF-8";
}

/** The hits in UTF-8 text, in order, as they are asked for. */
export function* findHits(bytes: Uint8Array, pattern: SearchPattern): Generator<Hit> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const isMarked = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf; // a BOM is no part of the line
  const next = pattern.candidates?.(bytes) ?? ((from: number) => from);
  let line = 1;
  let counted = 0; // where the line begins that `line` is the number of
  for (let at = isMarked ? 3 : 0; at < buffer.length;) {
    const place = next(at);
    if (place < 0) return;
    const start = place === at ? at : Math.max(at, buffer.lastIndexOf(LF, place - 1) + 1);
    const lineFeed = buffer.indexOf(LF, place);
    const end = lineFeed < 0 ? buffer.length : lineFeed;
    const text = buffer.toString("utf8", start, buffer[end - 1] === CR && end > start ? end - 1 : end);
    const match = pattern.find(text);
    if (match !== undefined) {
      for (let feed = buffer.indexOf(LF, counted); feed >= 0 && feed < start; feed = buffer.indexOf(LF, counted)) {
        line++;
        counted = feed + 1;
      }
      yield { line, text: cutAround(text, match) };
    }
    at = end + 1;
  }
}

function cutAround(text: string, match: { start: number; end: number }): string {
  if (text.length <= SHOWN) return text;
  const from = Math.max(0, Math.min(match.start - BEFORE, text.length - SHOWN));
  const tail = tailOf(text, text.length - from);
  const head = headOf(tail, SHOWN);
  return `${from > 0 ? "…" : ""}${head}${head.length < tail.length ? "…" : ""}`;
}
