import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Running, runTenon, SOURCES, startTenon, type Way } from "./support/program.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a run has its own limit

/** Characters that take long enough to write that a kill comes in the middle. */
const SIZE = 20_000_000;

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
    for (let round = 0; round < 10 && left.length === 0; round++) {
      await using running = await startTenon(way, startOf(temp, ["call", "--allow-write"], write));
      await killWhen(running, async () => (await temporaries(temp, "d")).length > 0);
      const text = await readFile(join(temp.root, "d/f.txt"), "utf8");
      expect(text === "old" || text === content).toBe(true);
      left = await temporaries(temp, "d");
    }
    expect(left.length).toBe(1); // it was killed in the middle of the write
    const look = line(["get_time", {}]);
    expect(await runTenon(way, startOf(temp, ["call"], look))).toMatchObject({ code: 0 });
    expect(await temporaries(temp, "d")).toEqual(left); // it was not granted to write
    expect(await runTenon(way, startOf(temp, ["call", "--allow-write"], look))).toMatchObject({ code: 0 });
    expect(await temporaries(temp, "d")).toEqual([]);
    expect(await readdir(join(temp.top, "state/tenon/writes"), { recursive: true })).toHaveLength(1); // the workspace's folder
  });
});
