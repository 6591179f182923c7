/** The offline model: no key, no network; it looks, reads and quotes by fixed rules, through the same loop as the real one. */

import type { Ask, Event } from "../agent.ts";
import { announce, answer, type Done, entriesOf, isFolder } from "./demo_answer.ts";
import { matchEntries, type Mention, overlap, type Question, readQuestion } from "./demo_question.ts";
import type { Block, Message, ToolResultBlock, ToolUseBlock } from "../message.ts";

const LIST = "list_files";
const READ = "read_file";
/** Calls of one reply, at most. */
const CALLS = 8;
/** Files read when the question names none. */
const UNNAMED = 3;
const TELLS_LITTLE =
  /^\.|^licen[cs]e|^copying|-lock\.|\.(?:png|jpe?g|gif|webp|bmp|ico|svg|pdf|zip|gz|tgz|xz|7z|rar|jar|exe|dll|so|dylib|bin|wasm|o|a|class|pyc|woff2?|ttf|otf|mp[34]|mov|avi|wav|flac|sqlite3?|db|lock)$/i;
/** Leads out of the workspace, or may: tried as it stands, never joined to a folder. */
const ELSEWHERE = /^(?:[\/\\~]|[A-Za-z]:[\/\\])|(?:^|[\/\\])\.\.(?:$|[\/\\])/;

interface Call {
  name: string;
  input: { path: string; recursive?: true };
}

/** What the messages tell: the last question, and what was done about it since. */
interface Conversation {
  question: Question;
  done: Done[];
  /** Replies with calls since the question. */
  steps: number;
}

/**
 * A model for trying tenon without a key. The next step follows from the messages alone, so a conversation can be replayed
 * or resumed; a turn takes at most four steps: look, look deeper, read, answer. It quotes results and invents nothing.
 */
export function demoModel(definitions: readonly { name: string }[]): Ask {
  const offered = new Set(definitions.map((definition) => definition.name));
  return async function* (messages, signal) {
    const conversation = readConversation(messages);
    const { question, done } = conversation;
    const calls = nextCalls(conversation, offered);
    const text = calls[0]
      ? announce(question, calls[0].name, calls.map((call) => call.input.path), conversation.steps > 0)
      : answer(question, done, missingTools(conversation, offered));
    const spoken = yield* say(text, signal);
    const isStopped = signal.aborted;
    const content: Block[] = spoken === "" ? [] : [{ type: "text", text: spoken }];
    if (!isStopped) content.push(...withIds(calls, messages));
    const usage = {
      input_tokens: tokensIn(messages),
      output_tokens: tokensIn(content),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    };
    yield { type: "usage", usage, model: "demo" };
    return { content, stop_reason: isStopped ? "interrupted" : calls.length > 0 ? "tool_use" : "end_turn", usage };
  };
}

/** Yields the text in pieces; returns what was said before the signal was aborted. */
async function* say(text: string, signal: AbortSignal): AsyncGenerator<Event, string> {
  let spoken = "";
  for (const piece of text.match(/\S[^\n]{0,40}\s*/gu) ?? []) {
    if (signal.aborted) break;
    spoken += piece;
    yield { type: "text", text: piece };
  }
  return spoken;
}

function readConversation(messages: readonly Message[]): Conversation {
  const at = messages.findLastIndex((message) => message.role === "user" && textOf(message.content) !== "");
  const since = messages.slice(Math.max(at, 0));
  const results = new Map<string, ToolResultBlock>();
  for (const block of since.flatMap((message) => message.content)) {
    if (block.type === "tool_result") results.set(block.tool_use_id, block);
  }
  const done: Done[] = [];
  let steps = 0;
  for (const message of since) {
    const calls = message.content.filter((block) => block.type === "tool_use");
    if (calls.length > 0) steps++;
    done.push(...calls.map((call) => doneCall(call, results.get(call.id))));
  }
  return { question: readQuestion(textOf(messages[at]?.content ?? [])), done, steps };
}

function doneCall({ name, input }: ToolUseBlock, result: ToolResultBlock | undefined): Done {
  const path = typeof input === "object" && input !== null && "path" in input && typeof input.path === "string"
    ? input.path
    : ".";
  const content = result?.content ?? "";
  const text = typeof content === "string" ? content : textOf(content);
  // A lone surrogate must not get back into a request.
  return {
    name,
    path: path.toWellFormed(),
    text: text.toWellFormed(),
    isError: result === undefined || result.is_error === true,
  };
}

function nextCalls({ question, done, steps }: Conversation, offered: ReadonlySet<string>): Call[] {
  if (done.some((call) => call.name === READ)) return [];
  if (offered.has(LIST) && steps === 0) {
    const folders = question.folders.length > 0 ? question.folders : ["."];
    return folders.slice(0, CALLS).map((path) => ({ name: LIST, input: { path } }));
  }
  const deeper = offered.has(LIST) && steps === 1 ? secondLook(question, done) : undefined;
  if (deeper) return [deeper];
  if (!offered.has(READ)) return [];
  return filesToRead(question, done).map((path) => ({ name: READ, input: { path } }));
}

/** A folder that is not there: the whole workspace instead. A file that the listing does not show: all that is below it. */
function secondLook(question: Question, done: readonly Done[]): Call | undefined {
  const [look] = done;
  if (look === undefined || ELSEWHERE.test(look.path)) return undefined;
  if (done.every((call) => call.isError)) return look.path === "." ? undefined : { name: LIST, input: { path: "." } };
  const entries = done.flatMap(entriesOf);
  const unseen = unseenFiles(question, entries).some(({ path }) => !/[\/\\]/.test(path));
  return unseen && entries.some(isFolder) ? { name: LIST, input: { path: look.path, recursive: true } } : undefined;
}

/** The files that the question names; if it names none and asks for more than the list, those that tell most. */
function filesToRead(question: Question, done: readonly Done[]): string[] {
  const files = [...new Set(done.flatMap(entriesOf))].filter((entry) => !isFolder(entry));
  const folder = question.folders[0]?.replace(/\/+$/, "");
  const join = (mention: Mention): Mention => {
    const isBelow = folder === undefined || ELSEWHERE.test(mention.path) || mention.path.startsWith(`${folder}/`);
    return isBelow ? mention : { ...mention, path: `${folder}/${mention.path}` };
  };
  const named = [...matchEntries(question.text, files), ...unseenFiles(question, files).map(join)];
  if (named.length > 0) {
    named.sort((a, b) => a.start - b.start);
    return [...new Set(named.map((mention) => mention.path))].slice(0, CALLS);
  }
  if (done.length === 0) return ["README.md"]; // there is no tool to look with: a guess, and the tool says if it is wrong
  const texts = files.filter((path) => !TELLS_LITTLE.test(nameOf(path)));
  if (question.wantsTodos) {
    const rank = (path: string) =>
      /to-?do|task|note|待辦|待办|筆記|笔记/i.test(path) ? 0 : /\.(?:md|txt)$/i.test(path) ? 1 : 2;
    return texts.sort((a, b) => rank(a) - rank(b)).slice(0, CALLS);
  }
  if (question.wantsListing) return [];
  const readmes = texts.filter((path) => /^readme(?:\.|$)/i.test(nameOf(path)));
  const readme = readmes.find((path) => /\.md$/i.test(path)) ?? readmes[0];
  return readme === undefined ? texts.slice(0, UNNAMED) : [readme];
}

function unseenFiles(question: Question, entries: readonly string[]): Mention[] {
  const seen = matchEntries(question.text, entries);
  return question.files.filter((file) => !seen.some((other) => overlap(file, other)));
}

/** What it would have needed, and was not offered. */
function missingTools({ question, done }: Conversation, offered: ReadonlySet<string>): string[] {
  const missing: string[] = [];
  if (!offered.has(LIST) && question.files.length === 0) missing.push(LIST);
  if (!offered.has(READ) && filesToRead(question, done).length > 0) missing.push(READ);
  return missing;
}

/** Ids that no call of the conversation has; the same messages give the same ids. */
function withIds(calls: readonly Call[], messages: readonly Message[]): ToolUseBlock[] {
  const blocks = messages.flatMap((message) => message.content);
  const used = new Set(blocks.flatMap((block) => block.type === "tool_use" ? [block.id] : []));
  let n = messages.length;
  return calls.map(({ name, input }) => {
    while (used.has(`toolu_demo_${n}`)) n++;
    return { type: "tool_use", id: `toolu_demo_${n++}`, name, input };
  });
}

function textOf(content: readonly Block[]): string {
  return content.flatMap((block) => block.type === "text" ? [block.text] : []).join("\n").trim();
}

/** About four characters make a token. */
function tokensIn(value: readonly unknown[]): number {
  return Math.ceil(JSON.stringify(value).length / 4);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
