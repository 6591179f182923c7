/** Counts what a walk leaves out, for the last line of a result. */

import type { Entry } from "../tool.ts";

export interface LeftOut {
  /** For `WalkOptions`. */
  skipped(entry: Entry): void;
  /** `3 folders not entered`, `1 file left out by .gitignore`. */
  notes(): string[];
}

/** `counts` tells which files matter; folders always do. */
export function countLeftOut(counts: (entry: Entry) => boolean = () => true): LeftOut {
  let folders = 0;
  let files = 0;
  return {
    skipped(entry) {
      if (entry.kind !== "folder") files += counts(entry) ? 1 : 0;
      else if (!isGitFolder(entry)) folders++;
    },
    notes: () => [
      ...(folders > 0 ? [`${countOf(folders, "folder")} not entered`] : []),
      ...(files > 0 ? [`${countOf(files, "file")} left out by .gitignore`] : []),
    ],
  };
}

/** A .git folder is left out without a word, unless it was asked for. */
export function isGitFolder({ path, kind }: Entry): boolean {
  return kind === "folder" && /(^|\/)\.git$/.test(path);
}

/** `1 file`, `1,200 files`. */
export function countOf(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
