import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createHosts, type HostOrder, type Hosts } from "../core/hosts/hosts.ts";
import { NOTE_LIMITS, notesFolder, notingWrites, removeLeftovers } from "../core/hosts/write_notes.ts";
import { join } from "../core/path.ts";
import { connectInProcess } from "./support/host_in_process.ts";
import { type Run, RUNTIMES } from "./support/runtimes.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";
import { filesIn } from "./support/tool_session.ts";

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const TEMP = ".tenon-0123456789abcdef.tmp";
/** No process has an id beyond this: proc(5), pid_max. */
const GONE = 4_194_305;
const options = { signal: new AbortController().signal, progress() {} };

const notesOf = ({ top, root }: TempWorkspace) => notesFolder(join(top, "state"), root) ?? "";
const namesIn = (folder: string) => readdir(folder).catch(() => []);
const grantOf = (root: string) => ({ root, read: [root], write: [root], denyRead: [], denyWrite: [] });

async function leaveNote(temp: TempWorkspace, text: string, pid: number): Promise<void> {
  await mkdir(notesOf(temp), { recursive: true });
  await writeFile(join(notesOf(temp), `bun-${pid}-x`), text);
}

/** A host that writes, in here, and a look at the notes whenever core has noted something. */
function openNoted(temp: TempWorkspace, look: () => void, folder = notesOf(temp)) {
  const sent: string[] = [];
  const hosts = createHosts(
    notingWrites(() => {
      const connection = connectInProcess();
      const send: typeof connection.send = (message) => {
        sent.push(message.type);
        if (message.type === "noted") look();
        connection.send(message);
      };
      return { ...connection, send };
    }, folder),
    new Map(),
  );
  const needs = { read: true, write: true };
  const tool = { definition: { name: "write_file", description: "d", input_schema: {} }, permissions: needs };
  const order: HostOrder = { plugins: { builtin: ["write_file"] }, needs, grant: grantOf(temp.root) };
  const host = hosts.open(order, [{ ...tool, timeout_ms: 5000 }]);
  const write = (path: string) => host.call("write_file", { path, content: "new\n" }, options);
  return { write, sent };
}

describe("a host's write", () => {
  test("is noted before its temporary file is made, and no longer once it is done", async () => {
    await using temp = await tempWorkspace();
    const seen: unknown[] = [];
    const { write } = openNoted(temp, () => {
      const notes = readdirSync(notesOf(temp)).map((name) => readFileSync(join(notesOf(temp), name), "utf8"));
      seen.push(notes.map((note) => JSON.parse(note)), readdirSync(join(temp.root, "d")));
    });
    expect(await write("d/a.txt")).toMatchObject({ is_error: false });
    expect(seen).toEqual([[expect.stringMatching(/^d\/\.tenon-[0-9a-f]{16}\.tmp$/)], []]);
    expect(await namesIn(notesOf(temp))).toEqual([]);
  });

  test("that fails leaves neither a temporary file nor a note", async () => {
    await using temp = await tempWorkspace({ "d/b.txt": "b" });
    const { write } = openNoted(temp, () => Bun.spawnSync(["mkdir", join(temp.root, "d/a.txt")]));
    expect(await write("d/a.txt")).toMatchObject({ is_error: true });
    expect((await readdir(join(temp.root, "d"))).sort()).toEqual(["a.txt", "b.txt"]);
    expect(await namesIn(notesOf(temp))).toEqual([]);
  });

  test("is done all the same where nothing can be noted", async () => {
    await using temp = await tempWorkspace();
    await writeFile(join(temp.top, "state"), "no folder");
    const { write, sent } = openNoted(temp, () => {});
    expect(await write("a.txt")).toMatchObject({ is_error: false });
    expect(sent).toContain("noted");
    expect(await filesIn(temp, ["a.txt"])).toEqual({ "a.txt": "new\n" });
  });

  test("is not told of where there is no state folder", async () => {
    await using temp = await tempWorkspace();
    const sent: unknown[] = [];
    const connect = notingWrites(() => {
      const connection = connectInProcess();
      return { ...connection, send: (message) => void sent.push(message) };
    }, notesFolder(undefined, temp.root));
    connect({ plugins: { builtin: [] }, needs: {} }).send({ type: "start", plugins: { builtin: [] } });
    expect(sent).toEqual([{ type: "start", plugins: { builtin: [] } }]);
  });

  test("is not noted for a host that may not write, whatever its plugin says", async () => {
    await using temp = await tempWorkspace();
    const heard: unknown[] = [];
    const connect = notingWrites(() => ({
      send: (message) => heard.push(message),
      receive: (handle) => handle({ type: "writing", write: 1, path: TEMP }),
      closed: new Promise(() => {}),
      kill() {},
    }), notesOf(temp));
    const connection = connect({ plugins: { file: "/p/a.ts" }, needs: { read: true } });
    connection.send({ type: "start", plugins: { file: "/p/a.ts" } });
    connection.receive((message) => heard.push(message));
    expect(heard).toEqual([{ type: "start", plugins: { file: "/p/a.ts" } }, { type: "writing", write: 1, path: TEMP }]);
    expect(await namesIn(notesOf(temp))).toEqual([]);
  });

  test("is noted for so many files at a time, whatever a plugin says, and answered for all", async () => {
    await using temp = await tempWorkspace();
    const hear: ((message: unknown) => void)[] = [];
    let answers = 0;
    const connect = notingWrites(() => ({
      send: () => answers++,
      receive: (handle) => hear.push(handle),
      closed: new Promise(() => {}),
      kill() {},
    }), notesOf(temp));
    for (const _ of [1, 2]) connect({ plugins: { builtin: [] }, needs: { write: true } }).receive(() => {});
    const [first = () => {}, second = () => {}] = hear;
    const count = async () => (await readdir(notesOf(temp))).length;
    for (const _ of [1, 2, 3]) first({ type: "writing", write: 0, path: TEMP });
    expect(await count()).toBe(1);
    for (let write = 1; write < NOTE_LIMITS.process; write++) first({ type: "writing", write, path: TEMP });
    second({ type: "writing", write: 0, path: TEMP });
    expect(await count()).toBe(NOTE_LIMITS.process);
    expect(answers).toBe(NOTE_LIMITS.process + 3);
    first({ type: "written", write: 0 });
    second({ type: "writing", write: 1, path: TEMP });
    expect(await count()).toBe(NOTE_LIMITS.process);
  });
});

describe("removeLeftovers", () => {
  const path = `d/${TEMP}`;
  const there = { file: true, note: true };
  const rows: [what: string, setup: string, noted: string, pid: number, left: { file: boolean; note: boolean }][] = [
    ["a file of a process that is gone", "true", path, GONE, { file: false, note: false }],
    ["a file of an earlier process with our id", "true", path, process.pid, { file: false, note: false }],
    ["not that of one that runs", "true", path, process.ppid, there],
    ["not one of another name", `mv d/${TEMP} d/a.txt; ln d/a.txt d/${TEMP}`, "d/a.txt", GONE, {
      file: true,
      note: false,
    }],
    ["not a folder", `rm d/${TEMP}; mkdir d/${TEMP}`, path, GONE, { file: true, note: false }],
    ["not a link", `mv d/${TEMP} d/a.txt; ln -s a.txt d/${TEMP}`, path, GONE, { file: true, note: false }],
    ["not behind a link", "mv d e; ln -s e d", path, GONE, { file: true, note: false }],
    ["not behind a link to outside", "mv d ../e; ln -s ../e d", path, GONE, { file: true, note: false }],
    ["not what may not be written, and tries it once", `mv d .git`, `.git/${TEMP}`, GONE, { file: true, note: false }],
    ["not what lies outside", "true", `../home/${TEMP}`, GONE, there],
    ["nothing where it is gone already", `rm d/${TEMP}`, path, GONE, { file: false, note: false }],
  ];
  test.each(rows)("removes %s", async (_what, setup, noted, pid, left) => {
    await using temp = await tempWorkspace({ [path]: "half" });
    await writeFile(join(temp.top, "home", TEMP), "half");
    await temp.sh(setup);
    await leaveNote(temp, JSON.stringify(noted), pid);
    await removeLeftovers(notesOf(temp), createHosts(connectInProcess, new Map()), grantOf(temp.root));
    expect(existsSync(join(temp.root, noted))).toBe(left.file);
    expect(existsSync(join(temp.top, "home", TEMP))).toBe(true);
    expect((await namesIn(notesOf(temp))).length).toBe(left.note ? 1 : 0);
  });

  test.each([["is granted", [], []], ["is not denied", ["."], ["d"]]])(
    "leaves file and note where no write %s",
    async (_what, write, denyWrite) => {
      await using temp = await tempWorkspace({ [path]: "half" });
      await leaveNote(temp, JSON.stringify(path), GONE);
      const placed = (names: string[]) => names.map((name) => join(temp.root, name));
      const grant = { ...grantOf(temp.root), write: placed(write), denyWrite: placed(denyWrite) };
      await removeLeftovers(notesOf(temp), NO_HOSTS, grant);
      expect(existsSync(join(temp.root, path))).toBe(true);
      expect((await readdir(notesOf(temp))).length).toBe(1);
    },
  );

  test("starts no host without a note, nor for one that was not written to its end, which it forgets", async () => {
    await using temp = await tempWorkspace();
    await removeLeftovers(notesOf(temp), NO_HOSTS, grantOf(temp.root));
    await leaveNote(temp, '"d/.ten', GONE);
    await removeLeftovers(notesOf(temp), NO_HOSTS, grantOf(temp.root));
    expect(await readdir(notesOf(temp))).toEqual([]);
  });

  test("keeps the note when its host could not be started", async () => {
    await using temp = await tempWorkspace({ [path]: "half" });
    await leaveNote(temp, JSON.stringify(path), GONE);
    const hosts = createHosts(() => {
      throw new Error("no process");
    }, new Map());
    await removeLeftovers(notesOf(temp), hosts, grantOf(temp.root));
    expect((await readdir(notesOf(temp))).length).toBe(1);
  });

  test("keeps no more than so many notes", async () => {
    await using temp = await tempWorkspace();
    await mkdir(notesOf(temp), { recursive: true });
    const names = Array.from({ length: NOTE_LIMITS.folder + 5 }, (_, at) => join(notesOf(temp), `bun-${GONE}-${at}`));
    await Promise.all(names.map((name) => writeFile(name, JSON.stringify(`/elsewhere/${TEMP}`))));
    await removeLeftovers(notesOf(temp), NO_HOSTS, grantOf(temp.root));
    expect((await readdir(notesOf(temp))).length).toBe(NOTE_LIMITS.folder);
  });
});

const NO_HOSTS: Hosts = {
  load: () => Promise.reject(new Error("a host was started")),
  open() {
    throw new Error("a host was started");
  },
  close() {},
};

describe.concurrent("two processes in one workspace", () => {
  const pairs = RUNTIMES.flatMap(([writer, runWriter]) =>
    RUNTIMES.map(([starter, runStarter]): [string, string, Run, Run] => [writer, starter, runWriter, runStarter])
  );
  test.each(pairs)(
    "what %s writes is left alone by %s while it runs, and removed when it was killed",
    async (...pair) => {
      const [writer, starter, runWriter, runStarter] = pair;
      await using temp = await tempWorkspace({ [TEMP]: "half" });
      const start = (command: string[]) =>
        spawn(command[0] ?? "", command.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
      const writing = start(runWriter(fixture("notes_a_write.ts"), notesOf(temp), TEMP));
      const ended = once(writing, "exit");
      const remove = async () => {
        const [code] = await once(start(runStarter(fixture("removes_leftovers.ts"), notesOf(temp), temp.root)), "exit");
        expect(code).toBe(0);
        return existsSync(join(temp.root, TEMP));
      };
      try {
        await once(writing.stdout, "data");
        expect(await remove()).toBe(true);
      } finally {
        writing.kill("SIGKILL");
      }
      await ended;
      const [name = ""] = await readdir(notesOf(temp));
      // Deno may not ask whether another runtime's process is there.
      if (writer === "bun" && starter === "deno") await utimes(join(notesOf(temp), name), 1, 1);
      expect(await remove()).toBe(false);
      expect(await readdir(notesOf(temp))).toEqual([]);
    },
    20_000,
  );
});
