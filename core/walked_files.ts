/** Reads the files that a walk comes by, several ahead of who asks for them. */

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Rules } from "./grant.ts";
import { toDisk } from "./name.ts";
import { isAt } from "./opening.ts";
import { codeOf, refused } from "./refusal.ts";
import type { FilesOptions, WalkedFile } from "./tool.ts";
import { walk } from "./walking.ts";

/** Files that are read ahead at once. More gain nothing where this was measured. */
const AHEAD = 64;
/** A larger file is read only when it is its turn, so that no more than `AHEAD` times this is held. */
const AHEAD_BYTES = 1_000_000;

type Content = Pick<WalkedFile, "bytes" | "reason">;

/**
 * The regular files below a folder, given by its real path, in the order of the walk. Each is judged, opened without following a link and
 * compared with its place before a byte is read, as `openFile` does it, without the look before the opening: the walk had that.
 */
export async function* walkFiles(start: string, rules: Rules, options: FilesOptions): AsyncGenerator<WalkedFile> {
  const entries = walk(start, rules, options);
  const queue: { path: string; real: string; content: Promise<Content> }[] = [];
  let isDone = false;
  const fill = async (): Promise<void> => {
    while (!isDone && queue.length < AHEAD) {
      const next = await entries.next();
      if (next.done === true) isDone = true;
      else if (next.value.entry.kind === "file" && (options.wanted?.(next.value.entry) ?? true)) {
        const { entry: { path }, real } = next.value;
        queue.push({ path, real, content: contentOf(real, rules, Math.min(options.limit, AHEAD_BYTES)) });
      }
    }
  };
  try {
    while (true) {
      await fill();
      const first = queue.shift();
      if (first === undefined) return;
      let content = await first.content;
      if (content.reason === "too large" && options.limit > AHEAD_BYTES) {
        content = await contentOf(first.real, rules, options.limit);
      }
      yield { path: first.path, ...content };
    }
  } finally {
    await entries.return(undefined);
    await Promise.allSettled(queue.map(({ content }) => content));
  }
}

async function contentOf(real: string, rules: Rules, limit: number): Promise<Content> {
  let handle: FileHandle | undefined;
  try {
    rules.check(real, "read");
    handle = await open(toDisk(real), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const stats = await handle.stat();
    if (!stats.isFile() || !(await isAt(handle, real))) throw refused("it changed while it was opened. Try again");
    if (stats.size > limit) return { reason: "too large" };
    return { bytes: await bytesOf(handle, stats.size) };
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return { reason: "not readable" };
  } finally {
    await handle?.close();
  }
}

async function bytesOf(handle: FileHandle, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await handle.read(bytes, filled, size - filled, filled);
    if (bytesRead === 0) break; // it has become shorter since
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
