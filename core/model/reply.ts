/** Puts a reply together from the events of its stream. */

import { cutTooDeep } from "../nesting.ts";
import type { Block, Reply, Usage } from "../message.ts";

/** A reply in the making. */
export interface Draft {
  blocks: (Block | undefined)[];
  /** JSON text of the input of the calls that stream it, by block index. */
  inputs: Map<number, string>;
  stop_reason: string | undefined;
  usage: Usage;
  model: string;
  /** `message_stop` has come: nothing is missing. */
  whole: boolean;
}

export function newDraft(): Draft {
  const usage = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  return { blocks: [], inputs: new Map(), stop_reason: undefined, usage, model: "", whole: false };
}

type Json = { [key: string]: unknown };

/**
 * Takes in one event and returns the text to show, if it brings some. Events, blocks and deltas of kinds that are not
 * known here are kept or skipped, never fatal. (Source: "Streaming Messages", API documentation.)
 */
export function readEvent(draft: Draft, event: Json): string {
  const index = Number(event["index"] ?? 0);
  switch (event["type"]) {
    case "message_start": {
      const message = asJson(event["message"]);
      draft.model = String(message["model"] ?? "");
      takeUsage(draft, message["usage"]);
      return "";
    }
    case "content_block_start": {
      const block = started(asJson(event["content_block"]));
      draft.blocks[index] = block;
      return block.type === "text" ? block.text : "";
    }
    case "content_block_delta":
      return readDelta(draft, index, asJson(event["delta"]));
    case "message_delta": {
      const reason = asJson(event["delta"])["stop_reason"];
      if (typeof reason === "string") draft.stop_reason = reason;
      takeUsage(draft, event["usage"]);
      return "";
    }
    case "message_stop":
      draft.whole = true;
      return "";
    default:
      return "";
  }
}

/** A block as it begins. Compatible servers leave out what is empty; nothing may be added to `undefined` later on. */
function started(given: Json): Block {
  const block = { ...given };
  for (const field of TEXTS.get(block["type"]) ?? []) {
    if (typeof block[field] !== "string") block[field] = "";
  }
  if (block["type"] === "tool_use") block["input"] ??= {};
  return block as unknown as Block;
}

/** The fields that hold text, by type of block. */
const TEXTS = new Map<unknown, readonly string[]>([
  ["text", ["text"]],
  ["thinking", ["thinking", "signature"]],
  ["tool_use", ["id", "name"]],
]);

function readDelta(draft: Draft, index: number, delta: Json): string {
  const block = draft.blocks[index];
  if (!block) return "";
  const add = (value: unknown) => typeof value === "string" ? value : "";
  if (block.type === "text" && delta["type"] === "text_delta") {
    block.text += add(delta["text"]);
    return add(delta["text"]);
  }
  if (block.type === "thinking" && delta["type"] === "thinking_delta") block.thinking += add(delta["thinking"]);
  if (block.type === "thinking" && delta["type"] === "signature_delta") {
    block.signature += add(delta["signature"]);
  }
  if (delta["type"] === "input_json_delta") {
    draft.inputs.set(index, (draft.inputs.get(index) ?? "") + add(delta["partial_json"]));
  }
  return "";
}

function takeUsage(draft: Draft, usage: unknown): void {
  for (const [name, count] of Object.entries(asJson(usage))) {
    if (Object.hasOwn(draft.usage, name) && typeof count === "number") draft.usage[name as keyof Usage] = count;
  }
}

/**
 * The reply of a stream that has ended. An input that is no JSON stays the text that it is, for the call's result to
 * say so; one that came whole with its block (some compatible servers do that) is kept when nothing was streamed. Of one that is nested too
 * deep so much is kept that its call is refused for it: the conversation has to be sent again.
 */
export function finishReply(draft: Draft): Reply {
  for (const [index, json] of draft.inputs) {
    const block = draft.blocks[index];
    if (block && "input" in block && json.trim() !== "") block.input = parsed(json);
  }
  const content = draft.blocks.filter((block) => block !== undefined);
  for (const block of content) if ("input" in block) block.input = cutTooDeep(block.input);
  return { content, stop_reason: draft.stop_reason ?? "end_turn", usage: draft.usage };
}

/** What the user has seen of a reply that was interrupted: its text, and no calls. */
export function interruptedReply(draft: Draft): Reply {
  const content = draft.blocks.flatMap((block) => {
    const text = block?.type === "text" ? block.text.trimEnd() : "";
    return text === "" ? [] : [{ type: "text" as const, text }];
  });
  const last = content.at(-1);
  if (last) last.text += " [interrupted by the user]";
  return { content, stop_reason: "interrupted", usage: draft.usage };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

function asJson(value: unknown): Json {
  return typeof value === "object" && value !== null ? value as Json : {};
}
