/** What files were before they were changed, in the state folder: turns in one list, contents by their hash. Bounded. */

import { readdir, readFile, rm, stat, unlink } from "node:fs/promises";
// @ts-types="../../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { codeOf } from "../files/refusal.ts";
import { type FileChange, Mode } from "../hosts/protocol.ts";
import { basename, dirname, join } from "../path.ts";
import { mayWrite, readState, writeState, writeWhole } from "../state_file.ts";
import { sha256Of } from "../hash.ts";

/**
 * At most, in one workspace; the oldest turns go first. Bytes are those of the contents. The store of a workspace in which nothing was
 * changed for so long (milliseconds) goes as a whole.
 */
export const UNDO_LIMITS = { turns: 50, files: 10_000, bytes: 200_000_000, unusedMs: 90 * 24 * 3_600_000 };

const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const Turn = v.object({
  id: v.string(),
  files: v.array(v.object({
    path: v.string(),
    /** The content before; null: there was no file. Absent where it was not kept. */
    before: v.exactOptional(v.nullable(Sha256)),
    /** Permission bits before. */
    mode: v.exactOptional(Mode),
    /** What the last change of the turn left. */
    after: Sha256,
    /** Something else wrote to it between two changes of the turn: what that wrote is kept nowhere. */
    mixed: v.exactOptional(v.literal(true)),
  })),
  /** Folders that were made for the files, each after the one that it lies in. */
  folders: v.exactOptional(v.array(v.string())),
});

/** The files that one turn changed, each once. */
export type Turn = v.InferOutput<typeof Turn>;
export type ChangedFile = Turn["files"][number];

/** Names of stores. */
const STORE = /^[0-9a-f]{32}$/;

/** A change with the content before; null: there was no file; undefined: it is too large to be kept. */
export type NewChange = Omit<FileChange, "before"> & { before: Uint8Array | null | undefined };

/** Where the store of this workspace is. */
export function undoFolder(state: string | undefined, root: string): string | undefined {
  return state === undefined ? undefined : join(state, "undo", sha256Of(root).slice(0, 32));
}

export interface UndoStore {
  /** Whether anything can be kept here. */
  readonly isOpen: boolean;
  /** Keeps a change of the turn `id`, which becomes the last one. Tells how it went; never throws. */
  add(id: string, change: NewChange): Promise<"kept" | "without content" | "failed">;
  /** The last turn that can be taken back. */
  last(): Promise<Turn | undefined>;
  /** Undefined when it is gone, or is not what it was; throws when that cannot be told. */
  contentOf(sha256: string): Promise<Uint8Array | undefined>;
  /** Leaves only these files of the turn; with none the turn is gone. */
  settle(id: string, files: readonly ChangedFile[]): Promise<void>;
}

/**
 * Opens the store of one workspace in a folder of its own. A list that is broken is as good as none. Two processes in one workspace
 * may lose each other's newest change, never a part of one: list and contents are written whole, the contents first.
 */
export function openUndoStore(folder: string | undefined, limits = UNDO_LIMITS): UndoStore {
  const isOpen = folder !== undefined && mayWrite(folder);
  const place = folder ?? "";
  const listFile = join(place, "turns.json");
  const contents = join(place, "contents");
  /** Sizes of contents by their names, which are hashes: none is looked at twice. */
  const known = new Map<string, number>();
  let swept: Promise<void> | undefined;

  async function readTurns(): Promise<Turn[]> {
    const parsed = v.safeParse(v.array(Turn), isOpen ? await readState(listFile) : []);
    return parsed.success ? parsed.output : [];
  }

  async function keep(bytes: Uint8Array): Promise<string> {
    const sha256 = sha256Of(bytes);
    const file = join(contents, sha256);
    if ((await contentOf(sha256)) !== undefined) return sha256;
    await writeWhole(file, bytes);
    known.set(sha256, bytes.length);
    return sha256;
  }

  async function contentOf(sha256: string): Promise<Uint8Array | undefined> {
    const bytes = await readFile(join(contents, sha256)).catch((error) => {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    });
    return bytes !== undefined && sha256Of(bytes) === sha256 ? bytes : undefined;
  }

  async function sizesNow(): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for (const name of await readdir(contents).catch(() => [])) {
      const size = known.get(name) ?? (await stat(join(contents, name)).catch(() => undefined))?.size;
      if (size !== undefined) known.set(name, size);
      sizes.set(name, size ?? 0);
    }
    return sizes;
  }

  /**
   * Drops the oldest turns that are too much, so that the last one is the last to go; of one that is too much alone, the newest
   * contents. Then every content that no turn needs, also what a crash has left.
   */
  async function save(turns: Turn[]): Promise<boolean> {
    const sizes = await sizesNow();
    const used = () => new Set(turns.flatMap(({ files }) => files.flatMap(({ before }) => before ? [before] : [])));
    const size = () => [...used()].reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
    const count = () => turns.reduce((sum, { files }) => sum + files.length, 0);
    const isTooMuch = () => count() > limits.files || size() > limits.bytes;
    while (turns.length > limits.turns || (turns.length > 1 && isTooMuch())) turns.shift();
    if (count() > limits.files) return false;
    for (const file of turns[0]?.files.toReversed() ?? []) {
      if (size() <= limits.bytes) break;
      if (file.before) delete file.before;
    }
    if (!(await writeState(listFile, turns))) return false;
    const needed = used();
    for (const name of sizes.keys()) if (!needed.has(name)) await unlink(join(contents, name)).catch(() => undefined);
    return true;
  }

  /** Removes the stores of other workspaces that were not written to for long. */
  async function sweep(): Promise<void> {
    const others = (await readdir(dirname(place)).catch(() => [])).filter((name) => STORE.test(name));
    for (const name of others.filter((name) => name !== basename(place))) {
      const store = join(dirname(place), name);
      const { mtimeMs } = await stat(join(store, "turns.json")).catch(() => ({ mtimeMs: Infinity }));
      if (mtimeMs < Date.now() - limits.unusedMs) await rm(store, { recursive: true }).catch(() => undefined);
    }
  }

  return {
    isOpen,
    async add(id, { path, before, after, mode, folders = [] }) {
      if (!isOpen) return "failed";
      try {
        swept ??= sweep();
        const turns = await readTurns();
        const turn = turns.find((one) => one.id === id) ?? { id, files: [] };
        const known = turn.files.find((file) => file.path === path);
        if (known) {
          if (before && sha256Of(before) !== known.after) known.mixed = true;
          known.after = after; // what was there before the turn stays
        } else {
          const kept = before ? await keep(before) : before;
          const old = { ...(kept === undefined ? {} : { before: kept }), ...(mode === undefined ? {} : { mode }) };
          turn.files.push({ path, after, ...old });
        }
        if (folders.length > 0) turn.folders = [...new Set([...turn.folders ?? [], ...folders])];
        if (!(await save([...turns.filter((one) => one !== turn), turn]))) return "failed";
        return turn.files.some((file) => file.path === path && file.before === undefined) ? "without content" : "kept";
      } catch {
        return "failed";
      }
    },
    last: async () => (await readTurns()).at(-1),
    contentOf,
    async settle(id, files) {
      const turns = await readTurns();
      await save(
        turns.flatMap((turn) => turn.id !== id ? [turn] : files.length > 0 ? [{ ...turn, files: [...files] }] : []),
      );
    },
  };
}
