/** Two steps of rename(2) that lose nothing: only to a name that is free, and both ways at once. Bun on Linux. */

import { Buffer } from "node:buffer";
import process from "node:process";
import { openKernel } from "../fence/kernel.ts";

const AT_FDCWD = -100;
/** renameat2(2). */
const FLAGS = { "to a free name": 1, "both ways": 2 } as const;
const EEXIST = -17;

/**
 * Renames, in one step with the look at what is there. `done`, or `taken`: the name is not free. `unknown`: this runtime, system or file
 * system cannot do it, or it failed; then nothing was done, and a plain rename has the reason.
 */
export async function renameStrictly(
  from: string | Buffer,
  to: string | Buffer,
  how: keyof typeof FLAGS,
): Promise<"done" | "taken" | "unknown"> {
  if (process.platform !== "linux" || process.versions["bun"] === undefined) return "unknown";
  const kernel = await openKernel().catch(() => undefined); // a processor or C library that tenon does not know
  const result = kernel?.call("renameat2", AT_FDCWD, ending(from), AT_FDCWD, ending(to), FLAGS[how]);
  return result === 0 ? "done" : result === EEXIST ? "taken" : "unknown";
}

/** As C has it: a zero at the end. */
function ending(path: string | Buffer): Uint8Array {
  return Buffer.concat([Buffer.from(path), Buffer.of(0)]);
}
