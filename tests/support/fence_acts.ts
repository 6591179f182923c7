/** What `fenced.ts` does in the innermost layer. */

import { chmodSync, futimesSync, openSync, readSync, utimesSync } from "node:fs";
import { denyExec, type FenceCheck, hardenCore, limitMemory, selfTest } from "../../core/fence/fence.ts";
import * as probes from "./fence_probes.ts";
import { raw } from "./raw_calls.ts";

// deno-lint-ignore no-explicit-any -- each act names the input that its test sends
export type Act = (input: any) => unknown;

const SETS: Record<string, Record<string, probes.Probe>> = {
  allowed: probes.ALLOWED,
  files: probes.FILES,
  processes: probes.PROCESSES,
  signals: probes.SIGNALS,
  kernel: probes.KERNEL,
  "other sockets": probes.OTHER_SOCKETS,
  internet: probes.INTERNET,
};

export const ACTS: Record<string, Act> = {
  /** Each probe by its set and name: `done`, or the code of the error. */
  async probe(place: probes.Place) {
    const outcomes: Record<string, string> = {};
    for (const [set, members] of Object.entries(SETS)) {
      for (const [name, probe] of Object.entries(members)) {
        outcomes[`${set}: ${name}`] = await outcomeOf(() => probe(place));
      }
    }
    return outcomes;
  },

  /** The code of clone3 without arguments. */
  clone3: () => outcomeOf(() => raw("clone3", 0, 0)),

  /** Starts a program on this thread and on a worker's: before `denyExec` and after it, with workers from before and after. */
  async exec() {
    const early = openWorker();
    const before = { main: startHere(), worker: await early.start() };
    await denyExec();
    const late = openWorker();
    return { before, after: { main: startHere(), earlyWorker: await early.start(), lateWorker: await late.start() } };
  },

  selfTest: async ({ checks, deny }: { checks: FenceCheck; deny: boolean }) => {
    if (deny) await denyExec();
    const start = performance.now();
    return { failures: await selfTest(checks), ms: performance.now() - start };
  },

  /** The code of asking for so much memory, with a limit or without. */
  async memory({ limit, bytes }: { limit?: number; bytes: number }) {
    if (limit !== undefined) await limitMemory(limit);
    return await outcomeOf(() => new Uint8Array(bytes).length);
  },

  /** The codes of changing what a file is, by its path and by a handle. */
  changeKind: async (file: string) => ({
    mode: await outcomeOf(() => chmodSync(file, 0o600)),
    times: await outcomeOf(() => utimesSync(file, 1, 1)),
    handle: await outcomeOf(() => futimesSync(openSync(file, "r"), 1, 1)),
  }),

  /** What an open handle gives to be read. */
  readHandle(handle: number) {
    const bytes = new Uint8Array(100);
    try {
      return new TextDecoder().decode(bytes.subarray(0, readSync(handle, bytes)));
    } catch (error) {
      return String((error as { code?: string }).code);
    }
  },

  /** Runs a command with a shell. */
  async sh({ command, cwd }: { command: string; cwd: string }) {
    const child = Bun.spawn(["/bin/sh", "-c", command], { cwd, stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { stdout, stderr, code };
  },

  /** As core does with a host: starts a program that fences itself further, hears from it, and kills it. */
  async killHost(command: string[]) {
    const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe" });
    for await (const _ of child.stdout) break;
    child.kill("SIGKILL");
    await child.exited;
    return { signal: child.signalCode };
  },

  /** Says its id and waits, hardened or not, until its stdin ends. */
  async wait({ hard }: { hard: boolean }) {
    if (hard) await hardenCore();
    console.log(JSON.stringify({ pid: process.pid }));
    for await (const _ of Bun.stdin.stream());
  },

  environment: () => process.env,
};

async function outcomeOf(act: () => unknown): Promise<string> {
  try {
    await act();
    return "done";
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    return String(code ?? message);
  }
}

function startHere(): string {
  try {
    return `exit ${Bun.spawnSync(["/bin/sh", "-c", "exit 7"]).exitCode}`;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** A thread that starts a program when it is asked to. */
function openWorker(): { start(): Promise<string> } {
  const worker = new Worker(new URL("fence_worker.ts", import.meta.url));
  return {
    start: () =>
      new Promise((resolve) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => resolve(message);
        worker.postMessage("start");
      }),
  };
}
