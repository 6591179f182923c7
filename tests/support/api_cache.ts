/** The prompt cache: which marks are allowed, and which prefix a request reuses. */

import { createHash } from "node:crypto";
import { must } from "./api_refusal.ts";
import type { Request } from "./api_shape.ts";

const MAX_MARKS = 4;

interface Markable {
  path: string;
  ttl: "5m" | "1h" | undefined;
  isEmptyText: boolean;
}

/** Refuses more than four marks, a mark on an empty text, and one for an hour behind one for five minutes. */
export function checkMarks(request: Request): void {
  const marks = placesOf(request).filter((place) => place.ttl);
  const found = marks.length + (request.cache_control ? 1 : 0);
  must(found <= MAX_MARKS, `A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${found}.`);
  let isShort = false;
  for (const { path, ttl, isEmptyText } of marks) {
    must(!isEmptyText, `${path}: cache_control cannot be set for empty text blocks`);
    must(
      !(isShort && ttl === "1h"),
      `${path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. ` +
        "Note that blocks are processed in the following order: tools, system, messages.",
    );
    isShort ||= ttl === "5m";
  }
  const own = request.cache_control ? request.cache_control.ttl ?? "5m" : undefined;
  const last = placesOf(request).at(-1)?.ttl;
  must(!own || !last || own === last, `cache_control: Top-level ttl='${own}' but the last block has ttl='${last}'`);
}

/** Everything that can carry a mark, in the order of the prefix: tools, system, messages. */
function placesOf({ tools = [], system = [], messages }: Request): Markable[] {
  const places = tools.map((tool, at) => placeOf(`tools.${at}`, tool));
  if (typeof system !== "string") system.forEach((block, at) => places.push(placeOf(`system.${at}`, block)));
  messages.forEach(({ content }, index) => {
    if (typeof content === "string") return;
    content.forEach((block, at) => {
      const path = `messages.${index}.content.${at}`;
      // What is inside a result comes before the result's own mark.
      if (block.type === "tool_result" && typeof block.content === "object") {
        block.content.forEach((part, inner) => {
          if (part.cache_control) places.push(placeOf(`${path}.content.${inner}`, part));
        });
      }
      places.push(placeOf(path, block));
    });
  });
  return places;
}

function placeOf(path: string, block: object): Markable {
  const mark = "cache_control" in block ? block.cache_control as Request["cache_control"] : undefined;
  return { path, ttl: mark ? mark.ttl ?? "5m" : undefined, isEmptyText: "text" in block && block.text === "" };
}

/** The input side of a usage, as the API counts it: the three figures add up to the whole prompt. */
export interface InputUsage {
  input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
}

/** How many blocks before a mark the API looks at for an entry (docs: prompt caching). */
const LOOK_BACK = 20;

/**
 * A cache that compares bytes and forgets nothing: each call takes the next request and says what of its prefix an
 * earlier one had marked. Tokens are four characters each. Unlike the real one it takes prefixes of any length.
 */
export function createCache(): (request: Request) => InputUsage {
  const entries = new Set<string>();
  return (request) => {
    const places = prefixOf(request);
    const total = places.at(-1)?.tokens ?? 0;
    const marks = places.flatMap(({ isMarked }, at) => isMarked ? [at] : []);
    let read = 0;
    for (const mark of marks) {
      for (const { digest, tokens } of places.slice(Math.max(0, mark - LOOK_BACK), mark + 1)) {
        if (entries.has(digest)) read = Math.max(read, tokens);
      }
    }
    for (const mark of marks) entries.add(places[mark]?.digest ?? "");
    const cached = Math.max(read, places[marks.at(-1) ?? -1]?.tokens ?? 0);
    return {
      input_tokens: total - cached,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: cached - read,
    };
  };
}

interface PrefixPlace {
  /** Stands for all bytes up to here. */
  digest: string;
  /** Tokens up to here. */
  tokens: number;
  isMarked: boolean;
}

/** The prefix block by block. The model is part of it, the thinking and tool choice are from the messages on. */
function prefixOf({ model, tools = [], system = [], thinking, tool_choice, messages, cache_control }: Request) {
  const blocks = typeof system === "string" ? [{ type: "text", text: system }] : system;
  const units: unknown[] = [...tools, ...blocks];
  const settings = units.length;
  for (const { role, content } of messages) {
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
    for (const part of parts) units.push({ role, ...part });
  }
  const places: PrefixPlace[] = [];
  let digest = model;
  let tokens = 0;
  units.forEach((unit, at) => {
    if (at === settings) digest = sha256(digest + JSON.stringify({ thinking, tool_choice }));
    const bytes = JSON.stringify(withoutMark(unit));
    const isLast = at === units.length - 1;
    digest = sha256(digest + bytes);
    tokens += Math.ceil(bytes.length / 4);
    places.push({ digest, tokens, isMarked: hasMark(unit) || (isLast && !!cache_control) });
  });
  return places;
}

/** Whether there is a mark on a block, or on one within it. A key of that name in a schema or an input is none. */
function hasMark(unit: unknown): boolean {
  const { cache_control, type, content } = unit as { cache_control?: unknown; type?: string; content?: unknown };
  return !!cache_control || (type === "tool_result" && Array.isArray(content) && content.some(hasMark));
}

function withoutMark(unit: unknown): unknown {
  const { cache_control: _, ...rest } = unit as Record<string, unknown>;
  if (rest.type === "tool_result" && Array.isArray(rest.content)) rest.content = rest.content.map(withoutMark);
  return rest;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
