/** Tries the finished fence from the inside, before anything relies on it. */

import { closeSync, constants, lstatSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import process from "node:process";
import type { FenceRules } from "./fence_rules.ts";
import { openKernel } from "./kernel.ts";

/** A file or folder that is there and that every user may open so: else a refusal would prove nothing. */
export interface Canary {
  path: string;
  access: "read" | "write";
}

/** What is to be tried: what this process must not be able to do. */
export interface FenceCheck {
  /** Outside every grant. None where everything was granted: then only the rest is tried. */
  canary?: Canary;
  /** Core, if this process is another one: its environment holds the key. */
  corePid?: number;
  /** Those that this process may have. */
  sockets: FenceRules["sockets"];
  /** Set in a process that has called `denyExec`. */
  noExec?: boolean;
}

/** Files opened at the same time: more than one, since the runtime spreads them over threads that a half fence would leave free. */
const OPENED_AT_ONCE = 8;

const AF_UNIX = 1;
const AF_INET = 2;
const SOCK_STREAM = 1;
const EPERM = -1;

/**
 * What does not hold, a line each; nothing when the fence is whole. Takes about 2 ms and changes nothing. Raw calls are tried on
 * Linux only, files everywhere. Never throws.
 */
export async function selfTest(check: FenceCheck): Promise<string[]> {
  const failures: string[] = [];
  if (check.canary) failures.push(...await tryFile(check.canary));
  if (process.platform === "linux") failures.push(...await tryLinux(check));
  return failures;
}

async function tryFile({ path, access }: Canary): Promise<string[]> {
  const failures: string[] = [];
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    failures.push("the file that tests the fence is missing, so that nothing is proved");
  }
  const flags = access === "read" ? constants.O_RDONLY : constants.O_WRONLY;
  const done = access === "read" ? "read" : "changed";
  if (!isRefused(outcomeOf(path, flags))) failures.push(`a file outside can be ${done}`);
  const later = await Promise.all(Array.from({ length: OPENED_AT_ONCE }, () => laterOutcomeOf(path, flags)));
  if (!later.every(isRefused)) failures.push(`a file outside can be ${done} by another thread of this process`);
  return failures;
}

async function tryLinux({ corePid, sockets, noExec }: FenceCheck): Promise<string[]> {
  const failures: string[] = [];
  if (corePid !== undefined && !isRefused(outcomeOf(`/proc/${corePid}/environ`, constants.O_RDONLY))) {
    failures.push("the environment of tenon's core can be read");
  }
  const kernel = await openKernel();
  const socket = kernel.call("socket", sockets === "none" ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
  if (socket >= 0) closeSync(socket);
  if (socket !== EPERM) failures.push(sockets === "none" ? "a socket can be made" : "a local socket can be made");
  // A folder cannot be started: without the filter the answer would be EACCES.
  if (noExec && kernel.call("execve", new TextEncoder().encode("/\0"), null, null) !== EPERM) {
    failures.push("a program can be started");
  }
  return failures;
}

/** The error code of opening the file, or `undefined` when it opened. */
function outcomeOf(path: string, flags: number): string | undefined {
  try {
    closeSync(openSync(path, flags));
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

async function laterOutcomeOf(path: string, flags: number): Promise<string | undefined> {
  try {
    await (await open(path, flags)).close();
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
