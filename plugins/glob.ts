/** glob: files whose names match a pattern. */

import { parseGlob, pathBelow } from "../core/glob_pattern.ts";
import { countLeftOut } from "../core/left_out.ts";
import { cannot, quoted } from "../core/refusal.ts";
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
  path?: string;
}

export const handler: Handler<Input> = async ({ pattern, path = "" }, { workspace, signal }) => {
  const glob = parse(pattern);
  const base = path === "" ? "." : path;
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
  const found: string[] = [];
  let total = 0;
  let others = 0; // folders where files are asked for
  let room = ROOM;
  const take = (entry: Entry): void => {
    if ((entry.kind === "folder") !== glob.isForFolders) {
      if (entry.kind === "folder") others++;
      return;
    }
    const line = glob.isForFolders ? `${entry.path}/` : entry.path;
    total++;
    room -= line.length + 1;
    if (total <= LIMIT && room >= 0) found.push(line);
  };
  const left = countLeftOut((entry) => !glob.isForFolders && matches(entry));
  const skipped = (entry: Entry): void => {
    const isFolderFound = entry.kind === "folder" && glob.isForFolders && matches(entry);
    if (isFolderFound || glob.isSpelled(pathOf(entry))) take(entry);
    else left.skipped(entry);
  };
  for await (const entry of workspace.walk({ path: start, recursive: glob.isDeep, skipped })) {
    signal.throwIfAborted();
    if (matches(entry)) take(entry);
  }
  const notes: string[] = [];
  if (found.length < total) notes.push(`[${found.length} of ${total} shown; use a more specific pattern or path]`);
  if (total === 0 && others > 0) notes.push(`[folders match; to see them, end the pattern with /]`);
  const out = left.notes();
  if (out.length > 0) notes.push(`[${out.join(", ")}]`);
  return [...(total === 0 ? [`${nothing}${base === "." ? "" : ` in ${quoted(base)}`}`] : found), ...notes].join("\n");
};

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
