/** Why a file does not count as read whole, and what can be done about it. */

import { describeBytes } from "./encoding.ts";
import { kindOfImage } from "./image.ts";
import { firstLongLine, LINE_LIMIT } from "./lines.ts";
import { textOf } from "./reading.ts";
import { firstGap } from "./seen_files.ts";
import type { SeenFile } from "../tool.ts";

/**
 * The reason for the model, of a file with this content of which so much was seen. A file that read_file can never show whole is told from one
 * that only has to be read on.
 *
 * An image is such a file too, though it can be shown: what was seen are pixels and not its bytes, text in its place would be no image, and
 * undo puts back only what is text.
 */
export function whyNotWhole(bytes: Uint8Array, seen: SeenFile | undefined): string {
  const never = whyNever(bytes);
  if (never !== undefined) return never;
  const gap = seen?.lines && firstGap(seen.lines);
  if (gap === undefined) {
    return "it exists and was not read whole. Read it with read_file first, or change a part of it with edit_file";
  }
  const [first, last] = gap;
  const lines = first === last ? `line ${first} was` : `lines ${first}–${last} were`;
  return `it exists and was not read whole: ${lines} not shown. Go on with read_file, offset: ${first}, or change a part of it with edit_file`;
}

function whyNever(bytes: Uint8Array): string | undefined {
  if (kindOfImage(bytes) !== undefined) {
    return "it is an image, which text cannot replace. Write to a new name, or delete it with bash first";
  }
  const text = textOf(bytes);
  if (text === undefined) {
    const what = describeBytes(bytes, bytes.length);
    const way = what.startsWith("binary")
      ? ". Write to a new name, or delete it with bash first"
      : ", or write to a new name";
    return `it exists and cannot be read: it is ${what}${way}`;
  }
  const line = firstLongLine(text);
  if (line === undefined) return undefined;
  const most = LINE_LIMIT.toLocaleString("en-US");
  return `it exists and cannot be read whole: line ${line} has more than ${most} characters. Change a part of it with edit_file, write to a new name, or delete it with bash first`;
}
