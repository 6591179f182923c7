/** read_file: a page of a text file with line numbers, or an image. */

import { Buffer } from "node:buffer";
import { describeBytes } from "../core/files/encoding.ts";
import { startSha256 } from "../core/hash.ts";
import { IMAGE_LIMIT, kindOfImage, readImage, SIDE_LIMIT } from "../core/files/image.ts";
import { createPager, type Page, type Pager } from "../core/files/lines.ts";
import { foldName, showExactly } from "../core/files/name.ts";
import { quoted } from "../core/files/refusal.ts";
import type { ContentBlock, Context, Definition, Handler, SeenFile } from "../core/tool.ts";

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
  const { image, page, sha256, size } = await passOnce(
    path,
    createPager({ first, limit: Math.min(wanted, LINES) }),
    context,
  );
  const result = image === undefined ? showPage(path, page, { wanted, size }) : showImage(path, image);
  const resolved = await context.workspace.resolve(path);
  const { names } = await context.workspace.stat(path);
  context.seen.note(resolved, { sha256, ...shownOf(page, image !== undefined), ...(names > 1 ? { names } : {}) });
  const note = nameNote(path, resolved);
  if (note === undefined) return result;
  return typeof result === "string" ? `${result}\n${note}` : [...result, { type: "text", text: note }];
};

/** An image was shown as pixels, not as its bytes. */
function shownOf({ whole, shown, total }: Page, isImage: boolean): Pick<SeenFile, "whole" | "lines"> {
  if (isImage) return { whole: false };
  return whole ? { whole } : { whole, lines: { shown, total } };
}

/** Lets the whole file go by once, for its hash, its lines, and its bytes if it is an image. */
async function passOnce(path: string, pager: Pager, { workspace, signal }: Context) {
  const hash = startSha256();
  let image: Uint8Array[] | undefined;
  let size = 0;
  for await (const chunk of workspace.readChunks(path)) {
    signal.throwIfAborted();
    hash.update(chunk);
    if (size === 0 && kindOfImage(chunk) !== undefined) image = [];
    size += chunk.length;
    if (image === undefined) {
      if (chunk.includes(0)) throw cannotRead(path, `it is ${describeBytes(chunk, (await workspace.stat(path)).size)}`);
      pager.push(chunk);
    } else {
      if (size > IMAGE_LIMIT) throw cannotRead(path, tooLarge((await workspace.stat(path)).size));
      image.push(chunk);
    }
  }
  return { image: image && Buffer.concat(image), page: pager.end(), sha256: hash.digest("hex"), size };
}

function showPage(path: string, page: Page, { wanted, size }: { wanted: number; size: number }): string {
  const { first, last, total, bad } = page;
  if (bad !== undefined && page.hasBadLine) throw cannotRead(path, `it is ${describeBytes(bad, size)}`);
  if (total === 0) return `${quoted(path)} is empty (${size === 0 ? "0 bytes" : "only a byte order mark"})`;
  if (first > total) {
    const has = total === 1 ? "1 line" : `${total} lines`;
    throw cannotRead(path, `offset ${first} is past its end: it has ${has}. Use an offset from 1 to ${total}`);
  }
  const parts = [page.text];
  const range = first === last ? `line ${first}` : `lines ${first}–${last}`;
  const most = wanted > LINES ? `at most ${LINES} at once; ` : "";
  if (last < total) parts.push(`[${range} of ${total}; ${most}go on with offset: ${last + 1}]`);
  else if (first > 1) parts.push(`[${range} of ${total}; this is the end]`);
  if (bad !== undefined) parts.push("[other lines of the file are not valid UTF-8: it cannot be edited as text]");
  return parts.join("\n");
}

function showImage(path: string, bytes: Buffer): ContentBlock[] {
  const image = readImage(bytes);
  const kind = kindOfImage(bytes)?.slice("image/".length).toUpperCase();
  if (image === undefined) throw cannotRead(path, `it begins like a ${kind} image, but it is damaged or cut short`);
  const { media_type, width, height } = image;
  const sides = `${width} × ${height}`;
  if (Math.max(width, height) > SIDE_LIMIT) {
    throw cannotRead(path, `an image may have ${SIDE_LIMIT} pixels a side, this one has ${sides}. Make it smaller`);
  }
  return [
    { type: "text", text: `${quoted(path)} is a ${kind} image of ${sides} pixels:` },
    { type: "image", source: { type: "base64", media_type, data: bytes.toString("base64") } },
  ];
}

function tooLarge(size: number): string {
  const [is, most] = [size, IMAGE_LIMIT].map((bytes) => bytes.toLocaleString("en-US"));
  return `an image may have ${most} bytes (5 MB as base64), this one has ${is}. Make it smaller`;
}

/** When a near twin of the name was taken: which one. The two may look the same, so all beyond ASCII is written out. */
function nameNote(asked: string, resolved: string): string | undefined {
  const [was = "", is = ""] = [asked, resolved].map((path) => path.slice(path.lastIndexOf("/") + 1));
  return was !== is && foldName(was) === foldName(is) ? `[the name of this file is "${showExactly(is)}"]` : undefined;
}

function lineNumber(parameter: string, value: number): number {
  if (Number.isInteger(value) && value >= 1) return value;
  throw new Error(`Cannot call read_file: ${parameter}: expected a whole number from 1, got ${JSON.stringify(value)}`);
}

function cannotRead(path: string, how: string): Error {
  return new Error(`Cannot read ${quoted(path)}: ${how}`);
}
