/** Takes back what the last turn changed in files through the built-in tools; what commands did is not known here. */

import { Buffer } from "node:buffer";
import { quoted } from "../files/refusal.ts";
import type { Grant } from "../files/workspace.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { grantFor } from "../permissions/permissions.ts";
import type { Policy } from "../permissions/policy.ts";
import { createQueue } from "../hosts/queue.ts";
import { BUILT_IN, type CallOptions, type Host, type Outcome, type Tool } from "../registry.ts";
import { REMOVED } from "./remove_folder.ts";
import { OVER_ANOTHER, type Restored } from "./restore.ts";
import { oneLine } from "../text.ts";
import type { ChangedFile, UndoStore } from "./undo_store.ts";

export interface Undo {
  /** The same tool, whose changes are kept. */
  guard(tool: Tool): Tool;
  /** From here on changes belong to another turn. */
  newTurn(): void;
  /**
   * Puts the files back to what they were before the last turn that changed any. A file that something else changed, since or between two
   * changes of the turn, is left, unless `force`; then a file that nothing can be put back to is forgotten, and no other. `forceWords` is
   * how the user says that.
   */
  takeBack(options: { force: boolean; forceWords: string; signal: AbortSignal }): Promise<TakenBack>;
}

export interface TakenBack {
  /** For the user. */
  lines: string[];
  /** Every file is back. */
  isWhole: boolean;
  /** It was changed before this start of tenon. */
  isEarlier: boolean;
}

/** For one file or folder to be put back. Milliseconds. */
const LIMIT_MS = 60_000;

const needs = { read: true, write: true };

/** For whoever takes something back: the user's own order needs no other word of theirs. */
export function restoringGrant(policy: Policy, guarded: readonly string[]): Grant {
  return grantFor({ ...policy, prompt: true }, needs, guarded);
}

/** A host that starts when something is taken back. */
export function restorer(hosts: Hosts, grant: Grant): Host {
  const tools = ["restore", "remove_folder"].map((name) => ({
    definition: { name, description: "-", input_schema: {} },
    permissions: needs,
    timeout_ms: LIMIT_MS,
  }));
  return hosts.open({ plugins: { builtin: tools.map(({ definition }) => definition.name) }, needs, grant }, tools);
}

/** `tidy` is waited for before anything is put back. */
export function createUndo(store: UndoStore, restorer: Host, tidy: () => Promise<void>): Undo {
  let turn: string = crypto.randomUUID();
  let isTold = false;
  const toldLarge = new Set<string>();
  const own = new Set<string>();
  const inTurn = createQueue(1);

  async function keep({ changes = [] }: Outcome, options: CallOptions): Promise<void> {
    if (changes.length > 0) own.add(turn);
    for (const { before, ...change } of changes) {
      const { path } = change;
      const bytes = typeof before === "string" ? Buffer.from(before, "base64") : before;
      const how = await inTurn(() => store.add(turn, { ...change, before: bytes }));
      if (how === "without content" && !toldLarge.has(path)) {
        toldLarge.add(path);
        const why = bytes === undefined ? "is over 10 MB" : "is more than what is kept of one turn";
        options.warn?.(`The old content of ${oneLine(path)} ${why} and is not kept: undo will not know of it`);
      }
      if (how !== "failed" || !store.isOpen || isTold) continue;
      isTold = true; // once: a disk that is full stays so
      options.warn?.(`The old content of ${oneLine(path)} could not be kept: undo will not know of it`);
    }
  }

  /** Resolves with what became of the file, or with why it is as it was. */
  async function restore(file: ChangedFile, force: boolean, signal: AbortSignal): Promise<Became> {
    const { path, before, after, mode, mixed = false } = file;
    const bytes = before ? await store.contentOf(before).catch(() => "unreadable" as const) : before;
    if (bytes === "unreadable") return { problem: "its old content cannot be read now" };
    if (bytes === undefined) return { problem: NOT_KEPT };
    const content = bytes === null ? null : Buffer.from(bytes).toString("base64");
    const input: Restored = { path, content, after, mixed, force, ...(mode === undefined ? {} : { mode }) };
    const outcome = await restorer.call("restore", input, { signal, progress() {} });
    if (!outcome.is_error) return { isOverAnother: outcome.content === OVER_ANOTHER };
    const said = String(outcome.content);
    const named = `${quoted(path)}: `;
    return { problem: said.includes(named) ? said.slice(said.indexOf(named) + named.length) : said };
  }

  /** The innermost first. What is not empty, or is a folder no more, stays: it is not the turn's. */
  async function removeFolders(folders: readonly string[], signal: AbortSignal): Promise<string[]> {
    const removed: string[] = [];
    for (const path of folders.toReversed()) {
      const { content } = await restorer.call("remove_folder", { path }, { signal, progress() {} });
      if (content === REMOVED) removed.push(path);
    }
    return removed;
  }

  return {
    guard(tool) {
      // A plugin could claim what it likes of files that it never touched.
      if (tool.source !== BUILT_IN || !tool.permissions.write) return tool;
      const { host } = tool;
      return {
        ...tool,
        host: {
          ...host,
          async call(name, input, options) {
            const outcome = await host.call(name, input, options);
            await keep(outcome, options);
            return outcome;
          },
        },
      };
    },
    newTurn: () => turn = crypto.randomUUID(),
    async takeBack({ force, forceWords, signal }) {
      if (!store.isOpen) {
        return { lines: ["Nothing is kept for undo: the state folder cannot be written"], ...NOTHING };
      }
      const last = await store.last();
      if (!last) return { lines: [`Nothing to take back. ${SCOPE}`], ...NOTHING };
      await tidy();
      const lines: string[] = [];
      const left: ChangedFile[] = [];
      let isWhole = true;
      for (const file of last.files.toReversed()) {
        const became = await restore(file, force, signal);
        const name = oneLine(file.path, 500);
        if ("problem" in became) {
          isWhole = false;
          if (!force || !HOPELESS.test(became.problem)) left.unshift(file);
          lines.push(`Left as it is: ${name}: ${oneLine(became.problem)}`);
        } else {
          const lost = became.isOverAnother ? "; what was changed since is lost" : "";
          lines.push(`${file.before === null ? "Removed" : "Taken back"}: ${name}${lost}`);
        }
      }
      for (const folder of await removeFolders(last.folders ?? [], signal)) {
        lines.push(`Removed: ${oneLine(folder, 500)}/`);
      }
      await store.settle(last.id, left);
      const hint = left.length === 0 ? [] : [force ? KEPT : `${forceWords} ${FORCE}`];
      return { lines: [...lines, ...hint, SCOPE], isWhole, isEarlier: !own.has(last.id) };
    },
  };
}

const NOTHING = { isWhole: false, isEarlier: false };

type Became = { isOverAnother: boolean } | { problem: string };

const FORCE =
  "puts the old content back all the same: what was changed since is lost, and what can never be put back is dropped";
const KEPT = "What was there before is still kept: mend what is in the way, and undo again";
const NOT_KEPT = "its old content was not kept";

/** Problems that no other try ends: there is nothing to put back, or the path leads to something else now. Every other one may pass. */
const HOPELESS = new RegExp(
  `^(?:${NOT_KEPT}|a part of its path is a link now|it is outside the workspace|it is a (?:directory|named pipe|socket|device)|it is not a regular file)`,
);
const SCOPE = "Only what the built-in file tools changed is taken back, not what commands did";
