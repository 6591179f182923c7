/** Tries the finished fence from the inside, before anything relies on it. */

import { closeSync, lstatSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import process from "node:process";
import { openKernel } from "./kernel.ts";

/** What is to be tried: what this process must not be able to do. */
export interface FenceCheck {
  /** A file outside every grant that exists and that the user may read: without it a refusal would prove nothing. */
  canary: string;
  /** Core, if this process is another one: its environment holds the key. */
  corePid?: number;
  /** Set in a process that must have no socket. */
  noSockets?: boolean;
  /** Set in a process that has called `denyExec`. */
  noExec?: boolean;
}

/** Reads at the same time: more than one, since the runtime spreads them over threads that a half fence would leave free. */
const READS_AT_ONCE = 8;

const AF_INET = 2;
const SOCK_STREAM = 1;
const EPERM = -1;

/**
 * What does not hold, a line each; nothing when the fence is whole. Takes about 2 ms and changes nothing. Raw calls are tried on
 * Linux only, files everywhere. Never throws.
 */
export async function selfTest(check: FenceCheck): Promise<string[]> {
  const failures: string[] = [];
  if (lstatSync(check.canary, { throwIfNoEntry: false }) === undefined) {
    failures.push("the file that tests the fence is missing, so that nothing is proved");
  }
  if (!isRefused(outcomeOf(check.canary))) failures.push("a file outside can be read");
  const reads = await Promise.all(Array.from({ length: READS_AT_ONCE }, () => laterOutcomeOf(check.canary)));
  if (!reads.every(isRefused)) failures.push("a file outside can be read by another thread of this process");
  if (process.platform === "linux") failures.push(...await tryLinux(check));
  return failures;
}

async function tryLinux({ corePid, noSockets, noExec }: FenceCheck): Promise<string[]> {
  const failures: string[] = [];
  if (corePid !== undefined && !isRefused(outcomeOf(`/proc/${corePid}/environ`))) {
    failures.push("the environment of tenon's core can be read");
  }
  if (!noSockets && !noExec) return failures;
  const kernel = await openKernel();
  if (noSockets) {
    const socket = kernel.call("socket", AF_INET, SOCK_STREAM, 0);
    if (socket >= 0) closeSync(socket);
    if (socket !== EPERM) failures.push("a socket can be made");
  }
  // A folder cannot be started: without the filter the answer would be EACCES.
  if (noExec && kernel.call("execve", new TextEncoder().encode("/\0"), null, null) !== EPERM) {
    failures.push("a program can be started");
  }
  return failures;
}

/** The error code of opening the file, or `undefined` when it opened. */
function outcomeOf(path: string): string | undefined {
  try {
    closeSync(openSync(path, "r"));
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

async function laterOutcomeOf(path: string): Promise<string | undefined> {
  try {
    await (await open(path, "r")).close();
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

/** Refused, and not just absent. */
function isRefused(outcome: string | undefined): boolean {
  return outcome === "EACCES" || outcome === "EPERM";
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code);
}
