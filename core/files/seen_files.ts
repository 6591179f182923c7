/** What the model has seen of files in this session: parts of one content add up. */

import type { SeenFile } from "../tool.ts";

type Lines = NonNullable<SeenFile["lines"]>;

/** Notes what was shown of a file. Another content than the one noted before begins anew. */
export function noteSeen(seen: Map<string, SeenFile>, path: string, file: SeenFile): void {
  const before = seen.get(path);
  seen.set(path, before?.sha256 === file.sha256 ? together(before, file) : file);
}

/** The first lines, from one to another, that were not shown. The ranges are in order and do not touch. */
export function firstGap({ shown, total }: Lines): [first: number, last: number] | undefined {
  const [first, last] = shown[0] ?? [];
  const done = first === 1 && last !== undefined ? last : 0;
  if (done >= total) return undefined;
  const next = shown.find(([first]) => first > done);
  return [done + 1, next === undefined ? total : next[0] - 1];
}

function together(before: SeenFile, { lines, ...file }: SeenFile): SeenFile {
  if (before.whole || file.whole) return { ...file, whole: true };
  const total = lines?.total ?? before.lines?.total;
  if (total === undefined) return file;
  const both = { shown: joined([...before.lines?.shown ?? [], ...lines?.shown ?? []]), total };
  return firstGap(both) === undefined ? { ...file, whole: true } : { ...file, lines: both };
}

/** The same lines, as ranges that are in order and do not touch. */
function joined(ranges: Lines["shown"]): Lines["shown"] {
  const all: Lines["shown"] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const end = all.at(-1);
    if (end !== undefined && first <= end[1] + 1) end[1] = Math.max(end[1], last);
    else all.push([first, last]);
  }
  return all;
}
