import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { handler } from "../plugins/glob.ts";
import { handler as read } from "../plugins/read_file.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

interface Input {
  pattern: string;
  path?: string | null;
}

async function glob(temp: TempWorkspace, input: Input): Promise<string> {
  try {
    return String(await handler(input, temp.context));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const TREE = "mkdir -p src/a tests/src; touch a.ts src/b.ts src/a/c.tsx src/a/d.js tests/src/e.ts .hid.ts";
const OUTSIDE = "it is outside the workspace. Use a path inside it";

describe("glob", () => {
  const rows: [id: string, setup: string, input: Input, text: string][] = [
    [
      "S01",
      "mkdir -p 'app/[id]' app/i; touch 'app/[id]/page.tsx' app/i/page.tsx",
      { pattern: "app/[id]/page.tsx" },
      "app/[id]/page.tsx\napp/i/page.tsx",
    ],
    ["a name like a share", "touch '\\\\a\\b'", { pattern: "*b" }, "./\\\\a\\b"],
    ["S03", "touch '{type} deep note.md' 'type other.md'", { pattern: "{type} deep note.md" }, "{type} deep note.md"],
    ["S03 star", "touch '{type} deep note.md' 'type other.md'", { pattern: "*deep note.md" }, "{type} deep note.md"],
    [
      "S03 backslash",
      "touch '{type} deep note.md' 'type other.md'",
      { pattern: "\\{type\\}*.md" },
      "{type} deep note.md",
    ],
    [
      "S05",
      "mkdir -p root/2026/07 2026/07; touch root/2026/07/26.md 2026/07/27.md",
      { pattern: "2026/07/*.md", path: "root" },
      "root/2026/07/26.md",
    ],
    [
      "S05 plain",
      "mkdir -p root/2026/07 2026/07; touch root/2026/07/26.md 2026/07/27.md",
      { pattern: "2026/07/26.md", path: "root" },
      "root/2026/07/26.md",
    ],
    [
      "S15",
      "mkdir -p ws outside; touch outside/s.txt ws/a; ln -s ../outside ws/ext",
      { pattern: "ext/*" },
      `Cannot open "ext": ${OUTSIDE}`,
    ],
    [
      "S15 a link is named, not entered",
      "mkdir -p ws outside; touch outside/s.txt ws/a; ln -s ../outside ws/ext",
      { pattern: "**" },
      "a\next",
    ],
    ["S29", `printf needle > "$(printf 'a\\nsecret.env:1: password')"`, { pattern: "*" }, "a\\nsecret.env:1: password"],
    ["S29 as it is printed", `touch "$(printf 'a\\nb')"`, { pattern: "a\\nb" }, "a\\nb"],
    ["S29 as one character", `touch "$(printf 'a\\nb')"`, { pattern: "a?b" }, "a\\nb"],
    ["S37", "touch A.TXT", { pattern: "*.txt" }, 'no file matches "*.txt"'],
    ["S39", `touch "$(printf 'cafe\\314\\201.txt')"`, { pattern: "caf\u00e9*" }, "cafe\u0301.txt"],
    ["S39 star", `touch "$(printf 'cafe\\314\\201.txt')"`, { pattern: "caf*.txt" }, "cafe\u0301.txt"],
    ["P01", "true", { pattern: "*", path: "/etc/passwd" }, `Cannot open "/etc/passwd": ${OUTSIDE}`],
    ["P01 pattern", "true", { pattern: "/etc/*" }, `Cannot open "/etc": ${OUTSIDE}`],
    [
      "P03",
      "mkdir -p ws ws-secret; touch ws-secret/s.txt",
      { pattern: "*", path: "../ws-secret" },
      `Cannot open "../ws-secret": ${OUTSIDE}`,
    ],
    [
      "P15",
      "true",
      { pattern: "*", path: "in.txt\0.png" },
      'Cannot open "in.txt\\u{0}.png": the path has a NUL character in it',
    ],
    ["P15 pattern", "true", { pattern: "*\0*" }, 'Cannot match "*\\u{0}*": the pattern has a NUL character in it'],
    ["P19", "mkdir src; touch src/a.ts a.txt", { pattern: "*.ts", path: "src//" }, "src/a.ts"],

    ["a name is found at any depth", TREE, { pattern: "*.ts" }, ".hid.ts\na.ts\nsrc/b.ts\ntests/src/e.ts"],
    ["a pattern with a slash begins at path", TREE, { pattern: "src/*.ts" }, "src/b.ts"],
    ["a dot and a slash begin it too", TREE, { pattern: "./*.ts" }, ".hid.ts\na.ts"],
    ["any number of folders, also none", TREE, { pattern: "src/**/*.{ts,tsx}" }, "src/a/c.tsx\nsrc/b.ts"],
    ["all that is inside", TREE, { pattern: "src/**" }, "src/a/c.tsx\nsrc/a/d.js\nsrc/b.ts"],
    ["null means the root", TREE, { pattern: "a.ts", path: null }, "a.ts"],
    ["an empty path means the root", TREE, { pattern: "src/b.ts", path: "" }, "src/b.ts"],
    ["below path", TREE, { pattern: "**", path: "src/a" }, "src/a/c.tsx\nsrc/a/d.js"],
    ["a slash at the end finds folders", TREE, { pattern: "src/" }, "src/\ntests/src/"],
    ["folders at a place", TREE, { pattern: "*/*/" }, "src/a/\ntests/src/"],
    [
      "a folder where files are asked for",
      TREE,
      { pattern: "src" },
      'no file matches "src"\n[folders match; to see them, end the pattern with /]',
    ],
    ["nothing", TREE, { pattern: "*.py", path: "src" }, 'no file matches "*.py" in "src"'],
    [
      "a folder that is not there",
      TREE,
      { pattern: "srx/*.ts" },
      'no file matches "srx/*.ts": there is no folder "srx"',
    ],
    ["a file as folder", TREE, { pattern: "a.ts/*" }, 'no file matches "a.ts/*": there is no folder "a.ts"'],
    [
      "a path that is not there",
      TREE,
      { pattern: "*", path: "srcs" },
      'Cannot list "srcs": no such folder. Did you mean "src"?',
    ],
    [
      "a file as path",
      TREE,
      { pattern: "*", path: "a.ts" },
      'Cannot list "a.ts": it is a file, not a folder. Use read_file',
    ],
    ["empty", TREE, { pattern: "" }, 'Cannot match "": the pattern is empty. Use * for every file'],
    ["nothing but a dot", TREE, { pattern: "./" }, 'Cannot match "./": it names nothing. Use * for every file'],
    [
      "up",
      TREE,
      { pattern: "../*" },
      'Cannot match "../*": ".." cannot be part of a pattern. Put the folder into path',
    ],
    [
      "too many braces",
      TREE,
      { pattern: "{a,b}".repeat(9) },
      `Cannot match "${
        "{a,b}".repeat(9)
      }": the braces of the pattern stand for more than 256 patterns. Use a simpler one`,
    ],
    [
      "what is left out is counted, files only if they match",
      "mkdir -p node_modules .git; printf '*.log\\n*.tmp' > .gitignore; touch node_modules/x.js b.js a.log c.tmp",
      { pattern: "*.{js,log}" },
      "b.js\n[1 folder not entered, 1 file left out by .gitignore]",
    ],
    [
      "a skipped folder is entered when the pattern names it",
      "mkdir -p node_modules/a; touch node_modules/a/x.js",
      { pattern: "node_modules/a/*.js" },
      "node_modules/a/x.js",
    ],
    ["a skipped folder is named", "mkdir -p node_modules/a .git", { pattern: "./*/" }, "node_modules/"],
    [
      "an ignored file is found by its very name",
      "echo '*.log' > .gitignore; mkdir s; touch a.log s/a.log s/b.log",
      { pattern: "s/a.log" },
      "s/a.log",
    ],
    ["a link below a link", "mkdir d; touch d/f; ln -s d l; ln -s f d/g", { pattern: "l/*" }, "d/f\nd/g"],
    ["a pipe has a name too", "mkfifo p", { pattern: "p" }, "p"],
  ];
  test.each(rows)("%s", async (_id, setup, input, text) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    expect(await glob(temp, input)).toBe(text);
  });

  test("takes an absolute pattern inside the workspace", async () => {
    await using temp = await tempWorkspace({ "src/a.ts": "", "src/b/c.ts": "" });
    expect(await glob(temp, { pattern: `${temp.root}/src/**/*.ts` })).toBe("src/a.ts\nsrc/b/c.ts");
  });

  test("shows 500 files, sorted, and how many there are (S19)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("mkdir many && (cd many && seq -w 1 1200 | xargs touch)");
    const lines = (await glob(temp, { pattern: "*" })).split("\n");
    expect(lines.slice(0, 500)).toEqual(
      Array.from({ length: 500 }, (_, at) => `many/${String(at + 1).padStart(4, "0")}`),
    );
    expect(lines.slice(500)).toEqual(["[500 of 1200 shown; use a more specific pattern or path]"]);
  });

  test("stays below the limit of a result when names are long", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("for i in $(seq -w 1 400); do touch $i$(printf %0200d 0); done");
    const text = await glob(temp, { pattern: "*" });
    expect(text.length).toBeLessThan(50_000);
    expect(text).toMatch(/\n\[\d+ of 400 shown; [^\n]+\]$/);
  });

  test("answers at once to a pattern that makes others go back without end", async () => {
    await using temp = await tempWorkspace({ ["a".repeat(200)]: "" });
    const start = performance.now();
    expect(await glob(temp, { pattern: `${"*a".repeat(20)}*b` })).toStartWith("no file matches");
    expect(performance.now() - start).toBeLessThan(1000);
  });

  test("stops when the turn is stopped", async () => {
    await using temp = await tempWorkspace({ "a.txt": "" });
    expect(handler({ pattern: "*" }, { ...temp.context, signal: AbortSignal.abort() })).rejects.toThrow();
  });

  test("prints names that read_file takes, and that are patterns for themselves", async () => {
    const names = fc.uniqueArray(
      fc.string({ unit: fc.constantFrom(..."ab[]{},*?\\!-^ .\n\té\u0301\u00a0😀"), minLength: 1, maxLength: 6 })
        // What is printed with two backslashes in front is taken for a share of Windows.
        .filter((name) => !/^\.+$|^\\/.test(name)),
      { minLength: 1, maxLength: 6, selector: (name) => name.normalize("NFKC") },
    );
    await fc.assert(
      fc.asyncProperty(names, async (names) => {
        await using temp = await tempWorkspace(Object.fromEntries(names.map((name) => [name, name])));
        const printed = (await glob(temp, { pattern: "*" })).split("\n");
        expect(printed.length).toBe(names.length);
        for (const path of printed) {
          expect((await glob(temp, { pattern: `./${path}` })).split("\n")).toContain(path);
          await read({ path }, temp.context);
        }
      }),
      { numRuns: 40 },
    );
  });
});
