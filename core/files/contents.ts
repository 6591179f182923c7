/** All that a file holds, or its hash, of a file of any size. */

import { Buffer } from "node:buffer";
import { constants, type FileHandle, open } from "node:fs/promises";
import { startSha256 } from "../hash.ts";
import { NOT_THROUGH } from "./opening.ts";
import { codeOf } from "./refusal.ts";

/** Bytes that are read at once. */
const CHUNK = 1_000_000;

/** SHA-256 in hex of a regular file, or null when nothing is there; follows no link. */
export async function hashOf(target: string | Buffer): Promise<string | null> {
  try {
    await using handle = await open(target, constants.O_RDONLY | NOT_THROUGH);
    return await hashIn(handle);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** SHA-256 in hex of an open file. */
async function hashIn(handle: FileHandle): Promise<string> {
  const hash = startSha256();
  for await (const chunk of chunksIn(handle)) hash.update(chunk);
  return hash.digest("hex");
}

/** All of an open file; its position stays. */
export async function bytesIn(handle: FileHandle): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksIn(handle)) chunks.push(chunk.slice());
  return Buffer.concat(chunks);
}

/** An open file from its beginning, each chunk good until the next one; its position stays. */
async function* chunksIn(handle: FileHandle): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(CHUNK);
  for (let [at, size] = [0, -1]; size !== 0; at += size) {
    size = (await handle.read(chunk, 0, CHUNK, at)).bytesRead;
    yield chunk.subarray(0, size);
  }
}
