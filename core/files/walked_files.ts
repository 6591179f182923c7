/** Reads the files that a walk comes by: very many, mostly small ones, as fast as it goes. */

import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Rules } from "./grant.ts";
import { openFile } from "./opening.ts";
import { codeOf } from "./refusal.ts";
import type { FilesOptions, WalkedFile } from "../tool.ts";
import { walk } from "./walking.ts";

/** Files that are read ahead of the one that is asked for. */
const AHEAD = 64;
/** A larger file is read only when it is its turn, so that no more than `AHEAD` times this is held. */
const AHEAD_BYTES = 1_000_000;

type Content = Pick<WalkedFile, "bytes" | "reason">;

/**
 * The regular files below a folder, given by its real path, in the order of the walk. Each is judged, opened without following a link and
 * compared with its place before a byte of it is read. Where the kernel tells the place of an open file this is done without waiting: a
 * file in the cache is there sooner than an answer from another thread. Everything else takes the way of `openFile`.
 */
export async function* walkFiles(start: string, rules: Rules, options: FilesOptions): AsyncGenerator<WalkedFile> {
  const entries = walk(start, rules, options);
  const queue: { path: string; real: string; content: Content | Promise<Content> }[] = [];
  let isDone = false;
  const fill = async (): Promise<void> => {
    await setImmediate(); // others have their turn too
    while (!isDone && queue.length < AHEAD) {
      const next = await entries.next();
      if (next.done === true) isDone = true;
      else if (next.value.entry.kind === "file" && (options.wanted?.(next.value.entry) ?? true)) {
        const { entry: { path }, real } = next.value;
        queue.push({ path, real, content: read(real, rules, Math.min(options.limit, AHEAD_BYTES)) });
      }
    }
  };
  try {
    while (true) {
      if (queue.length === 0) await fill();
      const first = queue.shift();
      if (first === undefined) return;
      let content = await first.content;
      if (content.reason === "too large" && options.limit > AHEAD_BYTES) {
        content = await read(first.real, rules, options.limit);
      }
      yield { path: first.path, ...content };
    }
  } finally {
    await entries.return(undefined);
    await Promise.all(queue.map(({ content }) => content));
  }
}

function read(real: string, rules: Rules, limit: number): Content | Promise<Content> {
  return readAtOnce(real, rules, limit) ?? readPatiently(real, rules, limit);
}

/** The content, or nothing when there is anything out of the ordinary. */
function readAtOnce(real: string, rules: Rules, limit: number): Content | undefined {
  if (constants.O_NOFOLLOW === undefined || !real.isWellFormed()) return undefined;
  let handle: number | undefined;
  try {
    rules.check(real, "read");
    handle = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(handle);
    if (!stats.isFile() || readlinkSync(`/proc/self/fd/${handle}`) !== real) return undefined;
    if (stats.size > limit) return { reason: "too large" };
    const bytes = new Uint8Array(stats.size);
    return readSync(handle, bytes, 0, stats.size, 0) === stats.size ? { bytes } : undefined;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

async function readPatiently(real: string, rules: Rules, limit: number): Promise<Content> {
  try {
    const { handle } = await openFile(() => {
      rules.check(real, "read");
      return Promise.resolve(real);
    });
    try {
      if ((await handle.stat()).size > limit) return { reason: "too large" };
      return { bytes: await handle.readFile() };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return { reason: "not readable" };
  }
}
