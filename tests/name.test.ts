import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  byCodePoint,
  foldName,
  fromDisk,
  nearNames,
  readName,
  showExactly,
  showName,
  toDisk,
} from "../core/files/name.ts";
import { visible } from "../core/text.ts";

/** Names as bytes: anything but `/` and NUL, valid UTF-8 or not. */
const bytesOfName = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 12 }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 6 }).map((text) => new TextEncoder().encode(text)),
  fc.array(fc.constantFrom(0x5c, 0x6e, 0x0a, 0x75, 0x7b, 0x31, 0x7d, 0x1b, 0xff, 0x80, 0xef, 0xbf, 0xbd, 0xbb), {
    minLength: 1,
  })
    .map((bytes) => Uint8Array.from(bytes)),
).map((bytes) => bytes.filter((byte) => byte !== 0 && byte !== 0x2f)).filter((bytes) => bytes.length > 0);

describe("a name", () => {
  test("has one string for its bytes, and the string has those bytes", () => {
    fc.assert(fc.property(bytesOfName, (bytes) => {
      expect(new Uint8Array(Buffer.from(toDisk(fromDisk(bytes))))).toEqual(bytes);
    }));
  });

  test("is printed on one line with nothing hidden, and is read back", () => {
    fc.assert(fc.property(bytesOfName, (bytes) => {
      const name = fromDisk(bytes);
      const shown = showName(name);
      expect(visible(shown)).toBe(shown);
      expect(shown).not.toMatch(/[\n\t]/);
      expect(shown.isWellFormed()).toBe(true);
      expect([shown, readName(shown)]).toContain(name); // as it is, or by its reading
    }));
  });

  const rows: [name: string, shown: string][] = [
    ["plain.txt", "plain.txt"],
    ["back\\nslash", "back\\nslash"],
    ["line\nbreak", "line\\nbreak"],
    ["both\\n\n", "both\\\\n\\n"],
    ["\u001b]0;x\u0007", "\\u{1b}]0;x\\u{7}"],
    ["\u202etxt.exe", "\\u{202e}txt.exe"],
    ["\udcff\udcfe", "\\xff\\xfe"],
    ["dir\n/a\\b", "dir\\n/a\\b"],
    ["\u00fcber", "\u00fcber"],
  ];
  test.each(rows)("%p is printed as %p", (name, shown) => expect(showName(name)).toBe(shown));

  test("showExactly tells names apart that look the same", () => {
    expect(showExactly("re\u0301sume\u0301 \u{1f600}")).toBe("re\\u{301}sume\\u{301} \\u{1f600}");
    expect(readName(showExactly("re\u0301\u00a0"))).toBe("re\u0301\u00a0");
  });

  test.each(["\\u{2f}", "\\x2f", "\\u{0}", "\\x00", "\\u{2e}", "\\x2e", "\\u{110000}", "\\q", "\\"])(
    "readName leaves %p as it is",
    (text) => {
      expect(readName(text)).toBe(text);
    },
  );

  test("folds what the eye does not tell apart, and nothing else", () => {
    expect(foldName("re\u0301sume\u0301")).toBe(foldName("r\u00e9sum\u00e9"));
    expect(foldName("a\u00a0b\u202fc")).toBe("a b c");
    expect(foldName("l\u2019eau")).toBe("l'eau");
    expect(foldName("A")).not.toBe(foldName("a"));
    expect(foldName("\ufb01")).not.toBe(foldName("fi"));
  });
});

test("byCodePoint is the order of the UTF-8 bytes", () => {
  const text = fc.array(fc.constantFrom("a", "Z", "\u00e9", "\ud7ff", "\ue000", "\uff5e", "\u{10000}", "\u{1f600}"))
    .map((parts) => parts.join(""));
  fc.assert(fc.property(text, text, (a, b) => {
    expect(Math.sign(byCodePoint(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }));
});

describe("nearNames", () => {
  const names = ["app.ts", "api.ts", "App.tsx", "readme.md", "x", "package.json", "packages"];
  const rows: [wanted: string, near: string[]][] = [
    ["ap.ts", ["api.ts", "app.ts"]],
    ["APP.TS", ["app.ts", "App.tsx", "api.ts"]],
    ["README.md", ["readme.md"]],
    ["y", []],
    ["package.jsn", ["package.json", "packages"]],
    ["something else", []],
    ["", []],
  ];
  test.each(rows)("for %p are %p", (wanted, near) => expect(nearNames(wanted, names)).toEqual(near));
});
