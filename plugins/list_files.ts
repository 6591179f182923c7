/** list_files: what is in a folder. */

import type { Definition, Entry, Handler, Workspace } from "../core/tool.ts";

export const definition: Definition = {
  name: "list_files",
  description:
    "Lists a folder of the workspace, sorted, one name per line; folders end in /, links show where they lead. Use it to look around " +
    "before you read with read_file, with recursive for the whole tree below. Folders such as node_modules and what .gitignore names " +
    "are not entered unless you name them in path.",
  input_schema: {
    type: "object",
    properties: {
      path: { type: "string", description: "Folder, relative to the workspace. Default: the workspace itself" },
      recursive: { type: "boolean", description: "Also list what is in the subfolders. Default: false" },
    },
    required: [],
    additionalProperties: false,
  },
  permissions: { read: true },
  strict: true,
};

/** Entries of one result. */
const LIMIT = 500;
/** Characters of the entries of one result; the rest of the 50,000 is for the last line. */
const ROOM = 49_000;

interface Input {
  path?: string | null;
  recursive?: boolean | null;
}

export const handler: Handler<Input> = async ({ path, recursive }, { workspace, signal }) => {
  const folder = path ?? ".";
  const entries: Entry[] = [];
  let total = 0;
  const take = (entry: Entry): void => {
    total++;
    if (entries.length < LIMIT) entries.push(entry);
  };
  const left = { folders: 0, files: 0 };
  const skipped = (entry: Entry): void => {
    if (entry.kind !== "folder") left.files++;
    else if (!/(^|\/)\.git$/.test(entry.path)) {
      left.folders++;
      take(entry);
    }
  };
  for await (const entry of workspace.walk({ path: folder, recursive: recursive ?? false, skipped })) {
    signal.throwIfAborted();
    take(entry);
  }
  const lines: string[] = [];
  let size = 0;
  for (const entry of entries) {
    const line = await lineOf(entry, workspace);
    size += line.length + 1;
    if (size > ROOM) break;
    lines.push(line);
  }
  return [...lines, ...notes(lines.length, total, left, recursive ?? false)].join("\n");
};

async function lineOf({ path, kind }: Entry, workspace: Workspace): Promise<string> {
  if (kind === "folder") return `${path}/`;
  if (kind === "other") return `${path} (${await whatElse(path, workspace)})`;
  return kind === "link" ? `${path} -> ${await targetOf(path, workspace)}` : path;
}

/** Deno gives names that are not UTF-8 with U+FFFD in them, and then nothing is called so. */
async function whatElse(path: string, workspace: Workspace): Promise<string> {
  const isThere = !path.includes("\ufffd") || await workspace.exists(path).catch(() => true);
  return isThere ? "not a regular file" : "its name is not UTF-8: cannot be opened here";
}

/** Where a link leads, as a path that can be handed on; a link that leads out is never followed. */
async function targetOf(path: string, workspace: Workspace): Promise<string> {
  try {
    const target = await workspace.resolve(path);
    return (await workspace.stat(target)).kind === "folder" ? `${target}/` : target;
  } catch (error) {
    return `(${
      error instanceof Error ? error.message.replace(/^Cannot \w+ ".*": /s, "").replace(/\. .*$/s, "") : "not known"
    })`;
  }
}

function notes(shown: number, total: number, left: { folders: number; files: number }, recursive: boolean): string[] {
  const out: string[] = [];
  if (total === 0) out.push(left.files > 0 ? "[nothing but what .gitignore names]" : "[the folder is empty]");
  if (shown < total) out.push(`[${shown} of ${total} entries shown; name a subfolder or use a pattern to see others]`);
  const parts: string[] = [];
  if (left.folders > 0 && recursive) parts.push(`${count(left.folders, "folder")} not entered`);
  if (left.files > 0) parts.push(`${count(left.files, "file")} left out by .gitignore`);
  if (parts.length > 0) out.push(`[${parts.join(", ")}]`);
  return out;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
