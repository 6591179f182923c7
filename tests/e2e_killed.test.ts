import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { open, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Running, runTenon, SOURCES, startTenon, type Way } from "./support/program.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a run has its own limit

/** Characters that take long enough to write that a kill comes in the middle. */
const SIZE = 8_000_000;

function startOf({ root, top }: TempWorkspace, args: string[], stdin: string) {
  const state = join(top, "state");
  const deno = { read: [".", state, SOURCES], write: [".", state] };
  return { cwd: root, args, stdin, env: { XDG_STATE_HOME: state }, deno };
}

const line = (...calls: [name: string, input: unknown][]) =>
  `${JSON.stringify(calls.map(([name, input]) => ({ name, input })))}\n`;

/** The temporary files in a folder of the workspace, which need not be there yet. */
async function temporaries({ root }: TempWorkspace, folder: string): Promise<string[]> {
  const names = await readdir(join(root, folder)).catch(() => []);
  return names.filter((name) => name.startsWith(".tenon-"));
}

/** `kill -9` as soon as it is so, if it does not end before; its hosts go with it. */
async function killWhen(running: Running, isSo: () => Promise<boolean>): Promise<void> {
  let isOver = false;
  const ended = running.ended.catch(() => undefined).finally(() => isOver = true);
  while (!isOver && !(await isSo())) await Bun.sleep(1);
  running.signal("SIGKILL");
  await ended;
}

describe.concurrent.each<Way>(["bun", "deno"])("tenon as %s, killed in the middle of a write", (way) => {
  test("leaves the old content or the new, and no temporary file after the next start that may write", async () => {
    await using temp = await tempWorkspace({ "d/f.txt": "old" });
    const content = "a".repeat(SIZE);
    const write = line(["read_file", { path: "d/f.txt" }], ["write_file", { path: "d/f.txt", content }]);
    let left: string[] = [];
    for (let round = 0; round < 20 && left.length === 0; round++) {
      await writeFile(join(temp.root, "d/f.txt"), "old"); // a write that was not caught would not be allowed again
      await using running = await startTenon(way, startOf(temp, ["call", "--allow-write"], write));
      await killWhen(running, async () => (await temporaries(temp, "d")).length > 0);
      const text = await readFile(join(temp.root, "d/f.txt"), "utf8");
      expect(text === "old" || text === content).toBe(true);
      left = await temporaries(temp, "d");
    }
    expect(left.length).toBe(1); // it was killed in the middle of the write
    expect(await runTenon(way, startOf(temp, ["call"], ""))).toMatchObject({ code: 0 });
    expect(await temporaries(temp, "d")).toEqual(left); // it was not granted to write
    expect(await runTenon(way, startOf(temp, ["call", "--allow-write"], ""))).toMatchObject({ code: 0 });
    expect(await temporaries(temp, "d")).toEqual([]);
    expect(await readdir(join(temp.top, "state/tenon/writes"), { recursive: true })).toHaveLength(1); // the workspace's folder
  });
});

/** The first bytes of a file. */
async function headOf(file: string): Promise<string> {
  await using handle = await open(file);
  return (await handle.read(Buffer.alloc(3), 0, 3, 0)).buffer.toString();
}

describe.concurrent.each<Way>(["bun", "deno"])("tenon undo as %s, killed in the middle", (way) => {
  test("leaves each file old or new, and another one goes on to the end", async () => {
    const tail = "a".repeat(3_000_000);
    const names = ["0", "1", "2", "3"].map((digit) => `f${digit}.txt`);
    await using temp = await tempWorkspace(Object.fromEntries(names.map((name) => [name, `old${tail}`])));
    const edits = names.flatMap((path): [string, unknown][] => [
      ["read_file", { path }],
      ["edit_file", { path, old_string: "old", new_string: "new" }],
    ]);
    const calls = line(...edits, ["write_file", { path: "d/new.txt", content: "new" }]);
    expect(await runTenon(way, startOf(temp, ["call", "--allow-write"], calls))).toMatchObject({ code: 0 });
    const fileOf = (name: string) => join(temp.root, name);
    const states = () =>
      Promise.all(names.map(async (name) => {
        const text = await readFile(fileOf(name), "utf8");
        return text === `old${tail}` ? "old" : text === `new${tail}` ? "new" : "broken";
      }));
    const areBack = async () => {
      const heads = await Promise.all(names.map((name) => headOf(fileOf(name))));
      return heads.filter((head) => head === "old").length;
    };
    expect(await states()).toEqual(names.map(() => "new"));
    let isCutShort = false;
    // In a write, and between two of them: what is done stays done.
    const moments = [async () => (await temporaries(temp, ".")).length > 0, async () => (await areBack()) >= 2];
    for (const moment of moments) {
      await using running = await startTenon(way, startOf(temp, ["undo"], ""));
      await killWhen(running, moment);
      const now = await states();
      expect(now).not.toContain("broken");
      isCutShort ||= now.includes("new");
    }
    expect(isCutShort).toBe(true);
    const ended = await runTenon(way, startOf(temp, ["undo"], ""));
    expect(ended).toMatchObject({ code: 0 });
    const lines = ["Removed: d/", "Removed: d/new.txt", ...names.map((name) => `Taken back: ${name}`)];
    expect(ended.stdout.split("\n").filter((text) => /^(?:Taken back|Removed): /.test(text)).sort()).toEqual(lines);
    expect(await states()).toEqual(names.map(() => "old"));
    expect((await readdir(temp.root)).sort()).toEqual(names);
  });
});
