/** A host as a child process of the same program: how core starts it, hears it and ends it. */

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { children, type Descendants, openDescendants, readProcess } from "../commands/descendants.ts";
import { ownCommand } from "../fence/fence.ts";
import type { Connection } from "./running_host.ts";
import { MESSAGE_LIMIT } from "./protocol.ts";
import { ROLE } from "./role.ts";
import { tailOf } from "../text.ts";
import type { HostSetup } from "./host_main.ts";

/** How much of what a host printed is kept for the reason of its end. */
const TAIL = 4000;

/** A command that stops its host also stops the clock that would end it. Milliseconds between two looks. */
const LOOK_MS = 1000;

let below: Descendants | undefined;

/** Starts the process. `env` is its whole environment. It has its own session, so that it can be ended with all it started. */
export function connectProcess(setup: HostSetup, env: { [name: string]: string }): Connection {
  const [program = process.execPath, ...args] = ownCommand([]);
  const child = spawn(program, args, {
    cwd: "/",
    env: { ...env, [ROLE]: `host ${JSON.stringify(setup)}` },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const startsPrograms = setup.rules?.exec ?? true;
  if (child.pid !== undefined) children.add(child.pid);
  if (startsPrograms) void openDescendants().then((opened) => below = opened);
  const looks = startsPrograms ? setInterval(endIfStopped, LOOK_MS) : undefined;
  looks?.unref();
  const closed = Promise.withResolvers<string>();
  let receive: (message: unknown) => void = () => {};
  let printed = "";
  let ended: string | undefined;

  function kill(): void {
    endGroup(child);
    // Core starts nothing but hosts: what else is below it, a host has left.
    if (startsPrograms) below?.end([...children].filter((pid) => pid !== child.pid));
  }

  function endIfStopped(): void {
    if (child.pid === undefined || !readProcess(child.pid)?.stopped) return;
    ended = "its process was stopped by a signal, and was ended";
    kill();
  }

  readLines(child, (line) => receive(parsed(line)), () => {
    ended = `its answer was over ${MESSAGE_LIMIT / 1_000_000} MB`;
    kill();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    printed = tailOf(printed + text, TAIL);
    receive({ type: "printed", text });
  });
  child.stdin?.on("error", () => {}); // it is gone; `close` tells
  child.on("error", () => closed.resolve("its process could not be started"));
  child.on("exit", () => {
    clearInterval(looks);
    if (child.pid !== undefined) children.delete(child.pid);
    kill(); // what it started and left behind
  });
  child.on("close", (code, signal) => {
    closed.resolve(ended ?? wordsForEnd(code, signal, printed));
  });
  return {
    send: (message) => child.stdin?.write(`${JSON.stringify(message)}\n`),
    receive: (handle) => receive = handle,
    closed: closed.promise,
    kill,
  };
}

/** The host leads a group of its own; whoever left it is found below core (see `descendants.ts`). */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left.
  }
}

function readLines(child: ChildProcess, take: (line: string) => void, tooLong: () => void): void {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let length = 0;
  child.stdout?.on("data", (chunk: Uint8Array) => {
    const lines = decoder.decode(chunk, { stream: true }).split("\n");
    for (const [index, piece] of lines.entries()) {
      parts.push(piece);
      length += piece.length;
      if (length > MESSAGE_LIMIT) return tooLong();
      if (index === lines.length - 1) break;
      take(parts.join(""));
      parts = [];
      length = 0;
    }
  });
}

/** What is no JSON is no message. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function wordsForEnd(code: number | null, signal: string | null, printed: string): string {
  if (/^tenon host: /m.test(printed)) return /^tenon host: (.*)$/m.exec(printed)?.[1] ?? "";
  if (/out of memory|OutOfMemory/i.test(printed)) return "it ran out of memory";
  if (signal === "SIGKILL") return "its process was ended";
  return signal ? `its process crashed (${signal})` : `its process ended by itself (exit code ${code})`;
}
