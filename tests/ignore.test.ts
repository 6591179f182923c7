import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { rm } from "node:fs/promises";
import fc from "fast-check";
import { isIgnored, layerOf } from "../core/files/ignore.ts";
import type { Entry, Workspace } from "../core/tool.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

/** What a walk names and what it leaves out, as the paths of each. */
async function walkOf(workspace: Workspace, path = "."): Promise<{ named: string[]; skipped: string[] }> {
  const skipped: Entry[] = [];
  const named: string[] = [];
  for await (const entry of workspace.walk({ path, skipped: (entry) => skipped.push(entry) })) named.push(entry.path);
  return { named, skipped: skipped.map((entry) => entry.path) };
}

describe("isIgnored", () => {
  const rows: [name: string, layers: [folder: string, text: string][], path: string, isIgnored: boolean][] = [
    ["a pattern without a slash holds at every depth", [["", "*.log"]], "a/b/c.log", true],
    ["a pattern with a slash holds from its folder", [["", "/a.log"]], "b/a.log", false],
    ["the last rule that matches decides (S09)", [["", "*.log\n!keep.log"]], "keep.log", false],
    ["a deeper file is heard before a higher one", [["", "*.log"], ["a", "!x.log"]], "a/x.log", false],
    ["a deeper file takes away too", [["", "!x.log"], ["a", "*.log"]], "a/x.log", true],
    ["a rule of a folder holds only below it", [["a", "*.log"]], "a/x.log", true],
    ["a folder rule leaves a file alone", [["", "build/"]], "build", false],
    ["case counts (S37)", [["", "*.TXT"]], "a.txt", false],
    ["a comment and an empty line are no rules", [["", "# a.txt\n\n"]], "a.txt", false],
    [
      "a folder that a deeper file took back is not left out by the higher one",
      [["", "out/"], ["a", "!out/"]],
      "a/out/x",
      false,
    ],
    // Inside a folder that was taken back only what names the file itself counts.
    ["taking back folders takes back no file", [["", "x.log"], ["b", "!*/"]], "b/x.log/x.log", true],
    ["taking back every folder takes back no file", [["", "b\n!/**/"]], "b/b", true],
    ["a name that was taken back holds below it too", [["", "*.log"], ["b", "!*.log"]], "b/x.log/x.log", false],
    [
      "a higher rule that named the folder names no file in it",
      [["", "**/*.log"], ["b", "!x.log"]],
      "b/x.log/a",
      false,
    ],
    ["** at the end reaches what is inside", [["", "*.log"], ["", "!/a/**"]], "a/b/x.log", false],
    ["an escaped ! is a name", [["", "\\!i\nb"], ["a", "a\n![ab]"]], "a/b/!i", true],
  ];
  test.each(rows)("%s", (_name, layers, path, expected) => {
    expect(isIgnored(layers.map(([folder, text]) => layerOf(folder, text)), path, false)).toBe(expected);
  });
});

describe("walk", () => {
  test("leaves out the skip list and says what it left out", async () => {
    const files = {
      ".git/HEAD": "",
      "node_modules/a.js": "",
      "src/vendor/v.js": "",
      "dist/d.js": "",
      ".github/w.yml": "",
      "a.ts": "",
    };
    await using temp = await tempWorkspace(files);
    expect(await walkOf(temp.workspace)).toEqual({
      named: [".github", ".github/w.yml", "a.ts", "src"],
      skipped: [".git", "dist", "node_modules", "src/vendor"],
    });
  });

  test("skips by exact name: Node_Modules is entered, a file called dist is named (S37)", async () => {
    await using temp = await tempWorkspace({ "Node_Modules/x.js": "", "src/dist": "a file" });
    expect((await walkOf(temp.workspace)).named).toEqual(["Node_Modules", "Node_Modules/x.js", "src", "src/dist"]);
  });

  test("brings nothing back from below a folder that is left out (S11)", async () => {
    await using temp = await tempWorkspace({
      ".gitignore": "build/\n!build/keep.txt\n",
      "build/keep.txt": "",
      "src.txt": "",
    });
    expect(await walkOf(temp.workspace)).toEqual({ named: [".gitignore", "src.txt"], skipped: ["build"] });
  });

  test("enters a folder that is named, and keeps to the rules inside it (S13)", async () => {
    const files = {
      ".gitignore": "dist/\n*.tmp\n",
      "dist/bundle.js": "",
      "dist/.gitignore": "*.map",
      "dist/bundle.map": "",
    };
    await using temp = await tempWorkspace({ ...files, "sub/a.tmp": "", "sub/b.ts": "" });
    expect((await walkOf(temp.workspace, "dist")).named).toEqual(["dist/.gitignore", "dist/bundle.js"]);
    expect(await walkOf(temp.workspace, "sub")).toEqual({ named: ["sub/b.ts"], skipped: ["sub/a.tmp"] });
  });

  test("names links and enters none, so that a circle ends (S15)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("mkdir -p ws/a outside; echo x > outside/s.txt; ln -s ../outside ws/ext; ln -s .. ws/a/up");
    expect((await walkOf(temp.workspace)).named).toEqual(["a", "a/up", "ext"]);
  });

  test("does not enter a folder of secrets", async () => {
    await using temp = await tempWorkspace({ ".ssh/id_rsa": "", "a.txt": "" });
    expect(await walkOf(temp.workspace)).toEqual({ named: ["a.txt"], skipped: [".ssh"] });
  });

  test("does not follow a .gitignore that is a link", async () => {
    await using temp = await tempWorkspace({ "a.log": "" });
    await temp.sh("echo '*.log' > ../rules; ln -s ../rules .gitignore");
    expect((await walkOf(temp.workspace)).named).toEqual([".gitignore", "a.log"]);
  });

  test("sorts by code point, a folder before what is below it", async () => {
    await using temp = await tempWorkspace({
      "b.txt": "",
      "B.txt": "",
      "a/x": "",
      "a.txt": "",
      "\u{1f600}": "",
      "\uff5e": "",
      "\u00e9": "",
    });
    expect((await walkOf(temp.workspace)).named).toEqual([
      "B.txt",
      "a",
      "a/x",
      "a.txt",
      "b.txt",
      "\u00e9",
      "\uff5e",
      "\u{1f600}",
    ]);
  });
});

test("walk names exactly the files that git would add", async () => {
  const name = fc.constantFrom("a", "b", "out", "x.log", "y.txt");
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
  const rule = fc.constantFrom(
    "*.log",
    "!x.log",
    "out/",
    "!out/",
    "/a",
    "!/a",
    "a/b",
    "**/b",
    "b/**",
    "out/*",
    "!out/x.log",
    "*",
    "!*/",
    "y.*",
    "\\!x",
    " ",
    "#c",
  );
  const rules = fc.array(rule, { maxLength: 4 }).map((lines) => lines.join("\n"));
  const folder = fc.array(fc.constantFrom("a", "b", "out"), { maxLength: 2 }).map((names) => names.join("/"));
  await fc.assert(
    fc.asyncProperty(
      fc.array(path, { maxLength: 12 }),
      fc.array(fc.tuple(folder, rules), { maxLength: 3 }),
      async (paths, ignores) => {
        // A path that is a folder for another one cannot be a file as well.
        const all = [
          ...paths.map((path) => [path, ""]),
          ...ignores.map(([at, text]) => [at === "" ? ".gitignore" : `${at}/.gitignore`, text]),
        ];
        const isFolder = (path = "") => all.some(([other]) => other?.startsWith(`${path}/`));
        await using temp = await tempWorkspace(Object.fromEntries(all.filter(([path]) => !isFolder(path))));
        const git = (...args: string[]) =>
          execFileSync("git", args, {
            cwd: temp.root,
            encoding: "utf8",
            env: { PATH: process.env.PATH, HOME: temp.top },
          });
        git("init", "-q");
        const added = git("ls-files", "--others", "--exclude-standard", "-z").split("\0").filter((path) => path !== "")
          .sort();
        await rm(`${temp.root}/.git`, { recursive: true });
        const files: string[] = [];
        for await (const entry of temp.workspace.walk()) if (entry.kind === "file") files.push(entry.path);
        expect(files.sort()).toEqual(added);
      },
    ),
    { numRuns: 25 },
  );
}, 30_000);
