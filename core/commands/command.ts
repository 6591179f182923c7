/** Runs one command in a shell of its own, as a whole tree of processes that ends with it. */

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { children, type Descendant, type Descendants, openDescendants } from "./descendants.ts";
import { createOutput, type Output } from "./output.ts";
import { openPipe, type Pipe } from "./pipe.ts";
import { codeOf } from "../files/refusal.ts";
import { SHELLS } from "./shells.ts";

export interface CommandOrder {
  /** For the shell. No NUL. */
  command: string;
  cwd: string;
  /** The whole environment. */
  env: { [name: string]: string };
  timeoutMs: number;
  signal: AbortSignal;
  /** Called with what was said so far, at most four times a second. */
  progress?(output: Output): void;
}

export interface CommandEnd {
  output: Output;
  /** The shell's exit code; `null` when a signal ended it. */
  code: number | null;
  signal: string | null;
  /** Of the shell. */
  durationMs: number;
  /** Why it was ended before its own end. */
  stopped?: "timeout" | "interrupt";
  /** Names of what it had left in the background, which was ended; `undefined` for one whose name cannot be told. */
  left: (string | undefined)[];
}

/** How long processes have after SIGTERM (git takes away its locks). An interrupted call has 500 ms in all. */
const GENTLE_MS = 200;
/** How long what is left in the background goes on after the shell. */
const LEFT_MS = 1000;
/** How often it is looked at. */
const LOOK_MS = 20;
const PROGRESS_MS = 250;

/** One argument may have 128 KiB on Linux (MAX_ARG_STRLEN, execve(2)); this many UTF-16 units are always fewer bytes. */
const ARGUMENT_UNITS = 40_000;

/**
 * Resolves when nothing of it runs any more. stdin is empty, stdout and stderr are one stream, there is no terminal. Rejects with
 * an error of the code `ENOENT` when there is no shell or no such folder, and `E2BIG` when the command is too long. Two
 * must not run at the same time in one process: what they leave behind could not be told apart.
 */
export async function runCommand(order: CommandOrder): Promise<CommandEnd> {
  const startedAt = performance.now();
  const family = await openDescendants();
  const pipe = await openPipe();
  const output = createOutput();
  const shell = await startShell(order, pipe);

  let lastShown = -Infinity;
  const read = readAll(pipe?.chunks() ?? shell.child.stdout ?? [], (chunk) => {
    output.push(chunk);
    if (performance.now() - lastShown < PROGRESS_MS) return;
    lastShown = performance.now();
    order.progress?.(output);
  });
  let silent = false;
  void read.then(() => silent = true);

  const stop = Promise.withResolvers<"timeout" | "interrupt">();
  const interrupt = () => stop.resolve("interrupt");
  const limit = setTimeout(() => stop.resolve("timeout"), order.timeoutMs);
  if (order.signal.aborted) interrupt();
  order.signal.addEventListener("abort", interrupt, { once: true });

  /** What runs on without the shell. */
  const rest = (): (string | undefined)[] => {
    const seen = family?.list().map(({ name }: Descendant) => name) ?? [];
    return seen.length > 0 || (silent && !hasGroup(shell.child)) ? seen : [undefined];
  };
  const first = await Promise.race([shell.ended, stop.promise]);
  const stopped = typeof first === "string" ? first : undefined;
  let left: (string | undefined)[] = [];
  if (stopped !== undefined) {
    signalGroup(shell, "TERM");
    await until(() => shell.isGone() && rest().length === 0, GENTLE_MS);
  } else {
    await Promise.race([until(() => (left = rest()).length === 0, LEFT_MS), stop.promise]);
  }
  killTree(shell, family);
  const { code, signal, at } = await shell.ended;
  await Promise.race([read, wait(GENTLE_MS)]);
  pipe?.cancel();
  shell.child.stdout?.destroy();

  clearTimeout(limit);
  order.signal.removeEventListener("abort", interrupt);
  const durationMs = at - startedAt;
  return { output, code, signal, durationMs, left, ...(stopped === undefined ? {} : { stopped }) };
}

interface Shell {
  name: string;
  child: ChildProcess;
  isGone(): boolean;
  ended: Promise<ShellEnd>;
}

interface ShellEnd {
  code: number | null;
  signal: string | null;
  /** On the clock of `performance`. */
  at: number;
}

/** bash where there is one, else sh. */
async function startShell(order: CommandOrder, pipe: Pipe | undefined): Promise<Shell> {
  try {
    for (const name of SHELLS) {
      const shell = await tryShell(name, order, pipe).catch((error: { code?: string }) => {
        if (error.code === "E2BIG" || name === SHELLS.at(-1)) throw error;
        return undefined;
      });
      if (shell) return shell;
    }
    throw new Error("there is no shell");
  } finally {
    pipe?.closeInput();
  }
}

async function tryShell(name: string, { command, cwd, env }: CommandOrder, pipe: Pipe | undefined): Promise<Shell> {
  const args = ["-c", ...argumentsFor(command, name)];
  const child = pipe
    ? spawn(name, args, { cwd, env, stdio: ["ignore", pipe.input, pipe.input], detached: true })
    // The runtime has a pipe for each stream: a shell before the shell makes them one.
    : spawn(name, ["-c", 'exec "$0" "$@" 2>&1', name, ...args], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
  let gone = false;
  const ended = new Promise<ShellEnd>((resolve) => {
    child.on("exit", (code, signal) => {
      gone = true;
      if (child.pid !== undefined) children.delete(child.pid);
      resolve({ code, signal, at: performance.now() });
    });
  });
  if (child.pid !== undefined) children.add(child.pid);
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  return { name, child, isGone: () => gone, ended };
}

/** The command as it is, or as one that the shell puts together from pieces which each fit in an argument. */
function argumentsFor(command: string, shell: string): string[] {
  if (command.length <= ARGUMENT_UNITS) return [command];
  const pieces: string[] = [];
  for (let at = 0; at < command.length;) {
    let end = at + ARGUMENT_UNITS;
    if (/[\ud800-\udbff]/.test(command[end - 1] ?? "")) end--; // never half of a character
    pieces.push(command.slice(at, end));
    at = end;
  }
  const numbers = pieces.map((_, index) => `\${${index + 1}}`).join("");
  return [`eval "set --;${numbers}"`, shell, ...pieces];
}

/** Resolves at the end of the stream, or when it is given up. */
async function readAll(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, take: (chunk: Uint8Array) => void) {
  try {
    for await (const chunk of chunks) take(chunk);
  } catch {
    // It was given up.
  }
}

/** SIGKILL for the shell's group, and for all that left it, as far as it can be seen. */
function killTree(shell: Shell, family: Descendants | undefined): void {
  signalGroup(shell, "KILL");
  family?.end();
}

function signalGroup({ name, child: { pid = NaN } }: Shell, signal: "TERM" | "KILL"): void {
  try {
    process.kill(-pid, `SIG${signal}`);
  } catch (error) {
    // Deno was given no more than the start of a shell: then a shell has to do it. Otherwise nobody is left.
    if (codeOf(error) !== "NOT_GRANTED") return;
    spawn(name, ["-c", `kill -s ${signal} -- -${pid}`], { env: {}, stdio: "ignore" }).on("error", () => {});
  }
}

/** Whether somebody is left in the group that the shell led. */
function hasGroup({ pid = NaN }: ChildProcess): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits for a condition, not longer than so many milliseconds. */
async function until(holds: () => boolean, mostMs: number): Promise<void> {
  const end = performance.now() + mostMs;
  while (!holds() && performance.now() < end) await wait(Math.min(LOOK_MS, mostMs));
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
