/** One result of a search: the hits that there is room for, and what was not searched. */

import { countOf } from "./left_out.ts";
import { findHits } from "./search_lines.ts";
import type { SearchPattern } from "./search_pattern.ts";

/** Hits of one result. */
const LIMIT = 100;
/** Characters of the hits of one result; the rest of the 50,000 is for the last lines. */
const ROOM = 48_000;

/** Why a file was not searched. */
export type Unsearched = "binary" | "not UTF-8" | "too large" | "not readable";

export interface SearchResult {
  /** Searches a file's text and takes the hits as `file:line: text`. */
  search(file: string, bytes: Uint8Array, pattern: SearchPattern): void;
  /** Counts a file that was not searched. */
  leaveOut(file: string, reason: Unsearched): void;
  /** Files that were searched. */
  searched(): number;
  hits(): number;
  /** Whether there was a hit more than there is room for. */
  isFull(): boolean;
  /** The hits, or `nothing`; then what was cut; then, in the last line, what was not searched, and `notes`. */
  text(nothing: string, notes: readonly string[]): string;
}

export function createSearchResult(): SearchResult {
  const lines: string[] = [];
  const unsearched = new Map<Unsearched, string[]>();
  let searched = 0;
  let room = ROOM;
  let isFull = false;
  return {
    search(file, bytes, pattern) {
      searched++;
      for (const hit of findHits(bytes, pattern)) {
        const line = `${file}:${hit.line}: ${hit.text}`;
        room -= line.length + 1;
        isFull = lines.length === LIMIT || room < 0;
        if (isFull) return;
        lines.push(line);
      }
    },
    leaveOut(file, reason) {
      const files = unsearched.get(reason) ?? [];
      files.push(file);
      unsearched.set(reason, files);
    },
    searched: () => searched,
    hits: () => lines.length,
    isFull: () => isFull,
    text(nothing, notes) {
      const cut = isFull ? [`[${lines.length} hits shown; use a more specific pattern or path]`] : [];
      const last = [...[...unsearched].map(([reason, files]) => describeUnsearched(reason, files)), ...notes];
      return [...(lines.length > 0 ? lines : [nothing]), ...cut, ...(last.length > 0 ? [`[${last.join(", ")}]`] : [])]
        .join("\n");
    },
  };
}

/** `2 binary files not searched`; files that may matter are named, up to three. */
function describeUnsearched(reason: Unsearched, files: readonly string[]): string {
  if (reason === "binary") return `${countOf(files.length, "binary file")} not searched`;
  const how = {
    "not UTF-8": `that ${files.length === 1 ? "is" : "are"} not UTF-8`,
    "too large": "over 10 MB",
    "not readable": "that cannot be read",
  };
  const names = `${files.slice(0, 3).join(", ")}${files.length > 3 ? ", …" : ""}`;
  const rather = reason === "too large" ? "; name one as path to search it, up to 50 MB" : "";
  return `${countOf(files.length, "file")} ${how[reason]} not searched (${names}${rather})`;
}
