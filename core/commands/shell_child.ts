/** One shell as a child of this process, which leads a session of its own: how it is started, heard and signalled. */

import { spawn } from "node:child_process";
import process from "node:process";
import { denoProgram } from "./deno_program.ts";
import { children } from "./descendants.ts";
import { codeOf } from "../files/refusal.ts";
import { deno } from "../runtime.ts";

export interface ShellOrder {
  args: readonly string[];
  cwd: string;
  /** The whole environment. */
  env: { [name: string]: string };
  /** The handle that it gets for stdout and stderr. Without one they are read from `output`. */
  handle: number | undefined;
}

export interface ShellChild {
  /** Also of the group that it leads. */
  pid: number;
  /** What it says, in the order in which it came, where it was given no handle. */
  output: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Lets go of the output, also while it is read. */
  letGo(): void;
  isGone(): boolean;
  ended: Promise<ShellEnd>;
  /** Whether somebody is left in the group that it led, as far as this process may know. */
  hasGroup(): boolean;
  signalGroup(signal: "TERM" | "KILL"): void;
}

export interface ShellEnd {
  /** `null` when a signal ended it. */
  code: number | null;
  signal: string | null;
  /** On the clock of `performance`. */
  at: number;
}

/** The runtime has a pipe for each stream: a shell before the shell makes them one. */
const ONE_STREAM = ["-c", 'exec "$0" "$@" 2>&1'];

/** Rejects with an error of the code `ENOENT` when there is no such program or folder, and `E2BIG` when the arguments are too long. */
export async function startShellChild(name: string, order: ShellOrder): Promise<ShellChild> {
  const args = order.handle === undefined ? [...ONE_STREAM, name, ...order.args] : order.args;
  const child = deno ? startUnderDeno(name, { ...order, args }) : await start(name, { ...order, args });
  let gone = false;
  void child.ended.then(() => gone = true);
  const { pid } = child;
  return {
    ...child,
    isGone: () => gone,
    hasGroup: () => signalled(-pid, 0) === undefined,
    signalGroup(signal) {
      // Deno was given no more than the start of a shell: then a shell has to do it. Otherwise nobody is left.
      if (signalled(-pid, `SIG${signal}`) !== "NOT_GRANTED") return;
      denoProgram(name, { args: ["-c", `kill -s ${signal} -- -${pid}`], env: {} }).spawn();
    },
  };
}

type Started = Pick<ShellChild, "output" | "letGo" | "ended"> & { pid: number };

async function start(name: string, { args, cwd, env, handle }: ShellOrder): Promise<Started> {
  const streams = handle === undefined ? ["pipe", "ignore"] as const : [handle, handle];
  const child = spawn(name, args, { cwd, env, stdio: ["ignore", ...streams], detached: true });
  const ended = new Promise<ShellEnd>((resolve) => {
    child.on("exit", (code, signal) => {
      if (child.pid !== undefined) children.delete(child.pid);
      resolve({ code, signal, at: performance.now() });
    });
  });
  if (child.pid !== undefined) children.add(child.pid);
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  return { pid: child.pid ?? NaN, output: child.stdout ?? [], letGo: () => child.stdout?.destroy(), ended };
}

function startUnderDeno(name: string, { args, cwd, env }: ShellOrder): Started {
  const child = denoProgram(name, { args, cwd, env, stdout: "piped", detached: true }).spawn();
  const reader = child.stdout.getReader();
  const ended = child.status.then(({ code, signal }): ShellEnd => {
    return { code: signal === null ? code : null, signal, at: performance.now() };
  });
  return {
    pid: child.pid,
    output: chunksOf(reader),
    letGo: () => void reader.cancel().catch(() => {}),
    ended,
  };
}

async function* chunksOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

/** The code of the error, if there was one. */
function signalled(pid: number, signal: NodeJS.Signals | 0): string | undefined {
  try {
    process.kill(pid, signal);
    return undefined;
  } catch (error) {
    return codeOf(error) ?? "UNKNOWN";
  }
}
