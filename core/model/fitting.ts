/** Keeps the conversation within what one request may hold: images that are too many or refused, requests that are too large. */

import { Buffer } from "node:buffer";
import type { Ask, Event } from "../agent.ts";
import { type ApiError, isApiError } from "./api_error.ts";
import { readImage } from "../files/image.ts";
import type { Block, Content, ImageBlock, Message, Reply } from "../message.ts";
import { headOf } from "../text.ts";

/** Images of one request; above `MANY` of them no side may be over `SIDE` pixels. Source: "Vision", API documentation. */
const IMAGES = 100;
const MANY = 20;
const SIDE = 2000;
/** Bytes of one request: the API takes 32 MB. */
const BYTES = 30_000_000;
/** So many images more than must go, go at once: each time the cache begins anew. */
const SLACK = 5;
/** Characters that are left of a long result in a conversation that was refused as too large. */
const LIGHT = 2000;

const LEFT_OUT = "[an image was left out here to make room; read its file again if it is needed]";
const REFUSED = "[an image stood here that the API could not use; it was taken out]";
const SHORTENED = "[the rest of this result was left out to make room; call the tool again if it is needed]";

/**
 * The same `ask` for a list that fits. What has to go is replaced by a note in the list itself, oldest first, so that the next
 * request has the same prefix again. An image that the API cannot use is taken out and the request sent once more;
 * a list refused as too large is made lighter for the next turn, and is not sent again by itself.
 */
export function fitted(ask: Ask): Ask {
  return async function* (messages, signal): AsyncGenerator<Event, Reply> {
    const dropped = dropImages(messages);
    if (dropped > 0) {
      yield { type: "warning", text: `${dropped} older images were left out: one request takes no more` };
    }
    try {
      return yield* ask(messages, signal);
    } catch (error) {
      if (!isApiError(error)) throw error;
      const refused = refusedImage(error, messages);
      if (refused) {
        refused.replace(REFUSED);
        yield { type: "warning", text: "An image was taken out that the API could not use" };
        return yield* ask(messages, signal);
      }
      if (error.status !== 413) throw error;
      lighten(messages);
      const hint = "Images and long results were taken out of the conversation. Ask again";
      throw Object.assign(error, { message: `${error.message}. ${hint}` });
    }
  };
}

/** An image in the list, and the way to put a note in its place. */
interface Place {
  image: ImageBlock;
  replace(note: string): void;
}

function imagesIn(messages: readonly Message[]): Place[] {
  const inside = (blocks: (Block | Content)[]): Place[] =>
    blocks.flatMap((block, index): Place[] => {
      if (block.type === "image") {
        return [{ image: block, replace: (text) => void (blocks[index] = { type: "text", text }) }];
      }
      return block.type === "tool_result" && typeof block.content !== "string" ? inside(block.content) : [];
    });
  return messages.flatMap((message) => inside(message.content));
}

/** Drops as many as must go, and tells how many those were. */
function dropImages(messages: readonly Message[]): number {
  const places = imagesIn(messages);
  const large = places.length > MANY ? places.filter(({ image }) => isLarge(image)) : [];
  const excess = Math.max(places.length - IMAGES, large.length > 0 ? places.length - MANY : 0);
  // A few large ones among many small ones: those alone are in the way.
  const chosen = large.length > 0 && large.length < excess && places.length - large.length <= IMAGES
    ? large
    : places.slice(0, excess > 0 ? excess + SLACK : 0);
  for (const { replace } of chosen) replace(LEFT_OUT);
  return chosen.length + dropBytes(messages);
}

function dropBytes(messages: readonly Message[]): number {
  const places = imagesIn(messages);
  if (places.length === 0) return 0; // most conversations: not worth writing out the whole list at every step
  let bytes = JSON.stringify(messages).length;
  let dropped = 0;
  for (const { image, replace } of places) {
    if (bytes <= BYTES) break;
    replace(LEFT_OUT);
    bytes -= image.source.data.length;
    dropped++;
  }
  return dropped;
}

function isLarge({ source }: ImageBlock): boolean {
  const image = readImage(new Uint8Array(Buffer.from(source.data, "base64")));
  return image === undefined || image.width > SIDE || image.height > SIDE;
}

/** The API names the place: `messages.2.content.0.content.0.image.source.base64: …`. Other refusals name no image. */
function refusedImage(error: ApiError, messages: readonly Message[]): Place | undefined {
  const [, message, ...steps] =
    /^messages\.(\d+)\.content\.(\d+)(?:\.(?:tool_result\.)?content\.(\d+))?\.image\b/.exec(error.words ?? "") ?? [];
  if (error.status !== 400) return undefined;
  // Without a place the newest one is the new one: what was there before had been taken.
  if (message === undefined) {
    return /^(?!messages\.\d).*\bimage\b/i.test(error.words ?? "") ? imagesIn(messages).at(-1) : undefined;
  }
  const block = messages[Number(message)]?.content[Number(steps[0])];
  const named = block?.type === "tool_result" && typeof block.content !== "string"
    ? block.content[Number(steps[1] ?? 0)]
    : block;
  return imagesIn(messages).find(({ image }) => image === named);
}

/** Takes out every image and shortens every long result. */
function lighten(messages: readonly Message[]): void {
  for (const { replace } of imagesIn(messages)) replace(LEFT_OUT);
  for (const block of messages.flatMap((message) => message.content)) {
    if (block.type !== "tool_result") continue;
    if (typeof block.content === "string") block.content = lightened(block.content);
    else for (const part of block.content) if (part.type === "text") part.text = lightened(part.text);
  }
}

function lightened(text: string): string {
  return text.length <= LIGHT ? text : `${headOf(text, LIGHT)}\n${SHORTENED}`;
}
