import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { clean, createOutput, OUTPUT_LIMIT } from "../core/commands/output.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

function shown(...chunks: (string | Uint8Array)[]) {
  const output = createOutput();
  for (const chunk of chunks) output.push(typeof chunk === "string" ? bytesOf(chunk) : chunk);
  return output.show();
}

const CLEANED: [what: string, raw: string, text: string][] = [
  ["plain lines", "a\nb\tc\n", "a\nb\tc\n"],
  ["colours", "\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mmore\x1b[m", "red more"],
  ["moves of the cursor", "\x1b[2K\x1b[1Gx\x1b[?25l\x1b[10;20Hy", "xy"],
  ["a title", "\x1b]0;title\x07a\x1b]2;title\x1b\\b", "ab"],
  ["a link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"],
  ["a title without an end, on its line only", "\x1b]0;title\nnext", "\nnext"],
  ["one-byte forms", "\u009b31mred\u009d0;title\u009c!", "red!"],
  ["a character set, a reset", "\x1b(Ba\x1bcb", "ab"],
  ["CRLF", "a\r\nb\r\r\nc", "a\nb\nc"],
  ["a progress bar", " 1%\r 50%\r100%\ndone", "100%\ndone"],
  ["a progress bar that goes on", "begin\n 1%\r 2%\r", "begin\n 2%"],
  ["bold and underlined of manual pages", "N\bNA\bAM\bME\bE _\bx", "NAME x"],
  ["a counter that goes back", "Loading 1%\b\b2%\b\b3%", "Loading 3%"],
  ["NUL and other controls", "a\0b\x07\x7f\x1b", "a\\u{0}b\\u{7}\\u{7f}\\u{1b}"],
  ["joined characters of other scripts", "👩‍💻 नमस्ते", "👩‍💻 नमस्ते"],
];

test.each(CLEANED)("clean keeps the text of %s", (_what, raw, text) => {
  expect(clean(raw)).toBe(text);
});

test.each(["\x1b[", "\x1b]", "\r", "\b", "\n", "x\r", "a"])(
  "clean takes no longer than it must for many %j",
  (piece) => {
    const text = piece.repeat(150_000);
    const start = performance.now();
    clean(text);
    expect(performance.now() - start).toBeLessThan(1000);
  },
);

describe("createOutput", () => {
  test("shows nothing where nothing was said", () => {
    expect(shown()).toEqual({ text: "", damaged: false });
    expect(shown("\n \n")).toEqual({ text: "", damaged: false });
  });

  test("joins characters whose bytes come in several chunks", () => {
    const bytes = bytesOf("ä€😀");
    const chunks = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(shown(...chunks)).toEqual({ text: "ä€😀", damaged: false });
  });

  test("shows bytes that are not UTF-8 as U+FFFD, and says that they were", () => {
    expect(shown(Uint8Array.of(0xc4, 0x20, 0xff, 0x6f, 0x6b))).toEqual({ text: "\ufffd \ufffdok", damaged: true });
    expect(shown("\ufffd")).toEqual({ text: "\ufffd", damaged: false });
  });

  test("keeps the beginning and the end of much, and counts what is between them", () => {
    const output = createOutput();
    const line = bytesOf(`${"x".repeat(99)}\n`);
    output.push(bytesOf("first\n"));
    for (let count = 0; count < 10_000; count++) output.push(line);
    output.push(bytesOf("last"));
    const { text, damaged } = output.show();
    expect(text.startsWith("first\nxxx")).toBe(true);
    expect(text.endsWith("xxx\nlast")).toBe(true);
    expect(text.length).toBeLessThanOrEqual(OUTPUT_LIMIT);
    expect(text).toMatch(/\n\[\d+ of 1000010 bytes left out here, in the middle\]\n/);
    expect(damaged).toBe(false);
  });

  const COUNTED: [what: string, count: number, line: (index: number) => string][] = [
    ["lines", 10_000, (index) => `${index}`.padStart(99, "x") + "\n"],
    ["short lines", 200_000, (index) => `${index}\n`],
    ["coloured lines", 20_000, (index) => `\x1b[31m${index}\x1b[0m and more text\r\n`],
    ["lines that were written over", 20_000, (index) => `${index} 1%\r${index} 50%\r${index} 100%\n`],
    ["lines of ten thousand characters", 100, (index) => `${index}`.padStart(10_000, "ä") + "\n"],
  ];
  test.each(COUNTED)("counts exactly what it leaves out of %s, and cuts between lines", (_what, count, line) => {
    const lines = Array.from({ length: count }, (_, index) => line(index));
    const { text } = shown(lines.join(""));
    const [, head = "", lost, tail = ""] =
      /^([^]*)\n\[(\d+) of \d+ bytes left out here, in the middle\]\n([^]*)$/.exec(text) ?? [];
    expect(text.length).toBeLessThanOrEqual(OUTPUT_LIMIT);
    expect(text.length).toBeGreaterThan(OUTPUT_LIMIT * 0.6);
    const [first, last] = [head.split("\n"), tail.split("\n")];
    const cleaned = lines.map((one) => clean(one).trimEnd());
    expect(first).toEqual(cleaned.slice(0, first.length));
    expect(last).toEqual(cleaned.slice(-last.length));
    expect(Number(lost)).toBe(bytesOf(lines.slice(first.length, -last.length).join("")).length);
  });

  test("cuts one endless line of wide characters between two of them", () => {
    for (const lead of ["", "a", "ab", "abc"]) {
      const { text, damaged } = shown(lead, bytesOf("😀".repeat(200_000)));
      expect(text).not.toContain("\ufffd");
      expect(text.isWellFormed()).toBe(true);
      expect(damaged).toBe(false);
      const shownBytes = bytesOf(text.replace(/\n\[.*\]\n/, "")).length;
      expect(text).toContain(`\n[${lead.length + 800_000 - shownBytes} of `);
    }
  });

  test("tells the last line that says something", () => {
    const output = createOutput();
    output.push(bytesOf("one\ntwo\r\n\n  3%\r  4%\n\x1b[0m\n"));
    expect(output.lastLine()).toBe("4%");
  });

  test("shows the same however the bytes are cut into chunks", () => {
    const text = Array.from({ length: 60_000 }, (_, index) => `line ${index}`).join("\n");
    const bytes = bytesOf(text);
    const whole = shown(bytes);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 400_000 }), { minLength: 1, maxLength: 8 }), (sizes) => {
        const chunks: Uint8Array[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length]!;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
          if (chunks.length > 2000) return true;
        }
        expect(shown(...chunks)).toEqual(whole);
        return true;
      }),
      { numRuns: 30 },
    );
  });
});
