/** Takes back what the last turn changed in files through the built-in tools; what commands did is not known here. */

import { Buffer } from "node:buffer";
import type { Hosts } from "../hosts/hosts.ts";
import { grantFor } from "../permissions/permissions.ts";
import type { Policy } from "../permissions/policy.ts";
import { createQueue } from "../hosts/queue.ts";
import { BUILT_IN, type CallOptions, type Host, type Outcome, type Tool } from "../registry.ts";
import type { Restored } from "./restore.ts";
import { oneLine } from "../text.ts";
import type { ChangedFile, UndoStore } from "./undo_store.ts";

export interface Undo {
  /** The same tool, whose changes are kept. */
  guard(tool: Tool): Tool;
  /** From here on changes belong to another turn. */
  newTurn(): void;
  /**
   * Puts the files back to what they were before the last turn that changed any. A file that was changed since is left, unless `force`;
   * then a file that nothing can be put back to is forgotten, and no other. Resolves with lines for the user, and whether every file is back.
   */
  takeBack(options: { force: boolean; signal: AbortSignal }): Promise<{ lines: string[]; isWhole: boolean }>;
}

/** A host that starts when something is taken back: the user's own order needs no other word of theirs. */
export function restorer(hosts: Hosts, policy: Policy, guarded: readonly string[]): Host {
  const needs = { read: true, write: true };
  const grant = grantFor({ ...policy, prompt: true }, needs, guarded);
  return hosts.open({ plugins: { builtin: ["restore"] }, needs, grant }, []);
}

/** `restorer`: the host of the tool in `restore.ts`. */
export function createUndo(store: UndoStore, restorer: Host): Undo {
  let turn: string = crypto.randomUUID();
  let isTold = false;
  const toldLarge = new Set<string>();
  const inTurn = createQueue(1);

  async function keep({ changes = [] }: Outcome, options: CallOptions): Promise<void> {
    for (const { path, before, after } of changes) {
      const bytes = typeof before === "string" ? Buffer.from(before, "base64") : before;
      const isKept = await inTurn(() => store.add(turn, { path, before: bytes, after }));
      if (isKept && bytes === undefined && !toldLarge.has(path)) {
        const file = (await store.last())?.files.find((one) => one.path === path);
        if (file?.before !== undefined) continue; // it was smaller before the turn
        toldLarge.add(path);
        options.warn?.(`The old content of ${oneLine(path)} is over 10 MB and is not kept: undo will not know of it`);
      }
      if (isKept || !store.isOpen || isTold) continue;
      isTold = true; // once: a disk that is full stays so
      options.warn?.(`The old content of ${oneLine(path)} could not be kept: undo will not know of it`);
    }
  }

  async function restore({ path, before, after }: ChangedFile, force: boolean, signal: AbortSignal) {
    const bytes = before ? await store.contentOf(before).catch(() => "unreadable" as const) : before;
    if (bytes === "unreadable") return "its old content cannot be read now";
    if (bytes === undefined) return NOT_KEPT;
    const content = bytes === null ? null : Buffer.from(bytes).toString("base64");
    const input: Restored = { path, content, replaces: force ? null : after };
    const outcome = await restorer.call("restore", input, { signal, progress() {} });
    if (!outcome.is_error) return undefined;
    return String(outcome.content).replace(/^Cannot [a-z]+ ".*?": /s, "");
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
    async takeBack({ force, signal }) {
      if (!store.isOpen) {
        return { lines: ["Nothing is kept for undo: the state folder cannot be written"], isWhole: false };
      }
      const last = await store.last();
      if (!last) return { lines: [`Nothing to take back. ${SCOPE}`], isWhole: false };
      const lines: string[] = [];
      const left: ChangedFile[] = [];
      let isWhole = true;
      for (const file of last.files.toReversed()) {
        const problem = await restore(file, force, signal);
        const name = oneLine(file.path, 500);
        if (problem === undefined) lines.push(file.before === null ? `Removed: ${name}` : `Taken back: ${name}`);
        else {
          isWhole = false;
          if (!force || !HOPELESS.test(problem)) left.unshift(file);
          lines.push(`Left as it is: ${name}: ${oneLine(problem)}`);
        }
      }
      await store.settle(last.id, left);
      const hint = left.length === 0 ? [] : [force ? KEPT : FORCE];
      return { lines: [...lines, ...hint, SCOPE], isWhole };
    },
  };
}

const FORCE = "With force what was changed since is put back all the same, and what can never be is forgotten";
const KEPT = "What was there before is still kept: mend what is in the way, and undo again";
const NOT_KEPT = "its old content was not kept";

/** Problems that no other try ends: there is nothing to put back, or the path leads to something else now. Every other one may pass. */
const HOPELESS = new RegExp(
  `^(?:${NOT_KEPT}|a part of its path is a link now|it is outside the workspace|it is a directory|it is not a regular file)`,
);
const SCOPE = "Only what the built-in file tools changed is taken back, not what commands did";
