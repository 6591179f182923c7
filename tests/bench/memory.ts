/** Memory of a process and of all below it, as the kernel counts it. Linux only. */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The peak of this process and all below it, together, in MB. What they share, such as the executable, counts in each. */
export async function peakOfRun(child: Bun.Subprocess): Promise<number> {
  let peak = 0;
  while (child.exitCode === null) {
    const all = [child.pid, ...below(child.pid)].map(peakOf);
    peak = Math.max(peak, all.reduce((sum, one) => sum + one, 0));
    await sleep(2);
  }
  return peak;
}

/** The greatest peak so far among those below this process, in MB. */
export function greatestPeakBelow(pid: number): number {
  return Math.max(...below(pid).map(peakOf));
}

/** proc_pid_status(5). */
function peakOf(pid: number): number {
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) / 1000;
}

/** proc_tid_children(5): those that each thread has started. */
function below(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...below(child)]);
}

/** Empty when the process has just ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
