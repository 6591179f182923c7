/** write_file: a whole text file, new or in place of the old one. */

import { unifiedDiff } from "../core/files/diff.ts";
import { BOM } from "../core/files/edit.ts";
import { sha256Of } from "../core/hash.ts";
import { quoted } from "../core/files/refusal.ts";
import { bracketed, inWords, namesNote, openTarget, type Target } from "../core/files/target.ts";
import { countLines } from "../core/text.ts";
import type { Change, Context, Definition, Handler } from "../core/tool.ts";

export const definition: Definition = {
  name: "write_file",
  description:
    "Writes a whole text file, with the folders it needs; the content is written as it is, so end it with a line end. A file that is " +
    "there already must have been read whole with read_file first, in pages if it is long. To change a part of a file use edit_file.",
  input_schema: {
    type: "object",
    properties: {
      path: { type: "string", description: "File, relative to the workspace" },
      content: { type: "string", description: "All that the file will have in it" },
    },
    required: ["path", "content"],
    additionalProperties: false,
  },
  permissions: { read: true, write: true },
  strict: true,
};

interface Input {
  path: string;
  content: string;
}

export const handler: Handler<Input> = async (input, context) => {
  const { path, content } = input;
  const { real, target } = await look(input, context);
  const before = target?.bytes;
  const size = sizeOf(content);
  const sha256 = sha256Of(content);
  const old = before === undefined ? null : sha256Of(before);
  if (old === sha256) return `${quoted(path)} has this content already (${size}). Nothing was written`;
  await context.workspace.writeText(path, content, { replaces: old });
  context.seen.note(real, { sha256, whole: true });
  if (target === undefined) return `Wrote ${quoted(path)}: ${size}, a new file`;
  const notes = [namesNote(target, "after"), ...losses(target.bytes, content)];
  return [`Wrote ${quoted(path)}: ${size}, in place of the old content`, ...bracketed(...notes)].join("\n");
};

export async function preview(input: Input, context: Context): Promise<Change> {
  const { real, target } = await look(input, context);
  const text = target && new TextDecoder("utf-8", { ignoreBOM: true }).decode(target.bytes);
  const diff = await unifiedDiff(real, text, input.content);
  return { path: real, diff: [...bracketed(target && namesNote(target, "before")), diff].join("\n") };
}

/** All but the writing: where the file is to be, and what is there. */
async function look(
  { path, content }: Input,
  context: Context,
): Promise<{ real: string; target: Target | undefined }> {
  if (path === "") throw cannotCall("path", "it is empty. Name a file");
  if (!content.isWellFormed()) {
    throw cannotCall("content", "it has half a character in it (a lone surrogate). Write the whole character");
  }
  const { workspace } = context;
  const real = await workspace.resolve(path, "write");
  if (!(await inWords("write", path, workspace.exists(path)))) return { real, target: undefined };
  return { real, target: await openTarget(path, "write", context) };
}

function sizeOf(content: string): string {
  const bytes = new TextEncoder().encode(content).length;
  const lines = countLines(content);
  return `${bytes.toLocaleString("en-US")} ${bytes === 1 ? "byte" : "bytes"}, ${lines} ${
    lines === 1 ? "line" : "lines"
  }`;
}

/** What the old content had that read_file does not show, and the new one has not. */
function losses(before: Uint8Array, content: string): string[] {
  const old = new TextDecoder("utf-8", { ignoreBOM: true }).decode(before);
  const lost: string[] = [];
  if (old.startsWith(BOM) && !content.startsWith(BOM)) lost.push("the byte order mark is gone");
  if (old.includes("\r\n") && content.includes("\n") && !content.includes("\r\n")) {
    lost.push("lines that ended in CRLF end in LF now");
  }
  return lost;
}

function cannotCall(parameter: string, how: string): Error {
  return new Error(`Cannot call write_file: ${parameter}: ${how}`);
}
