/** What a tool returns, within the limits of a result, and without images that the API would refuse. */

import { IMAGE_LIMIT, readImage, SIDE_LIMIT } from "./files/image.ts";
import type { Content, ToolResultBlock } from "./message.ts";
import type { Outcome } from "./registry.ts";
import { cutMiddle, RESULT_LIMIT } from "./text.ts";

/**
 * Text over the limit keeps its head and tail. An image that the API refuses would make it refuse every later request of the
 * session too, so a line stands in for it. Done in the host, so that little travels, and again in core, which does not rely on it.
 */
export function limitResult({ content, is_error }: Outcome): Pick<ToolResultBlock, "content" | "is_error"> {
  const cut = typeof content === "string" ? cutMiddle(content) : limitBlocks(content.map(fitImage));
  return is_error ? { content: cut, is_error: true } : { content: cut };
}

/** The limit is that of the whole result: the first text block that does not fit is cut, those after it are left out. */
function limitBlocks(blocks: readonly Content[]): Content[] {
  const length = blocks.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);
  if (length <= RESULT_LIMIT) return [...blocks];
  let room = RESULT_LIMIT - 100; // for the line at the end
  let leftOut = 0;
  const kept = blocks.flatMap((block): Content[] => {
    if (block.type !== "text") return [block];
    const text = block.text.length <= room ? block.text : room > 1000 ? cutMiddle(block.text, room) : undefined;
    if (text === undefined) leftOut++;
    room -= block.text.length;
    return text === undefined ? [] : [{ ...block, text }];
  });
  const note = `[${leftOut} more text blocks left out: one result is at most ${RESULT_LIMIT} characters]`;
  return leftOut > 0 ? [...kept, { type: "text", text: note }] : kept;
}

/** The image by what its bytes are, or why it is left out. */
function fitImage(block: Content): Content {
  if (block.type !== "image") return block;
  const { data } = block.source;
  if (data.length / 4 * 3 > IMAGE_LIMIT + 2) {
    return leftOut(
      `it has ${Math.round(data.length / 4 * 3).toLocaleString("en")} bytes, at most ${
        IMAGE_LIMIT.toLocaleString("en")
      } are taken`,
    );
  }
  const image = readImage(bytesOf(data));
  if (image === undefined) return leftOut("it is no whole PNG, JPEG, GIF or WebP image in base64");
  const { media_type, width, height } = image;
  if (Math.max(width, height) > SIDE_LIMIT) {
    return leftOut(`it has ${width} × ${height} pixels, at most ${SIDE_LIMIT} a side are taken`);
  }
  return { type: "image", source: { type: "base64", media_type, data } };
}

function leftOut(reason: string): Content {
  return { type: "text", text: `[an image was left out: ${reason}]` };
}

/** Nothing for what is no base64. */
function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    return new Uint8Array();
  }
}
