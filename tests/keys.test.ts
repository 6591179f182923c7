import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createKeyDecoder, type Key } from "../core/terminal/keys.ts";

/** The keys of bytes that come in these bursts; after each one nothing comes for a while. */
function keysOf(...bursts: string[]): Key[] {
  const decoder = createKeyDecoder();
  return bursts.flatMap((burst) => [...decoder.push(new TextEncoder().encode(burst)), ...decoder.rest()]);
}

/** As short as it can be told: names, and text in quotes. */
function told(keys: Key[]): string {
  return keys.map((key) =>
    "text" in key ? `${key.name === "paste" ? "paste " : ""}${JSON.stringify(key.text)}` : key.name
  )
    .join(" ");
}

const ROWS: [what: string, bursts: string[], keys: string][] = [
  ["letters are one text", ["hello"], '"hello"'],
  ["wide characters are text", ["中文🦊"], '"中文🦊"'],
  ["text and Enter", ["hi\r"], '"hi" enter'],
  ["a line feed is Enter too", ["hi\n"], '"hi" enter'],
  ["CRLF is one Enter", ["hi\r\n"], '"hi" enter'],
  ["an Enter with text right behind it is part of an unmarked paste", ["a\rb\r"], '"a" newline "b" enter'],
  ["an Enter with a control key behind it is an Enter", ["a\r\x04"], '"a" enter end_of_input'],
  ["arrows, in both modes", ["\x1b[A\x1b[B\x1bOC\x1bOD"], "up down right left"],
  [
    "home and end, as terminals disagree",
    ["\x1b[H\x1b[1~\x1bOH\x01\x1b[F\x1b[4~\x05"],
    "home home home home end end end",
  ],
  ["backspace, both ways, and delete", ["\x7f\x08\x1b[3~"], "backspace backspace delete"],
  ["words", ["\x1bb\x1bf\x1b[1;5D\x1b[1;3C"], "word_left word_right word_left word_right"],
  ["kills", ["\x0b\x15\x17\x1b\x7f"], "kill_to_end kill_to_start kill_word kill_word"],
  ["Alt-Enter and Shift-Enter", ["\x1b\r\x1b[13;2u"], "newline newline"],
  ["Ctrl-C, Ctrl-D, Ctrl-L, Ctrl-Z, Tab", ["\x03\x04\x0c\x1a\t"], "interrupt end_of_input redraw suspend tab"],
  ["Esc alone", ["\x1b"], "escape"],
  ["Esc twice", ["\x1b\x1b"], "escape escape"],
  ["Esc, then Ctrl-C in one burst", ["\x1b\x03"], "escape interrupt"],
  ["Ctrl-C inside a broken sequence still counts", ["\x1b[1\x03"], "interrupt"],
  ["a sequence that never ends is dropped", ["\x1b[1;", "x"], '"x"'],
  ["an unknown sequence is dropped whole", ["\x1b[?62;c\x1b[<0;3;4Mx\x1b[24~"], '"x"'],
  [
    "a report of the terminal types nothing",
    ["\x1b]11;rgb:0000/0000/0000\x07\x1bP1$r0m\x1b\\\x1b]52;c;x\x1b\\x"],
    '"x"',
  ],
  ["control characters without a meaning are dropped", ["a\x00\x0fb"], '"a" "b"'],
  ["C1 controls are dropped", ["a\u009bb"], '"ab"'],
  ["a paste", ["\x1b[200~one\rtwo\r\x1b[201~"], 'paste "one\\ntwo\\n"'],
  ["a paste with CRLF and LF", ["\x1b[200~a\r\nb\nc\x1b[201~"], 'paste "a\\nb\\nc"'],
  ["an empty paste", ["\x1b[200~\x1b[201~"], 'paste ""'],
  ["a paste keeps tabs and no other control", ["\x1b[200~a\tb\x03\x04\x1b[2J\x9b\x1b[201~"], 'paste "a\\tb[2J"'],
  ["a paste that comes in several bursts", ["\x1b[200~one", "two", "\x1b[201~"], 'paste "onetwo"'],
  ["keys before and after a paste", ["a\x1b[200~b\x1b[201~", "c\r"], '"a" paste "b" "c" enter'],
  [
    "TERM-09: an end mark in the pasted text ends nothing and runs nothing",
    ["\x1b[200~safe\x1b[201~\nrun evil\n\x1b[201~"],
    'paste "safe\\nrun evil\\n"',
  ],
  ["TERM-09, with carriage returns", ["\x1b[200~safe\x1b[201~\rrun evil\r\x1b[201~"], 'paste "safe\\nrun evil\\n"'],
  ["a start mark in the pasted text is dropped", ["\x1b[200~a\x1b[200~b\x1b[201~"], 'paste "ab"'],
  ["Enter in the same burst as a paste is text", ["\x1b[200~a\x1b[201~\r"], 'paste "a\\n"'],
  ["a lost end of a paste does not lock the keyboard", ["\x1b[200~a", "b", "\x03"], 'paste "ab" interrupt'],
];

describe("createKeyDecoder", () => {
  test.each(ROWS)("reads %s", (_what, bursts, keys) => {
    expect(told(keysOf(...bursts))).toBe(keys);
  });

  test("reads the same keys however the bytes are divided", () => {
    const unit = fc.constantFrom(
      "a",
      "中",
      "🦊",
      "\x1b[A",
      "\x1b[1;5D",
      "\x1bOH",
      "\x7f",
      "\x1b[200~p\x1b\r\x1b[201~",
      "\x1b]0;t\x07",
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 8 }), fc.array(fc.nat(60), { maxLength: 5 }), (units, cuts) => {
        const bytes = new TextEncoder().encode(units.join(""));
        const borders = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const decoder = createKeyDecoder();
        const keys: Key[] = [];
        for (let k = 1; k < borders.length; k++) keys.push(...decoder.push(bytes.slice(borders[k - 1], borders[k])));
        keys.push(...decoder.rest());
        expect(told(keys).replaceAll('" "', "")).toBe(told(keysOf(units.join(""))).replaceAll('" "', ""));
      }),
    );
  });

  test("never submits a paste, whatever is in it", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("x", "\r", "\n", "\x1b", "\x1b[201~", "\x1b[200~", "\x03")), (units) => {
        expect(keysOf(`\x1b[200~${units.join("")}\x1b[201~`).map(({ name }) => name)).toEqual(["paste"]);
      }),
    );
  });
});
