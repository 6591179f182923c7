import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { startTenon, WAYS } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a run has its own limit

const SIGINT = 2n;

/** Waits until a process has a handler of its own for a signal. proc_pid_status(5). */
async function untilCaught(pid: number, signal: bigint): Promise<void> {
  for (;;) {
    const [, caught = "0"] = /^SigCgt:\s*(\w+)$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
    if ((BigInt(`0x${caught}`) >> (signal - 1n)) & 1n) return;
  }
}

describe.each([...WAYS])("tenon as %s", (way) => {
  test("hears the first signal that does not end it by itself", async () => {
    await using temp = await tempWorkspace();
    await using running = await startTenon(way, { cwd: temp.root, args: ["call"], stdin: "open" });
    await untilCaught(running.pid, SIGINT);
    running.signal("SIGINT");
    expect((await running.ended).code).toBe(130);
  });
});
