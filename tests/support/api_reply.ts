/** Replies of the fake model: written short, told as stream events in small pieces, put together again. */

import { createHash, randomUUID } from "node:crypto";

/** One stream event, as it stands in a `data:` line. */
export interface StreamEvent {
  type: string;
  [field: string]: unknown;
}

/** A content block of a reply; any kind, so that tests can send kinds that do not exist yet. */
export interface ReplyBlock {
  type: string;
  [field: string]: unknown;
}

/** A reply by its blocks. What is left out is made up: a stop reason that fits, a usage that was counted. */
export interface Reply {
  content: ReplyBlock[];
  stop_reason?: string;
  stop_sequence?: string;
  usage?: Record<string, unknown>;
  id?: string;
}

export interface ShortReply extends Omit<Reply, "content"> {
  thinking?: string;
  text?: string;
  /** Calls; an id that is left out is made up, and unique. */
  calls?: { id?: string; name: string; input: unknown }[];
}

/** A reply written short: thinking, then text, then calls. Thinking gets the signature that the fake asks back for. */
export function reply({ thinking, text, calls = [], ...rest }: ShortReply): Reply {
  const content: ReplyBlock[] = [];
  if (thinking !== undefined) content.push({ type: "thinking", thinking, signature: signatureOf(thinking) });
  if (text !== undefined) content.push({ type: "text", text });
  for (const { id = newId("toolu"), name, input } of calls) {
    content.push({ type: "tool_use", id, name, input, caller: { type: "direct" } });
  }
  return { content, ...rest };
}

/** The only signature that belongs to this thinking, so that an edited block is found out. */
export function signatureOf(thinking: string): string {
  return createHash("sha256").update(`fake signature of ${thinking}`).digest("base64");
}

/** An id that no other has, also across servers: `toolu_…`, `msg_…`, `req_…`. */
export function newId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** Numbers in [0, 1) that are the same on every run (mulberry32, public domain). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole message of the API; more fields than these may be there. */
export interface ReplyMessage {
  content: ReplyBlock[];
  stop_reason: string | null;
  stop_sequence: string | null;
  usage: Record<string, unknown>;
  [field: string]: unknown;
}

/** The whole message, as a request without `stream` gets it. `usage` is its input side; the output is counted here. */
export function messageOf(reply: Reply, model: string, usage: Record<string, unknown>): ReplyMessage {
  const calls = reply.content.some((block) => block.type === "tool_use");
  return {
    id: reply.id ?? newId("msg"),
    type: "message",
    role: "assistant",
    model,
    content: reply.content,
    stop_reason: reply.stop_reason ?? (calls ? "tool_use" : "end_turn"),
    stop_sequence: reply.stop_sequence ?? null,
    usage: { ...usage, output_tokens: Math.ceil(JSON.stringify(reply.content).length / 4), ...reply.usage },
  };
}

/** The message as a stream: blocks in small deltas cut at seeded places, with a ping here and there. */
export function eventsOf(message: ReplyMessage, random: () => number): StreamEvent[] {
  const { content, stop_reason, stop_sequence, usage, ...head } = message;
  const { output_tokens, ...input } = usage;
  const events: StreamEvent[] = [
    {
      type: "message_start",
      message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...input, output_tokens: 1 } },
    },
    { type: "ping" },
  ];
  content.forEach((block, index) => {
    const { start, deltas } = tell(block, random);
    events.push({ type: "content_block_start", index, content_block: start });
    for (const delta of deltas) {
      events.push({ type: "content_block_delta", index, delta });
      if (random() < 0.05) events.push({ type: "ping" });
    }
    events.push({ type: "content_block_stop", index });
  });
  const delta = { stop_reason, stop_sequence };
  return [...events, { type: "message_delta", delta, usage: { ...input, output_tokens } }, { type: "message_stop" }];
}

/** How a block is told: what its start says, and its deltas. Kinds without deltas come whole in the start. */
function tell(block: ReplyBlock, random: () => number): { start: ReplyBlock; deltas: Record<string, unknown>[] } {
  switch (block.type) {
    case "text":
      return {
        start: { ...block, text: "" },
        deltas: cut(String(block.text), random).map((text) => ({ type: "text_delta", text })),
      };
    case "thinking":
      return {
        start: { ...block, thinking: "", signature: "" },
        deltas: [
          ...cut(String(block.thinking), random).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block.signature },
        ],
      };
    case "tool_use":
    case "server_tool_use":
      return {
        start: { ...block, input: {} },
        deltas: ["", ...cut(JSON.stringify(block.input), random)].map((partial_json) => ({
          type: "input_json_delta",
          partial_json,
        })),
      };
    default:
      return { start: block, deltas: [] };
  }
}

/** Pieces of about one to twelve characters (never half of a surrogate pair), longer ones where the text is long. */
function cut(text: string, random: () => number): string[] {
  const chars = Array.from(text);
  const longest = Math.max(12, Math.ceil(chars.length / 100));
  const pieces: string[] = [];
  for (let at = 0; at < chars.length;) {
    const length = 1 + Math.floor(random() * longest);
    pieces.push(chars.slice(at, at + length).join(""));
    at += length;
  }
  return pieces;
}

/** The message that these events tell, as far as they go: what a client has to have in the end. */
export function messageFrom(events: readonly StreamEvent[]): ReplyMessage {
  let message: ReplyMessage = { content: [], stop_reason: null, stop_sequence: null, usage: {} };
  const blocks: ReplyBlock[] = [];
  const inputs = new Map<ReplyBlock, string>();
  for (const event of events) {
    const block = blocks[Number(event.index)];
    const delta = (event.delta ?? {}) as Record<string, unknown>;
    if (event.type === "message_start") message = { ...message, ...event.message as object };
    if (event.type === "content_block_start") blocks[Number(event.index)] = { ...event.content_block as ReplyBlock };
    if (event.type === "message_delta") Object.assign(message, delta);
    if (event.type !== "content_block_delta" || !block) continue;
    if (delta.type === "text_delta") block.text = `${block.text ?? ""}${delta.text}`;
    if (delta.type === "thinking_delta") block.thinking = `${block.thinking ?? ""}${delta.thinking}`;
    if (delta.type === "signature_delta") block.signature = `${block.signature ?? ""}${delta.signature}`;
    if (delta.type === "input_json_delta") inputs.set(block, `${inputs.get(block) ?? ""}${delta.partial_json}`);
  }
  for (const [block, json] of inputs) {
    try {
      block.input = JSON.parse(json || "{}");
    } catch {
      block.input = {}; // a call that was cut has no input
    }
  }
  return { ...message, content: blocks.filter(Boolean) };
}
