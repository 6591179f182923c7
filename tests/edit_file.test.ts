import { describe, expect, test } from "bun:test";
import { applyPatch } from "diff";
import fc from "fast-check";
import { createHash } from "node:crypto";
import { lstat, readdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { join } from "../core/path.ts";
import { definition, handler, preview } from "../plugins/edit_file.ts";
import { handler as readFileTool } from "../plugins/read_file.ts";
import { startSwapper } from "./support/race.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";
import { type Call, filesIn, openToolSession, runSteps, type Step } from "./support/tool_session.ts";

const read = (path: string, more: object = {}): Call => ["read_file", { path, ...more }];
const edit = (path: string, old_string: string, new_string: string, replace_all?: boolean): Call => [
  "edit_file",
  { path, old_string, new_string, ...(replace_all === undefined ? {} : { replace_all }) },
];
const write = (path: string, content: string): Call => ["write_file", { path, content }];

const BOM = "\ufeff";
const DOLLARS = "pid=$$ m=$& pre=$` post=$' g=$1 n=$<x> $0";
const UNREAD = "it was not read in this session. Read it with read_file first";
const UNREAD_WHOLE =
  "it exists and was not read whole. Read it with read_file first, or change a part of it with edit_file";
const PARTED = "[the file had 2 names (hard links): only this one has the new content]";
const WAS_PARTED =
  "[it had 2 names (hard links) when it was read, and has one now: changes under another name are not in it]";

/** What all but read_file answer; what the files hold afterwards, null where there is none. */
type Row = [id: string, setup: string, steps: Step[], answers: string[], files: { [path: string]: string | null }];

describe("edit_file", () => {
  const rows: Row[] = [
    [
      "E01 puts in dollars as they are",
      "printf 'head\\nTARGET\\ntail\\n' > a.sh",
      [
        read("a.sh"),
        edit("a.sh", "TARGET", DOLLARS),
      ],
      [`Edited "a.sh": 1 place, line 2\n     1\thead\n     2\t${DOLLARS}\n     3\ttail`],
      {
        "a.sh": `head\n${DOLLARS}\ntail\n`,
      },
    ],
    [
      "E01 puts in dollars everywhere",
      "printf 'TARGET TARGET' > a.sh",
      [
        read("a.sh"),
        edit("a.sh", "TARGET", DOLLARS, true),
      ],
      [`Edited "a.sh": 2 places, lines 1 and 1\n     1\t${DOLLARS} ${DOLLARS}`],
      { "a.sh": `${DOLLARS} ${DOLLARS}` },
    ],
    ["E03 leaves mixed line ends", "printf 'a\\r\\nb\\nc' > m.txt", [read("m.txt"), edit("m.txt", "c", "C")], [
      'Edited "m.txt": 1 place, line 3\n     1\ta\n     2\tb\n     3\tC',
    ], { "m.txt": "a\r\nb\nC" }],
    [
      "E05 leaves the BOM",
      "printf '\\357\\273\\277hello\\nworld\\n' > b.ps1",
      [
        read("b.ps1"),
        edit("b.ps1", "world", "there"),
      ],
      ['Edited "b.ps1": 1 place, line 2\n     1\thello\n     2\tthere'],
      { "b.ps1": `${BOM}hello\nthere\n` },
    ],
    [
      "E07 matches behind the BOM",
      "printf '\\357\\273\\277# title\\nbody\\n' > b.md",
      [
        read("b.md"),
        edit("b.md", "# title\nbody", "# Title\nbody"),
      ],
      ['Edited "b.md": 1 place, line 1\n     1\t# Title\n     2\tbody'],
      { "b.md": `${BOM}# Title\nbody\n` },
    ],
    [
      "E11 replaces all in one pass",
      "printf 'foo foo\\nfoo\\n' > r.txt",
      [
        read("r.txt"),
        edit("r.txt", "foo", "foofoo", true),
      ],
      ['Edited "r.txt": 3 places, lines 1, 1 and 2\n     1\tfoofoo foofoo\n     2\tfoofoo'],
      {
        "r.txt": "foofoo foofoo\nfoofoo\n",
      },
    ],
    [
      "E13 tells tabs from spaces",
      "printf 'def f():\\n\\treturn 1\\n' > t.py",
      [
        read("t.py"),
        edit("t.py", "def f():\n    return 1", "def f():\n    return 2"),
      ],
      ['Cannot edit "t.py": old_string is not in it. At line 2 the file has a tab where old_string has 4 spaces'],
      {
        "t.py": "def f():\n\treturn 1\n",
      },
    ],
    [
      "E15 leaves the tabs of other lines",
      "printf 'all:\\n\\techo one\\n\\techo two\\n' > Makefile",
      [
        read("Makefile"),
        edit("Makefile", "echo two", "echo 2"),
      ],
      ['Edited "Makefile": 1 place, line 3\n     1\tall:\n     2\t\techo one\n     3\t\techo 2'],
      {
        Makefile: "all:\n\techo one\n\techo 2\n",
      },
    ],
    [
      "E19 compares content, not times",
      "printf 'a\\n' > k.txt",
      [
        read("k.txt"),
        { sh: "touch -t 200101010000 k.txt" },
        edit("k.txt", "a", "b"),
      ],
      ['Edited "k.txt": 1 place, line 1\n     1\tb'],
      { "k.txt": "b\n" },
    ],
    ["E21 refuses what was not read", "printf 'precious\\n' > p.txt", [edit("p.txt", "precious", "x")], [
      `Cannot edit "p.txt": ${UNREAD}`,
    ], { "p.txt": "precious\n" }],
    ["E23 counts its own writes as read", "true", [
      write("own.txt", "a\nb\n"),
      edit("own.txt", "a", "A"),
      edit("own.txt", "b", "B"),
      write("own.txt", "fresh\n"),
    ], [
      'Wrote "own.txt": 4 bytes, 2 lines, a new file',
      'Edited "own.txt": 1 place, line 1\n     1\tA\n     2\tb',
      'Edited "own.txt": 1 place, line 2\n     1\tA\n     2\tB',
      'Wrote "own.txt": 6 bytes, 1 line, in place of the old content',
    ], { "own.txt": "fresh\n" }],
    [
      "E27 follows links of links",
      "mkdir -p real/host; printf 'v1\\n' > real/settings.json; ln -s ../settings.json real/host/settings.json; " +
      "ln -s real/host synced; ln -s synced dot",
      [read("dot/settings.json"), edit("dot/settings.json", "v1", "v2")],
      ['Edited "dot/settings.json": 1 place, line 1\n     1\tv2'],
      { "real/settings.json": "v2\n", "settings.json": null },
    ],
    ["E31 knows a file by any name", "mkdir d; seq 1 50 > d/a.txt; ln -s d/a.txt alias.txt", [read("d/a.txt"), {
      batch: [
        edit("d/a.txt", "\n10\n", "\n10!\n"),
        edit("./d/../d/a.txt", "\n20\n", "\n20!\n"),
        edit("alias.txt", "\n30\n", "\n30!\n"),
      ],
    }], [
      'Edited "d/a.txt": 1 place, line 10\n     8\t8\n     9\t9\n    10\t10!\n    11\t11\n    12\t12',
      'Edited "./d/../d/a.txt": 1 place, line 20\n    18\t18\n    19\t19\n    20\t20!\n    21\t21\n    22\t22',
      'Edited "alias.txt": 1 place, line 30\n    28\t28\n    29\t29\n    30\t30!\n    31\t31\n    32\t32',
    ], { "d/a.txt": numbers(50).replace(/^[123]0$/gm, (line) => `${line}!`) }],
    [
      "E31 edits through two links of one batch change one file",
      "mkdir d; seq 1 3 > d/a.txt; ln -s d/a.txt l1; ln -s ../d/a.txt d/l2",
      [read("l1"), { batch: [edit("l1", "1", "one"), edit("d/l2", "2", "two"), edit("l1", "3", "three")] }],
      [
        'Edited "l1": 1 place, line 1\n     1\tone\n     2\t2\n     3\t3',
        'Edited "d/l2": 1 place, line 2\n     1\tone\n     2\ttwo\n     3\t3',
        'Edited "l1": 1 place, line 3\n     1\tone\n     2\ttwo\n     3\tthree',
      ],
      { "d/a.txt": "one\ntwo\nthree\n" },
    ],
    [
      "edits under two hard links of one batch are each there under their own name, and both results tell",
      "seq 1 2 > a.txt; ln a.txt b.txt",
      [read("a.txt"), read("b.txt"), {
        batch: [edit("a.txt", "1", "one"), edit("b.txt", "2", "two"), edit("a.txt", "2", "zwei")],
      }, edit("b.txt", "1", "un")],
      [
        `Edited "a.txt": 1 place, line 1\n     1\tone\n     2\t2\n${PARTED}`,
        `Edited "b.txt": 1 place, line 2\n     1\t1\n     2\ttwo\n${WAS_PARTED}`,
        'Edited "a.txt": 1 place, line 2\n     1\tone\n     2\tzwei',
        'Edited "b.txt": 1 place, line 1\n     1\tun\n     2\ttwo',
      ],
      { "a.txt": "one\nzwei\n", "b.txt": "un\ntwo\n" },
    ],
    ["a hard link that was read again", "echo x > a.txt; ln a.txt b.txt", [
      read("a.txt"),
      read("b.txt"),
      edit("a.txt", "x", ""),
      read("b.txt"),
      edit("b.txt", "x", "y"),
    ], [
      `Edited "a.txt": 1 place, line 1\n     1\t\n${PARTED}`,
      'Edited "b.txt": 1 place, line 1\n     1\ty',
    ], { "a.txt": "\n", "b.txt": "y\n" }],
    ["E33 adds no line end", "printf 'a\\nb\\n' > y.txt; printf 'a\\nb' > n.txt", [
      read("y.txt"),
      edit("y.txt", "b\n", "B\n"),
      read("n.txt"),
      edit("n.txt", "b", "B"),
    ], [
      'Edited "y.txt": 1 place, line 2\n     1\ta\n     2\tB',
      'Edited "n.txt": 1 place, line 2\n     1\ta\n     2\tB',
    ], { "y.txt": "a\nB\n", "n.txt": "a\nB" }],
    ["E37 needs new_string, which may be empty", "printf 'abc\\n' > a.txt", [
      read("a.txt"),
      ["edit_file", { path: "a.txt", old_string: "abc" }],
      ["edit_file", { path: "a.txt", old_string: 5, new_string: null }],
      edit("a.txt", "b", "", true),
    ], [
      "Cannot call edit_file: new_string: expected string, got nothing",
      "Cannot call edit_file: old_string: expected string, got number 5",
      'Edited "a.txt": 1 place, line 1\n     1\tac',
    ], { "a.txt": "ac\n" }],
    [
      "E41 keeps curly quotes",
      "printf 'it\\342\\200\\231s [\\047\\342\\200\\231]\\n' > q.txt",
      [
        read("q.txt"),
        edit("q.txt", "it\u2019s", "it\u2019s really"),
      ],
      ['Edited "q.txt": 1 place, line 1\n     1\tit\u2019s really [\'\u2019]'],
      {
        "q.txt": "it\u2019s really ['\u2019]\n",
      },
    ],
    [
      "E43 stores every byte",
      "printf '**TODO**\\n' > z.md",
      [
        read("z.md"),
        edit("z.md", "**TODO**", "**\u9032\u884c\u4e2d**"),
      ],
      ['Edited "z.md": 1 place, line 1\n     1\t**\u9032\u884c\u4e2d**'],
      { "z.md": "**\u9032\u884c\u4e2d**\n" },
    ],
    [
      "E45 does not bring back a file",
      "printf 'x\\n' > gone.txt",
      [
        read("gone.txt"),
        { sh: "rm gone.txt" },
        edit("gone.txt", "x", "y"),
      ],
      ['Cannot edit "gone.txt": no such file. See list_files "."'],
      { "gone.txt": null },
    ],
    [
      "a path that reads like the end of one",
      "true",
      [edit('a": b', "x", "y")],
      ['Cannot edit "a": b": no such file. See list_files "."'],
      {},
    ],
    [
      "a folder took its place",
      "printf 'x\\n' > a.txt",
      [
        read("a.txt"),
        { sh: "mv a.txt b.txt; mkdir a.txt" },
        edit("a.txt", "x", "y"),
        write("a.txt", "y\n"),
      ],
      [
        'Cannot edit "a.txt": it is a folder. Name a file in it',
        'Cannot write "a.txt": it is a folder. Name a file in it',
      ],
      { "b.txt": "x\n" },
    ],
    [
      "SPEC-01 a pipe took its place",
      "printf 'x\\n' > a.txt",
      [
        read("a.txt"),
        { sh: "rm a.txt; mkfifo a.txt" },
        edit("a.txt", "x", "y"),
      ],
      ['Cannot edit "a.txt": it is not a regular file. Name another'],
      {},
    ],
    ["changed since it was read", "printf 'x\\n' > a.txt", [
      read("a.txt"),
      { sh: "printf 'x2\\n' > a.txt" },
      edit("a.txt", "x", "y"),
      read("a.txt"),
      edit("a.txt", "x", "y"),
    ], [
      'Cannot edit "a.txt": it was changed since it was read. Read it again with read_file',
      'Edited "a.txt": 1 place, line 1\n     1\ty2',
    ], { "a.txt": "y2\n" }],
    ["a part counts as read", "seq 1 5 > n.txt", [read("n.txt", { offset: 2, limit: 1 }), edit("n.txt", "5", "five")], [
      'Edited "n.txt": 1 place, line 5\n     3\t3\n     4\t4\n     5\tfive',
    ], { "n.txt": "1\n2\n3\n4\nfive\n" }],
    ["a part that was edited is still a part", "seq 1 2 > n.txt", [
      read("n.txt", { limit: 1 }),
      edit("n.txt", "1", "one"),
      write("n.txt", "x"),
    ], [
      'Edited "n.txt": 1 place, line 1\n     1\tone\n     2\t2',
      `Cannot write "n.txt": ${UNREAD_WHOLE}`,
    ], { "n.txt": "one\n2\n" }],
    [
      "a listing does not count as read",
      "printf 'x\\n' > a.txt",
      [
        ["list_files", {}],
        edit("a.txt", "x", "y"),
      ],
      ["a.txt", `Cannot edit "a.txt": ${UNREAD}`],
      { "a.txt": "x\n" },
    ],
    ["more than one place", "printf 'x = 1\\ny\\nx = 1\\n' > a.txt", [read("a.txt"), edit("a.txt", "x = 1", "x = 2")], [
      'Cannot edit "a.txt": old_string is in it 2 times, at lines 1 and 3. ' +
      "Add lines around it so that it fits one place only, or set replace_all",
    ], { "a.txt": "x = 1\ny\nx = 1\n" }],
    ["places that overlap", "printf aaa > a.txt", [read("a.txt"), edit("a.txt", "aa", "b")], [
      'Cannot edit "a.txt": old_string is in it 2 times, at lines 1 and 1. ' +
      "Add lines around it so that it fits one place only, or set replace_all",
    ], { "a.txt": "aaa" }],
    ["very many places", "yes x | head -n 500 > a.txt", [read("a.txt"), edit("a.txt", "x", "y")], [
      'Cannot edit "a.txt": old_string is in it 500 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 490 more. ' +
      "Add lines around it so that it fits one place only, or set replace_all",
    ], {}],
    ["CRLF stays, old and new lines", "printf 'a\\r\\nb\\r\\nc\\r\\n' > w.txt", [
      read("w.txt"),
      edit("w.txt", "a\nb\n", "a\nB\nB2\n"),
      edit("w.txt", "c", "c\nd"),
    ], [
      'Edited "w.txt": 1 place, lines 2–3\n     1\ta\n     2\tB\n     3\tB2\n     4\tc',
      'Edited "w.txt": 1 place, lines 4–5\n     2\tB\n     3\tB2\n     4\tc\n     5\td',
    ], { "w.txt": "a\r\nB\r\nB2\r\nc\r\nd\r\n" }],
    [
      "mixed line ends stay on the lines that stay",
      "printf 'a\\r\\nb\\nc\\r\\nd' > m.txt",
      [
        read("m.txt"),
        edit("m.txt", "a\nb\nc\n", "a\nb\nB\nc\n"),
      ],
      ['Edited "m.txt": 1 place, line 3\n     1\ta\n     2\tb\n     3\tB\n     4\tc\n     5\td'],
      {
        "m.txt": "a\r\nb\nB\r\nc\r\nd",
      },
    ],
    [
      "a line after the last one ends as the others",
      "printf 'a\\r\\nb' > w.txt",
      [
        read("w.txt"),
        edit("w.txt", "b", "b\nc"),
      ],
      ['Edited "w.txt": 1 place, lines 2–3\n     1\ta\n     2\tb\n     3\tc'],
      { "w.txt": "a\r\nb\r\nc" },
    ],
    ["all places, but none twice", "printf aaaaa > a.txt", [read("a.txt"), edit("a.txt", "aa", "b", true)], [
      'Edited "a.txt": 2 places, lines 1 and 1\n     1\tbba',
    ], { "a.txt": "bba" }],
    ["all lines go", "printf 'a\\n' > a.txt", [read("a.txt"), edit("a.txt", "a\n", "")], [
      'Edited "a.txt": 1 place, line 1\nThe file is empty now',
    ], { "a.txt": "" }],
    ["P05", `${around()}; ln -s ../outside ws/sub`, [edit("sub/o.txt", "OUT", "PWN")], [
      'Cannot edit "sub/o.txt": it is outside the workspace. Use a path inside it',
    ], { "../outside/o.txt": "OUT\n" }],
    ["P15", around(), [edit("in.txt\0.png", "OUT", "PWN")], [
      'Cannot edit "in.txt\\u{0}.png": the path has a NUL character in it',
    ], {}],
    ["PATH-13", around(), [edit("../outside/o.txt", "O", "P")], [
      'Cannot edit "../outside/o.txt": it is outside the workspace. Use a path inside it',
    ], { "../outside/o.txt": "OUT\n" }],
    [
      "a part of .git",
      "mkdir .git; echo '[core]' > .git/config; ln -s .git g",
      [
        read("g/config"),
        edit("g/config", "[core]", "[x]"),
      ],
      ['Cannot edit "g/config": nothing is written below .git. Use git itself'],
      { ".git/config": "[core]\n" },
    ],
    [
      "a link that was put in its place",
      `${around()}; echo IN > ws/a.txt`,
      [read("a.txt"), { sh: "rm a.txt; ln -s ../outside/o.txt a.txt" }, edit("a.txt", "O", "P")],
      ['Cannot edit "a.txt": it is outside the workspace. Use a path inside it'],
      { "../outside/o.txt": "OUT\n" },
    ],
    ["an input that is nothing", "echo x > a.txt", [
      edit("", "x", "y"),
      edit("a.txt", "", "y"),
      edit("a.txt", "\ud83d", "y"),
      edit("a.txt", "x", "\udc00"),
    ], [
      "Cannot call edit_file: path: it is empty. Name a file",
      "Cannot call edit_file: old_string: it is empty. To add text, copy what is beside the place; in an empty file use write_file",
      "Cannot call edit_file: old_string: it has half a character in it (a lone surrogate). Write the whole character",
      "Cannot call edit_file: new_string: it has half a character in it (a lone surrogate). Write the whole character",
    ], { "a.txt": "x\n" }],
    [
      "the same but for how its line ends are written",
      "printf 'a\\r\\nb\\r\\n' > w.txt",
      [
        read("w.txt"),
        edit("w.txt", "a\nb", "a\r\nb"),
      ],
      ['Cannot edit "w.txt": it would be the same afterwards. Look at new_string again'],
      { "w.txt": "a\r\nb\r\n" },
    ],
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

  test("tells, but does not show, a file that is not UTF-8 (E09, R05)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh(
      "printf '\\223\\372\\226\\173\\n' > sj.txt; { yes 'plain ascii line' | head -n 3000; printf 'copyright \\251\\n'; } > late.txt",
    );
    const hashes = () => Promise.all(["sj.txt", "late.txt"].map((path) => hashOf(join(temp.root, path))));
    const before = await hashes();
    const [first, ...others] = await runSteps(temp, [
      read("sj.txt"),
      write("sj.txt", "\u65e5\u672c\n"),
      edit("sj.txt", "x", "\u65e5"),
      read("late.txt", { limit: 1 }),
      edit("late.txt", "copyright", "Copyright"),
    ]);
    expect(first?.text).toStartWith('Cannot read "sj.txt": it is text in an unknown encoding');
    expect(others.map(({ text }) => text)).toEqual([
      'Cannot write "sj.txt": it exists and cannot be read: it is text in an unknown encoding, not UTF-8. ' +
      "Convert it first, for example with iconv, or write to a new name",
      `Cannot edit "sj.txt": ${UNREAD}`,
      "     1\tplain ascii line\n[line 1 of 3001; go on with offset: 2]\n[other lines of the file are not valid UTF-8: it cannot be edited as text]",
      'Cannot edit "late.txt": it is probably Latin-1 or Windows-1252 text, not UTF-8. Convert it first, for example with iconv',
    ]);
    expect(await hashes()).toEqual(before);
  });

  test("does not touch a file that stays the same (E17)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("printf 'same\\n' > i.txt; touch -t 200101010000 i.txt");
    const { mtimeMs, ino } = await stat(join(temp.root, "i.txt"));
    const answers = await runSteps(temp, [read("i.txt"), edit("i.txt", "same", "same")]);
    expect(answers.at(-1)?.text).toBe(
      "Cannot call edit_file: new_string: it is the same as old_string. Write what it is to become",
    );
    expect(await stat(join(temp.root, "i.txt"))).toMatchObject({ mtimeMs, ino });
  });

  test("keeps mode and link (E25, E27, E31)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("printf 'k=1\\n' > secret.env; chmod 600 secret.env; ln -s secret.env l");
    const answers = await runSteps(temp, [read("l"), edit("l", "k=1", "k=2")]);
    expect(answers.at(-1)?.text).toStartWith('Edited "l"');
    expect((await stat(join(temp.root, "secret.env"))).mode & 0o777).toBe(0o600);
    expect((await lstat(join(temp.root, "l"))).isSymbolicLink()).toBe(true);
    expect(await readFile(join(temp.root, "secret.env"), "utf8")).toBe("k=2\n");
  });

  test("breaks a hard link that leads out (LINK-05)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh(`${around()}; ln outside/o.txt ws/h`);
    const answers = await runSteps(temp, [read("h"), edit("h", "OUT", "IN"), write("h", "x")]);
    expect(answers.map(({ text }) => text.slice(0, 6))).toEqual(["     1", "Edited", "Wrote "]);
    expect(await filesIn(temp, ["h", "../outside/o.txt"])).toEqual({ h: "x", "../outside/o.txt": "OUT\n" });
  });

  test("takes the near twin of a name, as read_file does, and makes no other file", async () => {
    await using temp = await tempWorkspace({ "re\u0301sume\u0301.txt": "old\n" });
    const answers = await runSteps(temp, [read("r\u00e9sum\u00e9.txt"), edit("r\u00e9sum\u00e9.txt", "old", "new")]);
    expect(answers.at(-1)?.text).toStartWith('Edited "r\u00e9sum\u00e9.txt"');
    expect(await readdir(temp.root)).toEqual(["re\u0301sume\u0301.txt"]);
  });

  test("shows long places and long lines in part", async () => {
    await using temp = await tempWorkspace({ "a.txt": "x\n" });
    const [, answer] = await runSteps(temp, [read("a.txt"), edit("a.txt", "x", numbers(500) + "y".repeat(5000))]);
    expect(answer?.text).toStartWith('Edited "a.txt": 1 place, lines 1–501\n     1\t1\n     2\t2\n');
    expect(answer?.text.split("\n").length).toBeLessThan(30);
    const [, one] = await runSteps(temp, [read("a.txt", { offset: 500 }), edit("a.txt", "yy", "zy", true)]);
    expect(one?.text.length).toBeLessThan(1000);
    expect(one?.text).toEndWith("…");
  });

  test("refuses a file that it cannot hold (E39)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("truncate -s 50000001 huge.txt");
    temp.context.seen.note("huge.txt", { sha256: "0".repeat(64), whole: false });
    const input = { path: "huge.txt", old_string: "MARK", new_string: "DONE" };
    await expect(handler(input, temp.context)).rejects.toThrow(
      'Cannot edit "huge.txt": it has 50,000,001 bytes, and at most 50,000,000 can be changed here. Use a command such as sed',
    );
  });

  test("notices a change between its look and its write (LINK-09)", async () => {
    await using temp = await tempWorkspace({ "a.txt": "x\n" });
    await runRead(temp, "a.txt");
    const { workspace } = temp;
    const meddled = {
      ...workspace,
      async readBytes(path: string) {
        const bytes = await workspace.readBytes(path);
        await writeFile(join(temp.root, "a.txt"), "theirs\n");
        return bytes;
      },
    };
    const input = { path: "a.txt", old_string: "x", new_string: "y" };
    await expect(handler(input, { ...temp.context, workspace: meddled })).rejects.toThrow(
      'Cannot edit "a.txt": it was changed since it was read. Read it with read_file first',
    );
    expect(await readFile(join(temp.root, "a.txt"), "utf8")).toBe("theirs\n");
  });

  test("previews what a file of several names comes to, above a diff that still can be applied", async () => {
    await using temp = await tempWorkspace({ "a.txt": "1\n2\n" });
    await temp.sh("ln a.txt b.txt");
    for (const path of ["a.txt", "b.txt"]) await runRead(temp, path);
    const input = { old_string: "1", new_string: "one" };
    const { diff } = await preview({ path: "a.txt", ...input }, temp.context);
    expect(diff).toStartWith(
      "[the file has 2 names (hard links): only this one will have the new content]\n--- a.txt\n+++ a.txt\n@@ ",
    );
    expect(applyPatch("1\n2\n", diff)).toBe("one\n2\n");
    await handler({ path: "a.txt", ...input }, temp.context);
    const after = await preview({ path: "b.txt", ...input }, temp.context);
    expect(after.diff).toStartWith(`${WAS_PARTED}\n--- b.txt\n`);
    expect((await preview({ path: "a.txt", old_string: "one", new_string: "un" }, temp.context)).diff).toStartWith(
      "---",
    );
  });

  test("tells that all names have the new content of a file that is granted alone", async () => {
    await using temp = await tempWorkspace({ "a.txt": "number one\n" }, { write: ["a.txt"] });
    await temp.sh("ln a.txt ../out.txt");
    await runRead(temp, "a.txt");
    const input = { path: "a.txt", old_string: "number one", new_string: "\u00fcn" };
    const { diff } = await preview(input, temp.context);
    expect(diff).toStartWith("[the file has 2 names (hard links): all of them will have the new content]\n");
    expect(await handler(input, temp.context)).toEndWith(
      "\n[the file has 2 names (hard links): all of them have the new content]",
    );
    expect(await filesIn(temp, ["a.txt", "../out.txt"])).toEqual({ "a.txt": "\u00fcn\n", "../out.txt": "\u00fcn\n" });
  });

  test("previews as a unified diff that makes the file what it becomes, and writes nothing", async () => {
    await using temp = await tempWorkspace({ "d/a.txt": `${BOM}one\r\ntwo\nthree\r\nfour` });
    await temp.sh("ln -s d/a.txt l");
    await runRead(temp, "d/a.txt");
    const before = await readFile(join(temp.root, "d/a.txt"), "utf8");
    const input = { path: "l", old_string: "three\nfour", new_string: "3\n4\n5" };
    const { path, diff } = await preview(input, temp.context);
    expect(path).toBe("d/a.txt");
    expect(await readFile(join(temp.root, "d/a.txt"), "utf8")).toBe(before);
    await handler(input, temp.context);
    const after = await readFile(join(temp.root, "d/a.txt"), "utf8");
    expect(after).toBe(`${BOM}one\r\ntwo\n3\r\n4\r\n5`);
    expect(applyPatch(before, diff, { autoConvertLineEndings: false })).toBe(after);
  });

  test("leaves every byte outside of the places as it was, whatever the file and the edit", async () => {
    await using temp = await tempWorkspace();
    const file = join(temp.root, "f.txt");
    const done = { once: 0, all: 0, several: 0 };
    const made = fc.record({
      body: fileText,
      hasBom: fc.boolean(),
      from: fc.nat(),
      length: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 13 })),
      asShown: fc.boolean(),
      newText: fileText,
      isAll: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(made, async ({ body, hasBom, from, length, asShown, newText, isAll }) => {
        const before = (hasBom ? BOM : "") + body;
        const points = [...body];
        const start = points.length === 0 ? 0 : from % points.length;
        const taken = points.slice(start, start + length).join("");
        const oldText = asShown ? taken.replaceAll("\r\n", "\n") : taken;
        await writeFile(file, before);
        temp.context.seen.note("f.txt", { sha256: createHash("sha256").update(before).digest("hex"), whole: true });
        const input = { path: "f.txt", old_string: oldText, new_string: newText, replace_all: isAll };
        const isEdited = await isDone(() => handler(input, temp.context));
        const after = await readFile(file);
        const places = oldText === "" ? [] : placesOf(before, oldText);
        const isOfMany = places.length > 1 && !isAll;
        if (!isEdited) {
          // Refused for a reason: nothing to do, not just one place, or the same text again.
          const isSame = places.every((place) => plain(before.slice(...place)) === plain(newText));
          expect(isSame || isOfMany).toBe(true);
          expect(after.equals(Buffer.from(before))).toBe(true);
          return;
        }
        if (places.length === 0 || isOfMany) throw new Error("an edit of no place, or of one among several");
        const apart = withoutOverlaps(places);
        done[isAll ? "all" : "once"]++;
        if (apart.length > 1) done.several++;
        // What is between the places, to the byte, and in each place the new text; its line ends may be those of the file.
        const kept = [0, ...apart.map(([, end]) => end)].map((end, index) => before.slice(end, apart[index]?.[0]));
        const put = `(?:${literal(newText).replace(/(?<!\r)\n/g, "\r?\n")})`;
        expect(new RegExp(`^${kept.map(literal).join(put)}$`).test(after.toString())).toBe(true);
        expect(after.equals(Buffer.from(after.toString()))).toBe(true);
      }),
      { numRuns: 400 },
    );
    expect(Math.min(done.once, done.all)).toBeGreaterThan(50);
    expect(done.several).toBeGreaterThan(10);
  });

  test("leaves the file outside alone while it is swapped for a link to that (LINK-09)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh(`${around()}; echo old > ws/f; ln -s ../outside/o.txt ws/l`);
    await using swapper = await startSwapper(join(temp.root, "f"), join(temp.root, "l"));
    expect(await getsOut(join(temp.root, "f"))).toBe(true); // the race is real
    const session = await openToolSession(temp.root);
    const answers: string[] = [];
    // How many of these meet the link is up to the machine; none may come to harm.
    for (let turn = 0; turn < 50; turn++) {
      answers.push(...await session.batch([read("f"), edit("f", "old", "new"), read("f"), edit("f", "new", "old")]));
    }
    expect(swapper.isRunning()).toBe(true);
    expect(await filesIn(temp, ["../outside/o.txt"])).toEqual({ "../outside/o.txt": "OUT\n" });
    expect(answers.filter((text) => text.includes("OUT"))).toEqual([]);
  }, 60_000);

  test("takes a moment for 10 MB: in many lines, and for 100,000 places on one", async () => {
    const line = "const value = compute(first, second);\n";
    await using temp = await tempWorkspace({
      "lines.txt": `${line.repeat(135_000)}needle\n${line.repeat(135_000)}`,
      "line.txt": `${"x".repeat(99)}y`.repeat(100_000),
    });
    await runRead(temp, "lines.txt");
    await runRead(temp, "line.txt");
    const start = performance.now();
    const once = await handler({ path: "lines.txt", old_string: "needle", new_string: "pin" }, temp.context);
    expect(once).toStartWith('Edited "lines.txt": 1 place, line 135001\n');
    const all = { path: "line.txt", old_string: "y", new_string: "\n", replace_all: true };
    expect(await handler(all, temp.context)).toStartWith('Edited "line.txt": 100000 places, lines 1, 2, 3, ');
    expect(performance.now() - start).toBeLessThan(10_000);
  }, 30_000);

  test("has a description that names the tools beside it", () => {
    for (const tool of ["read_file", "write_file"]) expect(definition.description).toContain(tool);
  });
});

/** Any text: LF, CRLF, lone CR, no line end; what is written with several code points; what looks binary and is UTF-8. */
const fileText = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("a", "b", "\t", " ", "$&", "\u0301", "\u{1f600}", BOM) },
    { weight: 3, arbitrary: fc.constantFrom("\n", "\r\n", "\r\n", "\r") },
    fc.string({ unit: "grapheme", maxLength: 3 }),
    fc.string({ unit: "binary", maxLength: 3 }),
    fc.constantFrom("\0", "\x01\x02\x7f", "\x1b[0m", "\x85\u2028", "\ufffd\uffff\u{10ffff}"),
  ),
  { maxLength: 30 },
).map((parts) => parts.join(""));

/** Every place of `oldText` behind the BOM, found by a regular expression instead. */
function placesOf(text: string, oldText: string): [start: number, end: number][] {
  const exact = literal(oldText);
  const pattern = new RegExp(oldText.includes("\r") ? exact : exact.replaceAll("\n", "\r?\n"), "g");
  const places: [number, number][] = [];
  pattern.lastIndex = text.startsWith(BOM) ? 1 : 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    places.push([match.index, pattern.lastIndex]);
    pattern.lastIndex = match.index + (match[0].startsWith("\r\n") && oldText.startsWith("\n") ? 2 : 1);
  }
  return places;
}

function withoutOverlaps(places: readonly [number, number][]): [number, number][] {
  const apart: [number, number][] = [];
  for (const place of places) if (place[0] >= (apart.at(-1)?.[1] ?? 0)) apart.push(place);
  return apart;
}

/** The pattern of just this text. */
function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, (char) => `\\${char}`);
}

/** Whether the check that looks right lets a file outside be read: the real path is judged, then the file is opened by its name. */
async function getsOut(path: string): Promise<boolean> {
  for (const end = performance.now() + 20_000; performance.now() < end;) {
    if (await realpath(path).catch(() => "") !== path) continue;
    const text = await readFile(path, "utf8").catch(() => "");
    if (text.includes("OUT")) return true;
  }
  return false;
}

function plain(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

async function isDone(act: () => unknown): Promise<boolean> {
  try {
    await act();
    return true;
  } catch {
    return false;
  }
}

async function runRead(temp: TempWorkspace, path: string): Promise<void> {
  await readFileTool({ path }, temp.context);
}

async function hashOf(path: string): Promise<string> {
  return createHash("sha256").update(await readFile(path)).digest("hex");
}

function numbers(last: number): string {
  return Array.from({ length: last }, (_, at) => `${at + 1}\n`).join("");
}

/** Files outside of the workspace, and one inside. */
function around(): string {
  return "mkdir ws outside; echo IN > ws/in.txt; echo OUT > outside/o.txt";
}
