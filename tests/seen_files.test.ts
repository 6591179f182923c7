import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { firstGap, noteSeen } from "../core/files/seen_files.ts";
import type { SeenFile } from "../core/tool.ts";

const [OLD, NEW] = ["0".repeat(64), "1".repeat(64)];

/** What is kept of a file after these notes, one after another. */
function kept(...notes: SeenFile[]): SeenFile | undefined {
  const seen = new Map<string, SeenFile>();
  for (const note of notes) noteSeen(seen, "a.txt", note);
  return seen.get("a.txt");
}

const part = (shown: [number, number][], total = 9, sha256 = OLD): SeenFile => ({
  sha256,
  whole: false,
  lines: { shown, total },
});
const whole = { sha256: OLD, whole: true };
const unclear = { sha256: OLD, whole: false };

describe("noteSeen", () => {
  const rows: [what: string, notes: SeenFile[], kept: SeenFile][] = [
    ["one part is that part", [part([[2, 3]])], part([[2, 3]])],
    ["parts that touch are one", [part([[2, 3]]), part([[4, 5]])], part([[2, 5]])],
    ["parts that overlap are one", [part([[2, 6]]), part([[1, 3]])], part([[1, 6]])],
    ["a part inside of another adds nothing", [part([[2, 6]]), part([[3, 4]])], part([[2, 6]])],
    ["parts with a gap are in order", [part([[7, 8]]), part([[1, 2]])], part([[1, 2], [7, 8]])],
    ["a part that fills the last gap makes the whole", [part([[1, 4], [6, 9]]), part([[5, 5]])], whole],
    ["a part of the whole leaves it whole", [whole, part([[1, 1]])], whole],
    ["the whole counts after a part", [part([[1, 1]]), whole], whole],
    ["another content begins anew", [whole, part([[1, 1]], 9, NEW)], part([[1, 1]], 9, NEW)],
    ["parts of two contents do not add up", [part([[1, 5]]), part([[6, 9]], 9, NEW)], part([[6, 9]], 9, NEW)],
    ["the content of before is forgotten", [part([[1, 5]]), part([[1, 1]], 9, NEW), part([[6, 9]])], part([[6, 9]])],
    ["an edit of a part tells no lines", [unclear, part([[1, 1]])], part([[1, 1]])],
    ["a note without lines takes none away", [part([[1, 1]]), unclear], part([[1, 1]])],
    ["nothing is known of it", [unclear, unclear], unclear],
    ["its names are those of the last note", [{ ...whole, names: 2 }, { ...whole, names: 3 }], { ...whole, names: 3 }],
    ["it has one name now", [{ ...whole, names: 2 }, whole], whole],
  ];
  test.each(rows)("%s", (_what, notes, after) => {
    expect(kept(...notes)).toEqual(after);
  });

  test("keeps each file by itself", () => {
    const seen = new Map<string, SeenFile>();
    noteSeen(seen, "a.txt", part([[1, 5]]));
    noteSeen(seen, "b.txt", part([[6, 9]]));
    expect([...seen]).toEqual([["a.txt", part([[1, 5]])], ["b.txt", part([[6, 9]])]]);
  });

  test("knows the lines that were shown, however they came", () => {
    const range = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.nat(4))
      .map(([first, more]): [number, number] => [first, Math.min(first + more, 12)]);
    fc.assert(fc.property(fc.array(range, { minLength: 1, maxLength: 10 }), (ranges) => {
      const after = kept(...ranges.map((one) => part([one], 12)));
      const numbers = (all: [number, number][]) =>
        new Set(all.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at)));
      const known = numbers(ranges);
      expect(after?.whole).toBe(known.size === 12);
      if (after?.lines === undefined) return;
      expect([...numbers(after.lines.shown)]).toEqual([...known].sort((a, b) => a - b));
      const missing = Array.from({ length: 12 }, (_, at) => at + 1).filter((line) => !known.has(line));
      const [first = 0, last = 0] = firstGap(after.lines) ?? [];
      expect([first, missing.includes(last), known.has(last + 1) || last === 12]).toEqual([
        missing[0] ?? 0,
        true,
        true,
      ]);
      expect([...known].some((line) => line > first && line < last)).toBe(false);
    }));
  });
});
