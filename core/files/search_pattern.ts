/** What a search looks for: plain text or a regular expression, matched within one line in linear time. */

import { refused } from "./refusal.ts";
import { createFinders, type Finder } from "./search_bytes.ts";
import { plainText, requiredTexts } from "./search_literal.ts";

/** Characters of a pattern. */
const LENGTH_LIMIT = 1000;

export interface SearchPattern {
  /** Where in a line the first match is, or nothing. */
  find(line: string): { start: number; end: number } | undefined;
  /** Makes the finder of places where a line with a match can be; nothing when it can be anywhere. */
  candidates: ((bytes: Uint8Array) => Finder) | undefined;
}

export interface SearchOptions {
  /** Capitals and small letters are the same. */
  isAnyCase: boolean;
  /** The pattern is plain text. */
  isLiteral: boolean;
}

/** Reads a pattern; the engine is loaded only for what is no plain text. Throws the reason, with what to do instead. */
export async function parseSearch(pattern: string, options: SearchOptions): Promise<SearchPattern> {
  if (pattern === "") throw refused("the pattern is empty. Say what to look for");
  if (pattern.length > LENGTH_LIMIT) {
    throw refused(
      `the pattern is too long (${pattern.length} characters, at most ${LENGTH_LIMIT}). Search for a part of it`,
    );
  }
  if (!pattern.isWellFormed()) throw refused("the pattern has half a character in it");
  if (/[\n\0]/.test(pattern)) throw refused("a pattern matches within one line of text. Search for a part of one line");
  const isFlagged = !options.isLiteral && pattern.startsWith("(?i)");
  return await (isFlagged ? read(pattern.slice(4), { ...options, isAnyCase: true }) : read(pattern, options));
}

async function read(pattern: string, { isAnyCase, isLiteral }: SearchOptions): Promise<SearchPattern> {
  const text = isLiteral ? pattern : plainText(pattern);
  if (text !== undefined && (!isAnyCase || text.toLowerCase() === text.toUpperCase())) {
    return {
      find(line) {
        const start = line.indexOf(text);
        return start < 0 ? undefined : { start, end: start + text.length };
      },
      candidates: createFinders([text], false),
    };
  }
  const { RE2JS } = await import("re2js");
  let expression;
  try {
    expression = RE2JS.compile(
      text === undefined ? pattern : RE2JS.quote(text),
      isAnyCase ? RE2JS.CASE_INSENSITIVE : 0,
    );
  } catch (error) {
    throw refused(
      `${problemOf(pattern, error)}. Change it, or set literal: true to search for the text as it is`,
    );
  }
  const required = text === undefined ? requiredTexts(pattern) : [text];
  return {
    find(line) {
      if (!expression.test(line)) return undefined;
      const matcher = expression.matcher(line);
      return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined;
    },
    candidates: required === undefined ? undefined : createFinders(required, isAnyCase),
  };
}

/** What the engine does not take, in words. */
function problemOf(pattern: string, error: unknown): string {
  if (/\(\?<?[=!]/.test(pattern)) return "look-around such as (?=…) is not supported";
  if (/\\[1-9]|\(\?P=|\\k[<{]/.test(pattern)) return "back-references such as \\1 are not supported";
  const { error: problem, input } = error as { error?: unknown; input?: unknown };
  if (typeof problem !== "string") return "the pattern is no regular expression that is supported here";
  const where = typeof input === "string" && input !== "" ? `: ${input}` : "";
  return `the pattern is no regular expression that is supported here (${problem}${where})`;
}
