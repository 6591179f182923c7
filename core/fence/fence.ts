/** Puts this process behind the kernel's fence, whichever the platform has. */

import process from "node:process";
import { denyLinuxExec, enterLinuxFence, hardenLinuxCore, limitLinuxMemory, probeLinuxFence } from "./fence_linux.ts";
import { enterMacFence, macSystemRules, probeMacFence } from "./fence_macos.ts";
import type { FenceRules, FenceStatus, SystemRules } from "./fence_rules.ts";
import { openUnderDeno, openWithGuardOnly } from "./not_covered.ts";
import { join } from "../path.ts";
import { isExecutable, programFolder } from "../runtime.ts";
import { linuxSystemRules } from "./system_rules.ts";

export { type Canary, type FenceCheck, selfTest } from "./fence_check.ts";
export { openByGrant } from "./not_covered.ts";
export type { FenceRules, FenceStatus, SystemRules } from "./fence_rules.ts";

/** What holds the tools of this process, without changing anything. Never throws: where nothing holds, it says `guard` and why. */
export async function probeFence(): Promise<FenceStatus> {
  if (process.versions.bun === undefined) {
    return { level: "runtime", landlock_abi: 0, seccomp: false, not_covered: openUnderDeno() };
  }
  if (process.platform === "linux") return await probeLinuxFence();
  if (process.platform === "darwin") return probeMacFence();
  return {
    level: "guard",
    landlock_abi: 0,
    seccomp: false,
    not_covered: openWithGuardOnly(`tenon has none for ${process.platform}`),
  };
}

/**
 * Restricts this process, then becomes `argv[0]` (an absolute path, as `ownCommand` gives it) with exactly this environment;
 * never returns. Only handles 0, 1 and 2 come along, so talk over stdin and stdout. On Linux it may be called again
 * behind the fence: a layer can only narrow, so the outer rules have to hold all that an inner one grants. On macOS one process can be
 * fenced only once (Seatbelt does not nest), so there only hosts are.
 *
 * Throws with a plain reason when a step is refused. The process is then half restricted: say why, and exit.
 */
export async function enterFence(rules: FenceRules, argv: string[], env: Record<string, string>): Promise<never> {
  if (!argv[0]?.startsWith("/")) throw new Error("the fence starts programs by their absolute path only");
  if (process.platform === "linux") return await enterLinuxFence(rules, argv, env);
  if (process.platform === "darwin") return enterMacFence(rules, argv, env);
  throw new Error(`tenon has no kernel fence for ${process.platform}`);
}

/** What of the system every fenced process needs, as far as it exists on this machine. */
export function systemRules(): SystemRules {
  return process.platform === "darwin" ? macSystemRules() : linuxSystemRules();
}

/**
 * The command that starts this program again with other arguments: the executable itself, or from source the runtime and
 * the program's file. The flags are fixed, not those of this start: a relative `--config` would mean another file in another
 * folder, and without one Bun runs what a `bunfig.toml` of the current folder names. From source the program needs to
 * read `programFolder()`, since Bun lists the folders of its files.
 */
export function ownCommand(args: string[]): string[] {
  if (isExecutable()) return [process.execPath, ...args];
  const own = (name: string) => join(programFolder(), name);
  // Without the last one `paths` of the current folder's tsconfig.json lead to another file than the entry point.
  const flags = [
    ...["--no-env-file", "--no-install"],
    ...[`--config=${own("bunfig.toml")}`, `--tsconfig-override=${own("tsconfig.json")}`],
  ];
  return [process.execPath, ...flags, process.argv[1] ?? "", ...args];
}

/**
 * Ends the right to start programs, for every thread and for good: a host without `run` calls it as its first act behind the
 * fence. Nothing to do on macOS, where the profile refuses it from the start. Throws when the kernel refuses.
 */
export async function denyExec(): Promise<void> {
  if (process.platform === "linux") await denyLinuxExec();
}

/**
 * Closes the memory and the environment of this process to other processes of the same user. Core calls it after `enterFence`, since
 * execve takes it back. Nothing to do on macOS.
 */
export async function hardenCore(): Promise<void> {
  if (process.platform === "linux") await hardenLinuxCore();
}

/**
 * Lets this process take so much memory for data more than it has now, and each process that it starts as much in all; beyond it the
 * runtime throws "Out of memory" or ends. Called behind the fence, not before: Bun reserves 6 GB at its start,
 * and with a limit below that (RLIMIT_DATA counts what is reserved) it runs without its compiler, or not at all. About
 * 1 GB of what is reserved can be used before the limit counts. Nothing on macOS, which does not hold such limits.
 */
export async function limitMemory(bytes: number): Promise<void> {
  if (process.platform === "linux") await limitLinuxMemory(bytes);
}
