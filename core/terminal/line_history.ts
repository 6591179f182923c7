/** The lines that the user typed, kept from one chat to the next. */

import { dirname } from "../path.ts";
import { appendFileSync, chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** At most this many lines are kept. */
export const HISTORY_LIMIT = 500;

/** A longer line (a pasted file) is remembered by this chat only. */
const LINE_LIMIT = 10_000;

export interface LineHistory {
  /** Oldest first. */
  readonly lines: readonly string[];
  /** Keeps a line, unless it is the last one again or begins with a space, which says: do not keep this. */
  add(line: string): void;
}

/**
 * Opens the file, one JSON string per line, for the user's eyes only. Where it cannot be read or written (no such right, no
 * file named), the lines live as long as the chat: a history is no reason to stop.
 */
export function openLineHistory(file?: string): LineHistory {
  let lines: string[] = [];
  let writable = file !== undefined;

  function trying(work: () => void) {
    try {
      work();
    } catch {
      writable = false;
    }
  }

  if (file !== undefined) {
    let kept: string[] = [];
    try {
      kept = readFileSync(file, "utf8").split("\n").filter(Boolean);
      lines = kept.flatMap(lineOf).slice(-HISTORY_LIMIT);
      trying(() => chmodSync(file, 0o600));
    } catch {
      trying(() => mkdirSync(dirname(file), { recursive: true, mode: 0o700 }));
    }
    // Rewritten when it has grown to twice the limit; each chat in between only appends, so two can share the file.
    if (kept.length > 2 * HISTORY_LIMIT) {
      trying(() => {
        writeFileSync(`${file}.new`, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });
        renameSync(`${file}.new`, file);
      });
    }
  }

  return {
    get lines() {
      return lines;
    },
    add(line) {
      if (line.trim() === "" || line.startsWith(" ") || line === lines.at(-1)) return;
      lines = [...lines, line].slice(-HISTORY_LIMIT);
      if (file === undefined || !writable || line.length > LINE_LIMIT) return;
      trying(() => appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 }));
    },
  };
}

/** The line that a row of the file holds; none if somebody else wrote it. */
function lineOf(row: string): string[] {
  try {
    const line: unknown = JSON.parse(row);
    return typeof line === "string" ? [line] : [];
  } catch {
    return [];
  }
}
