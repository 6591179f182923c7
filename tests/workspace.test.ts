import { describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import fc from "fast-check";
import { readPath } from "../core/files/asked.ts";
import { byCodePoint } from "../core/files/name.ts";
import { isInside, join, win32 } from "../core/path.ts";
import { isGitName, isSecretName } from "../core/files/secrets.ts";
import { type Grant, openWorkspace } from "../core/files/workspace.ts";
import type { Workspace } from "../core/tool.ts";
import { actInRace } from "./support/race.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";
import { openToolSession } from "./support/tool_session.ts";

setDefaultTimeout(30_000);

const AROUND =
  "mkdir -p ws ws-secret outside; echo IN > ws/in.txt; echo OUT > outside/o.txt; echo SIB > ws-secret/s.txt; ";

/** The message that a call fails with. */
async function failure(call: Promise<unknown>): Promise<string> {
  try {
    return `no error, but ${JSON.stringify(await call)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("a path that leads out is refused, and says so", () => {
  const OUT = "it is outside the workspace. Use a path inside it";
  const rows: [id: string, setup: string, path: string, how: string][] = [
    ["P01", AROUND, "/etc/passwd", OUT],
    ["P03", AROUND, "../ws-secret/s.txt", OUT],
    ["P03 absolute", AROUND, "$TOP/ws-secret/s.txt", OUT],
    ["PATH-01", AROUND, "../outside/o.txt", OUT],
    ["PATH-07", AROUND, "newdir/../../outside/o.txt", OUT],
    ["back and forth", AROUND, "../ws/../outside/o.txt", OUT],
    ["the folder above", AROUND, "..", OUT],
    ["P15", AROUND, "in.txt\0.png", "the path has a NUL character in it"],
    ["PATH-05", AROUND, "a\0/../../outside/o.txt", "the path has a NUL character in it"],
    ["P17", AROUND, "file:///etc/passwd", "it is a URL. Use a plain path"],
    ["P17 host", AROUND, "file://localhost/etc/passwd", "it is a URL. Use a plain path"],
    ["P17 short", AROUND, "file:out.txt", "it is a URL. Use a plain path"],
    ["P17 capitals", AROUND, "FILE:///etc/passwd", "it is a URL. Use a plain path"],
    ["percent is a character", AROUND, "%2e%2e/outside/o.txt", 'no such file. See list_files "."'],
    [
      "home is not known",
      AROUND,
      "~/.ssh/id_rsa",
      'no such file ("~" is not the home folder here). See list_files "."',
    ],
    ["escapes make no step", AROUND, "\\u{2e}\\u{2e}/outside/o.txt", 'no such file. See list_files "."'],
    [
      "drive",
      AROUND,
      "C:\\Windows\\win.ini",
      "it names a drive, a share or a stream of Windows. Use a path relative to the workspace",
    ],
    [
      "share",
      AROUND,
      "\\\\host\\share\\x",
      "it names a drive, a share or a stream of Windows. Use a path relative to the workspace",
    ],
    ["long", AROUND, "y/".repeat(2500), "the path is too long (5000 characters, at most 4000)"],
    ["long name", AROUND, "x".repeat(300), "the path is too long"],
    ["half a character", AROUND, "a\ud83d", "the path has half a character in it"],
    ["PATH-11 is a name", AROUND, "-rf", 'no such file. See list_files "."'],
    ["LINK-01", `${AROUND} ln -s ../outside/o.txt ws/l`, "l", OUT],
    ["link to a folder", `${AROUND} ln -s ../outside ws/sub`, "sub/o.txt", OUT],
    ["link to a folder, missing file", `${AROUND} ln -s ../outside ws/sub`, "sub/none.txt", OUT],
    ["link to a file, as a folder", `${AROUND} ln -s ../outside/o.txt ws/l`, "l/x", OUT],
    ["two links", `${AROUND} ln -s ../outside ws/a; ln -s a/o.txt ws/b`, "b", OUT],
    ["dangling link that leads out", `${AROUND} ln -s ../outside/none ws/l`, "l", OUT],
    ["link to the twin", `${AROUND} ln -s ../ws-secret/s.txt ws/l`, "l", OUT],
    ["LINK-11", `${AROUND} ln -s a ws/b; ln -s b ws/a`, "a", "its symbolic links form a loop"],
    ["R29", `${AROUND} ln -s missing.txt ws/dead.txt`, "dead.txt", "it is a symbolic link whose target does not exist"],
    ["through a file", AROUND, "in.txt/x", '"in.txt" is a file, not a folder'],
    ["P19", AROUND, "in.txt/", "it is a file. Leave out the slash at its end"],
    ["P19 dot", AROUND, "in.txt/.", "it is a file. Leave out the slash and dot at its end"],
    ["near names", AROUND, "in.tx", 'no such file. Did you mean "in.txt"?'],
  ];
  test.each(rows)("%s", async (_id, setup, path, how) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    const asked = path.replace("$TOP", () => temp.top);
    const message = await failure(temp.workspace.readText(asked));
    expect(message).toStartWith('Cannot read "');
    expect(message).toEndWith(`": ${how}`);
    // The same judgement for every other way to a file.
    const { workspace } = temp;
    for (const call of [workspace.stat, workspace.resolve, workspace.readBytes]) {
      expect(await failure(call(asked))).toEndWith(`": ${how}`);
    }
    expect(await failure(temp.workspace.list(asked))).toStartWith("Cannot list");
  });
});

describe("a path that stays inside is taken", () => {
  const rows: [id: string, setup: string, path: string, resolved: string][] = [
    ["plain", AROUND, "in.txt", "in.txt"],
    ["absolute", AROUND, "$TOP/ws/in.txt", "in.txt"],
    ["there and back", AROUND, "../ws/in.txt", "in.txt"],
    ["dots", AROUND, "./a/.././in.txt", "in.txt"],
    ["empty is the root", AROUND, "", "."],
    ["dot is the root", AROUND, ".", "."],
    ["link inside", `${AROUND} ln -s in.txt ws/l`, "l", "in.txt"],
    ["link that goes out and comes back", `${AROUND} ln -s ../ws/in.txt ws/l`, "l", "in.txt"],
    ["folder with a slash", `${AROUND} mkdir ws/src`, "src//", "src"],
    ["folder with a slash and a dot", `${AROUND} mkdir ws/src`, "src/.", "src"],
    ["two dots begin a name", `${AROUND} echo x > ws/..data`, "..data", "..data"],
    ["P09", "mkdir realroot; echo IN > realroot/in.txt; ln -s realroot ws", "in.txt", "in.txt"],
    ["P09 absolute", "mkdir realroot; echo IN > realroot/in.txt; ln -s realroot ws", "$TOP/ws/in.txt", "in.txt"],
    ["R27", `${AROUND} printf in > 'ws/dir\\file.txt'`, "dir\\file.txt", "dir\\file.txt"],
    ["like a share", `${AROUND} touch "$(printf 'ws/\\\\a\\tb')"`, "./\\\\a\\tb", "./\\\\a\\tb"],
    ["like a drive", `${AROUND} touch 'ws/c:\\x'`, "./c:\\x", "./c:\\x"],
    ["S29", `${AROUND} touch "$(printf 'ws/a\\nb')"`, "a\\nb", "a\\nb"],
    [
      "SPEC-07",
      `${AROUND} touch "$(printf 'ws/a\\nb\\033]52;c;ZZZ\\007')"`,
      "a\\nb\\u{1b}]52;c;ZZZ\\u{7}",
      "a\\nb\\u{1b}]52;c;ZZZ\\u{7}",
    ],
    ["SPEC-07 bytes", `${AROUND} touch "$(printf 'ws/\\377\\376bad')"`, "\\xff\\xfebad", "\\xff\\xfebad"],
    ["exact name before its reading", `${AROUND} touch 'ws/a\\nb' "$(printf 'ws/a\\nb')"`, "a\\nb", "a\\nb"],
    [
      "R23",
      `${AROUND} touch "$(printf 'ws/re\\314\\201sume\\314\\201.txt')"`,
      "r\u00e9sum\u00e9.txt",
      "re\u0301sume\u0301.txt",
    ],
  ];
  test.each(rows)("%s", async (_id, setup, path, resolved) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    const { workspace } = temp;
    const found = await workspace.resolve(path.replace("$TOP", () => temp.top));
    expect(found).toBe(resolved);
    expect(await workspace.resolve(found)).toBe(resolved);
    expect(await workspace.stat(found)).toHaveProperty("kind");
  });

  test("stat counts the names of a file, and tells which file is written in place", async () => {
    await using temp = await tempWorkspace({ "d/a.txt": "1", "d/b.txt": "22" }, { write: ["d/b.txt"] });
    await mkdir(join(temp.root, "d/sub"));
    await link(join(temp.root, "d/a.txt"), join(temp.top, "out.txt"));
    await symlink("d/a.txt", join(temp.root, "l"));
    const { workspace } = temp;
    expect(await workspace.stat("l")).toEqual({ kind: "file", size: 1, names: 2, inPlace: false });
    expect(await workspace.stat("d/b.txt")).toEqual({ kind: "file", size: 2, names: 1, inPlace: true });
    expect(await workspace.stat("d")).toMatchObject({ kind: "folder", names: 1, inPlace: false });
  });

  test("two names that are near the one asked for are both named, and none is taken", async () => {
    await using temp = await tempWorkspace({ "a\u00a0b.txt": "1", "a\u202fb.txt": "2" });
    expect(await failure(temp.workspace.readText("a b.txt"))).toContain("no such file, but");
  });

  test("a near name is taken for reading only", async () => {
    await using temp = await tempWorkspace({ "re\u0301sume\u0301.txt": "old" });
    expect(await temp.workspace.exists("r\u00e9sum\u00e9.txt")).toBe(false);
    await temp.workspace.writeText("r\u00e9sum\u00e9.txt", "new");
    expect(await temp.workspace.readText("re\u0301sume\u0301.txt")).toBe("old");
  });
});

test("every name that is printed can be handed back", async () => {
  const odd = fc.array(
    fc.constantFrom("\\", "\t", "\n", "n", "c:", "C:", "https:", "file:", "~", ".", " ", "\u001b", "x"),
    {
      minLength: 1,
      maxLength: 5,
    },
  ).map((parts) => parts.join("")).filter((name) => name !== "." && name !== "..");
  await fc.assert(
    fc.asyncProperty(odd, odd, async (folder, file) => {
      await using temp = await tempWorkspace();
      await mkdir(join(temp.root, folder));
      await writeFile(join(temp.root, folder, file), "1");
      for await (const { path } of temp.workspace.walk()) {
        expect(await temp.workspace.resolve(path)).toBe(path);
        expect(await temp.workspace.resolve(path, "write")).toBe(path);
      }
      expect((await temp.workspace.list())[0]?.path).toBe(await temp.workspace.resolve(`./${folder}`));
    }),
    { numRuns: 100 },
  );
});

test("no string whatever reaches a file outside", async () => {
  await using temp = await tempWorkspace();
  await temp.sh(
    `${AROUND} ln -s ../outside ws/sub; ln -s ../outside/o.txt ws/l; ln -s ../outside/none ws/dangling; ln -s loop ws/loop; mkdir ws/dir`,
  );
  await writeFile(join(temp.top, "outside", "in.txt"), "OUT\n");
  const part = fc.constantFrom(
    ...[
      "..",
      ".",
      "",
      "~",
      "in.txt",
      "o.txt",
      "s.txt",
      "sub",
      "l",
      "dangling",
      "loop",
      "dir",
      "outside",
      "ws",
      "ws-secret",
      "WS",
      "IN.TXT",
    ],
    ...[
      "\0",
      "file:",
      "C:",
      "\\",
      "..\\",
      "%2e%2e",
      "\\u{2e}\\u{2e}",
      "\\x2e\\x2e",
      "\u2024\u2024",
      "etc",
      "passwd",
      "proc",
      "self",
      "root",
    ],
    ...[temp.top, temp.root, `${temp.root}-secret`, "/", "//", "y".repeat(5000), " ", "\n", "\udcff"],
  );
  const joined = fc.array(part, { maxLength: 8 }).map((parts) => parts.join("/"));
  const mixed = fc.array(fc.oneof(part, fc.string({ unit: "binary", maxLength: 3 })), { maxLength: 8 }).map((parts) =>
    parts.join("")
  );
  const before = await treeOf(temp.top);
  await fc.assert(
    fc.asyncProperty(fc.oneof(joined, mixed), async (path) => {
      const text = await temp.workspace.readText(path).catch((error: Error) => error.message);
      expect(text === "IN\n" || text.startsWith("Cannot read")).toBe(true);
      const names = await temp.workspace.list(path).catch(() => []);
      expect(names.map((entry) => entry.path).filter((name) => /o\.txt|s\.txt|passwd|environ/.test(name))).toEqual([]);
    }),
    { numRuns: 1000 },
  );
  expect(await treeOf(temp.top)).toEqual(before);
});

describe("the root as the user named it", () => {
  const IN = `${AROUND} mkdir ws/dir; ln -s ../outside ws/sub; ln -s ws entry`;

  async function opened(temp: TempWorkspace): Promise<Workspace> {
    const { root, top } = temp;
    return await openWorkspace({
      ...{ root, named: join(top, "entry") },
      ...{ read: [root], write: [root], denyRead: [], denyWrite: [] },
    });
  }

  test("may begin an absolute path, to read, to list and to write", async () => {
    await using temp = await tempWorkspace();
    await temp.sh(IN);
    const workspace = await opened(temp);
    expect(await workspace.readText(`${temp.top}/entry/in.txt`)).toBe("IN\n");
    expect(await workspace.resolve(`${temp.top}/entry`)).toBe(".");
    expect((await workspace.list(`${temp.top}/entry/`)).map(({ path }) => path)).toEqual(["dir", "in.txt", "sub"]);
    await workspace.writeText(`${temp.top}/entry/dir/new.txt`, "new");
    expect(await workspace.readText("dir/new.txt")).toBe("new");
    expect(await workspace.readText(`${temp.root}/in.txt`)).toBe("IN\n");
  });

  test("means the root also when the link leads elsewhere by now", async () => {
    await using temp = await tempWorkspace();
    await temp.sh(IN);
    const workspace = await opened(temp);
    await unlink(join(temp.top, "entry"));
    await symlink("outside", join(temp.top, "entry"));
    expect(await workspace.readText(`${temp.top}/entry/in.txt`)).toBe("IN\n");
    expect(await failure(workspace.readText(`${temp.top}/entry/o.txt`))).toEndWith('no such file. See list_files "."');
  });

  test("opens nothing outside, whatever follows it", async () => {
    await using temp = await tempWorkspace();
    await temp.sh(IN);
    const workspace = await opened(temp);
    const part = fc.constantFrom("..", ".", "", "entry", "ws", "sub", "dir", "o.txt", "in.txt", "outside", "-secret");
    const before = await treeOf(join(temp.top, "outside"));
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), fc.constantFrom("", "/"), async (parts, gap) => {
        const path = `${temp.top}/entry${gap}${parts.join("/")}`;
        const text = await workspace.readText(path).catch((error: Error) => error.message);
        expect(text === "IN\n" || text === "x" || text.startsWith("Cannot read")).toBe(true);
        await workspace.writeText(path, "x").catch(() => {});
        await workspace.writeText("in.txt", "IN\n");
      }),
      { numRuns: 200 },
    );
    expect(await treeOf(join(temp.top, "outside"))).toEqual(before);
  });
});

test("no string whatever writes a file outside", async () => {
  await using temp = await tempWorkspace();
  await temp.sh(
    `${AROUND} ln -s ../outside ws/sub; ln -s ../outside/o.txt ws/l; ln -s ../outside/none ws/dangling; mkdir -p ws/.git/hooks; ln -s .git ws/g`,
  );
  const part = fc.constantFrom(
    "..",
    ".",
    "",
    "~",
    "new",
    "sub",
    "l",
    "dangling",
    "outside",
    ".git",
    "g",
    "hooks",
    ".GIT",
    "\\u{2e}\\u{2e}",
    temp.top,
    "/",
    ".env",
  );
  const outside = async () => [
    await treeOf(join(temp.top, "outside")),
    await treeOf(join(temp.root, ".git")),
    await readdir(temp.top),
  ];
  const before = await outside();
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
      await temp.workspace.writeText(parts.join("/"), "PWN").catch(() => undefined);
    }),
    { numRuns: 300 },
  );
  expect(await outside()).toEqual(before);
  expect(await temp.workspace.exists("new")).toBe(true); // the property did write something
});

/** Everything below a folder, with what it holds; links are not followed. */
async function treeOf(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).sort((a, b) => byCodePoint(a.name, b.name));
  const trees = await Promise.all(entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return [`${path}/`, ...await treeOf(path)];
    if (entry.isSymbolicLink()) return [`${path} -> ${await readlink(path)}`];
    return [entry.isFile() ? `${path}: ${await readFile(path, "utf8")}` : path];
  }));
  return trees.flat();
}

describe("a race", () => {
  test.each([["read", 2000], ["list", 1000], ["write", 1000]] as const)(
    "to %s while a folder is swapped for a link touches nothing outside, %d times (P21, LINK-07)",
    async (how, times) => {
      const outcome = await actInRace([process.execPath], times, how);
      expect(outcome.outside).toBe(0);
      expect(outcome.inside + outcome.refused).toBe(times);
      expect(outcome.left).toEqual(["f.txt: outside", "x: x"]);
    },
  );

  test("the check that looks right loses the same race, so that the race is one", async () => {
    let leaks = 0;
    for (let turn = 0; turn < 5 && leaks === 0; turn++) {
      leaks = (await actInRace([process.execPath], 5000, "readNaively")).outside;
    }
    expect(leaks).toBeGreaterThan(0);
  });

  test("a root that is moved away and replaced by a link ends every call (LINK-15)", async () => {
    await using temp = await tempWorkspace({ "secret.txt": "mine" });
    await temp.sh("mkdir ../out; echo OUT > ../out/secret.txt");
    await rename(temp.root, `${temp.root}.gone`);
    await symlink(join(temp.top, "out"), temp.root);
    const how = "the workspace folder was moved or replaced. Nothing can be done until tenon is started again";
    expect(await failure(temp.workspace.readText("secret.txt"))).toBe(`Cannot read "secret.txt": ${how}`);
    expect(await failure(temp.workspace.writeText("secret.txt", "x"))).toBe(`Cannot write "secret.txt": ${how}`);
    expect(await failure(temp.workspace.list())).toBe(`Cannot list ".": ${how}`);
  });
});

describe("special files", () => {
  const rows: [id: string, setup: string, name: string, how: string][] = [
    ["R17, SPEC-01", "mkfifo pipe", "pipe", "it is a named pipe, not a regular file"],
    [
      "R19",
      "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local=>\"svc.sock\",Listen=>1) or die'",
      "svc.sock",
      "it is a socket, not a regular file",
    ],
    ["R21", "mkdir src", "src", "it is a directory. Use list_files"],
    ["link to a pipe", "mkfifo pipe; ln -s pipe l", "l", "it is a named pipe, not a regular file"],
  ];
  test.each(rows)("%s is refused without waiting", async (_id, setup, name, how) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    const start = performance.now();
    expect(await failure(temp.workspace.readText(name))).toBe(`Cannot read "${name}": ${how}`);
    expect(await failure(temp.workspace.writeText(name, "x"))).toBe(`Cannot write "${name}": it is not a regular file`);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe("the grant", () => {
  test("nothing is written where write is empty", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one" }, { write: [] });
    expect(await failure(temp.workspace.writeText("a.txt", "x"))).toBe(
      'Cannot write "a.txt": writing it was not granted by the user',
    );
    expect(await temp.workspace.readText("a.txt")).toBe("one");
  });

  test("only what is listed is read, a file or a folder", async () => {
    await using temp = await tempWorkspace({ "a.txt": "a", "b.txt": "b", "src/c.txt": "c" }, {
      read: ["a.txt", "src"],
    });
    expect(await temp.workspace.readText("a.txt")).toBe("a");
    expect(await temp.workspace.readText("src/c.txt")).toBe("c");
    expect(await failure(temp.workspace.readText("b.txt"))).toBe(
      'Cannot read "b.txt": reading it was not granted by the user',
    );
    expect(await failure(temp.workspace.list())).toBe('Cannot list ".": reading it was not granted by the user');
  });

  const undeclared: [grant: Partial<Grant>, reading: string | undefined, writing: string | undefined][] = [
    [
      { write: [], undeclared: ["write"] },
      undefined,
      "the tool does not declare write. Its definition needs permissions: { read: true, write: true }",
    ],
    [
      { read: [], undeclared: ["read"] },
      "the tool does not declare read. Its definition needs permissions: { read: true, write: true }",
      undefined,
    ],
    [
      { read: [], write: [], undeclared: ["read", "write"] },
      "the tool does not declare read. Its definition needs permissions: { read: true }",
      "the tool does not declare write. Its definition needs permissions: { write: true }",
    ],
    [{ read: [], write: [] }, "reading it was not granted by the user", "writing it was not granted by the user"],
  ];
  test.each(undeclared)("%j tells what the tool does not declare from what was not granted", async (grant, ...told) => {
    await using temp = await tempWorkspace({ "a.txt": "one" }, grant);
    const done = () => undefined;
    const message = (error: Error) => error.message;
    const reading = await temp.workspace.readText("a.txt").then(done, message);
    const writing = await temp.workspace.writeText("b.txt", "x").then(done, message);
    const [noRead, noWrite] = told;
    expect([reading, writing]).toEqual([
      noRead && `Cannot read "a.txt": ${noRead}`,
      noWrite && `Cannot write "b.txt": ${noWrite}`,
    ]);
  });

  test("a folder outside is a further root, and its files are named from the workspace", async () => {
    await using temp = await tempWorkspace({}, { read: ["../other"] });
    await temp.sh("mkdir ../other ../otherwise; echo o > ../other/o.txt; echo no > ../otherwise/no.txt");
    const [entry] = await temp.workspace.list("../other");
    expect(entry).toEqual({ path: "../other/o.txt", kind: "file" });
    expect(await temp.workspace.readText(join(temp.top, "other/o.txt"))).toBe("o\n");
    expect(await temp.workspace.readText("../other/o.txt")).toBe("o\n");
    expect(await failure(temp.workspace.readText("../otherwise/no.txt"))).toContain("outside the workspace");
    expect(await failure(temp.workspace.writeText("../other/o.txt", "x"))).toContain("writing it was not granted");
  });

  test("what is denied is denied under every name", async () => {
    await using temp = await tempWorkspace({ "keep/a.txt": "a", "b.txt": "b" }, {
      denyRead: ["keep"],
      denyWrite: ["b.txt"],
    });
    await symlink("keep", join(temp.root, "alias"));
    expect(await failure(temp.workspace.readText("alias/a.txt"))).toBe(
      'Cannot read "alias/a.txt": reading it is denied. Only the user can lift this',
    );
    expect(await failure(temp.workspace.list("keep"))).toContain("denied");
    expect(await failure(temp.workspace.writeText("b.txt", "x"))).toBe(
      'Cannot write "b.txt": writing it is denied. Only the user can lift this',
    );
  });

  test("a secret is refused, also through a link, unless that very path is named", async () => {
    const files = {
      ".env": "KEY=1",
      "sub/.env": "KEY=2",
      ".env.example": "KEY=",
      ".ssh/config": "Host",
      "server.pem": "pem",
    };
    await using temp = await tempWorkspace(files, { read: [".", ".env", ".ssh"] });
    await symlink("sub/.env", join(temp.root, "harmless"));
    expect(await temp.workspace.readText(".env")).toBe("KEY=1");
    expect(await temp.workspace.readText(".ssh/config")).toBe("Host");
    expect(await temp.workspace.readText(".env.example")).toBe("KEY=");
    const how = "files named like this hold secrets. Only the user can lift this, with --allow-read and the path";
    for (const path of ["sub/.env", "harmless", "server.pem"]) {
      expect(await failure(temp.workspace.readText(path))).toBe(`Cannot read "${path}": ${how}`);
    }
  });

  test("a handler gets nothing but the interface", async () => {
    await using temp = await tempWorkspace();
    const names: (keyof Workspace)[] = [
      "exists",
      "list",
      "readBytes",
      "readChunks",
      "readText",
      "resolve",
      "stat",
      "walk",
      "walkFiles",
      "writeBytes",
      "writeText",
    ];
    expect(Object.keys(temp.workspace).sort()).toEqual(names);
  });

  test("a root that does not exist opens nothing", async () => {
    const root = "/nonexistent-tenon-root";
    expect(await failure(openWorkspace({ root, read: [root], write: [], denyRead: [], denyWrite: [] }))).toContain(
      "ENOENT",
    );
  });
});

describe("names that are refused", () => {
  const secret = [
    ".env",
    ".env.local",
    ".ENV",
    ".env.",
    ".env ",
    ".env::$DATA",
    ".e\u200bnv",
    ".env:stream",
    "ENV~1",
    "ENV~1.LOC",
    "server.pem",
    "A.PEM",
  ];
  const more = [
    "id_rsa",
    "id_rsa.pub",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "ID_ED2~1",
    ".ssh",
    "SSH~1",
    ".aws",
    ".netrc",
    ".npmrc",
    ".git-credentials",
    "GIT-CR~1",
    ".\uff45nv",
    "x:.pem",
  ];
  test.each([...secret, ...more])("%p holds secrets", (name) => expect(isSecretName(name)).toBe(true));

  const plain = [
    ".env.example",
    ".ENV.EXAMPLE",
    ".envrc",
    "env",
    "env.ts",
    ".environment",
    "pem",
    "pem.txt",
    "my_id_rsa",
    "ssh",
    ".sshd",
    "a~1",
    ".gitignore",
  ];
  test.each(plain)("%p is a name like others", (name) => expect(isSecretName(name)).toBe(false));

  test.each([".git", ".GIT", ".git.", ".git ", ".g\u200cit", "GIT~1", ".git::$INDEX_ALLOCATION"])(
    "%p is git's",
    (name) => {
      expect(isGitName(name)).toBe(true);
    },
  );
  test.each([".gitignore", ".github", "git", "x.git"])(
    "%p is not git's",
    (name) => expect(isGitName(name)).toBe(false),
  );
});

describe("Windows paths, judged anywhere", () => {
  const root = "C:\\Users\\dev\\ws";
  const rows: [path: string, isIn: boolean][] = [
    ["c:\\users\\dev\\WS\\a.txt", true], // P11, and the rows below
    ["C:/Users/dev/ws/a.txt", true],
    ["a\\b.txt", true],
    ["..data", true],
    ["D:\\a.txt", false],
    ["C:a.txt", false],
    ["\\Windows\\win.ini", false],
    ["..\\ws-secret\\s.txt", false],
    ["a\\..\\..\\x", false],
    ["\\\\host\\share\\x", false],
    ["\\\\?\\C:\\Users\\dev\\ws\\a.txt", false],
    [".env::$DATA", false],
    ["a.txt:stream", false],
  ];
  test.each(rows)("%p is inside: %p", (path, isIn) => {
    const read = () => readPath(path, { root, folders: [root] }, win32).path;
    if (isIn) expect(isInside(root, read(), win32)).toBe(true);
    else expect(read).toThrow();
  });

  test("both spellings of a root with a short name are known (P13)", () => {
    const folders = ["C:\\Users\\RUNNER~1\\ws", "C:\\Users\\runneradmin\\ws"];
    expect(readPath("C:\\Users\\runneradmin\\ws\\a.txt", { root: folders[1] ?? "", folders }, win32).path).toEndWith(
      "a.txt",
    );
    expect(readPath("C:\\Users\\RUNNER~1\\ws\\a.txt", { root: folders[1] ?? "", folders }, win32).path).toEndWith(
      "a.txt",
    );
  });
});

describe("writeText", () => {
  const refusals: [id: string, setup: string, path: string, how: string][] = [
    ["P01", AROUND, "/etc/agent-probe", "outside the workspace"],
    ["P05", `${AROUND} ln -s ../outside ws/sub`, "sub/new.txt", "outside the workspace"],
    ["P05 deeper", `${AROUND} ln -s ../outside ws/sub`, "sub/x/y/z.txt", "outside the workspace"],
    ["P07", `${AROUND} ln -s ../outside/not-yet.txt ws/draft.txt`, "draft.txt", "outside the workspace"],
    [
      "P07 chain",
      `${AROUND} ln -s ../outside/not-yet.txt ws/draft.txt; ln -s draft.txt ws/draft2.txt`,
      "draft2.txt",
      "outside the workspace",
    ],
    [
      "dangling inside",
      `${AROUND} ln -s not-yet.txt ws/draft.txt`,
      "draft.txt",
      "a symbolic link whose target does not exist",
    ],
    ["LINK-03", `${AROUND} ln -s ../outside/o.txt ws/l`, "l", "outside the workspace"],
    ["PATH-07", AROUND, "newdir/../../outside/pwn.txt", "outside the workspace"],
    ["P17", AROUND, "file:out.txt", "it is a URL"],
    ["P19", AROUND, "newdir/", "it ends in a slash. Name a file"],
    ["P19 dot", AROUND, "newdir/.", "it ends in a slash and dot. Name a file"],
    ["a folder", `${AROUND} mkdir ws/src`, "src", "it is not a regular file"],
    ["below a file", AROUND, "in.txt/x", '"in.txt" is a file, not a folder'],
    ["a secret", AROUND, ".env", "hold secrets"],
    ["below a secret folder", AROUND, ".ssh/authorized_keys", "hold secrets"],
    ["git", AROUND, ".git/hooks/pre-commit", "nothing is written below .git"],
    ["PATH-09 case", `${AROUND} mkdir -p ws/.git/hooks`, ".GIT/hooks/pre-commit", "nothing is written below .git"],
    [
      "PATH-09 ignorable",
      `${AROUND} mkdir -p ws/.git/hooks`,
      ".g\u200cit/hooks/pre-commit",
      "nothing is written below .git",
    ],
    ["PATH-09 dots", `${AROUND} mkdir -p ws/.git/hooks`, "./.git/./hooks/pre-commit", "nothing is written below .git"],
    [
      "LINK-17",
      `${AROUND} mkdir -p ws/.git/hooks; ln -s .git ws/gitlink`,
      "gitlink/hooks/pre-commit",
      "nothing is written below .git",
    ],
    ["a submodule's", `${AROUND} mkdir -p ws/sub/.git`, "sub/.git/config", "nothing is written below .git"],
  ];
  test.each(refusals)("%s: refused before anything is made", async (_id, setup, path, how) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    const before = await treeOf(temp.top);
    expect(await failure(temp.workspace.writeText(path, "PWN\n"))).toContain(how);
    expect(await treeOf(temp.top)).toEqual(before);
  });

  test("makes the folders it needs, also where the root is a link (P09)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("mkdir realroot; ln -s realroot ws");
    await temp.workspace.writeText("n/m/new.txt", "x\n");
    expect(await readFile(join(temp.top, "realroot/n/m/new.txt"), "utf8")).toBe("x\n");
  });

  test("keeps the mode of a file that is there, and gives a new one what the umask leaves (E25)", async () => {
    await using temp = await tempWorkspace({ "private.txt": "k=1", "run.sh": "#!/bin/sh" });
    await temp.sh("chmod 600 private.txt; chmod 755 run.sh");
    for (const path of ["private.txt", "run.sh", "fresh.txt"]) await temp.workspace.writeText(path, "new");
    const mode = async (path: string) => ((await stat(join(temp.root, path))).mode & 0o777).toString(8);
    expect([await mode("private.txt"), await mode("run.sh")]).toEqual(["600", "755"]);
    expect(await mode("fresh.txt")).toBe((0o666 & ~process.umask()).toString(8));
  });

  test("writes through a link inside and keeps the link (E27)", async () => {
    await using temp = await tempWorkspace();
    await temp.sh(
      "mkdir -p real/host; echo v1 > real/settings.json; ln -s ../settings.json real/host/settings.json; ln -s real/host synced; ln -s synced dot",
    );
    await temp.workspace.writeText("dot/settings.json", "v2\n");
    expect(await readFile(join(temp.root, "real/settings.json"), "utf8")).toBe("v2\n");
    expect((await lstat(join(temp.root, "real/host/settings.json"))).isSymbolicLink()).toBe(true);
    expect((await readdir(temp.root)).sort()).toEqual(["dot", "real", "synced"]);
  });

  test("breaks a hard link instead of writing through it (LINK-05)", async () => {
    await using temp = await tempWorkspace();
    await writeFile(join(temp.top, "secret.txt"), "OUT");
    await link(join(temp.top, "secret.txt"), join(temp.root, "h"));
    await temp.workspace.writeText("h", "x");
    expect(await readFile(join(temp.top, "secret.txt"), "utf8")).toBe("OUT");
    expect(await temp.workspace.readText("h")).toBe("x");
  });

  test("leaves the old file and no temporary one when it fails", async () => {
    await using temp = await tempWorkspace({ "a.txt": "old" });
    expect(await failure(temp.workspace.writeText("a.txt", "half \ud83d"))).toBe(
      'Cannot write "a.txt": the text has half a character in it (a lone surrogate)',
    );
    expect(await temp.workspace.readText("a.txt")).toBe("old");
    expect(await readdir(temp.root)).toEqual(["a.txt"]);
  });

  test("hides a temporary file that a crash has left", async () => {
    await using temp = await tempWorkspace({ "a.txt": "a", ".tenon-0123456789abcdef.tmp": "half" });
    expect(await temp.workspace.list()).toEqual([{ path: "a.txt", kind: "file" }]);
  });

  test("shows a reader the old text or the new, never a part", async () => {
    const [old, fresh] = ["a".repeat(300_000), "b".repeat(300_000)];
    await using temp = await tempWorkspace({ "a.txt": old });
    const writes = (async () => {
      for (let turn = 0; turn < 20; turn++) await temp.workspace.writeText("a.txt", turn % 2 === 0 ? fresh : old);
    })();
    for (let turn = 0; turn < 40; turn++) {
      const text = await readFile(join(temp.root, "a.txt"), "utf8");
      expect(text === old || text === fresh).toBe(true);
    }
    await writes;
  });
});

describe("reading", () => {
  test("readText drops the BOM and refuses what is not UTF-8 by its name", async () => {
    await using temp = await tempWorkspace({
      "bom.md": "\ufeff# title\n",
      "u16.txt": Uint8Array.of(0xff, 0xfe, 104, 0, 105, 0),
    });
    expect(await temp.workspace.readText("bom.md")).toBe("# title\n");
    expect(await failure(temp.workspace.readText("u16.txt"))).toBe(
      'Cannot read "u16.txt": it is UTF-16 LE text, not UTF-8. Convert it first, for example with iconv',
    );
  });

  const noText: [what: string, bytes: Uint8Array, how: string][] = [
    [
      "UTF-16 without a BOM",
      Buffer.from("plain words\n", "utf16le"),
      "UTF-16 LE text, not UTF-8. Convert it first, for example with iconv",
    ],
    ["a NUL between words", Buffer.from("one\0two\n"), "binary (8 bytes)"],
    [
      "Latin-1",
      Buffer.from("caf\xe9 au lait\n", "latin1"),
      "probably Latin-1 or Windows-1252 text, not UTF-8. Convert it first, for example with iconv",
    ],
  ];
  test.each(noText)("readText refuses %s in the words of read_file", async (_, bytes, how) => {
    await using temp = await tempWorkspace({ "f.txt": bytes });
    const expected = `Cannot read "f.txt": it is ${how}`;
    expect(await failure(temp.workspace.readText("f.txt"))).toBe(expected);
    const session = await openToolSession(temp.root);
    expect(await session.call("read_file", { path: "f.txt" })).toBe(expected);
  });

  test("readBytes gives the range that is there, and refuses one that cannot be", async () => {
    await using temp = await tempWorkspace({ "a.txt": "0123456789" });
    const read = async (range: { offset?: number; length?: number }) =>
      new TextDecoder().decode(await temp.workspace.readBytes("a.txt", range));
    expect(await read({})).toBe("0123456789");
    expect(await read({ offset: 2, length: 3 })).toBe("234");
    expect(await read({ offset: 8, length: 30 })).toBe("89");
    expect(await read({ offset: 99 })).toBe("");
    expect(await failure(read({ offset: -1 }))).toBe(
      'Cannot read "a.txt": offset must be a whole number from 0, got -1',
    );
    expect(await failure(read({ length: 1.5 }))).toBe(
      'Cannot read "a.txt": length must be a whole number from 0, got 1.5',
    );
  });

  test("a file over the limit is refused with both figures", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("truncate -s 20M big");
    expect(await failure(temp.workspace.readText("big"))).toBe(
      'Cannot read "big": it is too large (20,971,520 bytes, at most 10,000,000 at once). Read a part of it',
    );
  });

  test("readChunks closes its file when the reader stops early", async () => {
    await using temp = await tempWorkspace({ "a.txt": "x".repeat(200_000) });
    const count = async () => (await readdir("/proc/self/fd")).length;
    const before = await count();
    for (let turn = 0; turn < 20; turn++) {
      for await (const chunk of temp.workspace.readChunks("a.txt")) {
        expect(chunk.length).toBe(65_536);
        break;
      }
      await temp.workspace.list();
      await temp.workspace.readText("none").catch(() => undefined);
    }
    expect(await count()).toBeLessThanOrEqual(before + 2);
  });

  test("exists is false for what is not there, and throws for what may not be asked", async () => {
    await using temp = await tempWorkspace({ "a.txt": "" });
    await mkdir(join(temp.root, "d"));
    await symlink("nowhere", join(temp.root, "dead"));
    expect(await Promise.all(["a.txt", "d", "dead", "none", "a.txt/x"].map((path) => temp.workspace.exists(path))))
      .toEqual([true, true, false, false, false]);
    expect(await failure(temp.workspace.exists("../x"))).toContain("outside the workspace");
  });
});
