/** search_code: the lines of files that match a pattern. */

import { describeBytes } from "../core/encoding.ts";
import { parseGlob, pathBelow } from "../core/glob_pattern.ts";
import { countLeftOut, countOf } from "../core/left_out.ts";
import { cannot, quoted, refused } from "../core/refusal.ts";
import { findHits, unsearchable } from "../core/search_lines.ts";
import { plainText } from "../core/search_literal.ts";
import { parseSearch, type SearchPattern } from "../core/search_pattern.ts";
import type { Context, Definition, Entry, Handler } from "../core/tool.ts";

export const definition: Definition = {
  name: "search_code",
  description:
    "Searches the text of files for a regular expression and shows each matching line as file:line: text, at most 100. Use it to find where " +
    "something is, then open the place with read_file; a pattern is matched within one line, and look-around and back-references do not exist. " +
    "What .gitignore names and folders such as node_modules are left out unless path names them.",
  input_schema: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "Regular expression (RE2 syntax)" },
      path: { type: "string", description: "File or folder, relative to the workspace. Default: the workspace itself" },
      glob: { type: "string", description: "Only files like this: *.ts at any depth, or src/**/*.ts from path on" },
      ignore_case: { type: "boolean", description: "Take capitals and small letters as the same. Default: false" },
      literal: { type: "boolean", description: "Take pattern as plain text. Default: false" },
    },
    required: ["pattern"],
    additionalProperties: false,
  },
  permissions: { read: true },
  strict: true,
};

/** Hits of one result. */
const LIMIT = 100;
/** Characters of the hits of one result; the rest of the 50,000 is for the last lines. */
const ROOM = 48_000;
/** Bytes of the longest file that is searched when only its folder was named. */
const LONGEST = 10_000_000;

interface Input {
  pattern: string;
  path?: string;
  glob?: string;
  ignore_case?: boolean;
  literal?: boolean;
}

export const handler: Handler<Input> = async (input, context) => {
  const pattern = await patternOf(input);
  const path = input.path || ".";
  const real = await context.workspace.resolve(path);
  const isFolder = (await context.workspace.stat(real)).kind === "folder";
  return await (isFolder
    ? searchFolder(path, real, pattern, input, context)
    : searchFile(path, real, pattern, input, context));
};

async function patternOf(input: Input): Promise<SearchPattern> {
  try {
    return await parseSearch(input.pattern, {
      isAnyCase: input.ignore_case ?? false,
      isLiteral: input.literal ?? false,
    });
  } catch (error) {
    throw cannot("search for", input.pattern, error);
  }
}

async function searchFile(path: string, real: string, pattern: SearchPattern, input: Input, { workspace }: Context) {
  const bytes = await workspace.readBytes(path);
  if (unsearchable(bytes) !== undefined) {
    throw cannot("search", path, refused(`it is ${describeBytes(bytes.subarray(0, 65_536), bytes.length)}`));
  }
  const hits = createHits();
  hits.take(real, bytes, pattern);
  return hits.lines.length > 0 ? hits.text([]) : noMatches(input, `in ${quoted(path)}`, []);
}

async function searchFolder(path: string, real: string, pattern: SearchPattern, input: Input, context: Context) {
  const wanted = filterOf(input.glob, real);
  const left = countLeftOut(wanted);
  const unread = new Map<string, string[]>();
  const hits = createHits();
  let searched = 0;
  const files = context.workspace.walkFiles({ path, limit: LONGEST, wanted, skipped: left.skipped });
  for await (const { path: file, bytes, reason = "not readable" } of files) {
    context.signal.throwIfAborted();
    const problem = bytes === undefined ? reason : unsearchable(bytes);
    if (bytes === undefined || problem !== undefined) {
      unread.set(problem ?? reason, [...(unread.get(problem ?? reason) ?? []), file]);
      continue;
    }
    if (++searched % 10_000 === 0) context.progress(`${countOf(searched, "file")} searched`);
    hits.take(file, bytes, pattern);
    if (hits.isFull()) return hits.text(unreadNotes(unread));
  }
  const notes = [...unreadNotes(unread), ...left.notes()];
  if (hits.lines.length > 0) return hits.text(notes);
  const names = input.glob === undefined ? "" : ` with names like ${quoted(input.glob)}`;
  return noMatches(
    input,
    `in ${countOf(searched, "file")}${names}${real === "." ? "" : ` below ${quoted(path)}`}`,
    notes,
  );
}

/** Which files are searched: all, or those that the filter names from the folder on. */
function filterOf(glob: string | undefined, folder: string): (entry: Entry) => boolean {
  if (glob === undefined || glob === "") return () => true;
  try {
    const { matches } = parseGlob(glob.endsWith("/") ? `${glob}**` : glob);
    return ({ path }) => matches(pathBelow(folder, path));
  } catch (error) {
    throw cannot("match", glob, error);
  }
}

interface Hits {
  lines: string[];
  /** Adds the hits in a file until there is no room. */
  take(file: string, bytes: Uint8Array, pattern: SearchPattern): void;
  /** Whether there was a hit more than there is room for. */
  isFull(): boolean;
  /** The result: the lines, what was cut, what was not searched. */
  text(notes: string[]): string;
}

function createHits(): Hits {
  const lines: string[] = [];
  let room = ROOM;
  let isFull = false;
  return {
    lines,
    take(file, bytes, pattern) {
      for (const hit of findHits(bytes, pattern)) {
        const line = `${file}:${hit.line}: ${hit.text}`;
        room -= line.length + 1;
        isFull = lines.length === LIMIT || room < 0;
        if (isFull) return;
        lines.push(line);
      }
    },
    isFull: () => isFull,
    text(notes) {
      const cut = isFull ? [`[${lines.length} hits shown; use a more specific pattern or path]`] : [];
      return [...lines, ...cut, ...lastLine(notes)].join("\n");
    },
  };
}

function noMatches({ pattern, literal }: Input, where: string, notes: string[]): string {
  const isExpression = literal !== true && plainText(pattern) === undefined;
  const hint = isExpression ? " (read as a regular expression; literal: true takes it as plain text)" : "";
  return [`no matches for ${quoted(pattern)} ${where}${hint}`, ...lastLine(notes)].join("\n");
}

function lastLine(notes: string[]): string[] {
  return notes.length > 0 ? [`[${notes.join(", ")}]`] : [];
}

/** `2 binary files not searched`; files that may be of interest by name, up to three. */
function unreadNotes(unread: Map<string, string[]>): string[] {
  const words: { [reason: string]: string } = { "too large": "over 10 MB", "not readable": "that cannot be read" };
  return [...unread].map(([reason, files]) => {
    if (reason === "binary") return `${countOf(files.length, "binary file")} not searched`;
    const names = `${files.slice(0, 3).join(", ")}${files.length > 3 ? ", …" : ""}`;
    return `${countOf(files.length, "file")} ${
      words[reason] ?? `that ${files.length === 1 ? "is" : "are"} ${reason}`
    } not searched (${names})`;
  });
}
