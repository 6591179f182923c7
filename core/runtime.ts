/** What this program runs on: Bun or Deno, source or executable, and what of it may be asked. */

import { fstatSync, statSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { DenoDescriptor } from "./permissions/deno_grants.ts";
import { dirname, join } from "./path.ts";

/** The part of Deno that is used here, where it is there. */
interface DenoLike {
  version: { deno: string };
  build: { standalone: boolean };
  /** On what is open: a lock ends with the process that has it. */
  openSync(path: string, options: { read: true; write: true }): {
    tryLockSync(exclusive: boolean): boolean;
    close(): void;
  };
  permissions: { querySync(descriptor: DenoDescriptor): { state: "granted" | "prompt" | "denied"; partial?: boolean } };
}

export const deno: DenoLike | undefined = (globalThis as { Deno?: DenoLike }).Deno;

/** Runtime and its version, as `bun 1.4.5`. */
export function runtimeName(): string {
  return deno ? `deno ${deno.version.deno}` : `bun ${process.versions["bun"]}`;
}

/** Whether this is one executable file rather than sources. */
export function isExecutable(): boolean {
  return deno ? deno.build.standalone : import.meta.url.includes("$bunfs") || import.meta.url.includes("~BUN");
}

/** The folder of the executable, or of `mod.ts`. */
export function programFolder(): string {
  return isExecutable() ? dirname(process.execPath) : dirname(dirname(fileURLToPath(import.meta.url)));
}

/** The plugins folder beside the program. */
export function ownPluginFolder(): string {
  return join(programFolder(), "plugins");
}

/**
 * Whether a terminal is at this handle. The runtime's own word for it takes 4 ms to load, so what can be none is told
 * without.
 */
export function isTerminal(handle: 0 | 1 | 2): boolean {
  return !isFileOrPipe(handle) && process.getBuiltinModule("node:tty").isatty(handle);
}

/** Also for `/dev/null`. Deno would want a permission for that, and has the word loaded anyhow. */
function isFileOrPipe(handle: number): boolean {
  if (deno || process.platform === "win32") return false;
  try {
    const stat = fstatSync(handle);
    return !stat.isCharacterDevice() || stat.rdev === statSync("/dev/null").rdev;
  } catch {
    return false;
  }
}

/** Whether a process with this id is there. One that may not be asked (EPERM, or by Deno's permissions) counts as there. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code !== "ESRCH";
  }
}

/** A variable of the environment; blank counts as not set, and so does one that Deno may not read (it would ask). */
export function readEnv(variable: string): string | undefined {
  if (!isGranted({ name: "env", variable })) return undefined;
  return process.env[variable]?.trim() || undefined;
}

/** Whether this process may read the path without a question of the runtime's own. Always so under Bun. */
export function mayRead(path: string): boolean {
  return isGranted({ name: "read", path });
}

/**
 * What Deno was given, without asking anybody. Without Deno there is nothing to ask for. Of what Deno denies a part, the rest counts as
 * denied too: no worker can be given it ("Can't escalate parent thread permissions"). Of the empty path Deno takes no question:
 * nothing is there.
 */
export function denoState(descriptor: DenoDescriptor): "granted" | "prompt" | "denied" {
  if (!deno || ("path" in descriptor && descriptor.path === "")) return "granted";
  const { state, partial } = deno.permissions.querySync(descriptor);
  return state === "granted" && partial === true ? "denied" : state;
}

function isGranted(descriptor: DenoDescriptor): boolean {
  return denoState(descriptor) === "granted";
}
