import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createPager, firstLongLine, type Page } from "../core/files/lines.ts";
import { RESULT_LIMIT } from "../core/text.ts";

function pageOf(bytes: Uint8Array, window: { first: number; limit: number }, cuts: number[] = []): Page {
  const pager = createPager(window);
  const borders = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let at = 0;
  for (const border of borders) {
    if (border > at) pager.push(bytes.subarray(at, border));
    at = Math.max(at, border);
  }
  return pager.end();
}

const text = fc.array(
  fc.constantFrom(
    "a",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\u00e9",
    "\u{1f600}",
    "\ufeff",
    "x".repeat(2000),
    "x".repeat(2100),
    "\u{1f600}".repeat(1100),
  ),
  { maxLength: 20 },
)
  .map((parts) => parts.join(""));
const window = fc.record({ first: fc.integer({ min: 1, max: 8 }), limit: fc.integer({ min: 1, max: 8 }) });

describe("a page", () => {
  test("is the same however the bytes come in chunks", () => {
    fc.assert(fc.property(text, window, fc.array(fc.nat()), (text, window, cuts) => {
      const bytes = new TextEncoder().encode(text);
      expect(pageOf(bytes, window, cuts)).toEqual(pageOf(bytes, window));
    }));
  });

  test("has the lines that a split at LF and CRLF gives", () => {
    fc.assert(fc.property(text, window, (text, { first, limit }) => {
      const lines = text.split(/\r?\n/);
      if (lines.at(-1) === "" || text === "\ufeff") lines.pop();
      const page = pageOf(new TextEncoder().encode(text), { first, limit });
      expect(page.total).toBe(lines.length);
      const wanted = lines.slice(first - 1, first - 1 + limit).map((line, at) =>
        first + at === 1 ? line.replace(/^\ufeff/, "") : line
      );
      const shown = page.text === "" ? [] : page.text.split("\n");
      expect(shown.length).toBe(wanted.length);
      for (const [at, row] of shown.entries()) {
        const line = wanted[at] ?? "";
        if (line.length <= 2000) expect(row).toBe(`${String(first + at).padStart(6)}\t${line}`);
        else expect(row.slice(7, 7 + 1999)).toBe(line.slice(0, 1999));
      }
      expect(page.text.isWellFormed()).toBe(true);
    }));
  });

  test("tells which of its lines are not cut, and firstLongLine which is the first that always is", () => {
    fc.assert(fc.property(text, window, (text, { first, limit }) => {
      const bytes = new TextEncoder().encode(text);
      const page = pageOf(bytes, { first, limit });
      const isCut = page.text.split("\n").map((row) => row.includes("… [line cut: it has "));
      const lines = Array.from({ length: page.last - first + 1 }, (_, at) => first + at);
      const shown = page.shown.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, at) => from + at));
      expect(shown).toEqual(lines.filter((_, at) => !isCut[at]));
      for (const [at, [from]] of page.shown.entries()) {
        expect(from).toBeGreaterThan((page.shown[at - 1]?.[1] ?? -1) + 1);
      }
      expect(page.whole).toBe(lines.length === page.total && !lines.some((_, at) => isCut[at]));
      const cut = pageOf(bytes, { first: 1, limit: 100 }).text.split("\n").findIndex((row) =>
        row.includes("… [line cut")
      );
      expect(firstLongLine(new TextDecoder().decode(bytes))).toBe(cut < 0 ? undefined : cut + 1);
    }));
  });

  test("stays below the limit of a result, and ends where the next one begins", () => {
    const bytes = new TextEncoder().encode(`${"\u00e9".repeat(1500)}\n`.repeat(100));
    let next = 1;
    while (next <= 100) {
      const page = pageOf(bytes, { first: next, limit: 2000 });
      expect(page.text.length).toBeLessThan(RESULT_LIMIT);
      expect([page.first, page.last >= page.first, page.total]).toEqual([next, true, 100]);
      next = page.last + 1;
    }
    expect(next).toBe(101);
  });

  test("finds bytes that are not UTF-8, also where nobody looks and at the very end", () => {
    for (const bad of [[0xff], [0xc3], [0xe2, 0x82], [0xc0, 0x80], [0xed, 0xa0, 0x80]]) {
      const page = pageOf(Uint8Array.of(0x61, 0x0a, 0x62, 0x0a, ...bad), { first: 1, limit: 1 });
      expect([page.bad !== undefined, page.hasBadLine, page.whole]).toEqual([true, false, false]);
      expect(pageOf(Uint8Array.of(0x61, 0x0a, ...bad), { first: 1, limit: 5 }).hasBadLine).toBe(true);
    }
  });
});
