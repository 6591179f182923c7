/** The one folder: what a handler may do with files, each path resolved, judged, opened and checked again. */

import type { BigIntStats } from "node:fs";
import { type FileHandle, lstat } from "node:fs/promises";
import { readPath } from "./asked.ts";
import { describeBytes } from "./encoding.ts";
import { find, missing, shown } from "./finding.ts";
import { type Access, type Grant, grantsNothing, rulesOf, ungranted } from "./grant.ts";
import { showName, toDisk } from "./name.ts";
import { entriesIn, openFile, TEMPORARY } from "./opening.ts";
import { childOf, nameOf } from "../path.ts";
import { readRange, textOf } from "./reading.ts";
import { cannot, codeOf, refused } from "./refusal.ts";
import { type Announce, overwriteFile, removeFile, removeFolder, replaceFile, type Replacement } from "./replacing.ts";
import type { Entry, Stat, Workspace } from "../tool.ts";
import { walkFiles } from "./walked_files.ts";
import { walk } from "./walking.ts";

export type { Grant } from "./grant.ts";

/** What built-in tools have beyond the interface of plugins. */
export interface OwnWorkspace extends Workspace {
  /** As for plugins; `mode` is for a file that is not there yet. */
  writeBytes(path: string, bytes: Uint8Array, options?: { replaces?: string | null; mode?: number }): Promise<void>;
  /** Removes a file, the one behind every link; with `replaces` (SHA-256 in hex) only while it is still this one. */
  removeFile(path: string, replaces?: string): Promise<void>;
  /** Removes a folder that is empty, the one behind every link; tells whether it was. */
  removeFolder(path: string): Promise<boolean>;
  /** The permission bits of a file, as chmod(2) has them. */
  modeOf(path: string): Promise<number>;
}

const TEXT_LIMIT = 10_000_000;
const BYTES_LIMIT = 50_000_000;
const CHUNK = 65_536;

/**
 * Opens the workspace and holds its folder: once that is moved or replaced, every call fails. Throws the file system's error when the
 * root does not exist.
 *
 * What it does not stop: hard links that someone made inside to a file outside; and, where the kernel cannot be asked what is open (Deno,
 * macOS, Windows), a program that swaps a folder for a link again and again. There a read is refused with near certainty; a listing may,
 * in an unlucky moment, show the names behind the link, a write may leave an empty temporary file or its text there. The kernel's fence
 * stops that where there is one.
 *
 * `announce` gets paths as `resolve` gives them.
 */
export async function openWorkspace(grant: Grant, announce?: Announce): Promise<Workspace> {
  const { removeFile: _, removeFolder: _folder, modeOf: _mode, ...workspace } = await openOwnWorkspace(grant, announce);
  return workspace;
}

/** The same for built-in tools. */
export async function openOwnWorkspace(grant: Grant, announce?: Announce): Promise<OwnWorkspace> {
  const rules = await rulesOf(grant);
  const held = grantsNothing(grant) ? undefined : await lstat(toDisk(rules.root), { bigint: true });

  async function checkRoot(access: Access): Promise<void> {
    if (!held) throw ungranted(grant, access);
    const now: BigIntStats | undefined = await lstat(toDisk(rules.root), { bigint: true }).catch(() => undefined);
    if (now === undefined || now.ino !== held.ino || now.dev !== held.dev) {
      throw refused("the workspace folder was moved or replaced. Nothing can be done until tenon is started again");
    }
  }

  /** The real path of something that exists and may be read. */
  async function locate(path: string, what: "file" | "folder", isNear = true): Promise<string> {
    await checkRoot("read");
    const asked = readPath(path, rules);
    const found = await find(asked.path, rules, isNear);
    if (found.missing.length > 0) throw await missing(found, rules, what);
    rules.check(found.real, "read");
    if (asked.folderEnd && !(await lstat(toDisk(found.real))).isDirectory()) {
      throw refused(`it is a file. Leave out the ${asked.folderEnd} at its end`);
    }
    return found.real;
  }

  async function open(path: string): Promise<FileHandle> {
    const { handle } = await openFile(() => locate(path, "file"));
    try {
      await checkRoot("read");
    } catch (error) {
      await handle.close();
      throw error;
    }
    return handle;
  }

  /** Where something that may be written is, or would be: the deepest folder that exists, and the names that are missing. */
  async function locateTarget(path: string, isRemoval = false) {
    await checkRoot("write");
    const asked = readPath(path, rules);
    if (asked.folderEnd) throw refused(`it ends in a ${asked.folderEnd}. Name a file`);
    const found = await find(asked.path, rules, false);
    const target = childOf(found.real, ...found.missing);
    rules.check(target, "write");
    if (!isRemoval && TEMPORARY.test(nameOf(target))) {
      // It would be listed nowhere, and removed with what killed processes have left.
      throw refused("tenon's own temporary files are named like this. Use another name");
    }
    return found;
  }

  async function folderAt(path: string): Promise<string> {
    const real = await locate(path, "folder");
    if (!(await lstat(toDisk(real))).isDirectory()) throw refused("it is a file, not a folder. Use read_file");
    return real;
  }

  /** What begins at a folder, each step of it an attempt. */
  async function* attemptEach<T>(verb: string, path: string, begin: (real: string) => AsyncGenerator<T>) {
    const items = begin(await attempt(verb, path, () => folderAt(path)));
    try {
      while (true) {
        const next = await attempt(verb, path, () => items.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await items.return(undefined);
    }
  }

  async function write(
    path: string,
    content: string | Uint8Array,
    { replaces, mode }: Pick<Replacement, "replaces" | "mode">,
  ): Promise<void> {
    const { real, missing } = await locateTarget(path);
    if (missing.length > 0 || !rules.isAlone(real)) {
      const told = announce && ((temporary: string) => announce(showName(shown(temporary, rules))));
      return await replaceFile({ real, names: missing, content, mode, replaces, announce: told });
    }
    await overwriteFile(async () => (await locateTarget(path)).real, content, replaces);
  }

  const entry = (real: string, kind: Entry["kind"]): Entry => ({ path: showName(shown(real, rules)), kind });

  return {
    resolve: (path, access = "read") =>
      attempt(access === "write" ? "write" : "open", path, async () => {
        if (access === "read") return showName(shown(await locate(path, "file"), rules));
        const { real, missing } = await locateTarget(path);
        return showName(shown(childOf(real, ...missing), rules));
      }),

    readText: (path) =>
      attempt("read", path, async () => {
        await using handle = await open(path);
        const bytes = await readRange(handle, {}, TEXT_LIMIT);
        const text = textOf(bytes);
        if (text === undefined) throw refused(`it is ${describeBytes(bytes, bytes.length)}`);
        return text;
      }),

    readBytes: (path, range = {}) =>
      attempt("read", path, async () => {
        await using handle = await open(path);
        return await readRange(handle, range, BYTES_LIMIT);
      }),

    async *readChunks(path) {
      await using handle = await attempt("read", path, () => open(path));
      while (true) {
        const { bytesRead, buffer } = await attempt("read", path, () => handle.read(new Uint8Array(CHUNK), 0, CHUNK));
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      }
    },

    stat: (path) =>
      attempt("open", path, async (): Promise<Stat> => {
        const real = await locate(path, "file");
        const stats = await lstat(toDisk(real));
        const kind = stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
        // The links of a folder are its subfolders, not names.
        const names = kind === "file" ? Math.max(1, stats.nlink) : 1;
        return { kind, size: stats.size, names, inPlace: rules.isAlone(real) };
      }),

    exists: (path) =>
      attempt("open", path, async () => {
        try {
          await locate(path, "file", false);
          return true;
        } catch (error) {
          if (codeOf(error) === "ABSENT") return false;
          throw error;
        }
      }),

    list: (path = ".") =>
      attempt("list", path, async () => {
        const real = await folderAt(path);
        return (await entriesIn(real)).map(({ name, kind }) => entry(childOf(real, name), kind));
      }),

    async *walk(options = {}) {
      const walked = attemptEach("list", options.path ?? ".", (start) => walk(start, rules, options));
      for await (const { entry } of walked) yield entry;
    },

    walkFiles: (options) => attemptEach("list", options.path ?? ".", (start) => walkFiles(start, rules, options)),

    writeText: (path, text, { replaces } = {}) =>
      attempt("write", path, async () => {
        if (!text.isWellFormed()) throw refused("the text has half a character in it (a lone surrogate)");
        await write(path, text, { replaces });
      }),

    writeBytes: (path, bytes, options = {}) => attempt("write", path, () => write(path, bytes, options)),

    removeFile: (path, replaces) =>
      attempt("remove", path, async () => {
        const { real, missing } = await locateTarget(path, true);
        if (missing.length > 0) throw refused("it is no longer there");
        await removeFile(real, replaces);
      }),

    removeFolder: (path) =>
      attempt("remove", path, async () => {
        const { real, missing } = await locateTarget(path);
        return missing.length === 0 && await removeFolder(real);
      }),

    modeOf: (path) => attempt("open", path, async () => (await lstat(toDisk(await locate(path, "file")))).mode & 0o777),
  };
}

/** Puts a reason into the words for the model. */
async function attempt<T>(verb: string, path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw cannot(verb, path, error);
  }
}
