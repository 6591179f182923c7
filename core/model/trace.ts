/** `--trace`: what each request holds, for whoever wants to see why it costs what it costs. */

import type { Ask, Event } from "../agent.ts";
import { startSha256 } from "../hash.ts";
import type { Block, Message, Reply } from "../message.ts";
import type { WireDefinition } from "../registry.ts";
import { oneLine } from "../text.ts";

/**
 * The same `ask`, with lines written before each request: how many messages and bytes it has, the hash of what it shares with the
 * request before (and whether that is still the same: else nothing comes from the cache), and each message's role,
 * blocks and first words.
 */
export function traced(
  ask: Ask,
  system: string,
  definitions: readonly WireDefinition[],
  write: (line: string) => void,
): Ask {
  let request = 0;
  let sent = { blocks: 0, hash: "" };
  return async function* (messages, signal): AsyncGenerator<Event, Reply> {
    request++;
    // Block by block: a message that grows keeps what it had.
    const blocks = messages.flatMap(({ role, content }) => content.map((block) => `${role}${JSON.stringify(block)}`));
    const parts = [JSON.stringify([definitions, system]), ...blocks];
    const isNew = blocks.length < sent.blocks;
    const prefix = hashOf(parts.slice(0, 1 + (isNew ? 0 : sent.blocks)));
    const kept = request === 1 || isNew || prefix === sent.hash ? "" : " (CHANGED: the cache begins anew)";
    const bytes = new TextEncoder().encode(parts.join("")).length;
    write(
      `trace: request ${request}: ${messages.length} ${
        messages.length === 1 ? "message" : "messages"
      }, ${bytes} bytes, prefix ${prefix}${kept}`,
    );
    for (const message of messages) write(`trace:   ${messageLine(message)}`);
    sent = { blocks: blocks.length, hash: hashOf(parts) };
    return yield* ask(messages, signal);
  };
}

function messageLine({ role, content }: Message): string {
  return `${role}: ${content.map((block) => block.type).join(" ")}: ${oneLine(content.map(wordsOf).join(" "), 60)}`;
}

function wordsOf(block: Block): string {
  if (block.type === "text") return block.text;
  if (block.type === "tool_use") return `${block.name} ${JSON.stringify(block.input)}`;
  if (block.type === "tool_result") {
    return typeof block.content === "string" ? block.content : `${block.content.length} blocks`;
  }
  return `(${block.type})`;
}

function hashOf(parts: readonly string[]): string {
  const hash = startSha256();
  for (const part of parts) hash.update(part);
  return hash.digest("hex").slice(0, 12);
}
