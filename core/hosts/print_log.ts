/** What plugins print, kept for their authors: one bounded file for each, in tenon's own state folder. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "../path.ts";
import { denoState } from "../runtime.ts";
import { tailOf, visible } from "../text.ts";

/** Characters that are kept of what one plugin printed: the last ones. */
const LIMIT = 100_000;

/** Milliseconds between two writes of a file: a plugin may print without end. */
const EVERY_MS = 200;

export interface PrintLog {
  /** Control characters are written out, since an author will show the file on a terminal. Never throws. */
  print(plugin: string, text: string): void;
  /** Writes what is still waiting. */
  close(): void;
}

/** Where the files are. Undefined where there is no such folder, or Deno may not write it: then nothing is kept. */
export function printFolder(state: string | undefined): string | undefined {
  if (state === undefined || denoState({ name: "write", path: state }) !== "granted") return undefined;
  return join(state, "printed");
}

export function openPrintLog(folder: string | undefined): PrintLog {
  const texts = new Map<string, string>();
  const changed = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function fileOf(plugin: string): string {
    return join(folder ?? "", `${plugin}.log`);
  }

  function write(): void {
    timer = undefined;
    for (const plugin of changed) {
      attempt(() => writeFileSync(fileOf(plugin), texts.get(plugin) ?? "", { mode: 0o600 }));
    }
    changed.clear();
  }

  return {
    print(plugin, text) {
      if (folder === undefined) return;
      if (!texts.has(plugin)) {
        attempt(() => mkdirSync(folder, { recursive: true, mode: 0o700 }));
        const before = attempt(() => readFileSync(fileOf(plugin), "utf8")) ?? "";
        texts.set(plugin, `${before}--- ${new Date().toISOString()}\n`);
      }
      texts.set(plugin, tailOf(texts.get(plugin) + visible(tailOf(text, LIMIT)), LIMIT));
      changed.add(plugin);
      timer ??= setTimeout(write, EVERY_MS);
    },
    close() {
      clearTimeout(timer);
      write();
    },
  };
}

/** A log that cannot be kept is no reason to end a call. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
