/**
 * A program that starts another one on a kernel that answers otherwise: `other_kernel.ts REFUSAL COMMAND…`. The call of the refusal
 * (JSON) is not made, and answers with its error; 0 claims that it was made. By a seccomp filter, which whatever is started inherits.
 */

import process from "node:process";
import type { Refusal } from "../../core/fence/bpf.ts";
import { demand, openKernel } from "../../core/fence/kernel.ts";
import { installFilter } from "../../core/fence/seccomp.ts";

const PR_SET_NO_NEW_PRIVS = 38;

/** The command line to start `command` with. */
export function onOtherKernel(refusal: Refusal, command: readonly string[]): string[] {
  const bun = [process.execPath, "--no-env-file", "--no-install"];
  return [...bun, import.meta.path, JSON.stringify(refusal), ...command];
}

if (import.meta.main) {
  const [refusal = "", program = "", ...args] = process.argv.slice(2);
  const kernel = await openKernel();
  demand(kernel.call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  installFilter(kernel, [JSON.parse(refusal) as Refusal], "all");
  process.execve?.(program, [program, ...args], process.env as Record<string, string>);
}
