/** What tenon has left running: Linux only, elsewhere nothing is found. */

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A killed process is there for a moment, until its end has been seen. */
const PATIENCE_MS = 2000;

/**
 * The command lines of processes that were started with `mark` in their environment or arguments: a folder of this test alone,
 * which each host is told of and each command inherits. Waits for those that are just ending.
 */
export async function leftBehind(mark: string): Promise<string[]> {
  const until = Date.now() + PATIENCE_MS;
  let found = marked(mark);
  while (found.length > 0 && Date.now() < until) {
    await sleep(20);
    found = marked(mark);
  }
  return found;
}

/** Process ids and command lines, as they are now. */
export function marked(mark: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid).flatMap((pid) => {
    const [command, environment] = ["cmdline", "environ"].map((file) => contentOf(`/proc/${pid}/${file}`));
    return `${command}${environment}`.includes(mark) ? [`${pid} ${command?.replaceAll("\0", " ")}`] : [];
  });
}

/** Nothing for a process that is gone, or another user's. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
