/** The message list: append to it so that the API accepts it, repair one that was written by others, mark it for the cache. */

import type { Block, Content, Message, TextBlock, ToolResultBlock, ToolUseBlock } from "./message.ts";

/** The calls among the blocks of a reply, in their order. */
export function callsOf(content: readonly Block[]): ToolUseBlock[] {
  return content.filter((block) => block.type === "tool_use");
}

/**
 * Adds a message and returns its calls, under the names and ids that they have in the list, their input as it came. What
 * the API would refuse is mended here and nowhere else: blank text is dropped, lone surrogates are replaced, a call's input
 * is an object, its id is one of a kind. Thinking and blocks of unknown kinds stay as they came. A message with nothing left
 * is not added; a neighbour of the same role is joined.
 */
export function append(messages: Message[], message: Message): ToolUseBlock[] {
  const taken = message.role === "assistant" ? idsOf(messages) : new Set<string>();
  const calls: ToolUseBlock[] = [];
  const content: Block[] = [];
  for (const block of message.content) {
    const stored = clean(block, taken);
    if (stored) content.push(stored);
    if (stored?.type === "tool_use" && block.type === "tool_use") calls.push({ ...stored, input: block.input });
  }
  if (message.role === "assistant") dropTrailingThinking(content);
  if (content.length === 0) return calls;
  if (message.role === "user") closeTurn(messages);
  const before = messages.at(-1);
  if (before?.role === message.role) before.content = resultsFirst([...before.content, ...content]);
  else messages.push({ role: message.role, content: resultsFirst(content) });
  return calls;
}

/** Adds what the user says. Blank text adds nothing. */
export function appendText(messages: Message[], text: string): void {
  append(messages, { role: "user", content: [{ type: "text", text }] });
}

/**
 * The same conversation as a list the API accepts, whatever a crash or another program left in it: a result without its
 * call in the message before is dropped, of several results for one call the first stays, a call without a result gets
 * one, the list begins with the user. What the user wrote is never lost. (Rule: "How to implement tool use", API docs.)
 */
export function repair(messages: readonly Message[]): Message[] {
  const repaired: Message[] = [];
  let open: Renamed[] = [];
  for (const { role, content } of joined(messages)) {
    if (role === "assistant") {
      answer(repaired, open);
      const said = content.filter((block) => block.type !== "tool_result" && block.type !== "image");
      const calls = repaired.length > 0 ? append(repaired, { role, content: said }) : [];
      open = callsOf(said).slice(0, calls.length).map((call, index) => ({ from: call.id, to: calls[index]?.id ?? "" }));
    } else {
      const said = content.filter((block) => !/^tool_(use|result)$|thinking$/.test(block.type));
      append(repaired, { role, content: [...resultsFor(open, content), ...said] });
      open = [];
    }
  }
  answer(repaired, open);
  return repaired;
}

/** One result for each call, in call order; what is left over answers nothing. */
function resultsFor(open: readonly Renamed[], content: readonly Block[]): ToolResultBlock[] {
  const found = content.filter((block) => block.type === "tool_result");
  return open.map(({ from, to }) => {
    const at = found.findIndex((result) => result.tool_use_id === from);
    const [result] = at < 0 ? [] : found.splice(at, 1);
    return result ? { ...result, tool_use_id: to } : lost(to);
  });
}

/** The id of a call as it was found, and as `append` stored it. */
interface Renamed {
  from: string;
  to: string;
}

/** Neighbours of one role as one message: the results for one reply may have been written down one by one. */
function joined(messages: readonly Message[]): Message[] {
  const list: Message[] = [];
  for (const { role, content } of messages) {
    const last = list.at(-1);
    if (last?.role === role) last.content = [...last.content, ...content];
    else list.push({ role, content });
  }
  return list;
}

function answer(messages: Message[], open: readonly Renamed[]): void {
  append(messages, { role: "user", content: resultsFor(open, []) });
}

/**
 * Copies of the messages with cache marks on the last block of the last two user messages, so that a step that adds many
 * blocks still finds the one before (a lookup goes back 20 blocks). Together with the mark on the system prompt that is
 * three of the four that the API allows. The list itself never carries marks.
 */
export function markForCache(messages: readonly Message[]): Message[] {
  const users = messages.flatMap((message, index) => message.role === "user" ? [index] : []).slice(-2);
  return messages.map((message, index) => users.includes(index) ? withMark(message) : message);
}

/** The API takes no mark on thinking, nor on empty text. */
function withMark(message: Message): Message {
  const at = message.content.findLastIndex((block) =>
    !/thinking$/.test(block.type) && !(block.type === "text" && block.text.trim() === "")
  );
  const content = message.content.map((block, index) =>
    index === at ? { ...block, cache_control: { type: "ephemeral" } } : block
  );
  return { role: message.role, content };
}

/** The API takes thinking only before something else. */
function dropTrailingThinking(content: Block[]): void {
  while (/^(redacted_)?thinking$/.test(content.at(-1)?.type ?? "")) content.pop();
}

/** A paused turn may end with calls that the server still works on; once the user speaks, nobody answers those any more. */
function closeTurn(messages: Message[]): void {
  const last = messages.at(-1);
  if (!last) return;
  const answered = new Set(last.content.map((block) => "tool_use_id" in block ? block.tool_use_id : ""));
  const open = (block: Block) =>
    (block.type as string) === "server_tool_use" && !answered.has((block as ToolUseBlock).id);
  if (!last.content.some(open)) return;
  last.content = last.content.filter((block) => !open(block));
  dropTrailingThinking(last.content);
  if (last.content.length === 0) messages.pop();
}

function lost(id: string): ToolResultBlock {
  const content = "Not run, or its result was lost: the program stopped before it was written down";
  return { type: "tool_result", tool_use_id: id, content, is_error: true };
}

/** The API takes a user message only with its results before everything else. */
function resultsFirst(content: Block[]): Block[] {
  return [
    ...content.filter((block) => block.type === "tool_result"),
    ...content.filter((b) => b.type !== "tool_result"),
  ];
}

function idsOf(messages: readonly Message[]): Set<string> {
  return new Set(messages.flatMap((message) => callsOf(message.content)).map((call) => call.id));
}

function clean(block: Block, taken: Set<string>): Block | undefined {
  switch (block.type) {
    case "text":
      return cleanText(block);
    case "tool_use": {
      const id = freeId(block.id, taken);
      taken.add(id);
      return { ...block, id, name: cleanName(block.name), input: cleanInput(block.input) };
    }
    case "tool_result":
      return { ...block, content: cleanContent(block.content, block.is_error === true) };
    default:
      return block;
  }
}

function cleanText(block: TextBlock): TextBlock | undefined {
  return block.text.trim() === "" ? undefined : { ...block, text: block.text.toWellFormed() };
}

/** An error holds text only, and is never empty: so says the API. */
function cleanContent(content: string | Content[], isError: boolean): string | Content[] {
  if (typeof content === "string") return content.trim() === "" ? "(no output)" : content.toWellFormed();
  const blocks = content.flatMap((block): Content[] => {
    if (block.type === "image") return isError ? [] : [block];
    const text = cleanText(block);
    return text ? [text] : [];
  });
  return blocks.length === 0 ? "(no output)" : blocks;
}

/** Compatible servers give ids and names that the API refuses when they come back. */
function freeId(wanted: string, taken: ReadonlySet<string>): string {
  const id = wanted.replace(/[^a-zA-Z0-9_-]/g, "_") || "toolu";
  for (let n = 1;; n++) {
    const free = n === 1 ? id : `${id}_${n}`;
    if (!taken.has(free)) return free;
  }
}

function cleanName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 128) || "_";
}

function cleanInput(input: unknown): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return {};
  const text = JSON.stringify(input);
  // JSON.stringify writes a lone surrogate as an escape of its own, and only those in the range d800 to dfff.
  return /\\ud[89a-f]/i.test(text) ? wellFormed(input) : input;
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}
