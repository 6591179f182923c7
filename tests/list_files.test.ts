import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { handler } from "../plugins/list_files.ts";
import { handler as read } from "../plugins/read_file.ts";
import { runTenon } from "./support/program.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

// Some setups make thousands of files.
setDefaultTimeout(30_000);

async function list(
  temp: TempWorkspace,
  input: { path?: string | null; recursive?: boolean | null } = {},
): Promise<string> {
  try {
    return String(await handler(input, temp.context));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("list_files", () => {
  const rows: [id: string, setup: string, input: { path?: string | null; recursive?: boolean | null }, text: string][] =
    [
      ["one name a line, folders with a slash", "mkdir src; touch b a", {}, "a\nb\nsrc/"],
      ["null means the root, not recursive", "mkdir src; touch src/a", { path: null, recursive: null }, "src/"],
      ["P19 folder", "mkdir src; touch src/a.ts", { path: "src/" }, "src/a.ts"],
      ["P19 root", "mkdir src; touch src/a.ts", { path: "./" }, "src/"],
      ["P23", "touch a.txt", { path: "" }, "a.txt"],
      ["P09", "mkdir realroot; touch realroot/in.txt; ln -s realroot ws", {}, "in.txt"],
      ["the tree below", "mkdir -p a/b; touch a/b/c a.txt", { recursive: true }, "a/\na/b/\na/b/c\na.txt"],
      ["a folder below another", "mkdir -p a/b; touch a/b/c", { path: "a", recursive: true }, "a/b/\na/b/c"],
      ["an empty folder", "mkdir e", { path: "e" }, "[the folder is empty]"],
      [
        "skipped folders are named, .git is not",
        "mkdir -p .git node_modules dist src; touch dist/d src/s",
        {},
        "dist/\nnode_modules/\nsrc/",
      ],
      [
        "skipped folders are not entered",
        "mkdir -p dist src; touch dist/d src/s",
        { recursive: true },
        "dist/\nsrc/\nsrc/s\n[1 folder not entered]",
      ],
      ["a skipped folder that is named is entered", "mkdir -p node_modules/a; touch node_modules/a/x", {
        path: "node_modules",
      }, "node_modules/a/"],
      [".git that is named is entered", "mkdir .git; touch .git/HEAD", { path: ".git" }, ".git/HEAD"],
      [
        "what .gitignore names is counted",
        "echo '*.log' > .gitignore; touch a.log b.log c.txt",
        {},
        ".gitignore\nc.txt\n[2 files left out by .gitignore]",
      ],
      [
        "nothing but ignored files",
        "mkdir l; echo '*.log' > .gitignore; touch l/a.log",
        { path: "l" },
        "[nothing but what .gitignore names]\n[1 file left out by .gitignore]",
      ],
      [
        "S15",
        "mkdir -p ws outside; echo TOPSECRET > outside/s.txt; ln -s ../outside ws/ext",
        { recursive: true },
        "ext -> (it is outside the workspace)",
      ],
      [
        "S15 named",
        "mkdir -p ws outside; ln -s ../outside ws/ext",
        { path: "ext" },
        'Cannot list "ext": it is outside the workspace. Use a path inside it',
      ],
      [
        "links show where they lead",
        "mkdir d; touch d/f; ln -s d l; ln -s d/f m; ln -s none n",
        {},
        "d/\nl -> d/\nm -> d/f\nn -> (it is a symbolic link whose target does not exist)",
      ],
      ["a pipe is marked", "mkfifo p", {}, "p (not a regular file)"],
      ["S29", `printf needle > "$(printf 'a\\nsecret.env:1: password')"`, {}, "a\\nsecret.env:1: password"],
      [
        "SPEC-07",
        `touch -- "$(printf 'a\\nb\\033]52;c;ZZZ\\007')" "$(printf '\\377\\376bad')" --help`,
        {},
        "--help\na\\nb\\u{1b}]52;c;ZZZ\\u{7}\n\\xff\\xfebad",
      ],
      [
        "P01",
        "true",
        { path: "/etc/passwd" },
        'Cannot list "/etc/passwd": it is outside the workspace. Use a path inside it',
      ],
      ["P15", "true", { path: "in.txt\0.png" }, 'Cannot list "in.txt\\u{0}.png": the path has a NUL character in it'],
      ["a file", "touch a.txt", { path: "a.txt" }, 'Cannot list "a.txt": it is a file, not a folder. Use read_file'],
      [
        "a near folder",
        "mkdir source",
        { path: "sourc" },
        'Cannot list "sourc": no such folder. Did you mean "source"?',
      ],
      [
        "no near folder",
        "mkdir source",
        { path: "other/x" },
        'Cannot list "other/x": no such folder. See list_files "."',
      ],
    ];
  test.each(rows)("%s", async (_id, setup, input, text) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    expect(await list(temp, input)).toBe(text);
  });

  test("shows 500 entries, sorted, and how many there are (S19)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("mkdir many && (cd many && seq -w 1 1200 | xargs touch)");
    const lines = (await list(temp, { path: "many" })).split("\n");
    expect(lines.length).toBe(501);
    expect(lines.slice(0, 500)).toEqual(
      Array.from({ length: 500 }, (_, at) => `many/${String(at + 1).padStart(4, "0")}`),
    );
    expect(lines[500]).toBe("[500 of 1200 entries shown; name a subfolder or use a pattern to see others]");
  });

  test("stays below the limit of a result when names are long", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("mkdir many && (cd many && for i in $(seq -w 1 250); do touch $i$(printf %0200d 0); done)");
    const text = await list(temp, { path: "many" });
    expect(text.length).toBeLessThan(50_000);
    expect(text).toMatch(/\n\[\d+ of 250 entries shown; [^\n]+\]$/);
  });

  test("stops when the turn is stopped", async () => {
    await using temp = await tempWorkspace({ "a.txt": "" });
    expect(handler({}, { ...temp.context, signal: AbortSignal.abort() })).rejects.toThrow();
  });

  test("prints names that read_file takes", async () => {
    await using temp = await tempWorkspace();
    await temp.sh(
      `printf 1 > "$(printf 'a\\nb')"; printf 2 > "$(printf '\\377\\376bad')"; printf 3 > 'back\\nslash'; printf 4 > "$(printf 'nb\\302\\240sp')"; printf 5 > -- '--help'`,
    );
    const names = (await list(temp)).split("\n");
    const contents = await Promise.all(names.map((path) => read({ path }, temp.context)));
    expect(contents.map((content) => String(content).trim().slice(-1)).sort()).toEqual(["1", "2", "3", "4", "5"]);
  });
});

test("list_files says under Deno which names are not UTF-8", async () => {
  await using temp = await tempWorkspace();
  await temp.sh(`touch "$(printf 'a\\377b')" "$(printf 'own\\357\\277\\275')"; mkfifo "$(printf 'p\\357\\277\\275')"`);
  const { stdout } = await runTenon("deno", { cwd: temp.root, args: ["call", "list_files"] });
  expect(stdout).toBe(
    "a\ufffdb (its name is not UTF-8: cannot be opened here)\nown\ufffd\np\ufffd (not a regular file)\n",
  );
});
