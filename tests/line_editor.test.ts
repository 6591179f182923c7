import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Key, KeyName } from "../core/terminal/keys.ts";
import { type Line, newLine, pressKey } from "../core/terminal/line_editor.ts";
import { createLineView, layOut } from "../core/terminal/line_view.ts";
import { clustersOf, widthOf } from "../core/terminal/width.ts";
import { emulator } from "./support/emulator.ts";

/** `|` is the cursor; words in angle brackets are keys, the rest is typed. */
function press(start: string, keys: string, history: string[] = []): string {
  let line: Line = { ...newLine(history, start.replace("|", "")), cursor: start.indexOf("|") };
  const wishes: string[] = [];
  for (const [, name, text] of keys.matchAll(/<(\w+)>|([^<]+)/g)) {
    const pressed = pressKey(line, text === undefined ? { name: name as KeyName } : { name: "text", text });
    line = pressed.line;
    if (pressed.wish) wishes.push(pressed.wish);
  }
  return [`${line.text.slice(0, line.cursor)}|${line.text.slice(line.cursor)}`, ...wishes].join(" → ");
}

const ROWS: [start: string, keys: string, end: string][] = [
  ["|", "hi", "hi|"],
  ["a|c", "b", "ab|c"],
  ["abc|", "<backspace>", "ab|"],
  ["|abc", "<backspace>", "|abc"],
  ["a|bc", "<delete>", "a|c"],
  ["abc|", "<delete>", "abc|"],
  ["中文|", "<backspace>", "中|"],
  ["👨‍👩‍👧|", "<backspace>", "|"],
  ["e\u0301x|", "<left><left>", "|e\u0301x"],
  ["|🦊x", "<right>", "🦊|x"],
  ["e|", "\u0301<backspace>", "|"],
  ["|\u0301", "e<left>", "|e\u0301"],
  ["one two|", "<word_left>", "one |two"],
  ["one two|", "<word_left><word_left><word_left>", "|one two"],
  ["|one two", "<word_right>", "one| two"],
  ["one  two  |", "<kill_word>", "one  |"],
  ["one two| three", "<kill_to_end>", "one two|"],
  ["one two| three", "<kill_to_start>", "| three"],
  ["one|\ntwo", "<kill_to_end>", "one|two"],
  ["one\ntwo|", "<home>", "one\n|two"],
  ["one\n|two\nthree", "<end>", "one\ntwo|\nthree"],
  ["one\ntwo|", "<up>", "one|\ntwo"],
  ["中文字\nab|", "<up>", "中文|字\nab"],
  ["long row\nab\nlong row|", "<up>", "long row\nab|\nlong row"],
  ["a|b\n\ncd", "<down><down>", "ab\n\n|cd"],
  ["|\na", "<down>", "\n|a"],
  ["one|", "<newline>two", "one\ntwo|"],
  ["one\\|", "<enter>two", "one\ntwo|"],
  ["a\\|b", "<enter>", "a\\b| → submit"],
  ["|hi", "<enter>", "hi| → submit"],
  ["|", "<enter>", "| → submit"],
  ["hi|", "<interrupt>", "|"],
  ["|", "<interrupt>", "| → leave"],
  ["|", "<end_of_input>", "| → leave"],
  ["h|i", "<end_of_input>", "h|"],
  ["hi|", "<tab><escape>", "hi|"],
  ["hi|", "<redraw>", "hi| → redraw"],
];

describe("pressKey", () => {
  test.each(ROWS)("turns %j with %s into %j", (start, keys, end) => {
    expect(press(start, keys)).toBe(end);
  });

  test("a paste is text, line ends and all, and asks for nothing", () => {
    const { line, wish } = pressKey(newLine([], "> "), { name: "paste", text: "one\ntwo\n" });
    expect([line.text, wish]).toEqual(["> one\ntwo\n", undefined]);
  });

  const HISTORY: [keys: string, end: string][] = [
    ["<up>", "second|"],
    ["<up><up>", "first|"],
    ["<up><up><up>", "first|"],
    ["<up><down>", "draft|"],
    ["<up><up><down>", "second|"],
    ["<down>", "draft|"],
    ["<up>!<down><up>", "second|"],
    ["<up><enter>", "second| → submit"],
  ];
  test.each(HISTORY)("shows earlier lines with %s", (keys, end) => {
    expect(press("draft|", keys, ["first", "second"])).toBe(end);
  });

  const key: fc.Arbitrary<Key> = fc.oneof(
    fc.constantFrom<Key[]>(
      ...["backspace", "delete", "left", "right", "word_left", "word_right", "up", "down", "home", "end", "newline"]
        .map(
          (name) => ({ name: name as KeyName }),
        ),
      ...["kill_word", "kill_to_end", "kill_to_start"].map((name) => ({ name: name as KeyName })),
    ),
    fc.constantFrom<Key[]>(
      ...["a", " ", "中", "\u0301", "🦊", "\u200d", "👍🏽", "👩‍👩‍👧", "long word here"].map((text) => ({
        name: "text" as const,
        text,
      })),
    ),
  );

  test("keeps the cursor between two characters, whatever is pressed", () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 30 }), (keys) => {
        let line = newLine(["earlier", "two\nrows"]);
        for (const one of keys) line = pressKey(line, one).line;
        const borders = clustersOf(line.text).reduce<number[]>((at, one) => [...at, (at.at(-1) ?? 0) + one.length], [
          0,
        ]);
        expect(borders).toContain(line.cursor);
      }),
    );
  });

  test("a line view shows the line and its cursor after every key and resize, and nothing above it is touched", () => {
    const step = fc.oneof({ weight: 6, arbitrary: key }, { weight: 1, arbitrary: fc.integer({ min: 12, max: 30 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const screen = emulator(20);
        screen.write("above\r\n");
        const view = createLineView(screen, "› ");
        let line = newLine(["an earlier line", "two\nrows"]);
        view.draw(line);
        for (const one of steps) {
          if (typeof one === "number") screen.resize(one);
          else line = pressKey(line, one).line;
          view.draw(line);
          const layout = layOut(line, "› ", screen.columns());
          expect(screen.shown()).toEqual(["above", ...layout.rows.map((row) => row.trimEnd())]);
          expect(screen.cursor()).toEqual([layout.cursorRow + 1, layout.cursorColumn]);
        }
        view.finish(line);
        expect(screen.cursor()[1]).toBe(0);
        expect(screen.cursor()[0]).toBe(screen.shown().length - 1);
      }),
    );
  });
});

const LAYOUTS: [what: string, text: string, rows: string[], cursor: [number, number]][] = [
  ["an empty line", "|", ["› "], [0, 2]],
  ["a short line", "ab|c", ["› abc"], [0, 4]],
  ["wide characters", "中|文", ["› 中文"], [0, 4]],
  ["a row that is full: the cursor waits on the next one", "1234567890123|", ["› 1234567890123", "  "], [1, 2]],
  ["a wide character that does not fit", "123456789012中|", ["› 123456789012", "  中"], [1, 4]],
  ["several rows", "ab\ncd|\n", ["› ab", "  cd", "  "], [1, 4]],
  ["hidden characters, written out", "a\u202eb|", ["› a\\u{202e}b"], [0, 12]],
  ["a family of joined emoji, as it is", "a\u{1f469}\u200d\u{1f469}\u200d\u{1f467}b|", [
    "› a\u{1f469}\u200d\u{1f469}\u200d\u{1f467}b",
  ], [0, 6]],
  ["a flag of tag characters, as it is", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}|", [
    "› \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  ], [0, 4]],
  ["a joiner between letters, written out", "a\u200db|", ["› a\\u{200d}b"], [0, 12]],
  ["a joiner behind an emoji, written out", "\u{1f469}\u200d|", ["› \u{1f469}\\u{200d}"], [0, 12]],
  ["emoji that no picture joins, written out", "\u{1f98a}\u200d\u{1f98a}|", ["› \u{1f98a}\\u{200d}\u{1f98a}"], [0, 14]],
  ["a tab", "a\tb|", ["› a    b"], [0, 8]],
];

describe("layOut", () => {
  test.each(LAYOUTS)("places %s in 16 columns", (_what, text, rows, [cursorRow, cursorColumn]) => {
    const line = { text: text.replace("|", ""), cursor: text.indexOf("|") };
    expect(layOut(line, "› ", 16)).toEqual({ rows, cursorRow, cursorColumn });
  });

  test("no row is as wide as the window", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 12, max: 40 }), (text, columns) => {
        for (const row of layOut({ text, cursor: 0 }, "› ", columns).rows) expect(widthOf(row)).toBeLessThan(columns);
      }),
    );
  });
});

test("a line with more rows than the window shows those around the cursor", () => {
  const screen = emulator(20, 4);
  const view = createLineView(screen, "› ");
  const text = "1\n2\n3\n4\n5\n6";
  view.draw({ text, cursor: text.length });
  expect(screen.shown()).toEqual(["  4", "  5", "  6"]);
  view.draw({ text, cursor: 0 });
  expect(screen.shown()).toEqual(["› 1", "  2", "  3"]);
  view.finish({ text });
  expect(screen.shown()).toEqual(["› 1", "  2", "  3", "  4", "  5", "  6", ""]);
});
