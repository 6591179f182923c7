/** read_file: a page of a text file with line numbers, or an image. */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { describeBytes } from "../core/encoding.ts";
import { type Image, IMAGE_LIMIT, kindOfImage, readImage, SIDE_LIMIT } from "../core/image.ts";
import { createPager, type Page } from "../core/lines.ts";
import { foldName, showExactly } from "../core/name.ts";
import { quoted } from "../core/refusal.ts";
import type { ContentBlock, Context, Definition, Handler } from "../core/tool.ts";

export const definition: Definition = {
  name: "read_file",
  description:
    "Reads a text file with line numbers (the number and a tab before each line are not part of the file), at most 2000 lines at once, " +
    "or shows a PNG, JPEG, GIF or WebP image. Use it before you change a file; find names with list_files first. A long file comes in " +
    "pages: the last line of the result gives the offset that goes on.",
  input_schema: {
    type: "object",
    properties: {
      path: { type: "string", description: "File, relative to the workspace" },
      offset: { type: "integer", description: "First line to show, from 1. Default: 1" },
      limit: { type: "integer", description: "Number of lines, at most 2000. Default: 2000" },
    },
    required: ["path"],
    additionalProperties: false,
  },
  permissions: { read: true },
  strict: true,
};

/** Lines of one result. */
const LINES = 2000;

interface Input {
  path: string;
  offset?: number | null;
  limit?: number | null;
}

export const handler: Handler<Input> = async ({ path, offset, limit }, context) => {
  if (path === "") throw new Error("Cannot call read_file: path: it is empty. Name a file");
  const first = lineNumber("offset", offset ?? 1);
  const wanted = lineNumber("limit", limit ?? LINES);
  const hash = createHash("sha256");
  const pager = createPager({ first, limit: Math.min(wanted, LINES) });
  let head: Uint8Array | undefined;
  let image: Uint8Array[] | undefined;
  let size = 0;
  for await (const chunk of context.workspace.readChunks(path)) {
    context.signal.throwIfAborted();
    hash.update(chunk);
    size += chunk.length;
    if (head === undefined && kindOfImage(chunk) !== undefined) image = [];
    head ??= chunk;
    if (image !== undefined) {
      if (size > IMAGE_LIMIT) throw await tooLarge(path, context);
      image.push(chunk);
    } else {
      if (chunk.includes(0)) throw await notText(path, chunk === head ? head : chunk, context);
      pager.push(chunk);
    }
  }
  const resolved = await context.workspace.resolve(path);
  const sha256 = hash.digest("hex");
  const name = nameNote(path, resolved);
  if (image !== undefined) {
    const blocks = showImage(path, Buffer.concat(image));
    context.seen.note(resolved, { sha256, whole: true });
    return [{ type: "text", text: [`${quoted(path)} is an image:`, ...name].join("\n") }, ...blocks];
  }
  const page = pager.end();
  if (page.hasBadLine) throw await notText(path, head ?? new Uint8Array(), context);
  if (page.total > 0 && first > page.total) {
    throw new Error(
      `Cannot read ${quoted(path)}: offset ${first} is past its end: it has ${
        lines(page.total)
      }. Use an offset from 1 to ${page.total}`,
    );
  }
  context.seen.note(resolved, { sha256, whole: page.whole });
  if (page.total === 0) return [`${quoted(path)} is empty (0 bytes)`, ...name].join("\n");
  return [page.text, ...pageNotes(page, wanted), ...name].join("\n");
};

function lineNumber(parameter: string, value: number): number {
  if (Number.isInteger(value) && value >= 1) return value;
  throw new Error(`Cannot call read_file: ${parameter}: expected a whole number from 1, got ${JSON.stringify(value)}`);
}

function pageNotes({ first, last, total, isUtf8 }: Page, wanted: number): string[] {
  const notes: string[] = [];
  const range = first === last ? `line ${first}` : `lines ${first}–${last}`;
  const most = wanted > LINES ? `at most ${LINES} at once; ` : "";
  if (last < total) notes.push(`[${range} of ${total}; ${most}go on with offset: ${last + 1}]`);
  else if (first > 1) notes.push(`[${range} of ${total}; this is the end]`);
  if (!isUtf8) notes.push("[further down the file is not valid UTF-8: it cannot be edited as text]");
  return notes;
}

/** When a near twin of the name was taken: which one. The two may look the same, so all beyond ASCII is written out. */
function nameNote(asked: string, resolved: string): string[] {
  const [was, is] = [asked, resolved].map((path) => path.slice(path.lastIndexOf("/") + 1));
  if (was === undefined || is === undefined || was === is || foldName(was) !== foldName(is)) return [];
  return [`[the name of this file is "${showExactly(is)}"]`];
}

async function notText(path: string, bytes: Uint8Array, { workspace }: Context): Promise<Error> {
  const { size } = await workspace.stat(path);
  return new Error(`Cannot read ${quoted(path)}: it is ${describeBytes(bytes, size)}`);
}

async function tooLarge(path: string, { workspace }: Context): Promise<Error> {
  const { size } = await workspace.stat(path);
  const [is, most] = [size, IMAGE_LIMIT].map((bytes) => bytes.toLocaleString("en-US"));
  return new Error(
    `Cannot read ${
      quoted(path)
    }: an image may have ${most} bytes (5 MB as base64), this one has ${is}. Make it smaller`,
  );
}

function showImage(path: string, bytes: Uint8Array): ContentBlock[] {
  const image: Image | undefined = readImage(bytes);
  const kind = kindOfImage(bytes)?.slice("image/".length).toUpperCase();
  if (image === undefined) {
    throw new Error(`Cannot read ${quoted(path)}: it begins like a ${kind} image, but it is damaged or cut short`);
  }
  const { media_type, width, height } = image;
  if (Math.max(width, height) > SIDE_LIMIT) {
    throw new Error(
      `Cannot read ${
        quoted(path)
      }: an image may have ${SIDE_LIMIT} pixels a side, this one has ${width} × ${height}. Make it smaller`,
    );
  }
  return [{ type: "image", source: { type: "base64", media_type, data: Buffer.from(bytes).toString("base64") } }];
}

function lines(number: number): string {
  return number === 1 ? "1 line" : `${number} lines`;
}
