/** The kernel's fence on Linux: restrict the calling thread, then become the same program again with execve. */

import { readFileSync } from "node:fs";
import { dropCapabilities } from "./capabilities.ts";
import type { FenceRules, FenceStatus } from "./fence_rules.ts";
import { demand, type Kernel, openKernel } from "./kernel.ts";
import { landlockAbi, restrictFiles } from "./landlock.ts";
import { openOnLinux, openWithGuardOnly } from "./not_covered.ts";
import { CHANGING_FILES, hasSeccomp, installFilter, refusals, STARTING_PROGRAMS } from "./seccomp.ts";

const PR_SET_DUMPABLE = 4;
const PR_SET_NO_NEW_PRIVS = 38;
const RLIMIT_DATA = 2;
const RLIMIT_CORE = 4;
const CLOSE_RANGE_CLOEXEC = 4;
const LAST_HANDLE = 0xffffffff;

/**
 * Becomes `argv[0]`, an absolute path, behind the fence; never returns. Landlock holds only the calling thread and what comes
 * of it, so the threads that the runtime already has must end: execve ends them. Of the open handles only 0, 1 and 2 stay. May be
 * called again behind the fence, for a narrower one within it.
 *
 * Throws before anything was replaced, when a step is refused: the calling thread is then half restricted, and the process has
 * to end.
 */
export async function enterLinuxFence(rules: FenceRules, argv: string[], env: Record<string, string>): Promise<never> {
  const kernel = await openKernel();
  const abi = usableAbi(kernel, rules.maxAbi);
  if (abi < 1) throw new Error(whyNoLandlock(abi));

  // 1. No handle that was opened outside comes along: Landlock checks when a file is opened, not when it is used.
  demand(kernel.call("close_range", 3, LAST_HANDLE, CLOSE_RANGE_CLOEXEC), "close_range");
  // 2. A crash leaves no image of the memory. getrlimit(2).
  lowerLimit(kernel, RLIMIT_CORE, 0);
  // 3. Set-uid programs give nothing any more, which both of the next steps ask for. no_new_privs.rst.
  demand(kernel.call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  // 4. Root without its powers.
  dropCapabilities(kernel);
  // 5. Files, then calls: the filter is last, so that it cannot refuse a step before it.
  restrictFiles(kernel, abi, rules);
  const changes = rules.write.length + rules.writeOnly.length > 0 ? [] : CHANGING_FILES;
  installFilter(kernel, [...refusals(rules.sockets, abi), ...changes], "this");
  // 6. One thread, the same program, an environment that is only what the caller gave.
  return replaceProcess(kernel, argv, env);
}

/** What the fence would hold here, by trying nothing that stays. */
export async function probeLinuxFence(maxAbi?: number): Promise<FenceStatus> {
  let reason: string;
  try {
    const kernel = await openKernel();
    const abi = usableAbi(kernel, maxAbi);
    const seccomp = hasSeccomp(kernel);
    if (abi >= 1 && seccomp) return { level: "kernel", landlock_abi: abi, seccomp, not_covered: openOnLinux(abi) };
    reason = seccomp ? whyNoLandlock(abi) : "this kernel has no seccomp filters";
  } catch (error) {
    reason = (error as Error).message;
  }
  return { level: "guard", landlock_abi: 0, seccomp: false, not_covered: openWithGuardOnly(reason) };
}

/** From now on no thread of this process, and nothing that it forks, starts a program. Throws when the kernel refuses. */
export async function denyLinuxExec(): Promise<void> {
  const kernel = await openKernel();
  demand(kernel.call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  installFilter(kernel, STARTING_PROGRAMS, "all");
}

/** Closes `/proc/<this>/environ`, `mem` and ptrace to other processes of the same user. prctl(2); execve takes it back. */
export async function hardenLinuxCore(): Promise<void> {
  const kernel = await openKernel();
  demand(kernel.call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE");
}

/** Lets the memory for data grow by so many bytes from now on, here and in what this process starts. getrlimit(2). */
export async function limitLinuxMemory(bytes: number): Promise<void> {
  const kernel = await openKernel();
  const [, reserved] = /^VmData:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  if (reserved === undefined) throw new Error("the kernel does not tell how much memory this process has");
  lowerLimit(kernel, RLIMIT_DATA, Number(reserved) * 1024 + bytes);
}

function usableAbi(kernel: Kernel, maxAbi = Infinity): number {
  return Math.min(landlockAbi(kernel), maxAbi);
}

/** By the error numbers that Landlock's documentation names for its version call. */
function whyNoLandlock(abi: number): string {
  if (abi === -38) return "this kernel has no Landlock (it came with Linux 5.13)";
  if (abi === -95) return "Landlock was not switched on when this kernel started";
  return `this kernel does not offer Landlock (answer ${abi})`;
}

/** Lowers both the soft and the hard limit, and never raises one. */
function lowerLimit(kernel: Kernel, resource: number, limit: number): void {
  const current = new BigUint64Array(2);
  demand(kernel.call("prlimit64", 0, resource, null, new Uint8Array(current.buffer)), "to tell a limit");
  const lowered = current.map((value) => value < BigInt(limit) ? value : BigInt(limit));
  demand(kernel.call("prlimit64", 0, resource, new Uint8Array(lowered.buffer), null), "to lower a limit");
}

/** execve(2). It ends every other thread; handles that are close-on-exec close. */
function replaceProcess(kernel: Kernel, argv: string[], env: Record<string, string>): never {
  const [program = ""] = argv;
  const path = cString(program);
  // The strings stay referenced until the call has been made.
  const args = argv.map(cString);
  const names = Object.entries(env).map(([name, value]) => cString(`${name}=${value}`));
  demand(kernel.call("execve", path, pointers(kernel, args), pointers(kernel, names)), `to start "${program}"`);
  throw new Error(`"${program}" was not started`);
}

function cString(text: string): Uint8Array {
  if (text.includes("\0")) throw new Error("an argument or variable for the fence holds a NUL");
  return new TextEncoder().encode(`${text}\0`);
}

/** `char *const[]`, with the null at its end. */
function pointers(kernel: Kernel, strings: Uint8Array[]): Uint8Array {
  const addresses = [...strings.map((bytes) => BigInt(kernel.addressOf(bytes))), 0n];
  return new Uint8Array(BigUint64Array.from(addresses).buffer);
}
