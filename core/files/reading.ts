/** Reads a part of an open file, and tells text from what is none. */

import type { FileHandle } from "node:fs/promises";
import { refused } from "./refusal.ts";

/** Bytes from `offset` (default 0), at most `length` (default: to the end). Throws the reason when that would be over `limit`. */
export async function readRange(
  handle: FileHandle,
  { offset = 0, length }: { offset?: number; length?: number },
  limit: number,
): Promise<Uint8Array> {
  for (const [name, value] of Object.entries({ offset, length: length ?? 0 })) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw refused(`${name} must be a whole number from 0, got ${value}`);
    }
  }
  const { size } = await handle.stat();
  const wanted = Math.min(length ?? Infinity, Math.max(0, size - offset));
  if (wanted > limit) {
    const [is, most] = [wanted, limit].map((bytes) => bytes.toLocaleString("en-US"));
    throw refused(`it is too large (${is} bytes, at most ${most} at once). Read a part of it`);
  }
  const bytes = new Uint8Array(wanted);
  let filled = 0;
  while (filled < wanted) {
    const { bytesRead } = await handle.read(bytes, filled, wanted - filled, offset + filled);
    if (bytesRead === 0) break; // it has become shorter since
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** Nothing for what is not UTF-8 text. A NUL is valid UTF-8, but no text has one, while UTF-16 is full of them. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
