/** glob: files whose names match a pattern. */

import { parseGlob, pathBelow } from "../core/files/glob_pattern.ts";
import { countLeftOut, isGitFolder } from "../core/files/left_out.ts";
import { cannot, quoted } from "../core/files/refusal.ts";
import type { Definition, Entry, Handler, Workspace } from "../core/tool.ts";

export const definition: Definition = {
  name: "glob",
  description:
    "Finds files by name only (use search_code for what is in them), at most 500, sorted, with **, *, ?, {a,b} and [abc]. A pattern without " +
    "a slash, such as *.ts, is for names in every folder below path; one with a slash, such as src/**/*.ts, begins at path, and one that ends " +
    "in a slash finds folders. What .gitignore names and folders such as node_modules are left out unless path or pattern names them.",
  input_schema: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "Pattern for names; a backslash takes the next character as it is" },
      path: {
        type: "string",
        description: "Folder to look in, relative to the workspace. Default: the workspace itself",
      },
    },
    required: ["pattern"],
    additionalProperties: false,
  },
  permissions: { read: true },
  strict: true,
};

/** Files of one result. */
const LIMIT = 500;
/** Characters of the files of one result; the rest of the 50,000 is for the last lines. */
const ROOM = 49_000;

interface Input {
  pattern: string;
  path?: string | null;
}

export const handler: Handler<Input> = async ({ pattern, path }, { workspace, signal }) => {
  const glob = parse(pattern);
  const base = path || ".";
  const isWhole = base === "." || glob.folder === "" || glob.folder.startsWith("/");
  const start = isWhole ? glob.folder || base : `${base}/${glob.folder}`;
  const real = await folderAt(start, workspace);
  const nothing = `no ${glob.isForFolders ? "folder" : "file"} matches ${quoted(pattern)}`;
  if (real === undefined) {
    await workspace.list(base); // a wrong path is an error; a pattern that begins with no folder finds nothing
    return `${nothing}: there is no folder ${quoted(start)}`;
  }
  const pathOf = ({ path }: Entry): string => `${glob.folder}/${pathBelow(real, path)}`;
  const matches = (entry: Entry): boolean => glob.matches(pathOf(entry));
  const finds = createFinds(glob.isForFolders);
  const left = countLeftOut((entry) => !glob.isForFolders && matches(entry));
  const skipped = (entry: Entry): void => {
    const isFolderFound = glob.isForFolders && entry.kind === "folder" && !isGitFolder(entry) && matches(entry);
    if (isFolderFound || glob.isSpelled(pathOf(entry))) finds.take(entry);
    else left.skipped(entry);
  };
  for await (const entry of workspace.walk({ path: start, recursive: glob.isDeep, skipped })) {
    signal.throwIfAborted();
    if (matches(entry)) finds.take(entry);
  }
  return finds.text(base === "." ? nothing : `${nothing} in ${quoted(base)}`, left.notes());
};

interface Finds {
  /** Takes an entry that matches, if it is of the kind that is asked for. */
  take(entry: Entry): void;
  /** What was found, or `nothing`; then what is not shown. */
  text(nothing: string, notes: string[]): string;
}

function createFinds(isForFolders: boolean): Finds {
  const lines: string[] = [];
  let total = 0;
  let room = ROOM;
  let hasFolders = false;
  return {
    take({ path, kind }) {
      const isFolder = kind === "folder";
      if (isFolder) hasFolders = true;
      if (isFolder !== isForFolders) return;
      const line = isFolder ? `${path}/` : path;
      total++;
      room -= line.length + 1;
      if (total <= LIMIT && room >= 0) lines.push(line);
    },
    text(nothing, notes) {
      const rest: string[] = [];
      if (lines.length < total) {
        rest.push(`[${lines.length} of ${total} shown; use a more specific pattern or path]`);
      } else if (total === 0 && hasFolders) rest.push("[folders match; to see them, end the pattern with /]");
      if (notes.length > 0) rest.push(`[${notes.join(", ")}]`);
      return [...(total === 0 ? [nothing] : lines), ...rest].join("\n");
    },
  };
}

function parse(pattern: string): ReturnType<typeof parseGlob> {
  try {
    return parseGlob(pattern);
  } catch (error) {
    throw cannot("match", pattern, error);
  }
}

/** The real path of a folder, or nothing when none is there. */
async function folderAt(path: string, workspace: Workspace): Promise<string | undefined> {
  try {
    const real = await workspace.resolve(path);
    return (await workspace.stat(real)).kind === "folder" ? real : undefined;
  } catch (error) {
    if (await workspace.exists(path)) throw error;
    return undefined;
  }
}
