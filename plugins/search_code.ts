/** search_code: the lines of files that match a pattern. */

import { describeBytes } from "../core/files/encoding.ts";
import { parseGlob, pathBelow } from "../core/files/glob_pattern.ts";
import { countLeftOut, countOf } from "../core/files/left_out.ts";
import { cannot, quoted, refused } from "../core/files/refusal.ts";
import { unsearchable } from "../core/files/search_lines.ts";
import { plainText } from "../core/files/search_literal.ts";
import { parseSearch, type SearchPattern } from "../core/files/search_pattern.ts";
import { createSearchResult } from "../core/files/search_result.ts";
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

/** Bytes of the longest file that is searched when only its folder was named. */
const LONGEST = 10_000_000;

interface Input {
  pattern: string;
  path?: string | null;
  glob?: string | null;
  ignore_case?: boolean | null;
  literal?: boolean | null;
}

export const handler: Handler<Input> = async (input, context) => {
  const pattern = await patternOf(input);
  const path = input.path || ".";
  const real = await context.workspace.resolve(path);
  const isFolder = (await context.workspace.stat(real)).kind === "folder";
  return await (isFolder ? searchFolder : searchFile)({ path, real, pattern, input, context });
};

interface Search {
  /** As the model named it, and as it is printed. */
  path: string;
  real: string;
  pattern: SearchPattern;
  input: Input;
  context: Context;
}

async function searchFile({ path, real, pattern, input, context }: Search): Promise<string> {
  const bytes = await context.workspace.readBytes(path);
  if (unsearchable(bytes) !== undefined) {
    throw cannot("search", path, refused(`it is ${describeBytes(bytes, bytes.length)}`));
  }
  const result = createSearchResult();
  result.search(real, bytes, pattern);
  return result.text(noMatches(input, quoted(path)), []);
}

async function searchFolder({ path, real, pattern, input, context }: Search): Promise<string> {
  const wanted = filterOf(input.glob, real);
  const left = countLeftOut(wanted);
  const result = createSearchResult();
  let seen = 0;
  for await (const file of context.workspace.walkFiles({ path, limit: LONGEST, wanted, skipped: left.skipped })) {
    context.signal.throwIfAborted();
    const { bytes } = file;
    const reason = bytes === undefined ? file.reason ?? "not readable" : unsearchable(bytes);
    if (bytes === undefined || reason !== undefined) result.leaveOut(file.path, reason ?? "not readable");
    else result.search(file.path, bytes, pattern);
    // What was not searched later is not known then.
    if (result.isFull()) return result.text("", []);
    if (++seen % 10_000 === 0) context.progress(`${countOf(seen, "file")} searched`);
  }
  const names = input.glob ? ` with names like ${quoted(input.glob)}` : "";
  const where = `${countOf(result.searched(), "file")}${names}${real === "." ? "" : ` below ${quoted(path)}`}`;
  return result.text(noMatches(input, where), left.notes());
}

async function patternOf({ pattern, ignore_case, literal }: Input): Promise<SearchPattern> {
  try {
    return await parseSearch(pattern, { isAnyCase: ignore_case ?? false, isLiteral: literal ?? false });
  } catch (error) {
    throw cannot("search for", pattern, error);
  }
}

/** Which files are searched: all, or those that the filter names from the folder on. */
function filterOf(glob: string | null | undefined, folder: string): (entry: Entry) => boolean {
  if (!glob) return () => true;
  try {
    const { matches } = parseGlob(glob.endsWith("/") ? `${glob}**` : glob);
    return ({ path }) => matches(pathBelow(folder, path));
  } catch (error) {
    throw cannot("match", glob, error);
  }
}

function noMatches({ pattern, literal }: Input, where: string): string {
  const isExpression = literal !== true && plainText(pattern) === undefined;
  const hint = isExpression ? " (as a regular expression; set literal: true for plain text)" : "";
  return `no matches for ${quoted(pattern)} in ${where}${hint}`;
}
