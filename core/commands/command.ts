/** Runs one command in a shell of its own, as a whole tree of processes that ends with it. */

import { type Descendant, openDescendants } from "./descendants.ts";
import { MARK, markedProcesses } from "./marked.ts";
import { createOutput, type Output } from "./output.ts";
import { openPipe, type Pipe } from "./pipe.ts";
import { type ShellChild, startShellChild } from "./shell_child.ts";
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
  const below = await openDescendants();
  const pipe = await openPipe();
  const output = createOutput();
  const shell = await startShell(order, pipe).catch(async (error) => {
    await readAll(pipe?.chunks() ?? [], () => {}); // its end is there already, and closes it
    throw error;
  });
  const family: Family | undefined = below ?? marked(order, shell);

  let lastShown = -Infinity;
  const read = readAll(pipe?.chunks() ?? shell.output, (chunk) => {
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

  let left: (string | undefined)[] = [];
  /** Whether nothing runs on without the shell; notes what does. */
  async function isAlone(): Promise<boolean> {
    const seen = (await family?.list() ?? []).map(({ name }) => name || undefined);
    left = seen.length > 0 || (silent && await isGroupGone()) ? seen : [undefined];
    return left.length === 0;
  }
  async function isGroupGone(): Promise<boolean> {
    return !shell.hasGroup() || await family?.hasEnded?.(shell.pid) === true;
  }

  const first = await Promise.race([shell.ended, stop.promise]);
  const stopped = typeof first === "string" ? first : undefined;
  let alone = false;
  if (stopped !== undefined) {
    shell.signalGroup("TERM");
    await until(async () => shell.isGone() && await isAlone(), GENTLE_MS);
    left = [];
  } else {
    await Promise.race([read, wait(LOOK_MS)]); // most often the end of the stream is there at once, and one look is enough
    alone = await Promise.race([until(isAlone, LEFT_MS), stop.promise]) === true;
  }
  // Who sees all of them needs no further look at nothing.
  if (!alone || family === undefined) await killTree(shell, family);
  const { code, signal, at } = await shell.ended;
  await Promise.race([read, wait(GENTLE_MS)]);
  pipe?.cancel();
  shell.letGo();

  clearTimeout(limit);
  order.signal.removeEventListener("abort", interrupt);
  const durationMs = at - startedAt;
  return { output, code, signal, durationMs, left, ...(stopped === undefined ? {} : { stopped }) };
}

interface Shell extends ShellChild {
  name: string;
}

/** Whom a command started, wherever they went. */
interface Family {
  list(): Descendant[] | Promise<Descendant[]>;
  /** Whether all in a group has ended; for who has to ask. */
  hasEnded?(group: number): Promise<boolean>;
  end(): void | Promise<void>;
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
  return { name, ...await startShellChild(name, { args, cwd, env, handle: pipe?.input }) };
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

/** Where the kernel does not keep them together their mark does. */
function marked({ env }: CommandOrder, { name }: Shell): Family | undefined {
  const mark = env[MARK];
  return mark === undefined ? undefined : markedProcesses(mark, name, env["PATH"] ?? "");
}

/** SIGKILL for the shell's group, and for all that left it, as far as it can be seen. */
async function killTree(shell: Shell, family: Family | undefined): Promise<void> {
  shell.signalGroup("KILL");
  await family?.end();
}

/** Waits for a condition, not longer than so many milliseconds; tells whether it came. */
async function until(holds: () => boolean | Promise<boolean>, mostMs: number): Promise<boolean> {
  const end = performance.now() + mostMs;
  while (!await holds()) {
    if (performance.now() >= end) return false;
    await wait(Math.min(LOOK_MS, mostMs));
  }
  return true;
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
