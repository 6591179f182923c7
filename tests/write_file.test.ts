import { describe, expect, test } from "bun:test";
import { applyPatch } from "diff";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "../core/path.ts";
import { definition, handler, preview } from "../plugins/write_file.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";
import { type Call, filesIn, runSteps, type Step } from "./support/tool_session.ts";

const read = (path: string, more: object = {}): Call => ["read_file", { path, ...more }];
const write = (path: string, content: string): Call => ["write_file", { path, content }];

const BOM = "\ufeff";
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==";
const UNREAD = "it exists and was not read whole. Read it with read_file first, or change a part of it with edit_file";
const TOO_LONG =
  "it exists and cannot be read whole: line 2 has more than 2,000 characters. Change a part of it with edit_file, write to a new name, " +
  "or delete it with bash first";
const leftOut = (lines: string, offset: number) =>
  `it exists and was not read whole: ${lines} not shown. Go on with read_file, offset: ${offset}, or change a part of it with edit_file`;
const OUTSIDE = "it is outside the workspace. Use a path inside it";
/** Files outside of the workspace, and one inside. */
const AROUND = "mkdir -p ws outside; echo IN > ws/in.txt; echo OUT > outside/o.txt";

/** What write_file answers; what the files hold afterwards, null where there is none. */
type Row = [id: string, setup: string, steps: Step[], answers: string[], files: { [path: string]: string | null }];

describe("write_file", () => {
  const rows: Row[] = [
    [
      "E21 overwrites nothing unseen",
      "printf 'precious\\n' > p.txt",
      [
        write("p.txt", "new\n"),
        write("brand-new.txt", "ok\n"),
      ],
      [`Cannot write "p.txt": ${UNREAD}`, 'Wrote "brand-new.txt": 3 bytes, 1 line, a new file'],
      {
        "p.txt": "precious\n",
        "brand-new.txt": "ok\n",
      },
    ],
    ["E35 makes folders, but not through a file", "printf x > afile", [
      write("new/deep/dir/f.txt", "x\n"),
      write("afile/sub.txt", "x\n"),
    ], [
      'Wrote "new/deep/dir/f.txt": 2 bytes, 1 line, a new file',
      'Cannot write "afile/sub.txt": "afile" is a file, not a folder',
    ], { "new/deep/dir/f.txt": "x\n", afile: "x" }],
    ["E37 needs a content that is text", "printf 'abc\\n' > a.txt", [
      read("a.txt"),
      ["write_file", { path: "a.txt" }],
      ["write_file", { path: "a.txt", content: null }],
      ["write_file", { path: "a.txt", content: { x: 1 } }],
    ], [
      "Cannot call write_file: content: expected string, got nothing",
      "Cannot call write_file: content: expected string, got null",
      "Cannot call write_file: content: expected string, got object",
    ], { "a.txt": "abc\n" }],
    ["writes over what was read whole", "printf 'a\\nb\\n' > a.txt", [read("a.txt"), write("a.txt", "c")], [
      'Wrote "a.txt": 1 byte, 1 line, in place of the old content',
    ], { "a.txt": "c" }],
    ["a part is not the whole", "seq 1 5 > n.txt", [
      read("n.txt", { limit: 4 }),
      write("n.txt", "x\n"),
      read("n.txt", { offset: 2, limit: 2 }),
      write("n.txt", "x\n"),
    ], [
      `Cannot write "n.txt": ${leftOut("line 5 was", 5)}`,
      `Cannot write "n.txt": ${leftOut("line 5 was", 5)}`,
    ], { "n.txt": "1\n2\n3\n4\n5\n" }],
    ["parts that are all of it make the whole, in any order", "seq 1 2310 > n.txt", [
      read("n.txt", { offset: 2001 }),
      write("n.txt", "x\n"),
      read("n.txt", { offset: 400, limit: 1 }),
      read("n.txt", { limit: 200 }),
      write("n.txt", "x\n"),
      { batch: [read("n.txt", { offset: 401 }), read("n.txt", { offset: 200, limit: 200 })] },
      write("n.txt", "x\n"),
    ], [
      `Cannot write "n.txt": ${leftOut("lines 1–2000 were", 1)}`,
      `Cannot write "n.txt": ${leftOut("lines 201–399 were", 201)}`,
      'Wrote "n.txt": 2 bytes, 1 line, in place of the old content',
    ], { "n.txt": "x\n" }],
    ["parts of two contents are no whole", "seq 1 4 > n.txt", [
      read("n.txt", { limit: 2 }),
      { sh: "seq 1 5 > n.txt" },
      write("n.txt", "x\n"),
      read("n.txt", { offset: 3 }),
      write("n.txt", "x\n"),
    ], [
      'Cannot write "n.txt": it was changed since it was read. Read it again with read_file',
      `Cannot write "n.txt": ${leftOut("lines 1–2 were", 1)}`,
    ], { "n.txt": "1\n2\n3\n4\n5\n" }],
    [
      "a part that is read again leaves the whole what it is",
      "seq 1 5 > n.txt",
      [
        read("n.txt"),
        read("n.txt", { limit: 1 }),
        write("n.txt", "x\n"),
      ],
      ['Wrote "n.txt": 2 bytes, 1 line, in place of the old content'],
      { "n.txt": "x\n" },
    ],
    ["after an edit its parts are read anew", "seq 1 5 > n.txt", [
      read("n.txt", { limit: 2 }),
      ["edit_file", { path: "n.txt", old_string: "1", new_string: "one" }],
      read("n.txt", { offset: 3 }),
      write("n.txt", "x\n"),
      read("n.txt", { limit: 2 }),
      write("n.txt", "x\n"),
    ], [
      'Edited "n.txt": 1 place, line 1\n     1\tone\n     2\t2\n     3\t3',
      `Cannot write "n.txt": ${leftOut("lines 1–2 were", 1)}`,
      'Wrote "n.txt": 2 bytes, 1 line, in place of the old content',
    ], { "n.txt": "x\n" }],
    [
      "an image that was shown is not text that was read whole",
      `printf %s '${PIXEL}' | base64 -d > p.png`,
      [read("p.png"), write("p.png", "x\n")],
      ['Cannot write "p.png": it is an image, which text cannot replace. Write to a new name, or delete it with bash first'],
      { "p.png": Buffer.from(PIXEL, "base64").toString() },
    ],
    ["a cut line is not the whole", "printf 'a\\n%2001s\\r\\n%2000s\\r\\n' x y > l.txt", [
      write("l.txt", "x\n"),
      read("l.txt"),
      read("l.txt", { offset: 2 }),
      write("l.txt", "x\n"),
    ], [
      `Cannot write "l.txt": ${TOO_LONG}`,
      `Cannot write "l.txt": ${TOO_LONG}`,
    ], { "l.txt": `a\n${"x".padStart(2001)}\r\n${"y".padStart(2000)}\r\n` }],
    [
      "lines as long as they may be",
      "printf '\\357\\273\\277%2000s\\r\\n%2000s' x y > l.txt",
      [
        write("l.txt", "x\n"),
        read("l.txt"),
        write("l.txt", `${BOM}x\r\n`),
      ],
      [`Cannot write "l.txt": ${UNREAD}`, 'Wrote "l.txt": 6 bytes, 1 line, in place of the old content'],
      { "l.txt": `${BOM}x\r\n` },
    ],
    [
      "what cannot be read (E09)",
      "printf 'a\\0' > a.bin; printf '\\377\\376a\\0' > u16.txt; printf 'caf\\351 cr\\350me\\n' > l1.txt",
      [
        write("a.bin", "x\n"),
        write("u16.txt", "x\n"),
        read("l1.txt"),
        write("l1.txt", "x\n"),
        { sh: "rm a.bin" },
        write("a.bin", "x\n"),
      ],
      [
        'Cannot write "a.bin": it exists and cannot be read: it is binary (2 bytes). Write to a new name, or delete it with bash first',
        'Cannot write "u16.txt": it exists and cannot be read: it is UTF-16 LE text, not UTF-8. Convert it first, for example with iconv, or write to a new name',
        'Cannot write "l1.txt": it exists and cannot be read: it is probably Latin-1 or Windows-1252 text, not UTF-8. Convert it first, for example with iconv, or write to a new name',
        'Wrote "a.bin": 2 bytes, 1 line, a new file',
      ],
      { "a.bin": "x\n", "u16.txt": "\ufffd\ufffda\0" },
    ],
    [
      "changed since it was read",
      "printf 'a\\n' > a.txt",
      [
        read("a.txt"),
        { sh: "printf 'theirs\\n' > a.txt" },
        write("a.txt", "mine\n"),
      ],
      ['Cannot write "a.txt": it was changed since it was read. Read it again with read_file'],
      { "a.txt": "theirs\n" },
    ],
    ["made by someone else after it was gone", "printf 'a\\n' > a.txt", [
      read("a.txt"),
      { sh: "rm a.txt" },
      write("a.txt", "mine\n"),
      { sh: "printf 'theirs\\n' > a.txt" },
      write("a.txt", "mine\n"),
    ], [
      'Wrote "a.txt": 5 bytes, 1 line, a new file',
      'Cannot write "a.txt": it was changed since it was read. Read it again with read_file',
    ], { "a.txt": "theirs\n" }],
    ["the same content", "printf 'a\\n' > a.txt", [read("a.txt"), write("a.txt", "a\n")], [
      '"a.txt" has this content already (2 bytes, 1 line). Nothing was written',
    ], { "a.txt": "a\n" }],
    ["every byte as it is, and no more", "true", [
      write("a.txt", `${BOM}$& \u{1f600}\r\n\tx`),
      write("b.txt", ""),
      write("c.txt", "\n\n"),
    ], [
      'Wrote "a.txt": 14 bytes, 2 lines, a new file',
      'Wrote "b.txt": 0 bytes, 0 lines, a new file',
      'Wrote "c.txt": 2 bytes, 2 lines, a new file',
    ], { "a.txt": `${BOM}$& \u{1f600}\r\n\tx`, "b.txt": "", "c.txt": "\n\n" }],
    ["says what read_file does not show and is gone", "printf '\\357\\273\\277a\\r\\nb\\r\\n' > w.txt", [
      read("w.txt"),
      write("w.txt", "c\nd\n"),
    ], [
      'Wrote "w.txt": 4 bytes, 2 lines, in place of the old content\n' +
      "[the byte order mark is gone; lines that ended in CRLF end in LF now]",
    ], { "w.txt": "c\nd\n" }],
    [
      "says nothing of what is still there",
      "printf '\\357\\273\\277a\\r\\nb\\r\\n' > w.txt",
      [
        read("w.txt"),
        write("w.txt", `${BOM}c\r\n`),
      ],
      ['Wrote "w.txt": 6 bytes, 1 line, in place of the old content'],
      { "w.txt": `${BOM}c\r\n` },
    ],
    ["through a link, to its target", "mkdir d; printf 'a\\n' > d/a.txt; ln -s d/a.txt l; ln -s d e", [
      read("d/a.txt"),
      write("l", "b\n"),
      write("e/new.txt", "n\n"),
      write("d/new.txt", "m\n"),
    ], [
      'Wrote "l": 2 bytes, 1 line, in place of the old content',
      'Wrote "e/new.txt": 2 bytes, 1 line, a new file',
      'Wrote "d/new.txt": 2 bytes, 1 line, in place of the old content',
    ], { "d/a.txt": "b\n", "d/new.txt": "m\n" }],
    [
      "an absolute path below a link to the workspace (P09)",
      "mkdir realroot; ln -s realroot ws",
      [
        write("n/new.txt", "x\n"),
      ],
      ['Wrote "n/new.txt": 2 bytes, 1 line, a new file'],
      { "../realroot/n/new.txt": "x\n" },
    ],
    ["P01", AROUND, [write("/etc/agent-probe", "PWN\n")], [`Cannot write "/etc/agent-probe": ${OUTSIDE}`], {
      "/etc/agent-probe": null,
    }],
    ["P03", `${AROUND}; mkdir ws-secret`, [write("../ws-secret/s.txt", "PWN\n")], [
      `Cannot write "../ws-secret/s.txt": ${OUTSIDE}`,
    ], { "../ws-secret/s.txt": null }],
    ["P05", `${AROUND}; ln -s ../outside ws/sub`, [
      write("sub/new.txt", "PWN\n"),
      write("sub/x/y/z.txt", "PWN\n"),
      write("sub/o.txt", "PWN\n"),
    ], [
      `Cannot write "sub/new.txt": ${OUTSIDE}`,
      `Cannot write "sub/x/y/z.txt": ${OUTSIDE}`,
      `Cannot write "sub/o.txt": ${OUTSIDE}`,
    ], { "../outside/new.txt": null, "../outside/o.txt": "OUT\n" }],
    [
      "P07",
      `${AROUND}; ln -s ../outside/not-yet.txt ws/draft.txt; ln -s draft.txt ws/draft2.txt; ln -s none ws/draft3.txt`,
      [
        write("draft.txt", "PWN\n"),
        write("draft2.txt", "PWN\n"),
        write("draft3.txt", "PWN\n"),
      ],
      [
        `Cannot write "draft.txt": ${OUTSIDE}`,
        `Cannot write "draft2.txt": ${OUTSIDE}`,
        'Cannot write "draft3.txt": it is a symbolic link whose target does not exist',
      ],
      { "../outside/not-yet.txt": null, none: null },
    ],
    ["P15", AROUND, [write("in.txt\0.png", "PWN\n")], [
      'Cannot write "in.txt\\u{0}.png": the path has a NUL character in it',
    ], { "in.txt": "IN\n" }],
    ["P17", AROUND, [write("file:out.txt", "PWN\n"), write("file:///etc/agent-probe", "PWN\n")], [
      'Cannot write "file:out.txt": it is a URL. Use a plain path',
      'Cannot write "file:///etc/agent-probe": it is a URL. Use a plain path',
    ], { "file:out.txt": null, "out.txt": null }],
    ["P19", "echo y > a.txt", [write("newdir/", "x"), write("a.txt/", "x")], [
      'Cannot write "newdir/": it ends in a slash. Name a file',
      'Cannot write "a.txt/": it ends in a slash. Name a file',
    ], { "a.txt": "y\n", newdir: null }],
    ["P23", "true", [["write_file", { content: "x" }], write("", "x")], [
      "Cannot call write_file: path: expected string, got nothing",
      "Cannot call write_file: path: it is empty. Name a file",
    ], {}],
    ["PATH-07", AROUND, [write("newdir/../../outside/pwn.txt", "x")], [
      `Cannot write "newdir/../../outside/pwn.txt": ${OUTSIDE}`,
    ], { "../outside/pwn.txt": null }],
    ["PATH-09", "mkdir -p .git/hooks", [
      write(".GIT/hooks/pre-commit", "#!/bin/sh\n"),
      write(".g\u200cit/hooks/pre-commit", "x"),
      write("./.git/./hooks/pre-commit", "x"),
    ], [
      'Cannot write ".GIT/hooks/pre-commit": nothing is written below .git. Use git itself',
      'Cannot write ".g\\u{200c}it/hooks/pre-commit": nothing is written below .git. Use git itself',
      'Cannot write "./.git/./hooks/pre-commit": nothing is written below .git. Use git itself',
    ], { ".git/hooks/pre-commit": null, ".GIT/hooks/pre-commit": null }],
    ["LINK-03", `${AROUND}; ln -s ../outside/o.txt ws/l`, [write("l", "overwritten")], [
      `Cannot write "l": ${OUTSIDE}`,
    ], { "../outside/o.txt": "OUT\n" }],
    ["LINK-05", `${AROUND}; ln outside/o.txt ws/h`, [write("h", "x"), read("h"), write("h", "x")], [
      `Cannot write "h": ${UNREAD}`,
      'Wrote "h": 1 byte, 1 line, in place of the old content\n' +
      "[the file had 2 names (hard links): only this one has the new content]",
    ], { h: "x", "../outside/o.txt": "OUT\n" }],
    ["three names, and more to tell", "printf 'a\\r\\n' > a; ln a b; ln a c", [
      read("a"),
      write("a", "1\n"),
      read("b"),
      write("b", "2\r\n"),
      read("c"),
      write("c", "3\r\n"),
    ], [
      'Wrote "a": 2 bytes, 1 line, in place of the old content\n' +
      "[the file had 3 names (hard links): only this one has the new content; lines that ended in CRLF end in LF now]",
      'Wrote "b": 3 bytes, 1 line, in place of the old content\n' +
      "[the file had 2 names (hard links): only this one has the new content]",
      'Wrote "c": 3 bytes, 1 line, in place of the old content',
    ], { a: "1\n", b: "2\r\n", c: "3\r\n" }],
    ["LINK-17", "mkdir -p .git/hooks; ln -s .git gitlink", [write("gitlink/hooks/pre-commit", "#!/bin/sh\n")], [
      'Cannot write "gitlink/hooks/pre-commit": nothing is written below .git. Use git itself',
    ], { ".git/hooks/pre-commit": null }],
    ["SPEC-01", "mkfifo p", [write("p", "x")], ['Cannot write "p": it is not a regular file. Name another'], {}],
    ["a folder", "mkdir src", [write("src", "x"), write(".", "x")], [
      'Cannot write "src": it is a folder. Name a file in it',
      'Cannot write ".": it is a folder. Name a file in it',
    ], {}],
    ["a secret", "true", [write(".env", "KEY=1")], [
      'Cannot write ".env": files named like this hold secrets. Only the user can lift this, with --allow-write and the path',
    ], { ".env": null }],
    ["tenon's own temporary file", "echo mine > .tenon-1a.tmp", [
      write(".tenon-2b.tmp", "x"),
      write(".tenon-1a.tmp", "x"),
    ], [
      'Cannot write ".tenon-2b.tmp": tenon\'s own temporary files are named like this. Use another name',
      'Cannot write ".tenon-1a.tmp": tenon\'s own temporary files are named like this. Use another name',
    ], { ".tenon-2b.tmp": null, ".tenon-1a.tmp": "mine\n" }],
    ["half a character", "true", [write("a.txt", "x\ud83d")], [
      "Cannot call write_file: content: it has half a character in it (a lone surrogate). Write the whole character",
    ], { "a.txt": null }],
  ];
  test.each(rows)("%s", async (_id, setup, steps, answers, files) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    const answered = (await runSteps(temp, steps)).filter(({ tool }) => tool !== "read_file");
    expect(answered.map(({ text }) => text)).toEqual(answers);
    expect(await filesIn(temp, Object.keys(files))).toEqual(files);
    for (const { text, preview } of answered) {
      if (typeof preview === "string") expect(preview).toBe(text);
      else if (preview !== undefined) expect(text).not.toStartWith("Cannot ");
    }
  });

  test("keeps the mode of a file, and gives a new one what the umask leaves (E25)", async () => {
    await using temp = await tempWorkspace({ "run.sh": "#!/bin/sh\n" });
    await temp.sh("chmod 750 run.sh");
    await runSteps(temp, [read("run.sh"), write("run.sh", "#!/bin/sh\ntrue\n"), write("fresh.txt", "x\n")]);
    const mode = async (path: string) => (await stat(join(temp.root, path))).mode & 0o777;
    expect(await mode("run.sh")).toBe(0o750);
    expect(await mode("fresh.txt")).toBe(0o666 & ~process.umask());
  });

  test("leaves no folder behind where it fails", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("mkdir there");
    // The name is too long for the file system, which says so only when the folders are there.
    const path = `there/new/deep/${"x".repeat(300)}`;
    expect((await runSteps(temp, [write(path, "x")]))[0]?.text).toMatch(/^Cannot write .*: the path is too long$/);
    expect(await readdir(join(temp.root, "there"))).toEqual([]);
  });

  test("leaves no folder behind where it refuses", async () => {
    await using temp = await tempWorkspace();
    await runSteps(temp, [write("new/.git/config", "x"), write("new/a/../../../o.txt", "x"), write("n/x\ud800", "x")]);
    expect(await readdir(temp.root)).toEqual([]);
  });

  test("previews as a unified diff to the file behind the link, and writes nothing", async () => {
    await using temp = await tempWorkspace({ "d/a.txt": "one\ntwo\n" });
    await temp.sh("ln -s d e");
    const made = await preview({ path: "e/new/b.txt", content: "1\n2" }, temp.context);
    expect(made.path).toBe("d/new/b.txt");
    expect(made.diff).toContain("--- /dev/null");
    expect(made.diff).toContain("+++ d/new/b.txt");
    expect(made.diff).toEndWith("@@ -0,0 +1,2 @@\n+1\n+2\n\\ No newline at end of file\n");
    temp.context.seen.note("d/a.txt", { sha256: ONE_TWO, whole: true });
    const changed = await preview({ path: "e/a.txt", content: "one\r\n2\n" }, temp.context);
    expect(changed.path).toBe("d/a.txt");
    expect(applyPatch("one\ntwo\n", changed.diff, { autoConvertLineEndings: false })).toBe("one\r\n2\n");
    await temp.sh("ln d/a.txt d/b.txt");
    const named = await preview({ path: "e/a.txt", content: "one\r\n2\n" }, temp.context);
    expect(named.diff).toBe(
      `[the file has 2 names (hard links): only this one will have the new content]\n${changed.diff}`,
    );
    expect(await filesIn(temp, ["d/a.txt", "d/new/b.txt"])).toEqual({ "d/a.txt": "one\ntwo\n", "d/new/b.txt": null });
  });

  test("previews two texts that have nothing in common within a few seconds", async () => {
    const lines = (word: string) => Array.from({ length: 60_000 }, (_, at) => `${word} ${at}\n`).join("");
    await using temp = await tempWorkspace({ "a.txt": lines("old") });
    temp.context.seen.note("a.txt", { sha256: await hashOf(join(temp.root, "a.txt")), whole: true });
    const start = performance.now();
    const { diff } = await preview({ path: "a.txt", content: lines("new") }, temp.context);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(diff).toContain("-old 59999\n");
    expect(applyPatch(lines("old"), diff)).toBe(lines("new"));
  }, 30_000);

  test("notices a file that appears between its look and its write", async () => {
    await using temp = await tempWorkspace();
    const { workspace } = temp;
    const meddled = {
      ...workspace,
      async exists(path: string) {
        const isThere = await workspace.exists(path);
        await Bun.write(join(temp.root, "a.txt"), "theirs\n");
        return isThere;
      },
    };
    await expect(handler({ path: "a.txt", content: "mine\n" }, { ...temp.context, workspace: meddled })).rejects
      .toThrow(
        'Cannot write "a.txt": someone made it just now. Read it with read_file first',
      );
    expect(await readFile(join(temp.root, "a.txt"), "utf8")).toBe("theirs\n");
  });

  test("has a description that names the tools beside it", () => {
    for (const tool of ["read_file", "edit_file"]) expect(definition.description).toContain(tool);
  });
});

const ONE_TWO = new Bun.CryptoHasher("sha256").update("one\ntwo\n").digest("hex");

async function hashOf(path: string): Promise<string> {
  return new Bun.CryptoHasher("sha256").update(await readFile(path)).digest("hex");
}
