/** The processes below this one: takes in those that lose their parent, lists, ends and reaps them. Bun on Linux. */

import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { demand, type Kernel, openKernel } from "../fence/kernel.ts";

/** A running process, by its number and the first 15 bytes of its program's name. */
export interface Descendant {
  pid: number;
  name: string;
}

export interface Descendants {
  /** All that run below this process, also in sessions of their own; not those of `spared`, nor what runs below these. */
  list(spared?: Iterable<number>): Descendant[];
  /** Kills what `list` gives until nothing is left, for at most a second. Blocks meanwhile, so that it works at exit too. */
  end(spared?: Iterable<number>): void;
}

/** A process as the kernel tells of it. */
interface ProcessRow extends Descendant {
  parent: number;
  /** Ended, and waiting to be reaped. */
  dead: boolean;
  /** By a signal: it goes on when it is told to. */
  stopped: boolean;
}

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
const ECHILD = -10;
/** waitid(2): any child, however it was made, that has ended, without waiting and without reaping. */
const ANY_CHILD = [0, 0, null, 1 | 4 | 0x01000000 | 0x40000000, null] as const;

/** How long `end` goes after what keeps starting more of itself. */
const END_MS = 1000;

/** Whose end the runtime itself waits for: whoever starts a child puts it here until it has ended. */
export const children = new Set<number>();

let opened: Promise<Descendants | undefined> | undefined;

/**
 * Makes this process the one that takes in every process below it that loses its parent, instead of init: whoever starts a session
 * of its own, or forks twice, stays below. Undefined where that cannot be had.
 */
export function openDescendants(): Promise<Descendants | undefined> {
  return opened ??= open();
}

async function open(): Promise<Descendants | undefined> {
  if (process.platform !== "linux" || process.versions["bun"] === undefined) return undefined;
  try {
    const kernel = await openKernel();
    demand(kernel.call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "to take in processes without a parent");
    return descendantsThrough(kernel);
  } catch {
    return undefined; // a processor or C library that tenon does not know
  }
}

function descendantsThrough(kernel: Kernel): Descendants {
  function list(spared: Iterable<number> = []): Descendant[] {
    // The usual case, in one call instead of a look at every process.
    if (kernel.call("waitid", ...ANY_CHILD) === ECHILD) return [];
    const below = treeBelow(process.pid, readProcesses(), new Set(spared));
    for (const { pid, dead, parent } of below) {
      if (dead && parent === process.pid && !children.has(pid)) kernel.call("wait4", pid, null, WNOHANG, null);
    }
    return below.filter((row) => !row.dead);
  }

  return {
    list,
    end(spared = []) {
      const clock = new Int32Array(new SharedArrayBuffer(4));
      const until = performance.now() + END_MS;
      const stopped = new Set<number>();
      for (let left = list(spared); left.length > 0; left = list(spared)) {
        const running = left.filter(({ pid }) => !stopped.has(pid));
        const late = performance.now() >= until;
        // Between the look and the kill a process may have started another: all are stopped before the first is killed.
        for (const { pid } of running) send(pid, "SIGSTOP");
        for (const { pid } of running) stopped.add(pid);
        if (running.length > 0 && !late) continue;
        for (const { pid } of left) send(pid, "SIGKILL");
        if (late) return;
        Atomics.wait(clock, 0, 0, 1);
      }
    },
  };
}

/** Every process below `root`, without the trees of `spared`. */
function treeBelow(root: number, rows: readonly ProcessRow[], spared: ReadonlySet<number>): ProcessRow[] {
  const children = Map.groupBy(rows, (row) => row.parent);
  const below: ProcessRow[] = [];
  const visit = (pid: number): void => {
    for (const child of children.get(pid) ?? []) {
      if (spared.has(child.pid)) continue;
      below.push(child);
      visit(child.pid);
    }
  };
  visit(root);
  return below;
}

/** From /proc/<pid>/stat, proc(5): `pid (name) state parent …`, where the name may hold anything. */
function parseStat(stat: string): ProcessRow | undefined {
  const [, pid, name = "", state, parent] = /^(\d+) \((.*)\) (\S) (\d+) /s.exec(stat) ?? [];
  if (pid === undefined) return undefined;
  const dead = state === "Z" || state === "X";
  return { pid: Number(pid), name, parent: Number(parent), dead, stopped: state === "T" };
}

function readProcesses(): ProcessRow[] {
  const pids = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  return pids.map((pid) => readProcess(Number(pid))).filter((row) => row !== undefined);
}

/** Undefined when it has ended, and where the kernel tells nothing of processes in /proc. */
export function readProcess(pid: number): ProcessRow | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

function send(pid: number, signal: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}
