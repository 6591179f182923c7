import { describe, expect, test } from "bun:test";
import { notFoundHint } from "../core/files/not_found_hint.ts";

describe("the hint for an old string that is not there", () => {
  const rows: [id: string, text: string, oldText: string, hint: string][] = [
    ["spaces for a tab", "a\n\tb\n", "a\n    b", "At line 2 the file has a tab where old_string has 4 spaces"],
    ["a tab for spaces", "a\n    b\n", "\tb", "At line 2 the file has 4 spaces where old_string has a tab"],
    [
      "fewer spaces",
      "x\n  y\nz\n    if a:\n      b\n",
      "if a:\n  b",
      "At line 5 the file has 6 spaces where old_string has 2 spaces",
    ],
    [
      "spaces at the end of a line",
      "a  \nb\n",
      "a\nb",
      "At line 1 the file has 2 spaces and a line end where old_string has a line end",
    ],
    [
      "no spaces at the end of a line",
      "a\nb\n",
      "a \nb",
      "At line 1 the file has a line end where old_string has a space and a line end",
    ],
    ["one line end more", "a\n\nb\n", "a\nb", "At line 2 the file has a line end where old_string has no white space"],
    ["at the end of the file", "a\nb", "b\n", "At line 2 the file has no white space where old_string has a line end"],
    [
      "a space within a line",
      "f(a,b)\n",
      "f(a, b)",
      "At line 1 the file has no white space where old_string has a space",
    ],
    ["a no-break space", "a\u00a0b\n", "a b", 'At line 1 the file has "\u00a0" (U+00A0) where old_string has a space'],
    [
      "a zero-width space",
      "a\u200bb\n",
      "ab",
      'At line 1 the file has "\\u{200b}" (U+200B) where old_string has no white space',
    ],
    [
      "a curly quote",
      "one\nit\u2019s\n",
      "it's",
      `At line 2 the file has "\u2019" (U+2019) where old_string has "'" (U+0027)`,
    ],
    [
      "a long dash",
      "a \u2013 b\n",
      "a - b",
      'At line 1 the file has "\u2013" (U+2013) where old_string has "-" (U+002D)',
    ],
    [
      "another case",
      "const Foo = 1\n",
      "const foo",
      'At line 1 the file has "F" (U+0046) where old_string has "f" (U+0066)',
    ],
    ["CRLF for LF", "a\nb\n", "a\r\nb", "At line 1 the file has a line end where old_string has a CRLF line end"],
    ["tabs in a CRLF file", "a\r\n\tb\r\n", "a\n  b", "At line 2 the file has a tab where old_string has 2 spaces"],
    ["a CR of its own", "a\rb\n", "a\nb", 'At line 1 the file has "\\u{d}" (U+000D) where old_string has a line end'],
    [
      "line numbers",
      "a\nb\nc\n",
      "     2\tb\n     3\tc",
      "It has the line numbers of read_file in it. Leave out the number and the tab before each line, then it is at line 2",
    ],
    [
      "line numbers on all lines but the first",
      "a\r\nb\r\nc\r\n",
      "b\n     3\tc",
      "It has the line numbers of read_file in it. Leave out the number and the tab before each line, then it is at line 2",
    ],
    ["the BOM", "\ufeffa\n", "\ufeffa", "Leave out the byte order mark at its beginning"],
    [
      "another last line",
      "x\nfunction f() {\n  return 1;\n}\n",
      "function f() {\n  return 2;\n}",
      'Its first line is at line 2, but line 3 is "return 1;" where old_string has "return 2;"',
    ],
    [
      "the longest of several beginnings",
      "a\nb\nx\na\nb\nc\ny\n",
      "a\nb\nc\nd",
      'Its first 3 lines are at line 4, but line 7 is "y" where old_string has "d"',
    ],
    [
      "more lines than the file",
      "a\nb",
      "a\nb\nc",
      'Its first 2 lines are at line 1, but there the file ends where old_string has "c"',
    ],
    [
      "a line that is like it",
      "one\nconst total = sum(items);\n",
      "let total = sum(items);",
      'The nearest is line 2: "const total = sum(items);"',
    ],
    [
      "a line that is like its longest",
      "one\nconst total = sum(items);\n",
      "{\nlet total = sum(items);\n}",
      'The nearest is line 2: "const total = sum(items);"',
    ],
    [
      "nothing like it",
      "one\ntwo\n",
      "something else altogether",
      "No line is like it. Read the file again with read_file",
    ],
    ["white space alone", "one\n", "\t\t", "No line is like it. Read the file again with read_file"],
    ["an empty file", "", "x", "No line is like it. Read the file again with read_file"],
    [
      "a line of control characters",
      "x\u001b[31m = compute_all(1)\n",
      "y = compute_all(1)",
      'The nearest is line 1: "x\\u{1b}[31m = compute_all(1)"',
    ],
  ];
  test.each(rows)("%s", (_id, text, oldText, hint) => {
    expect(notFoundHint(text, oldText)).toBe(hint);
  });

  test("is one line and short, whatever the two are", () => {
    const long = "x".repeat(5000);
    const hint = notFoundHint(`${long}1\n${long}2\n`, `${long}3\n${long}4`);
    expect(hint.length).toBeLessThan(500);
    expect(hint).not.toContain("\n");
  });

  test("takes a moment for 10 MB", () => {
    const text = "const value = compute(first, second);\n".repeat(270_000);
    const start = performance.now();
    expect(notFoundHint(text, "let valeu = compute(first, third)\nnothing like it")).toStartWith(
      "The nearest is line 1:",
    );
    expect(performance.now() - start).toBeLessThan(10_000);
  }, 30_000);
});
