import { describe, expect, test } from "bun:test";
import { describeBytes } from "../core/files/encoding.ts";

const utf16 = (text: string, order: "LE" | "BE"): Buffer => {
  const bytes = Buffer.from(text, "utf16le");
  return order === "LE" ? bytes : bytes.swap16();
};

describe("describeBytes", () => {
  const rows: [what: string, bytes: Uint8Array, words: string][] = [
    ["UTF-16 LE with a BOM", Buffer.concat([Buffer.of(0xff, 0xfe), utf16("\u4f60\u597d", "LE")]), "UTF-16 LE text"],
    ["UTF-16 BE with a BOM", Buffer.concat([Buffer.of(0xfe, 0xff), utf16("hi", "BE")]), "UTF-16 BE text"],
    ["UTF-32 LE with a BOM", Buffer.of(0xff, 0xfe, 0, 0, 104, 0, 0, 0), "UTF-32 LE text"],
    ["UTF-32 BE with a BOM", Buffer.of(0, 0, 0xfe, 0xff, 0, 0, 0, 104), "UTF-32 BE text"],
    ["UTF-16 LE by its zeros", utf16("<?xml version='1.0'?>", "LE"), "UTF-16 LE text"],
    ["UTF-16 BE by its zeros", utf16("<?xml version='1.0'?>", "BE"), "UTF-16 BE text"],
    ["Latin-1", Buffer.from("d\u00e9j\u00e0 vu, c'est \u00e7a", "latin1"), "probably Latin-1 or Windows-1252 text"],
    [
      "Windows-1252",
      Buffer.of(...Buffer.from("it"), 0x92, ...Buffer.from("s a quote")),
      "probably Latin-1 or Windows-1252 text",
    ],
    ["Shift-JIS", Buffer.from("gvGCyYK/gs2BQZCiikWBQoKxguqCzZP6lnuM6oLFgreBQg==", "base64"), "probably Shift-JIS text"],
    ["GBK", Buffer.from("xOO6w6Osytw1vefKx87S1tDOxLXEoaPV4srHztK1xKGjsrvBy9Q=", "base64"), "probably GBK text"],
    [
      "some other one",
      Buffer.of(0xd0, 0xcf, 0xf0, 0xe2, 0xe5, 0xf2, 0x90, 0x20, 0xec, 0xe8, 0xf0),
      "text in an unknown encoding",
    ],
  ];
  test.each(rows)("knows %s", (_what, bytes, words) => {
    expect(describeBytes(bytes, bytes.length)).toBe(`${words}, not UTF-8. Convert it first, for example with iconv`);
  });

  test.each([[Buffer.of(1, 0, 2)], [Buffer.from("\x7fELF\x02\x01\x01\x00", "latin1")], [
    Buffer.of(1, 2, 3, 4, 5, 0xff),
  ]])("calls %p binary", (bytes) => {
    expect(describeBytes(bytes, 12_345)).toBe("binary (12,345 bytes)");
  });
});
