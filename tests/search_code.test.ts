import { describe, expect, test } from "bun:test";
import process from "node:process";
import fc from "fast-check";
import { handler as read } from "../plugins/read_file.ts";
import { handler } from "../plugins/search_code.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

type Input = Parameters<typeof handler>[0];

async function search(temp: TempWorkspace, input: Input): Promise<string> {
  try {
    return String(await handler(input, temp.context));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const OUTSIDE = "it is outside the workspace. Use a path inside it";
const FILTERED = "mkdir -p tests src/ui; for f in tests/a.py src/ui/b.tsx c.txt; do echo needle > $f; done";
const NAMED =
  "mkdir -p dist .cfg; echo dist/ > .gitignore; echo needle > dist/bundle.js; echo needle > .cfg/a; echo x > b";
const AROUND =
  "mkdir -p ws ws-secret outside; echo IN > ws/in.txt; echo OUT > outside/o.txt; echo SIB > ws-secret/s.txt";
const CHANGE = "Change it, or set literal: true to search for the text as it is";
const AS_EXPRESSION = "(as a regular expression; set literal: true for plain text)";

describe("search_code", () => {
  const rows: [id: string, setup: string, input: Input, text: string][] = [
    ["R39", "printf 'a\\rb\\nneedle\\n' > cr.txt", { pattern: "needle" }, "cr.txt:2: needle"],
    ["S07", FILTERED, { pattern: "needle", glob: "tests/*.py" }, "tests/a.py:1: needle"],
    ["S07 braces", FILTERED, { pattern: "needle", glob: "src/**/*.{ts,tsx}" }, "src/ui/b.tsx:1: needle"],
    ["S07 name", FILTERED, { pattern: "needle", glob: "*.tsx" }, "src/ui/b.tsx:1: needle"],
    ["S07 below path", FILTERED, { pattern: "needle", glob: "ui/*", path: "src" }, "src/ui/b.tsx:1: needle"],
    ["S07 folder", FILTERED, { pattern: "needle", glob: "src/" }, "src/ui/b.tsx:1: needle"],
    [
      "S09",
      "printf '*.log\\n!keep.log\\n' > .gitignore; echo needle > drop.log; echo needle > keep.log",
      { pattern: "needle" },
      "keep.log:1: needle\n[1 file left out by .gitignore]",
    ],
    [
      "S11",
      "printf 'build/\\n!build/keep.txt\\n' > .gitignore; mkdir build; echo needle > build/keep.txt; echo needle > src.txt",
      { pattern: "needle" },
      "src.txt:1: needle\n[1 folder not entered]",
    ],
    ["S13 folder", NAMED, { pattern: "needle", path: "dist" }, "dist/bundle.js:1: needle"],
    ["S13 file", NAMED, { pattern: "needle", path: "dist/bundle.js" }, "dist/bundle.js:1: needle"],
    ["S13 dot folder", NAMED, { pattern: "needle", path: ".cfg" }, ".cfg/a:1: needle"],
    ["S13 all", NAMED, { pattern: "needle" }, ".cfg/a:1: needle\n[1 folder not entered]"],
    [
      "S15",
      "mkdir -p ws outside; echo TOPSECRET > outside/s.txt; ln -s ../outside ws/ext; ln -s ../outside/s.txt ws/f",
      { pattern: "TOPSECRET" },
      'no matches for "TOPSECRET" in 0 files',
    ],
    ["S15 named", "mkdir -p ws outside; echo x > outside/s.txt; ln -s ../outside ws/ext", {
      pattern: "x",
      path: "ext",
    }, `Cannot open "ext": ${OUTSIDE}`],
    [
      "S21 parenthesis",
      "true",
      { pattern: "(" },
      `Cannot search for "(": the pattern is no regular expression that is supported here (missing closing ): (). ${CHANGE}`,
    ],
    [
      "S21 class",
      "true",
      { pattern: "[z-a]" },
      `Cannot search for "[z-a]": the pattern is no regular expression that is supported here (invalid character class range: z-a). ${CHANGE}`,
    ],
    [
      "S21 repetition",
      "true",
      { pattern: "a{2,1}" },
      `Cannot search for "a{2,1}": the pattern is no regular expression that is supported here (invalid repeat count: {2,1}). ${CHANGE}`,
    ],
    [
      "S23",
      "{ head -c 40 /dev/zero | tr '\\0' a; printf '!\\n'; } > evil.txt",
      { pattern: "(a+)+$" },
      `no matches for "(a+)+$" in 1 file ${AS_EXPRESSION}`,
    ],
    [
      "S25",
      "printf 'needle\\000\\001\\002\\n' > blob.bin; printf '\\377\\376n\\000e\\000e\\000\\n\\000' > u16.txt; echo needle > a.txt",
      { pattern: "needle" },
      "a.txt:1: needle\n[1 binary file not searched, 1 file that is not UTF-8 not searched (u16.txt)]",
    ],
    ["S27", "printf 'foo needle\\r\\nbar\\r\\n' > crlf.txt", { pattern: "needle$" }, "crlf.txt:1: foo needle"],
    ["S27 whole line", "printf 'foo needle\\r\\nbar\\r\\n' > crlf.txt", { pattern: "^bar$" }, "crlf.txt:2: bar"],
    [
      "S29",
      `printf needle > "$(printf 'a\\nsecret.env:1: password')"`,
      { pattern: "needle" },
      "a\\nsecret.env:1: password:1: needle",
    ],
    ["S31", "printf '😀\\nab\\n' > e.txt", { pattern: "^.$" }, "e.txt:1: 😀"],
    ["S31 property", "printf '😀\\nab\\n' > e.txt", { pattern: "\\p{Emoji_Presentation}" }, "e.txt:1: 😀"],
    ["S33", "echo x > a.txt", { pattern: "zzz_absent" }, 'no matches for "zzz_absent" in 1 file'],
    [
      "S35",
      "for i in 1 2 3; do echo 'foo foo'; done > rep.txt",
      { pattern: "fo+" },
      "rep.txt:1: foo foo\nrep.txt:2: foo foo\nrep.txt:3: foo foo",
    ],
    [
      "S37",
      "mkdir -p Node_Modules node_modules; echo needle > Node_Modules/a.js; echo needle > node_modules/b.js",
      { pattern: "needle" },
      "Node_Modules/a.js:1: needle\n[1 folder not entered]",
    ],
    ["S37 case", "echo needle > a", { pattern: "NEEDLE" }, 'no matches for "NEEDLE" in 1 file'],
    ["P01", AROUND, { pattern: ".", path: "/etc/passwd" }, `Cannot open "/etc/passwd": ${OUTSIDE}`],
    ["P03", AROUND, { pattern: ".", path: "../ws-secret/s.txt" }, `Cannot open "../ws-secret/s.txt": ${OUTSIDE}`],
    [
      "P15",
      AROUND,
      { pattern: ".", path: "in.txt\0.png" },
      'Cannot open "in.txt\\u{0}.png": the path has a NUL character in it',
    ],
    ["P19", "mkdir src; echo x > src/a.ts", { pattern: "x", path: "src//" }, "src/a.ts:1: x"],
    [
      "P19 file",
      "echo x > a.ts",
      { pattern: "x", path: "a.ts/" },
      'Cannot open "a.ts/": it is a file. Leave out the slash at its end',
    ],

    ["null means left out", "echo x > a", {
      pattern: "x",
      path: null,
      glob: null,
      ignore_case: null,
      literal: null,
    }, "a:1: x"],
    ["any case", "echo 'Straße ΣΑΣ' > a", { pattern: "STRAßE σας", ignore_case: true }, "a:1: Straße ΣΑΣ"],
    ["any case in the pattern", "echo NEEDLE > a", { pattern: "(?i)needle" }, "a:1: NEEDLE"],
    [
      "any case: the Kelvin sign is a k",
      "printf 'to\u212aen' > a",
      { pattern: "token", ignore_case: true },
      "a:1: to\u212aen",
    ],
    [
      "any case: the long s is an s",
      "printf 'mi\u017fs' > a",
      { pattern: "MISS", ignore_case: true },
      "a:1: mi\u017fs",
    ],
    ["plain text", "echo 'a.b(c)*' > a; echo 'aXb(c)' >> a", { pattern: "a.b(c)*", literal: true }, "a:1: a.b(c)*"],
    ["plain text in any case", "echo 'A.B' > a; echo 'AXB' >> a", {
      pattern: "a.b",
      literal: true,
      ignore_case: true,
    }, "a:1: A.B"],
    ["a dot", "printf 'a.b\\naXb\\n' > a", { pattern: "a\\.b" }, "a:1: a.b"],
    ["an alternative", "printf 'one\\ntwo\\nthree\\n' > a", { pattern: "one|three" }, "a:1: one\na:3: three"],
    ["an empty line", "printf 'a\\n\\nb' > a", { pattern: "^$" }, "a:2: "],
    ["the last line without an end", "printf 'a\\nb' > a", { pattern: "b$" }, "a:2: b"],
    ["a BOM is no part of the line", "printf '\\357\\273\\277x\\n' > a", { pattern: "^x$" }, "a:1: x"],
    ["an empty file", "touch a", { pattern: "^" }, `no matches for "^" in 1 file ${AS_EXPRESSION}`],
    [
      "look-ahead",
      "true",
      { pattern: "a(?=b)" },
      `Cannot search for "a(?=b)": look-around such as (?=…) is not supported. ${CHANGE}`,
    ],
    [
      "look-behind",
      "true",
      { pattern: "(?<!a)b" },
      `Cannot search for "(?<!a)b": look-around such as (?=…) is not supported. ${CHANGE}`,
    ],
    [
      "back-reference",
      "true",
      { pattern: "(a)\\1" },
      `Cannot search for "(a)\\1": back-references such as \\1 are not supported. ${CHANGE}`,
    ],
    ["no pattern", "true", { pattern: "" }, 'Cannot search for "": the pattern is empty. Say what to look for'],
    [
      "two lines",
      "true",
      { pattern: "a\nb" },
      'Cannot search for "a\\nb": a pattern matches within one line of text. Search for a part of one line',
    ],
    [
      "a bad filter",
      "true",
      { pattern: "a", glob: "../*" },
      'Cannot match "../*": ".." cannot be part of a pattern. Put the folder into path',
    ],
    [
      "no file passes the filter",
      "echo x > a.txt; mkdir s",
      { pattern: "x", glob: "*.py", path: "s" },
      'no matches for "x" in 0 files with names like "*.py" below "s"',
    ],
    [
      "a file that is named and binary",
      "printf '\\0x' > a",
      { pattern: "x", path: "a" },
      'Cannot search "a": it is binary (2 bytes)',
    ],
    ["no match in a file that is named", "echo x > a", { pattern: "y", path: "a" }, 'no matches for "y" in "a"'],
    [
      "a path that is not there",
      "mkdir src",
      { pattern: "y", path: "srcs" },
      'Cannot open "srcs": no such file. Did you mean "src"?',
    ],
    [
      "a pipe that is named",
      "mkfifo p",
      { pattern: "y", path: "p" },
      'Cannot read "p": it is a named pipe, not a regular file',
    ],
    ["a link to a file is searched when it is named", "echo x > a; ln -s a l", { pattern: "x", path: "l" }, "a:1: x"],
    [
      "a file of secrets is not searched",
      "echo key > .env; echo key > a",
      { pattern: "key" },
      "a:1: key\n[1 file that cannot be read not searched (.env)]",
    ],
    [
      "a secret that is named",
      "echo key > .env",
      { pattern: "key", path: ".env" },
      'Cannot open ".env": files named like this hold secrets. Only the user can lift this, with --allow-read and the path',
    ],
    [
      "a file over 10 MB is searched only when it is named",
      "yes needle | head -c 10000001 > big; echo needle > small",
      { pattern: "needle" },
      "small:1: needle\n[1 file over 10 MB not searched (big; name one as path to search it, up to 50 MB)]",
    ],
    ["a file of many lines that is named", "yes a | head -c 10000000 > big; echo needle >> big", {
      pattern: "needle",
      path: "big",
    }, "big:5000001: needle"],
    ["a file above what is read ahead", "yes a | head -c 1500000 > big; echo needle >> big; echo needle > c", {
      pattern: "needle",
    }, "big:750001: needle\nc:1: needle"],
  ];
  test.each(rows)("%s", async (_id, setup, input, text) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    expect(await search(temp, input)).toBe(text);
  });

  test("says which file could not be read (S17)", async () => {
    await using temp = await tempWorkspace({ "a.txt": "needle", "b.txt": "needle" }, { denyRead: ["b.txt"] });
    expect(await search(temp, { pattern: "needle" })).toBe(
      "a.txt:1: needle\n[1 file that cannot be read not searched (b.txt)]",
    );
  });

  test.skipIf(process.getuid?.() === 0)("says which file the system does not let it read (S17)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("echo needle > a.txt; echo needle > b.txt; chmod 000 b.txt");
    expect(await search(temp, { pattern: "needle" })).toBe(
      "a.txt:1: needle\n[1 file that cannot be read not searched (b.txt)]",
    );
  });

  test("refuses a pattern over 1,000 characters", async () => {
    await using temp = await tempWorkspace();
    expect(await search(temp, { pattern: "x".repeat(1001) })).toEndWith(
      ": the pattern is too long (1001 characters, at most 1000). Search for a part of it",
    );
  });

  test("shows 100 hits and says so only when there are more", async () => {
    await using temp = await tempWorkspace({ "a": "x\n".repeat(60), "b": "x\n".repeat(40), "c": "y" });
    expect((await search(temp, { pattern: "x" })).split("\n").length).toBe(100);
    await temp.sh("echo x >> c");
    const lines = (await search(temp, { pattern: "x" })).split("\n");
    expect(lines.length).toBe(101);
    expect(lines[99]).toBe("b:40: x");
    expect(lines[100]).toBe("[100 hits shown; use a more specific pattern or path]");
  });

  test("cuts a long line around the hit, and never inside a character", async () => {
    const long = "😀".repeat(1000);
    await using temp = await tempWorkspace({
      a: `${long}needle${long}`,
      b: `${long}xneedle${long}`,
      c: `needle${long}`,
      d: `needlex${long}`,
      e: `${long}needle`,
      f: `${long}xneedle`,
    });
    const lines = (await search(temp, { pattern: "needle" })).split("\n").map((line) => line.slice("a:1: ".length));
    expect(lines.length).toBe(6);
    const isCut = lines.map((line) => [line.startsWith("…"), line.endsWith("…")]);
    expect(isCut).toEqual([[true, true], [true, true], [false, true], [false, true], [true, false], [true, false]]);
    for (const line of lines) {
      expect(line).toContain("needle");
      expect(line.length).toBeLessThanOrEqual(402);
      expect(line.isWellFormed()).toBe(true);
    }
  });

  test("stays below the limit of a result when names and lines are long", async () => {
    const folder = Array.from({ length: 5 }, () => "d".repeat(200)).join("/");
    await using temp = await tempWorkspace({ [`${folder}/a`]: `${"x".repeat(1000)}\n`.repeat(200) });
    const text = await search(temp, { pattern: "x" });
    expect(text.length).toBeLessThan(50_000);
    expect(text).toMatch(/\n\[\d\d hits shown; [^\n]+\]$/);
  });

  test("takes no time without end for a catastrophic pattern (RES-07)", async () => {
    await using temp = await tempWorkspace({ t: `${"a".repeat(60_000)}!\n` });
    const start = performance.now();
    for (const pattern of ["(a+)+$", "(a|a)*b$", "(.*)*c", "(a?){100}a{100}$"]) {
      expect(await search(temp, { pattern })).toStartWith("no matches");
    }
    expect(performance.now() - start).toBeLessThan(5000);
  });

  test("shows the line numbers of read_file", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\r", "\n", "\r\n", "é"), maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(text, async (text) => {
        await using temp = await tempWorkspace({ f: text });
        const found = await search(temp, { pattern: "a" });
        const hits = [...found.matchAll(/^f:(\d+): /gm)].map(([, line]) => Number(line));
        const page = text === "" ? "" : String(await read({ path: "f" }, temp.context));
        const numbers = page.split("\n").filter((line) => line.includes("\t") && line.includes("a"));
        expect(hits).toEqual(numbers.map((line) => Number.parseInt(line)));
      }),
      { numRuns: 40 },
    );
  });

  test("does not read a file that became a link after the walk named it", async () => {
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${1000 + at}`, "inside"]));
    await using temp = await tempWorkspace({ ...files, "dir/f": "inside" });
    await temp.sh("mkdir ../outside; echo SECRET > ../outside/f");
    let left = 100;
    const texts: string[] = [];
    for await (const { bytes } of temp.workspace.walkFiles({ limit: 1000 })) {
      if (--left === 0) await temp.sh("for f in f*; do ln -sf ../outside/f $f; done");
      texts.push(new TextDecoder().decode(bytes));
    }
    expect(texts.length).toBe(201);
    expect(texts.filter((text) => text === "")).not.toBeEmpty();
    expect(texts.join()).not.toContain("SECRET");
  });

  test("does not read below a folder that became a link after the walk entered it", async () => {
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`dir/f${1000 + at}`, "inside"]));
    await using temp = await tempWorkspace(files);
    await temp.sh("cp -r dir ../outside; for f in ../outside/*; do echo SECRET > $f; done");
    let left = 100;
    const texts: string[] = [];
    for await (const { bytes } of temp.workspace.walkFiles({ limit: 1000 })) {
      if (--left === 0) await temp.sh("mv dir away; ln -s ../outside dir");
      texts.push(new TextDecoder().decode(bytes));
    }
    expect(texts.filter((text) => text === "")).not.toBeEmpty();
    expect(texts.join()).not.toContain("SECRET");
  });

  test("stops when the turn is stopped", async () => {
    await using temp = await tempWorkspace({ "a.txt": "" });
    expect(handler({ pattern: "x" }, { ...temp.context, signal: AbortSignal.abort() })).rejects.toThrow();
  });
});
