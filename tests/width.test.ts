import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { clustersOf, cutToWidth, widthOf } from "../core/terminal/width.ts";

const WIDTHS: [what: string, text: string, columns: number][] = [
  ["nothing", "", 0],
  ["ASCII", "tenon 1.0", 9],
  ["Chinese", "這個檔案", 8],
  ["mixed scripts", "a中b", 4],
  ["Japanese kana", "かな", 4],
  ["half-width kana", "ｶﾅ", 2],
  ["full-width letters", "ＡＢ", 4],
  ["Korean syllables", "한글", 4],
  ["a Korean syllable in separate letters", "\u1112\u1161\u11ab", 2],
  ["a combining accent", "e\u0301", 1],
  ["a stack of combining marks", `o${"\u0302".repeat(30)}`, 1],
  ["an emoji", "🦊", 2],
  ["an emoji with a skin tone", "👍🏽", 2],
  ["a family of joined emoji", "👨‍👩‍👧", 2],
  ["a flag", "🇹🇼", 2],
  ["a keycap", "1️⃣", 2],
  ["a heart asked for as a picture", "❤️", 2],
  ["symbols of our own lines", "⏺ › …", 5],
  ["box drawing, ambiguous", "─┼─", 3],
  ["Arabic", "سلام", 4],
  ["an ideograph outside the BMP", "𠮷", 2],
];

describe("widthOf", () => {
  test.each(WIDTHS)("counts the columns of %s", (_what, text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });

  test("agrees with Bun's own count about which letters, digits and signs are wide", () => {
    const differ: string[] = [];
    for (let code = 0x20; code < 0x40000; code++) {
      const char = String.fromCodePoint(code);
      if (!/^[\p{L}\p{S}\p{P}\p{N}]$/u.test(char) || /\p{Default_Ignorable_Code_Point}/u.test(char)) continue;
      if ((Bun.stringWidth(char) === 2) !== (widthOf(char) === 2)) differ.push(code.toString(16));
    }
    expect(differ).toEqual([]);
  });
});

const CUTS: [text: string, columns: number, shown: string][] = [
  ["short", 10, "short"],
  ["exactly ten", 11, "exactly ten"],
  ["one too many", 11, "one too ma…"],
  ["中文字", 6, "中文字"],
  ["中文字", 5, "中文…"],
  ["中文字", 4, "中…"],
  ["中文字", 1, "…"],
  ["中文字", 0, ""],
  ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
  ["👍🏽👍🏽", 3, "👍🏽…"],
];

describe("cutToWidth", () => {
  test.each(CUTS)("shows %j in %d columns as %j", (text, columns, shown) => {
    expect(cutToWidth(text, columns)).toBe(shown);
  });

  test("never takes more columns than it was given and never splits a cluster", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom<string[]>("a", "中", "e\u0301", "👍🏽", " ", "🦊")),
        fc.nat(20),
        (pieces, columns) => {
          const shown = cutToWidth(pieces.join(""), columns);
          expect(widthOf(shown)).toBeLessThanOrEqual(columns);
          if (shown === pieces.join("")) return;
          const kept = clustersOf(shown).slice(0, -1);
          expect(pieces.slice(0, kept.length)).toEqual(kept);
        },
      ),
    );
  });
});

test("clustersOf keeps what belongs together and loses nothing", () => {
  expect(clustersOf("a👨‍👩‍👧e\u0301中")).toEqual(["a", "👨‍👩‍👧", "e\u0301", "中"]);
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => clustersOf(text).join("") === text));
});
