import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, readdir, readFile, stat, utimes } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "../core/path.ts";
import { openOwnWorkspace } from "../core/files/workspace.ts";
import { USERS } from "./support/fence_runs.ts";
import { RUNTIMES } from "./support/runtimes.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";
import { filesIn, runSteps, type Step } from "./support/tool_session.ts";

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const isRoot = process.getuid?.() === 0;

describe("writeText with what it replaces", () => {
  const rows: [id: string, there: string | null, replaces: string | null, how: string | undefined][] = [
    ["the file that was read", "old", sha256("old"), undefined],
    ["another content", "theirs", sha256("old"), "it was changed since it was read. Read it with read_file first"],
    ["no file any more", null, sha256("old"), "it is no longer there. Look for it with list_files"],
    ["none, and none is there", null, null, undefined],
    ["none, but one is there", "theirs", null, "someone made it just now. Read it with read_file first"],
    ["an empty file", "", sha256(""), undefined],
  ];
  test.each(rows)("%s", async (_id, there, replaces, how) => {
    await using temp = await tempWorkspace(there === null ? {} : { "a.txt": there });
    const done = await temp.workspace.writeText("a.txt", "new", { replaces }).then(() => undefined, messageOf);
    expect(done).toBe(how === undefined ? undefined : `Cannot write "a.txt": ${how}`);
    expect(await filesIn(temp, ["a.txt"])).toEqual({ "a.txt": how === undefined ? "new" : there });
    expect((await readdir(temp.root)).filter((name) => name !== "a.txt")).toEqual([]);
  });

  // Each looks, both find what they replace, and then both rename.
  const racing = [["of the same file", "old", sha256("old")], ["where none is", null, null]] as const;
  test.skipIf(process.platform !== "linux").each(racing)(
    "lets one of two at once through, %s",
    async (_, there, replaces) => {
      await using temp = await tempWorkspace();
      for (let round = 0; round < 30; round++) {
        const path = `${round}.txt`;
        if (there !== null) await temp.workspace.writeText(path, there);
        const texts = ["one", "other"];
        const writes = texts.map((text) =>
          temp.workspace.writeText(path, text, { replaces }).then(() => text, messageOf)
        );
        const answers = await Promise.all(writes);
        const done = answers.filter((answer) => texts.includes(answer));
        expect(done).toEqual([await temp.workspace.readText(path)]);
        expect(answers.find((answer) => !texts.includes(answer))).toEndWith("Read it with read_file first");
      }
      expect((await readdir(temp.root)).filter((name) => name.startsWith("."))).toEqual([]);
    },
  );

  test("is compared over more than one chunk", async () => {
    const large = `${"x".repeat(2_500_000)}y`;
    await using temp = await tempWorkspace({ "a.txt": large });
    const other = `${"x".repeat(2_500_000)}z`;
    expect(await temp.workspace.writeText("a.txt", "n", { replaces: sha256(other) }).catch(messageOf)).toContain(
      "changed",
    );
    await temp.workspace.writeText("a.txt", "n", { replaces: sha256(large) });
    expect(await filesIn(temp, ["a.txt"])).toEqual({ "a.txt": "n" });
  });
});

describe("writeBytes", () => {
  const bytes = Uint8Array.of(0xff, 0, 0xc3, 0x28);
  const rows: [what: string, setup: string, options: { replaces?: string | null; mode?: number }, mode: string][] = [
    ["a new file", "true", {}, (0o666 & ~process.umask()).toString(8)],
    ["a new file with its mode", "true", { mode: 0o751, replaces: null }, "751"],
    ["a file that is there, which keeps its own", "printf old > a; chmod 640 a", { mode: 0o751 }, "640"],
    ["the file that it was made from", "printf old > a; chmod 600 a", { replaces: sha256("old") }, "600"],
  ];
  test.each(rows)("writes %s", async (_what, setup, options, mode) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    const workspace = await openOwn(temp);
    await workspace.writeBytes("a", bytes, options);
    expect(new Uint8Array(await readFile(join(temp.root, "a")))).toEqual(bytes);
    expect((await workspace.modeOf("a")).toString(8)).toBe(mode);
    expect(await readdir(temp.root)).toEqual(["a"]);
  });

  test("leaves a file that is another one", async () => {
    await using temp = await tempWorkspace({ a: "theirs" });
    const problem = await temp.workspace.writeBytes("a", bytes, { replaces: sha256("old") }).catch(messageOf);
    expect(problem).toBe('Cannot write "a": it was changed since it was read. Read it with read_file first');
    expect(await filesIn(temp, ["a"])).toEqual({ a: "theirs" });
  });
});

describe("resolve for writing", () => {
  test("names where a file would be put, through links, and makes nothing", async () => {
    await using temp = await tempWorkspace({ "d/a.txt": "a" });
    await temp.sh("ln -s d e");
    expect(await temp.workspace.resolve("e/a.txt", "write")).toBe("d/a.txt");
    expect(await temp.workspace.resolve("e/new/b.txt", "write")).toBe("d/new/b.txt");
    expect(await temp.workspace.resolve("x/../y.txt", "write")).toBe("y.txt");
    expect((await readdir(temp.root)).sort()).toEqual(["d", "e"]);
  });

  test("refuses what writeText refuses, in the same words", async () => {
    await using temp = await tempWorkspace({ "in.txt": "IN" }, { denyWrite: ["denied"] });
    await temp.sh("mkdir denied; ln -s none dangling; ln -s .. up");
    for (const path of ["denied/x", "dangling", "up/x", "../x", "x/", "in.txt/x", ".git/x", ".env", "a\0", "file:x"]) {
      const words = await temp.workspace.writeText(path, "x").catch(messageOf);
      expect(words).toStartWith("Cannot write ");
      expect(await temp.workspace.resolve(path, "write").catch(messageOf)).toBe(words as string);
    }
  });
});

describe("a write that is killed", () => {
  test("leaves the old content or the new, and the next write in that folder cleans up", async () => {
    await using temp = await tempWorkspace({ "f.txt": "old" });
    const size = 20_000_000;
    let left: string[] = [];
    for (let round = 0; round < 10 && left.length === 0; round++) {
      const writer = spawn(process.execPath, [fixture("writes_until_killed.ts"), temp.root, String(size)]);
      const ended = once(writer, "exit");
      await once(writer.stdout, "data");
      while ((await temporaries(temp)).length === 0) await Bun.sleep(1);
      writer.kill("SIGKILL");
      await ended;
      const text = await readFile(join(temp.root, "f.txt"), "utf8");
      expect(["old", "a".repeat(size), "b".repeat(size)].includes(text)).toBe(true);
      left = await temporaries(temp);
    }
    expect(left.length).toBe(1); // it was killed in the middle of a write
    const [name = ""] = left;
    await temp.workspace.writeText("other.txt", "x");
    expect(await temporaries(temp)).toEqual([name]); // it might still be written by another process
    const old = Date.now() / 1000 - 61;
    await utimes(join(temp.root, name), old, old);
    await temp.workspace.writeText("other.txt", "y");
    expect(await temporaries(temp)).toEqual([]);
  }, 20_000);

  test("cleans up nothing but what is named like a temporary file, and is one", async () => {
    await using temp = await tempWorkspace({ ".tenon-notes.tmp": "mine", ".tenon-12.tmp.txt": "mine" });
    await temp.sh(
      "mkdir .tenon-aa.tmp; echo out > ../o.txt; ln -s ../o.txt .tenon-bb.tmp; touch -h -t 200101010000 .tenon-* ",
    );
    await temp.workspace.writeText("a.txt", "x");
    const names = [".tenon-12.tmp.txt", ".tenon-aa.tmp", ".tenon-bb.tmp", ".tenon-notes.tmp", "a.txt"];
    expect((await readdir(temp.root)).sort()).toEqual(names);
  });
});

/** Needs root: a file system of its own is mounted in the workspace. */
describe.if(isRoot)("a file system that cannot take it", () => {
  const steps: Step[] = [
    ["read_file", { path: "small/a.txt" }],
    ["edit_file", { path: "small/a.txt", old_string: "keep", new_string: "x".repeat(200_000) }],
    ["write_file", { path: "small/a.txt", content: "y".repeat(200_000) }],
    ["write_file", { path: "small/new.txt", content: "y".repeat(200_000) }],
  ];
  const rows: [id: string, after: string, how: string, answers: number][] = [
    ["a full disk", "true", "no space is left on the disk", 3],
    ["a read-only file system", "mount -o remount,ro small", "the file system is read-only", 3],
  ];

  test("a full disk gets back the old content of a file that is written in place", async () => {
    await using temp = await tempWorkspace({}, { write: ["small/a.txt"] });
    await temp.sh("mkdir small; mount -t tmpfs -o size=64k tmpfs small; printf keep > small/a.txt");
    try {
      const written = temp.workspace.writeText("small/a.txt", "y".repeat(200_000), { replaces: sha256("keep") });
      expect(await written.catch(messageOf)).toBe('Cannot write "small/a.txt": no space is left on the disk');
      expect(await filesIn(temp, ["small/a.txt"])).toEqual({ "small/a.txt": "keep" });
      await temp.workspace.writeText("small/a.txt", "k", { replaces: sha256("keep") });
      expect(await filesIn(temp, ["small/a.txt"])).toEqual({ "small/a.txt": "k" });
    } finally {
      await temp.sh("umount small");
    }
  });
  test.each(rows)("%s: an error for the model, and the old content is there", async (_id, after, how, answers) => {
    await using temp = await tempWorkspace();
    await temp.sh("mkdir small; mount -t tmpfs -o size=64k tmpfs small; printf keep > small/a.txt");
    try {
      await temp.sh(after);
      const texts = (await runSteps(temp, steps)).slice(1).map(({ text }) => text);
      expect(texts.filter((text) => text.endsWith(`: ${how}`)).length).toBe(answers);
      expect(await readdir(join(temp.root, "small"))).toEqual(["a.txt"]);
      expect(await filesIn(temp, ["small/a.txt"])).toEqual({ "small/a.txt": "keep" });
    } finally {
      await temp.sh("umount small");
    }
  });
});
if (!isRoot) console.error("replacing.test.ts: not tested, since it needs root: a full disk, a read-only file system");

/** What a full disk does, for whoever may not mount one: the system takes no more than so much of a file. */
describe.each(RUNTIMES)("a file that grows over its limit under %s", (_name, run) => {
  const rows: [how: string, write: string[]][] = [["by a new one in its place", ["."]], ["in place", [
    "a.txt",
    "b.txt",
  ]]];
  test.each(rows)("leaves the old content, written %s", async (_how, write) => {
    const paths = ["a.txt", "b.txt"];
    const before = { "a.txt": "keep\n", "b.txt": `keep\n${"old line\n".repeat(10_000)}` };
    await using temp = await tempWorkspace(before);
    const { root } = temp;
    const order = { root, write: write.map((path) => join(root, path)), size: 200_000, paths };
    // In blocks of 512 bytes. The signal that comes with it is not what is tested.
    const limited = ["sh", "-c", `trap "" XFSZ; ulimit -f 200; exec "$@"`, "sh"];
    const child = Bun.spawn([...limited, ...run(fixture("edits_in_a_folder.ts"), JSON.stringify(order))], {
      env: { PATH: process.env["PATH"] ?? "", HOME: join(temp.top, "home") },
      stderr: "pipe",
    });
    const [out, problems] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    if (out === "") throw new Error(problems);
    expect(JSON.parse(out)).toEqual(
      paths.map((path) => `Cannot edit "${path}": it would be larger than a file may be here`),
    );
    expect(await filesIn(temp, paths)).toEqual(before);
    expect((await readdir(root)).sort()).toEqual(paths);
  });
});

/** As a user that permissions hold for: root may do everything. */
describe.each(RUNTIMES)("permissions under %s", (_name, run) => {
  test("a read-only file is refused, and in a read-only folder nothing is lost (E29)", async () => {
    const paths = ["ro.txt", "rod/f.txt", "rw.txt"];
    await using temp = await tempWorkspace(Object.fromEntries(paths.map((path) => [path, "keep\n"])));
    const user = USERS.at(-1) ?? { before: [] };
    if (isRoot) {
      await Promise.all(
        ["", "rod", ...paths].map((path) => chown(join(temp.root, path), 65534, 65534)),
      );
    }
    await temp.sh("chmod 444 ro.txt; chmod 555 rod; chmod 755 ..");
    const home = join(temp.top, "home");
    await chmod(home, 0o777);
    const child = Bun.spawn([
      ...user.before,
      ...run(fixture("edits_in_a_folder.ts"), JSON.stringify({ root: temp.root, write: [temp.root], size: 1, paths })),
    ], {
      env: { PATH: process.env["PATH"] ?? "", HOME: home, DENO_DIR: join(home, "deno") },
      stderr: "pipe",
    });
    const [out, problems] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    if (out === "") throw new Error(problems);
    expect(JSON.parse(out)).toEqual([
      'Cannot edit "ro.txt": the system does not permit it',
      'Cannot edit "rod/f.txt": the system does not permit it',
      'Edited "rw.txt": 1 place, line 1\n     1\tx',
    ]);
    const files = { "ro.txt": "keep\n", "rod/f.txt": "keep\n", "rw.txt": "x\n" };
    expect(await filesIn(temp, Object.keys(files))).toEqual(files);
    await temp.sh("chmod 755 rod");
  });

  test.skipIf(!isRoot)("a file stays with its group; one that cannot is not opened to another group", async () => {
    const [ours, theirs, nobody] = [4242, 4243, 65534];
    const rows = [["ours.txt", ours, 0o660, ours, 0o660], ["theirs.txt", theirs, 0o664, nobody, 0o644]] as const;
    const paths = rows.map(([path]) => path);
    await using temp = await tempWorkspace(Object.fromEntries(paths.map((path) => [path, "keep\n"])));
    const home = join(temp.top, "home");
    await chown(temp.root, nobody, nobody);
    await Promise.all([temp.top, home].map((folder) => chmod(folder, 0o777)));
    for (const [path, group, mode] of rows) {
      await chown(join(temp.root, path), nobody, group);
      await chmod(join(temp.root, path), mode);
    }
    const order = JSON.stringify({ root: temp.root, write: [temp.root], size: 1, paths });
    const user = ["/usr/bin/setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, `--groups=${ours}`];
    const child = Bun.spawn([...user, ...run(fixture("edits_in_a_folder.ts"), order)], {
      env: { PATH: process.env["PATH"] ?? "", HOME: home, DENO_DIR: join(home, "deno") },
    });
    expect(JSON.parse(await new Response(child.stdout).text())).toEqual(
      paths.map((path) => `Edited "${path}": 1 place, line 1\n     1\tx`),
    );
    for (const [path, , , group, mode] of rows) {
      const { gid, mode: now } = await stat(join(temp.root, path));
      expect([path, gid, now & 0o777]).toEqual([path, group, mode]);
    }
  });
});

describe("removeFile", () => {
  const rows: [what: string, setup: string, path: string, replaces: string | undefined, how: string | undefined][] = [
    ["the file that it is", "printf old > a", "a", sha256("old"), undefined],
    ["a file, whatever it is", "printf new > a", "a", undefined, undefined],
    ["the file behind a link", "printf old > a; ln -s a l", "l", sha256("old"), undefined],
    ["another content", "printf new > a", "a", sha256("old"), "it was changed since"],
    ["nothing", "true", "a", undefined, "it is no longer there"],
    ["a folder", "mkdir a", "a", undefined, "it is not a regular file"],
    ["a pipe", "mkfifo a", "a", undefined, "it is not a regular file"],
    [
      "a file of git",
      "mkdir .git; echo > .git/a",
      ".git/a",
      undefined,
      "nothing is written below .git. Use git itself",
    ],
    ["what is outside", "true", "../a", undefined, "it is outside the workspace. Use a path inside it"],
  ];
  test.each(rows)("removes, or refuses, %s", async (_what, setup, path, replaces, how) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    const { root } = temp;
    const before = await readdir(root);
    const workspace = await openOwn(temp);
    const problem = await workspace.removeFile(path, replaces).then(() => undefined, messageOf);
    expect(problem).toBe(how && `Cannot remove "${path}": ${how}`);
    expect(await readdir(root)).toEqual(how === undefined ? before.filter((name) => name !== "a") : before);
  });
});

describe("removeFolder", () => {
  const rows: [what: string, setup: string, path: string, outcome: boolean | string][] = [
    ["an empty folder", "mkdir a", "a", true],
    ["not a folder with something in it", "mkdir a; echo > a/.b", "a", false],
    ["not a folder that is gone", "true", "a", false],
    ["not a file", "echo > a", "a", 'Cannot remove "a": a part of the path is a file, not a folder'],
    [
      "not what is outside",
      "true",
      "../home",
      'Cannot remove "../home": it is outside the workspace. Use a path inside it',
    ],
  ];
  test.each(rows)("removes %s", async (_what, setup, path, outcome) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    const before = await readdir(temp.root);
    expect(await (await openOwn(temp)).removeFolder(path).catch(messageOf)).toBe(outcome);
    expect(await readdir(temp.root)).toEqual(outcome === true ? [] : before);
  });
});

async function openOwn({ root }: TempWorkspace) {
  return await openOwnWorkspace({ root, read: [root], write: [root], denyRead: [], denyWrite: [] });
}

async function temporaries(temp: TempWorkspace): Promise<string[]> {
  return (await readdir(temp.root)).filter((name) => name.startsWith(".tenon-"));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
