/** edit_file: one text of a file replaced by another. */

import { describeBytes } from "../core/files/encoding.ts";
import { unifiedDiff } from "../core/files/diff.ts";
import { BOM, type Edited, findPlaces, linesAt, type Place, replaceAt } from "../core/files/edit.ts";
import { sha256Of } from "../core/hash.ts";
import { notFoundHint } from "../core/files/not_found_hint.ts";
import { quoted } from "../core/files/refusal.ts";
import { bracketed, cannot, inWords, namesNote, openTarget, type Target } from "../core/files/target.ts";
import { headOf, listed } from "../core/text.ts";
import type { Change, Context, Definition, Handler } from "../core/tool.ts";

export const definition: Definition = {
  name: "edit_file",
  description:
    "Replaces a text of a file that was read with read_file: old_string must be in it exactly once, or set replace_all. Copy old_string " +
    "from the file without the line numbers, with its indentation and as many lines around it as make it unique. Line ends stay as the " +
    "file has them, LF or CRLF; for a new file use write_file.",
  input_schema: {
    type: "object",
    properties: {
      path: { type: "string", description: "File, relative to the workspace" },
      old_string: { type: "string", description: "The text to replace, exactly as it is in the file" },
      new_string: { type: "string", description: "The text to put in its place; empty to delete it" },
      replace_all: { type: "boolean", description: "Replace it everywhere in the file. Default: false" },
    },
    required: ["path", "old_string", "new_string"],
    additionalProperties: false,
  },
  permissions: { read: true, write: true },
  strict: true,
};

interface Input {
  path: string;
  old_string: string;
  new_string: string;
  replace_all?: boolean | null;
}

/** Line numbers that are named in one message. */
const NAMED = 10;
/** Changed places that are shown, lines of one of them, lines around it, and characters of a line. */
const SHOWN = { places: 3, lines: 20, around: 2, characters: 200 };

export const handler: Handler<Input> = async (input, context) => {
  const { target, edited } = await edit(input, context);
  const { real, seen } = target;
  await inWords("edit", input.path, context.workspace.writeText(real, edited.text, { replaces: seen.sha256 }));
  context.seen.note(real, { sha256: sha256Of(edited.text), whole: seen.whole });
  return [summary(input.path, edited), excerpt(edited), ...bracketed(namesNote(target, "after"))].join("\n");
};

export async function preview(input: Input, context: Context): Promise<Change> {
  const { target, before, edited } = await edit(input, context);
  const diff = await unifiedDiff(target.real, before, edited.text);
  return { path: target.real, diff: [...bracketed(namesNote(target, "before")), diff].join("\n") };
}

/** All but the writing. */
async function edit(input: Input, context: Context): Promise<{ target: Target; before: string; edited: Edited }> {
  const { path, old_string: oldText, new_string: newText, replace_all: isAll } = input;
  if (path === "") throw cannotCall("path", "it is empty. Name a file");
  if (oldText === "") {
    throw cannotCall(
      "old_string",
      "it is empty. To add text, copy what is beside the place; in an empty file use write_file",
    );
  }
  for (const name of ["old_string", "new_string"] as const) {
    if (!input[name].isWellFormed()) {
      throw cannotCall(name, "it has half a character in it (a lone surrogate). Write the whole character");
    }
  }
  if (oldText === newText) throw cannotCall("new_string", "it is the same as old_string. Write what it is to become");
  const target = await openTarget(path, "edit", context);
  const before = decode(path, target.bytes);
  const places = findPlaces(before, oldText);
  if (places.length === 0) throw cannot("edit", path, `old_string is not in it. ${notFoundHint(before, oldText)}`);
  if (places.length > 1 && isAll !== true) throw cannot("edit", path, ambiguous(before, places));
  const edited = replaceAt(before, places, { oldText, newText });
  if (edited.text === before) throw cannot("edit", path, "it would be the same afterwards. Look at new_string again");
  return { target, before, edited };
}

/** With its BOM, so that all that is not replaced is written back as it was. */
function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw cannot("edit", path, `it is ${describeBytes(bytes, bytes.length)}`);
  }
}

function ambiguous(text: string, places: readonly Place[]): string {
  const lines = linesAt(text, places.slice(0, NAMED).map(({ start }) => start));
  return `old_string is in it ${places.length} times, at ${nameLines(lines, places.length)}. ` +
    "Add lines around it so that it fits one place only, or set replace_all";
}

function summary(path: string, { lines }: Edited): string {
  const [only, ...others] = lines;
  if (only === undefined || others.length > 0) {
    const firsts = lines.slice(0, NAMED).map(({ first }) => first);
    return `Edited ${quoted(path)}: ${lines.length} places, ${nameLines(firsts, lines.length)}`;
  }
  const { first, last } = only;
  return `Edited ${quoted(path)}: 1 place, ${first === last ? `line ${first}` : `lines ${first}–${last}`}`;
}

/** `lines 1, 1 and 2`, `lines 1, 2, 3 and 40 more`. */
function nameLines(lines: readonly number[], total: number): string {
  const more = total > lines.length ? [`${total - lines.length} more`] : [];
  return `lines ${listed([...lines.map(String), ...more])}`;
}

/** The first changed places as they are now, numbered as read_file does it. */
function excerpt({ text, lines }: Edited): string {
  if (text === "" || text === BOM) return "The file is empty now";
  const all = text.split("\n");
  const rows: string[] = [];
  let shown = 0; // the last line that is in the excerpt
  for (const { first, last } of lines.slice(0, SHOWN.places)) {
    const from = Math.max(shown + 1, first - SHOWN.around);
    const to = Math.min(last + SHOWN.around, first + SHOWN.lines, all.length - (text.endsWith("\n") ? 1 : 0));
    if (shown > 0 && from > shown + 1) rows.push("   ...");
    for (let line = from; line <= to; line++) rows.push(`${String(line).padStart(6)}\t${shorten(all[line - 1] ?? "")}`);
    shown = Math.max(shown, to);
  }
  return rows.join("\n");
}

function shorten(line: string): string {
  const text = line.replace(/\r$/, "").replace(BOM, "");
  return text.length > SHOWN.characters ? `${headOf(text, SHOWN.characters)}…` : text;
}

function cannotCall(parameter: string, how: string): Error {
  return new Error(`Cannot call edit_file: ${parameter}: ${how}`);
}
