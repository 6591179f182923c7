import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findHits } from "../core/files/search_lines.ts";
import { plainText, requiredTexts } from "../core/files/search_literal.ts";
import { parseSearch } from "../core/files/search_pattern.ts";

describe("requiredTexts", () => {
  const rows: [pattern: string, texts: string[] | undefined][] = [
    ["foo\\.bar", ["foo.bar"]],
    ["foo|bar", ["foo", "bar"]],
    ["foo|b*", undefined],
    ["foo||bar", undefined],
    ["(foo|ba)r+", ["foo", "ba"]],
    ["function\\s+\\w+", ["function"]],
    ["a\\b.longer", ["longer"]],
    ["a?bc", ["bc"]],
    ["ab*c", ["a"]],
    ["ab+c", ["ab"]],
    ["ab{0,2}c", ["a"]],
    ["ab{2}c", ["ab"]],
    ["a{,3}b", ["a{,3}b"]],
    ["ab+?cde", ["cde"]],
    ["(abc)?de", ["de"]],
    ["(?:abc)+d", ["abc"]],
    ["(?P<name>abc)d", ["abc"]],
    ["[abc]d", ["d"]],
    ["[]abc]d", ["d"]],
    ["[^]abc]d", ["d"]],
    ["[[:alpha:]abc]d", ["d"]],
    ["[\\]abc]d", ["d"]],
    ["\\Qa|b\\Ecd", ["cd"]],
    ["\\x41\\pL\\p{Greek}\\101bc", ["bc"]],
    ["\u{1f600}?ab", ["ab"]],
    ["(?i)abc", undefined],
    ["x(?i:abc)y", undefined],
    [".*", undefined],
    [Array.from({ length: 17 }, (_, at) => `x${at}`).join("|"), undefined],
  ];
  test.each(rows)("%s needs %p", (pattern, texts) => {
    expect(requiredTexts(pattern)).toEqual(texts);
  });
});

describe("plainText", () => {
  const rows: [pattern: string, text: string | undefined][] = [
    ["a b,c", "a b,c"],
    ["a\\.b\\(", "a.b("],
    ["a\\\\b", "a\\b"],
    ["a.b", undefined],
    ["a\\d", undefined],
    ["a{b", undefined],
    ["a\\", undefined],
  ];
  test.each(rows)("%s is %p", (pattern, text) => {
    expect(plainText(pattern)).toBe(text);
  });
});

const CHARS = ["a", "b", "k", "K", "s", "S", "\u212a", "\u017f", "é", "É", "\u{1f600}", " "];
const file = fc.array(fc.string({ unit: fc.constantFrom(...CHARS, "\r"), maxLength: 8 }), { maxLength: 8 })
  .chain((lines) => fc.constantFrom("\n", "\r\n").map((end) => lines.join(end)));

/** Patterns that RE2 and JavaScript read alike. */
const { pattern } = fc.letrec<{ pattern: string; row: string; item: string }>((tie) => ({
  pattern: fc.array(tie("row"), { minLength: 1, maxLength: 3 }).map((rows) => rows.join("|")),
  row: fc.array(fc.tuple(tie("item"), fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{0,1}", "+?")), {
    maxLength: 4,
  }).map((items) => items.map((item) => item.join("")).join("")),
  item: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.constantFrom(...CHARS),
    fc.constantFrom(".", "[ab]", "[^k]", "[a-s]", "\\.", "\\s", "(?:^)", "(?:$)"),
    tie("pattern").map((inner) => `(?:${inner})`),
    tie("pattern").map((inner) => `(${inner})`),
  ),
}));

/** The numbers of the lines with a hit. */
async function linesOf(text: string, pattern: string, options: { isAnyCase: boolean; isLiteral: boolean }) {
  const search = await parseSearch(pattern, options);
  const bytes = new TextEncoder().encode(text);
  const filtered = [...findHits(bytes, search)];
  expect(filtered).toEqual([...findHits(bytes, { ...search, candidates: undefined })]);
  return filtered.map(({ line }) => line);
}

/** The numbers of the lines that pass a check that has nothing to do with ours. */
function linesThat(text: string, passes: (line: string) => boolean): number[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  if (text === "" || text.endsWith("\n")) lines.pop();
  return lines.flatMap((line, at) => passes(line) ? [at + 1] : []);
}

describe("a search", () => {
  test("finds with literal exactly the lines that contain the text", async () => {
    const text = fc.string({ unit: fc.constantFrom(...CHARS, ".", "*", "(", "\\"), minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(file, text, async (file, text) => {
        const expected = linesThat(file, (line) => line.includes(text));
        expect(await linesOf(file, text, { isAnyCase: false, isLiteral: true })).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("finds what the expression matches, whatever is looked for first", async () => {
    await fc.assert(
      fc.asyncProperty(
        file,
        pattern.filter((pattern) => pattern !== ""),
        fc.boolean(),
        async (file, pattern, isAnyCase) => {
          const expression = new RegExp(pattern, isAnyCase ? "isu" : "su");
          const expected = linesThat(file, (line) => expression.test(line));
          expect(await linesOf(file, pattern, { isAnyCase, isLiteral: false })).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });
});
