/** Notes each temporary file while it is there, in the state folder, so that the next start removes what a killed process left. */

import { mkdirSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import process from "node:process";
// @ts-types="../../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import type { Grant } from "../files/workspace.ts";
import { sha256Of } from "../hash.ts";
import { isInside, join, resolve } from "../path.ts";
import { deno, isRunning, mayRead } from "../runtime.ts";
import { mayWrite } from "../state_file.ts";
import type { Connect, Hosts } from "./hosts.ts";
import type { Connection } from "./running_host.ts";
import { AboutWrite } from "./protocol.ts";

/** Files that one process notes at a time, and notes of a workspace that a start looks at: more are not kept. */
export const NOTE_LIMITS = { process: 200, folder: 300 };

/** Where the owner of a note cannot be asked whether it still runs, so old a note is left over. Milliseconds. */
const STALE_MS = 60_000;

/** For all leftovers to be removed, at a start that waits for it. Milliseconds. */
const LIMIT_MS = 5000;

/** Where the notes of this workspace are. Undefined where there is no such folder, or Deno may not write it: then nothing is noted. */
export function notesFolder(state: string | undefined, root: string): string | undefined {
  if (state === undefined || !mayRead(state) || !mayWrite(state)) return undefined;
  return join(state, "writes", sha256Of(root).slice(0, 32));
}

/**
 * The same hosts; the temporary files of those that write are noted before they are made. A note that cannot be written keeps no write from being done.
 * What a host that was ended has not taken back stays noted: its file may be there. A plugin may say what it likes: nothing but a file
 * that has the name of a temporary one is ever removed for a note, and that in a host.
 */
export function notingWrites(connect: Connect, folder: string | undefined): Connect {
  if (folder === undefined) return connect;
  let count = 0;
  const keep = (path: string) => {
    const forget = count < NOTE_LIMITS.process ? note(folder, path) : undefined;
    if (!forget) return undefined;
    count++;
    return () => {
      count--;
      forget();
    };
  };
  return (order) => {
    const connection = connect(order);
    return order.needs.write ? { ...connection, ...noting(connection, keep) } : connection;
  };
}

type Keep = (path: string) => (() => void) | undefined;

function noting(connection: Connection, keep: Keep): Pick<Connection, "send" | "receive"> {
  const notes = new Map<number, () => void>();
  function take(message: AboutWrite): void {
    const { write } = message;
    if (message.type === "written") {
      notes.get(write)?.();
      notes.delete(write);
      return;
    }
    const forget = notes.has(write) ? undefined : keep(message.path);
    if (forget) notes.set(write, forget);
    connection.send({ type: "noted", write });
  }
  return {
    send: (message) => connection.send(message.type === "start" ? { ...message, tellWrites: true } : message),
    receive: (handle) =>
      connection.receive((raw) => {
        const parsed = v.safeParse(AboutWrite, raw);
        return parsed.success ? take(parsed.output) : handle(raw);
      }),
  };
}

/** One file for each: what two processes note never meets. Its name tells who made it. */
function note(folder: string, path: string): (() => void) | undefined {
  const file = join(folder, `${deno ? "deno" : "bun"}-${process.pid}-${crypto.randomUUID()}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(path), { flag: "wx", mode: 0o600 });
    const held = deno?.openSync(file, { read: true, write: true });
    held?.tryLockSync(true);
    return () => {
      held?.close();
      forget(file);
    };
  } catch {
    return undefined;
  }
}

/**
 * Removes what killed processes have left in the workspace of this folder, as far as it lies where a tool may write; for the rest the
 * notes stay. Nobody is asked: what is removed is tenon's own. What does not go at the first attempt is forgotten. Call it while nothing
 * writes in this process. Never throws.
 */
export async function removeLeftovers(folder: string | undefined, hosts: Hosts, grant: Grant): Promise<void> {
  const due = leftIn(folder).filter(({ path }) => isWritable(path, grant));
  if (due.length === 0) return;
  const needs = { read: true, write: true };
  const definition = { name: "remove_leftovers", description: "-", input_schema: {} };
  const tool = { definition, permissions: needs, timeout_ms: LIMIT_MS };
  const host = hosts.open({ plugins: { builtin: [definition.name] }, needs, grant }, [tool]);
  const input = { paths: due.map(({ path }) => path) };
  const options = { signal: AbortSignal.timeout(LIMIT_MS), progress() {} };
  const outcome = await host.call(definition.name, input, options).catch(() => undefined);
  host.end();
  if (outcome?.is_error === false) { for (const { file } of due) forget(file); }
}

function isWritable(path: string, { root, write, denyWrite }: Grant): boolean {
  const place = resolve(root, path);
  const isIn = (folders: readonly string[]) => folders.some((folder) => isInside(folder, place));
  return isIn(write) && !isIn(denyWrite);
}

function leftIn(folder: string | undefined): { file: string; path: string }[] {
  const left: { file: string; path: string }[] = [];
  for (const [at, name] of (folder === undefined ? [] : namesIn(folder)).entries()) {
    const file = join(folder ?? "", name);
    if (isHeld(file, name)) continue;
    const path = at < NOTE_LIMITS.folder ? pathIn(file) : undefined;
    if (path === undefined) forget(file);
    else left.push({ file, path });
  }
  return left;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Whether the process that made the note may still run. An id is soon another's, and in a container often the same: our own is none. */
function isHeld(file: string, name: string): boolean {
  const [runtime, pid] = name.split("-");
  try {
    if (!deno) return Number(pid) !== process.pid && isRunning(Number(pid));
    if (runtime !== "deno") return statSync(file).mtimeMs > Date.now() - STALE_MS;
    const opened = deno.openSync(file, { read: true, write: true });
    const isFree = opened.tryLockSync(true);
    opened.close();
    return !isFree;
  } catch {
    return true; // gone since
  }
}

/** Undefined where it was not written to its end: then no file was made. */
function pathIn(file: string): string | undefined {
  try {
    const path: unknown = JSON.parse(readFileSync(file, "utf8"));
    return typeof path === "string" ? path : undefined;
  } catch {
    return undefined;
  }
}

function forget(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Another start was first.
  }
}
