/** What this program runs on: Bun or Deno, source or executable, and what of it may be asked. */

import process from "node:process";
import { fileURLToPath } from "node:url";
import type { DenoDescriptor } from "./deno_grants.ts";
import { dirname, join } from "./path.ts";

/** The part of Deno that is used here, where it is there. */
interface DenoLike {
  version: { deno: string };
  build: { standalone: boolean };
  permissions: { querySync(descriptor: DenoDescriptor): { state: "granted" | "prompt" | "denied" } };
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

/** A variable of the environment; blank counts as not set, and so does one that Deno may not read (it would ask). */
export function readEnv(variable: string): string | undefined {
  if (!isGranted({ name: "env", variable })) return undefined;
  return process.env[variable]?.trim() || undefined;
}

/** Whether this process may read the path without a question of the runtime's own. Always so under Bun. */
export function mayRead(path: string): boolean {
  return isGranted({ name: "read", path });
}

/** What Deno was given, without asking anybody. Without Deno there is nothing to ask for. */
export function denoState(descriptor: DenoDescriptor): "granted" | "prompt" | "denied" {
  return deno ? deno.permissions.querySync(descriptor).state : "granted";
}

function isGranted(descriptor: DenoDescriptor): boolean {
  return denoState(descriptor) === "granted";
}
