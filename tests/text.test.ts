import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createCleaner, cutMiddle, headOf, listed, oneLine, RESULT_LIMIT, tailOf, visible } from "../core/text.ts";

const anyText = fc.string({ unit: "binary", maxLength: 60 });

describe("visible writes out", () => {
  const cases: [what: string, text: string, shown: string][] = [
    ["nothing of plain text", "Grüße, 世界 😀\tand\nmore", "Grüße, 世界 😀\tand\nmore"],
    ["the start of an escape sequence", "\u001b[2Jx", "\\u{1b}[2Jx"],
    ["a one-character sequence of C1", "\u009b2J", "\\u{9b}2J"],
    ["a carriage return", "safe\revil", "safe\\u{d}evil"],
    ["a bell, a backspace and a delete", "\u0007\b\u007f", "\\u{7}\\u{8}\\u{7f}"],
    ["bidi controls", "a\u202eb\u2066c\u200f", "a\\u{202e}b\\u{2066}c\\u{200f}"],
    ["characters without width", "a\u200bb\ufeffc\u00add\u2060", "a\\u{200b}b\\u{feff}c\\u{ad}d\\u{2060}"],
    ["line separators", "a\u2028b\u2029", "a\\u{2028}b\\u{2029}"],
    ["tag characters", "a\u{e0041}\u{e007f}", "a\\u{e0041}\\u{e007f}"],
    ["private characters of the last planes", "\u{f0000}\u{10fffd}", "\\u{f0000}\\u{10fffd}"],
    ["half of a surrogate pair", "a\ud83d b\ude00", "a\\u{d83d} b\\u{de00}"],
    ["variation selectors but the one of emoji", "\ufe00\ufe0e❤\ufe0f", "\\u{fe00}\\u{fe0e}❤\ufe0f"],
    ["fillers that look like a space", "\u3164\u115f\uffa0", "\\u{3164}\\u{115f}\\u{ffa0}"],
  ];
  for (const [what, text, shown] of cases) test(what, () => expect(visible(text)).toBe(shown));

  test("everything hidden, so that a second time changes nothing", () => {
    fc.assert(fc.property(anyText, (text) => {
      const shown = visible(text);
      expect(shown.replace(/[\n\t]/g, "")).toMatch(/^[^\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]*$/u);
      expect(visible(shown)).toBe(shown);
      expect(shown.isWellFormed()).toBe(true);
    }));
  });
});

describe("oneLine", () => {
  const cases: [what: string, text: string, limit: number, line: string][] = [
    ["writes out line breaks and tabs", "a\nb\tc\r", 20, "a\\nb\\tc\\u{d}"],
    ["keeps a text of the limit", "x".repeat(20), 20, "x".repeat(20)],
    ["cuts a longer one", "x".repeat(21), 20, `${"x".repeat(19)}…`],
    ["cuts no character in half", `${"x".repeat(8)}😀${"y".repeat(20)}`, 10, `${"x".repeat(8)}…`],
    ["cuts a text that grew as it was written out", "\n".repeat(8), 10, "\\n\\n\\n\\n\\…"],
    ["takes an empty text", "", 10, ""],
  ];
  for (const [what, text, limit, line] of cases) test(what, () => expect(oneLine(text, limit)).toBe(line));

  test("is one line of at most the limit, also for a text that is much longer", () => {
    fc.assert(fc.property(anyText, fc.integer({ min: 1, max: 30 }), fc.constantFrom(1, 50), (text, limit, times) => {
      const line = oneLine(text.repeat(times), limit);
      expect(line).not.toMatch(/[\n\r\t]/);
      expect(line.length).toBeLessThanOrEqual(limit);
    }));
  });
});

describe("a cleaner", () => {
  const cases: [what: string, pieces: string[], shown: string][] = [
    ["joins the halves of a surrogate pair", ["a\ud83d", "\ude00b"], "a😀b"],
    ["joins a CRLF, which becomes LF", ["a\r", "\nb\r\n"], "a\nb\n"],
    ["writes out a carriage return alone", ["a\r", "b"], "a\\u{d}b"],
    ["writes out what is kept at the end", ["a\ud83d"], "a\\u{d83d}"],
    ["writes out an escape sequence that is cut", ["\u001b", "[2J"], "\\u{1b}[2J"],
    ["takes empty pieces in between", ["\ud83d", "", "\ude00"], "😀"],
  ];
  for (const [what, pieces, shown] of cases) {
    test(what, () => {
      const cleaner = createCleaner();
      expect(pieces.map((piece) => cleaner.push(piece)).join("") + cleaner.end()).toBe(shown);
      expect(cleaner.end()).toBe("");
    });
  }

  test("gives the same for any cut of a text", () => {
    const unit = fc.constantFrom("a", "\r", "\n", "\r\n", "😀", "\ud83d", "\ude00", "\u001b[", "\u202e");
    fc.assert(fc.property(fc.string({ unit, maxLength: 12 }), fc.array(fc.nat(20)), (text, cuts) => {
      const borders = [0, ...cuts.map((at) => Math.min(at, text.length)).toSorted((a, b) => a - b), text.length];
      const cleaner = createCleaner();
      const shown = borders.slice(1).map((to, index) => cleaner.push(text.slice(borders[index], to))).join("");
      expect(shown + cleaner.end()).toBe(visible(text.replaceAll("\r\n", "\n")));
    }));
  });
});

test("headOf and tailOf keep what fits and never half of a pair", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.nat(20), (text, limit) => {
    const head = headOf(text, limit);
    const tail = tailOf(text, limit);
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
    for (const part of [head, tail]) {
      expect(part.isWellFormed()).toBe(true);
      expect(part.length).toBeLessThanOrEqual(limit);
      expect(part.length).toBeGreaterThanOrEqual(Math.min(limit, text.length) - 1);
    }
  }));
});

describe("cutMiddle", () => {
  test("keeps a text of the limit as it is", () => {
    const text = "x".repeat(RESULT_LIMIT);
    expect(cutMiddle(text)).toBe(text);
  });

  test("cuts on line borders and counts what it leaves out", () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${String(index).padStart(4, "0")}\n`); // of 10 characters
    expect(cutMiddle(lines.join(""), 420)).toBe(
      [...lines.slice(0, 18), "[710 of 1000 characters left out here]\n", ...lines.slice(-11)].join(""),
    );
  });

  test("cuts anywhere in a text without lines", () => {
    expect(cutMiddle("x".repeat(1000), 420)).toBe(
      `${"x".repeat(180)}\n[700 of 1000 characters left out here]\n${"x".repeat(120)}`,
    );
  });

  test("is never longer than the limit, well formed, and adds up", () => {
    const unit = fc.constantFrom("a", "\n", "😀", "some words ");
    const text = fc.string({ unit, minLength: 100, maxLength: 400 });
    fc.assert(fc.property(text, fc.integer({ min: 200, max: 600 }), (text, limit) => {
      const cut = cutMiddle(text, limit);
      expect(cut.length).toBeLessThanOrEqual(limit);
      expect(cut.isWellFormed()).toBe(true);
      if (text.length <= limit) return expect(cut).toBe(text);
      const [, leftOut] = /\[(\d+) of \d+ characters left out here\]/.exec(cut) ?? [];
      const [head = "", tail = ""] = cut.split(/\[\d+ of \d+ characters left out here\]\n/);
      expect(text.startsWith(head.replace(/\n$/, "")) && text.endsWith(tail)).toBe(true);
      const kept = head.length + tail.length - (text.startsWith(head) ? 0 : 1);
      expect(Number(leftOut)).toBe(text.length - kept);
    }));
  });
});

test.each([
  [[], ""],
  [["a"], "a"],
  [["a", "b"], "a or b"],
  [["a", "b", "c, d"], "a, b or c, d"],
])("listed names %j as %j", (items, text) => expect(listed(items, "or")).toBe(text));
