/** Counts what a walk leaves out, for the last line of a result. */

import type { Entry } from "./tool.ts";

export interface LeftOut {
  /** For `WalkOptions`. */
  skipped(entry: Entry): void;
  /** `3 folders not entered`, `1 file left out by .gitignore`; a .git folder is nothing to speak of. */
  notes(): string[];
}

/** `counts` tells which files matter; folders always do. */
export function countLeftOut(counts: (entry: Entry) => boolean = () => true): LeftOut {
  let folders = 0;
  let files = 0;
  return {
    skipped(entry) {
      if (entry.kind !== "folder") files += counts(entry) ? 1 : 0;
      else if (!/(^|\/)\.git$/.test(entry.path)) folders++;
    },
    notes: () => [
      ...(folders > 0 ? [`${countOf(folders, "folder")} not entered`] : []),
      ...(files > 0 ? [`${countOf(files, "file")} left out by .gitignore`] : []),
    ],
  };
}

/** `1 file`, `1,200 files`. */
export function countOf(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
