/** The rules for `messages`: roles, text, the pairing of calls and results, thinking. */

import type { ModelRules } from "./api_models.ts";
import { must } from "./api_refusal.ts";
import type { Request, RequestBlock } from "./api_shape.ts";

/** A block and where it stands, as the API writes it: `messages.0.content.1`. */
export interface PlacedBlock {
  path: string;
  block: RequestBlock;
}

interface Turn {
  role: "user" | "assistant";
  /** Index of its first message, for the messages of the API that name a turn. */
  index: number;
  blocks: PlacedBlock[];
}

/** What only the one who answered can know about a request. */
export interface Memory {
  /** Whether the API sent this block, unchanged (thinking, and kinds that have no rule). */
  isOurs?(block: unknown): boolean;
}

/** Refuses what the API would refuse in `messages`. */
export function checkMessages(request: Request, model: ModelRules, memory: Memory): void {
  checkRoles(request, model);
  const turns = turnsOf(request);
  for (const turn of turns) checkBlocks(turn);
  checkText(request, turns);
  checkPairing(turns);
  checkServerTools(turns);
  checkThinking(request, turns, memory);
  checkEnd(request, turns, model);
}

/** All blocks of the user and assistant messages, a string taken as one text block. */
export function blocksOf(request: Request): PlacedBlock[] {
  return turnsOf(request).flatMap((turn) => turn.blocks);
}

/** Neighbours of one role are one turn. A string is one text block; an empty one is none. */
function turnsOf(request: Request): Turn[] {
  const turns: Turn[] = [];
  request.messages.forEach(({ role, content }, index) => {
    if (role === "system") return;
    const path = `messages.${index}.content`;
    const blocks: PlacedBlock[] = typeof content !== "string"
      ? content.map((block, at) => ({ path: `${path}.${at}`, block }))
      : content === ""
      ? []
      : [{ path, block: { type: "text", text: content } }];
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, index, blocks: [...blocks] });
  });
  return turns;
}

function checkRoles({ messages }: Request, model: ModelRules): void {
  must(messages.length > 0, "messages: at least one message is required");
  must(messages[0]?.role === "user", 'messages: first message must use the "user" role');
  messages.forEach(({ role, content }, index) => {
    const isFinalAnswer = role === "assistant" && index === messages.length - 1;
    must(
      content.length > 0 || isFinalAnswer,
      `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
    );
    if (role !== "system") return;
    must(model.systemMessages, `messages.${index}: this model does not take "system" messages`);
    must(
      messages[index - 1]?.role === "user" && [undefined, "assistant"].includes(messages[index + 1]?.role),
      `messages.${index}: a "system" message must follow a user message and precede an assistant message or the end`,
    );
  });
}

const USER_ONLY = new Set(["tool_result", "image", "search_result", "container_upload"]);
const ASSISTANT_ONLY = new Set(["tool_use", "thinking", "redacted_thinking", "server_tool_use"]);

function checkBlocks({ role, blocks }: Turn): void {
  for (const { path, block } of blocks) {
    const wrong = role === "user" ? ASSISTANT_ONLY : USER_ONLY;
    must(!wrong.has(block.type), `${path}: \`${block.type}\` blocks are not permitted in \`${role}\` messages`);
    if (block.type !== "tool_result" || !block.is_error) continue;
    const { content = [] } = block;
    must(content.length > 0, `${path}.tool_result: content cannot be empty if \`is_error\` is true`);
    if (typeof content === "string") continue;
    must(
      content.every((part) => part.type === "text"),
      `${path}.tool_result: all content must be type "text" if \`is_error\` is true`,
    );
  }
}

function checkText(request: Request, turns: readonly Turn[]): void {
  if (typeof request.system === "object") request.system.forEach((block, at) => checkWords(`system.${at}`, block.text));
  request.messages.forEach(({ role, content }, index) => {
    if (role !== "system") return;
    const texts = typeof content === "string" ? [content] : content.map((block) => block.text);
    for (const text of texts) checkWords(`messages.${index}`, text);
  });
  for (const { path, block } of turns.flatMap((turn) => turn.blocks)) {
    if (block.type === "text") checkWords(path, block.text);
    if (block.type !== "tool_result" || typeof block.content !== "object") continue;
    block.content.forEach((part, at) => {
      if (part.type === "text") checkWords(`${path}.tool_result.content.${at}`, part.text);
    });
  }
}

function checkWords(path: string, text: string): void {
  must(text !== "", `${path}: text content blocks must be non-empty`);
  must(text.trim() !== "", `${path}: text content blocks must contain non-whitespace text`);
}

function checkPairing(turns: readonly Turn[]): void {
  const seen = new Set<string>();
  turns.forEach((turn, at) => {
    const next = turns[at + 1];
    const open = new Set<string>();
    for (const { path, block } of turn.blocks) {
      if (block.type !== "tool_use") continue;
      must(!seen.has(block.id), `${path}: \`tool_use\` ids must be unique: ${block.id}`);
      seen.add(block.id);
      open.add(block.id);
    }
    if (next?.role === "user") checkResults(next, open);
    else {
      must(
        open.size === 0,
        `messages.${turn.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
          `${[...open].join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the ` +
          "next message.",
      );
    }
  });
  const first = turns[0];
  if (first) checkResults(first, new Set());
}

/** The results of one user turn: for these calls, all of them, each once, before anything else. */
function checkResults(turn: Turn, calls: ReadonlySet<string>): void {
  const answered = new Set<string>();
  let other = "";
  for (const { path, block } of turn.blocks) {
    if (block.type !== "tool_result") {
      other ||= path;
      continue;
    }
    const id = block.tool_use_id;
    must(
      calls.has(id),
      `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must ` +
        "have a corresponding `tool_use` block in the previous message.",
    );
    must(!answered.has(id), `${path}: each tool_use must have a single result. Found multiple for id: ${id}`);
    must(other === "", `${path}: \`tool_result\` blocks must come first in the message, before ${other}`);
    answered.add(id);
  }
  const missing = [...calls].filter((id) => !answered.has(id));
  must(
    missing.length === 0,
    `messages.${turn.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
      `${
        missing.join(", ")
      }. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

/** A server tool's result stands behind its call in the same turn; only the last, paused turn may lack it. */
function checkServerTools(turns: readonly Turn[]): void {
  turns.forEach(({ index, blocks }, at) => {
    const open = new Set<string>();
    for (const { path, block } of blocks) {
      if (block.type === "server_tool_use") open.add(block.id);
      if (block.type === "tool_result" || !block.type.endsWith("_tool_result") || !("tool_use_id" in block)) continue;
      must(open.delete(block.tool_use_id), `${path}: unexpected \`tool_use_id\` found in \`${block.type}\` blocks`);
    }
    must(
      open.size === 0 || at === turns.length - 1,
      `messages.${index}: server tool uses were found without a corresponding result block: ${[...open].join(", ")}`,
    );
  });
}

function checkThinking(request: Request, turns: readonly Turn[], memory: Memory): void {
  for (const { role, index, blocks } of turns) {
    if (role !== "assistant") continue;
    for (const { path, block } of blocks) {
      if (block.type !== "thinking") continue;
      must(
        block.signature !== "" && (memory.isOurs?.(block) ?? true),
        `${path}: Invalid \`signature\` in \`thinking\` block`,
      );
    }
    const end = blocks.at(-1)?.block.type ?? "";
    must(
      end !== "thinking" && end !== "redacted_thinking",
      `messages.${index}: The final block in an assistant message cannot be \`thinking\`.`,
    );
  }
  if (request.thinking?.type !== "enabled") return;
  const loop = runningLoop(turns);
  const first = loop?.blocks[0];
  must(
    !first || first.block.type === "thinking" || first.block.type === "redacted_thinking",
    `${first?.path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.block.type}\`. When ` +
      "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the lastmost " +
      "set of `tool_use` and `tool_result` blocks).",
  );
}

/** The assistant turn that began the tool loop which the last message goes on with, or undefined outside of one. */
function runningLoop(turns: readonly Turn[]): Turn | undefined {
  let first: Turn | undefined;
  for (let at = turns.length - 1; at > 0; at -= 2) {
    const turn = turns[at];
    if (turn?.role !== "user" || !turn.blocks.every(({ block }) => block.type === "tool_result")) break;
    first = turns[at - 1];
  }
  return first;
}

function checkEnd(request: Request, turns: readonly Turn[], model: ModelRules): void {
  const last = turns.at(-1);
  if (last?.role !== "assistant" || request.messages.at(-1)?.role === "system") return;
  const end = last.blocks.at(-1)?.block;
  // A paused turn goes back as it came: the API goes on with it on every model.
  const isPaused = end?.type === "server_tool_use" || (end && "tool_use_id" in end);
  if (isPaused) return;
  must(
    model.prefill,
    "This model does not support assistant message prefill. The conversation must end with a user message.",
  );
  must(request.thinking?.type !== "enabled", "messages: prefill is not supported when `thinking` is enabled");
  must(
    end?.type !== "text" || end.text === end.text.trimEnd(),
    "messages: final assistant content cannot end with trailing whitespace",
  );
}
