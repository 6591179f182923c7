import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { join } from "../core/path.ts";
import type { ContentBlock } from "../core/tool.ts";
import { definition, handler } from "../plugins/read_file.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(30_000);

interface Input {
  path: string;
  offset?: number | null;
  limit?: number | null;
}

async function read(temp: TempWorkspace, input: Input): Promise<string> {
  try {
    const result = await handler(input, temp.context);
    return typeof result === "string" ? result : JSON.stringify(result);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==";

describe("read_file", () => {
  const rows: [id: string, setup: string, input: Input, text: string][] = [
    ["numbers the lines", "printf 'one\\ntwo\\n' > a.txt", { path: "a.txt" }, "     1\tone\n     2\ttwo"],
    [
      "R01",
      "printf '\\377\\376h\\000i\\000\\n\\000' > u16.txt",
      { path: "u16.txt" },
      'Cannot read "u16.txt": it is UTF-16 LE text, not UTF-8. Convert it first, for example with iconv',
    ],
    ["R03", "printf '\\357\\273\\277# title\\nbody\\n' > bom.md", { path: "bom.md" }, "     1\t# title\n     2\tbody"],
    ["a BOM alone", "printf '\\357\\273\\277' > bom", { path: "bom" }, '"bom" is empty (only a byte order mark)'],
    ["a BOM and a line end", "printf '\\357\\273\\277\\n' > bom", { path: "bom" }, "     1\t"],
    [
      "R09",
      "printf 'a\\nb\\nc' > nonl.txt",
      { path: "nonl.txt", offset: 3 },
      "     3\tc\n[line 3 of 3; this is the end]",
    ],
    [
      "R11",
      "seq 1 5 > five.txt",
      { path: "five.txt", offset: 100 },
      'Cannot read "five.txt": offset 100 is past its end: it has 5 lines. Use an offset from 1 to 5',
    ],
    [
      "R13 -5",
      "seq 1 10 > ten.txt",
      { path: "ten.txt", offset: -5 },
      "Cannot call read_file: offset: expected a whole number from 1, got -5",
    ],
    [
      "R13 0",
      "seq 1 10 > ten.txt",
      { path: "ten.txt", offset: 0 },
      "Cannot call read_file: offset: expected a whole number from 1, got 0",
    ],
    [
      "R13 1.5",
      "seq 1 10 > ten.txt",
      { path: "ten.txt", offset: 1.5 },
      "Cannot call read_file: offset: expected a whole number from 1, got 1.5",
    ],
    [
      "R13 limit 0",
      "seq 1 10 > ten.txt",
      { path: "ten.txt", limit: 0 },
      "Cannot call read_file: limit: expected a whole number from 1, got 0",
    ],
    [
      "R13 limit -1",
      "seq 1 10 > ten.txt",
      { path: "ten.txt", limit: -1 },
      "Cannot call read_file: limit: expected a whole number from 1, got -1",
    ],
    ["R13 huge", "seq 1 2 > two.txt", { path: "two.txt", limit: 1e12 }, "     1\t1\n     2\t2"],
    [
      "R13 numbers",
      "seq 1 10 > ten.txt",
      { path: "ten.txt", offset: 3, limit: 2 },
      "     3\t3\n     4\t4\n[lines 3–4 of 10; go on with offset: 5]",
    ],
    ["R13 null", "seq 1 2 > two.txt", { path: "two.txt", offset: null, limit: null }, "     1\t1\n     2\t2"],
    ["R17", "mkfifo pipe.txt", { path: "pipe.txt" }, 'Cannot read "pipe.txt": it is a named pipe, not a regular file'],
    ["R21", "mkdir -p src/lib", { path: "src" }, 'Cannot read "src": it is a directory. Use list_files'],
    [
      "R23",
      "printf 'x\\n' > \"$(printf 're\\314\\201sume\\314\\201.txt')\"",
      { path: "r\u00e9sum\u00e9.txt" },
      '     1\tx\n[the name of this file is "re\\u{301}sume\\u{301}.txt"]',
    ],
    ["R25 space", "printf 'ascii\\n' > 'a b.txt'; printf 'nbsp\\n' > \"$(printf 'a\\302\\240b.txt')\"", {
      path: "a b.txt",
    }, "     1\tascii"],
    ["R25 NBSP", "printf 'ascii\\n' > 'a b.txt'; printf 'nbsp\\n' > \"$(printf 'a\\302\\240b.txt')\"", {
      path: "a\u00a0b.txt",
    }, "     1\tnbsp"],
    [
      "R27",
      "printf in > 'dir\\file.txt'; mkdir dir; printf sep > dir/file.txt",
      { path: "dir\\file.txt" },
      "     1\tin",
    ],
    [
      "R29",
      "ln -s missing-target.txt dead.txt",
      { path: "dead.txt" },
      'Cannot read "dead.txt": it is a symbolic link whose target does not exist',
    ],
    [
      "R33 SVG",
      `printf '<svg xmlns="http://www.w3.org/2000/svg"/>\\n' > pic.png`,
      { path: "pic.png" },
      '     1\t<svg xmlns="http://www.w3.org/2000/svg"/>',
    ],
    [
      "R33 HTML",
      "printf '<!DOCTYPE html><h1>404</h1>\\n' > page.png",
      { path: "page.png" },
      "     1\t<!DOCTYPE html><h1>404</h1>",
    ],
    [
      "R35",
      "printf %s iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkk | base64 -d > stub.png",
      { path: "stub.png" },
      'Cannot read "stub.png": it begins like a PNG image, but it is damaged or cut short',
    ],
    [
      "R37",
      `{ printf %s '${PIXEL}' | base64 -d; head -c 6000000 /dev/zero; } > fat.png`,
      { path: "fat.png" },
      'Cannot read "fat.png": an image may have 3,750,000 bytes (5 MB as base64), this one has 6,000,067. Make it smaller',
    ],
    [
      "R39",
      "printf 'a\\rb\\nneedle\\n' > cr.txt",
      { path: "cr.txt", offset: 2 },
      "     2\tneedle\n[line 2 of 2; this is the end]",
    ],
    ["CRLF ends a line", "printf 'a\\r\\nb\\r\\n' > crlf.txt", { path: "crlf.txt" }, "     1\ta\n     2\tb"],
    ["P19", "echo y > a.txt", { path: "a.txt/" }, 'Cannot read "a.txt/": it is a file. Leave out the slash at its end'],
    ["P23", "true", { path: "" }, "Cannot call read_file: path: it is empty. Name a file"],
    ["PATH-11", "printf z > ./-rf", { path: "-rf" }, "     1\tz"],
    ["SPEC-07", "printf z > ./--help", { path: "--help" }, "     1\tz"],
    ["SPEC-03", "truncate -s 1T big", { path: "big" }, 'Cannot read "big": it is binary (1,099,511,627,776 bytes)'],
    ["an empty file", "touch empty", { path: "empty" }, '"empty" is empty (0 bytes)'],
    ["an empty file, further down", "touch empty", { path: "empty", offset: 7 }, '"empty" is empty (0 bytes)'],
    [
      "a binary file",
      "printf '\\001\\000\\002' > a.bin",
      { path: "a.bin" },
      'Cannot read "a.bin": it is binary (3 bytes)',
    ],
    [
      "a NUL far down",
      "{ seq 1 30000; printf '\\000'; } > late.bin",
      { path: "late.bin" },
      'Cannot read "late.bin": it is binary (168,895 bytes)',
    ],
    [
      "Latin-1",
      "printf 'caf\\351 cr\\350me\\n' > l1.txt",
      { path: "l1.txt" },
      'Cannot read "l1.txt": it is probably Latin-1 or Windows-1252 text, not UTF-8. Convert it first, for example with iconv',
    ],
    [
      "a near name",
      "mkdir src; touch src/app.ts",
      { path: "src/ap.ts" },
      'Cannot read "src/ap.ts": no such file. Did you mean "src/app.ts"?',
    ],
    [
      "no near name",
      "mkdir src; touch src/app.ts",
      { path: "src/other.md" },
      'Cannot read "src/other.md": no such file. See list_files "src"',
    ],
    [
      "a folder is misspelt",
      "mkdir source; touch source/app.ts",
      { path: "sorce/app.ts" },
      'Cannot read "sorce/app.ts": no such file. Did you mean "source/app.ts"?',
    ],
    [
      "another case",
      "touch README.md",
      { path: "readme.md" },
      'Cannot read "readme.md": no such file. Did you mean "README.md"?',
    ],
    ["a link inside", "echo hi > a.txt; ln -s a.txt l", { path: "l" }, "     1\thi"],
  ];
  test.each(rows)("%s", async (_id, setup, input, text) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    expect(await read(temp, input)).toBe(text);
  });

  test("refuses a socket without waiting (R19)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local=>\"svc.sock\",Listen=>1) or die'");
    expect(await read(temp, { path: "svc.sock" })).toBe('Cannot read "svc.sock": it is a socket, not a regular file');
  });

  test("decodes across the borders of chunks (R07)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("{ yes aaaaaaaaaaaaaa | head -c 65535; printf '\\303\\251 tail\\n'; } > border.txt");
    expect(await read(temp, { path: "border.txt", offset: 4370, limit: 1 })).toBe(
      "  4370\té tail\n[line 4370 of 4370; this is the end]".replace("é", "\u00e9"),
    );
  });

  test("shows good lines above a bad one with a warning, and does not count as whole (R05)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("{ yes 'plain ascii line' | head -n 3000; printf 'copyright \\251 someone\\n'; } > late.txt");
    const text = await read(temp, { path: "late.txt", limit: 2 });
    expect(text).toBe(
      "     1\tplain ascii line\n     2\tplain ascii line\n[lines 1–2 of 3001; go on with offset: 3]\n[other lines of the file are not valid UTF-8: it cannot be edited as text]",
    );
    expect(await read(temp, { path: "late.txt", offset: 3000 })).toContain("probably Latin-1 or Windows-1252");
    expect(temp.context.seen.get("late.txt")?.whole).toBe(false);
  });

  test("gives every line once when its hints are followed, each result below the limit (R15)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh(`awk 'BEGIN{s=sprintf("%1900s","");gsub(/ /,"y",s);for(i=0;i<2000;i++)print i s}' > wide.txt`);
    const numbers: number[] = [];
    for (let offset: number | undefined = 1; offset !== undefined;) {
      const text = await read(temp, { path: "wide.txt", offset });
      expect(text.length).toBeLessThanOrEqual(50_000);
      numbers.push(...Array.from(text.matchAll(/^ *(\d+)\t/gm), (match) => Number(match[1])));
      const hint: string | undefined = /go on with offset: (\d+)\]/.exec(text)?.[1];
      offset = hint === undefined ? undefined : Number(hint);
    }
    expect(numbers).toEqual(Array.from({ length: 2000 }, (_, at) => at + 1));
  });

  test("shows at most 2,000 lines, and says so when more were asked for", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("seq 1 2310 > long.txt");
    expect(await read(temp, { path: "long.txt" })).toEndWith(
      "  2000\t2000\n[lines 1–2000 of 2310; go on with offset: 2001]",
    );
    expect(await read(temp, { path: "long.txt", limit: 5000 })).toEndWith(
      "[lines 1–2000 of 2310; at most 2000 at once; go on with offset: 2001]",
    );
  });

  test("cuts a line after 2,000 characters, never within one", async () => {
    await using temp = await tempWorkspace({ "a.txt": `${"x".repeat(1999)}\u{1f600}${"y".repeat(9000)}\nnext` });
    const text = await read(temp, { path: "a.txt" });
    expect(text).toBe(`     1\t${"x".repeat(1999)}… [line cut: it has 11,003 bytes]\n     2\tnext`);
    expect(temp.context.seen.get("a.txt")?.whole).toBe(false);
  });

  test("notes the hash of the whole file, under its real path, also for a page", async () => {
    const content = "1\r\n2\n3";
    await using temp = await tempWorkspace({ "d/a.txt": content });
    await temp.sh("ln -s d/a.txt l");
    const sha256 = createHash("sha256").update(content).digest("hex");
    await read(temp, { path: "l", limit: 1 });
    expect(temp.context.seen.get("d/a.txt")).toEqual({ sha256, whole: false, lines: { shown: [[1, 1]], total: 3 } });
    await read(temp, { path: "l" });
    expect(temp.context.seen.get("d/a.txt")).toEqual({ sha256, whole: true });
  });

  test("never changes the file (R01, R03)", async () => {
    const bytes = Uint8Array.of(0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a);
    await using temp = await tempWorkspace({ "bom.txt": bytes });
    await read(temp, { path: "bom.txt" });
    expect(new Uint8Array(await readFile(join(temp.root, "bom.txt")))).toEqual(bytes);
  });

  test("gives an image as a block, by its bytes and not by its name", async () => {
    await using temp = await tempWorkspace({ "pixel.txt": Buffer.from(PIXEL, "base64") });
    const [text, image] = await handler({ path: "pixel.txt" }, temp.context) as ContentBlock[];
    expect(text).toEqual({ type: "text", text: '"pixel.txt" is a PNG image of 1 × 1 pixels:' });
    expect(image).toEqual({ type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } });
    expect(temp.context.seen.get("pixel.txt")?.whole).toBe(false);
  });

  test("refuses an image that is too wide, with the figures", async () => {
    const wide = Buffer.from(PIXEL, "base64");
    wide.writeUInt32BE(8001, 16);
    wide.writeUInt32BE(crc32(wide.subarray(12, 29)), 29);
    await using temp = await tempWorkspace({ "wide.png": wide });
    expect(await read(temp, { path: "wide.png" })).toBe(
      'Cannot read "wide.png": an image may have 8000 pixels a side, this one has 8001 × 1. Make it smaller',
    );
  });

  test("needs no more memory for a large file than for a page", async () => {
    await using temp = await tempWorkspace();
    await temp.sh(
      "yes 'a line of thirty-two characters' | head -c 150M > large.txt; head -c 150M /dev/zero | tr '\\0' x > one-line.txt",
    );
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    expect(await read(temp, { path: "large.txt", limit: 1 })).toContain("[line 1 of 4915200; go on with offset: 2]");
    expect(await read(temp, { path: "one-line.txt" })).toContain("[line cut: it has 157,286,400 bytes]");
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  test("stops when the turn is stopped", async () => {
    await using temp = await tempWorkspace({ "a.txt": "a" });
    expect(handler({ path: "a.txt" }, { ...temp.context, signal: AbortSignal.abort() })).rejects.toThrow();
  });

  test("has a description that names its tools and limits", () => {
    expect(definition.description).toContain("list_files");
    expect(definition.description).toContain("2000");
  });
});
