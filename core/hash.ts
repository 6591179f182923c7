/** SHA-256, from a part of the runtime that takes 2 ms to load: not before something is hashed. */

import type { Hash } from "node:crypto";
import process from "node:process";

/** A hash to be fed piece by piece. */
export function startSha256(): Hash {
  return process.getBuiltinModule("node:crypto").createHash("sha256");
}

/** In hex; of a text, as UTF-8. */
export function sha256Of(content: Uint8Array | string): string {
  return startSha256().update(content).digest("hex");
}
