/** What must occur in a line that a regular expression matches: pieces of plain text, found without the engine. */

/** Texts of which at least one is in every match, or nothing when none is sure. */
export type Required = readonly string[] | undefined;

/** With more texts than this, looking for them is no gain. */
const MOST = 16;

interface Reader {
  pattern: string;
  at: number;
}

const REPETITION = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;
const GROUP = /^\((?:\?(?:P?<\w+>|:))?/;

/** The plain text that a pattern stands for when nothing in it is special, or nothing. */
export function plainText(pattern: string): string | undefined {
  let text = "";
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    if (/[\^$.|?*+()[\]{}]/.test(char)) return undefined;
    if (char !== "\\") text += char;
    else if (/[!-/:-@[-`{-~]/.test(pattern.charAt(at + 1))) text += pattern.charAt(++at);
    else return undefined;
  }
  return text;
}

/**
 * The texts required by a pattern in RE2 syntax that the engine has accepted. Where in doubt it requires less: a text
 * that is missing here costs time, one that is too many would hide matches.
 */
export function requiredTexts(pattern: string): Required {
  if (/\(\?[a-zA-Z]*-?[a-zA-Z]*[:)]/.test(pattern.replaceAll("(?:", "("))) return undefined; // flags may change what letters mean
  const reader = { pattern, at: 0 };
  const texts = readChoice(reader);
  return reader.at === pattern.length ? texts : undefined;
}

/** `a|b`: one text for each side, or none at all. */
function readChoice(reader: Reader): Required {
  const sides = [readRow(reader)];
  while (reader.pattern[reader.at] === "|") {
    reader.at++;
    sides.push(readRow(reader));
  }
  const texts = [...new Set(sides.flatMap((side) => side ?? []))];
  return sides.includes(undefined) || texts.length > MOST ? undefined : texts;
}

/** What stands in a row: the best of its texts. */
function readRow(reader: Reader): Required {
  let best: Required;
  let run = "";
  const offer = (texts: Required): void => {
    if (weightOf(texts) > weightOf(best)) best = texts;
  };
  const { pattern } = reader;
  while (reader.at < pattern.length && pattern[reader.at] !== "|" && pattern[reader.at] !== ")") {
    const item = readItem(reader);
    const repetition = REPETITION.exec(pattern.slice(reader.at))?.[0] ?? "";
    reader.at += repetition.length;
    const isOptional = /^(?:[*?]|\{0)/.test(repetition);
    if (typeof item === "string" && repetition === "") run += item;
    else {
      if (typeof item === "string" && !isOptional) run += item;
      if (run !== "") offer([run]);
      run = "";
      if (typeof item !== "string" && !isOptional) offer(item);
    }
  }
  if (run !== "") offer([run]);
  return best;
}

/** The next item: one character as text, a group's texts, or nothing for what can be many things. */
function readItem(reader: Reader): string | Required {
  const { pattern } = reader;
  const char = String.fromCodePoint(pattern.codePointAt(reader.at) ?? 0);
  if (char === "(") {
    reader.at += GROUP.exec(pattern.slice(reader.at))?.[0].length ?? 1;
    const texts = readChoice(reader);
    reader.at++; // the closing one
    return texts;
  }
  if (char === "[") {
    reader.at = endOfClass(pattern, reader.at);
    return undefined;
  }
  if (char === "\\") return readEscape(reader);
  reader.at += char.length;
  return char === "." || char === "^" || char === "$" ? undefined : char;
}

function readEscape(reader: Reader): string | undefined {
  const { pattern, at } = reader;
  const next = pattern.charAt(at + 1);
  if (next === "Q") {
    const end = pattern.indexOf("\\E", at);
    reader.at = end < 0 ? pattern.length : end + 2;
    return undefined;
  }
  const long = /^\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|x..|[pP].|[0-7]{1,3})/u.exec(pattern.slice(at))?.[0];
  reader.at += long?.length ?? 2;
  return long === undefined && /[!-/:-@[-`{-~]/.test(next) ? next : undefined;
}

/** Where a class ends that begins at `start`: after its `]`. One right at its beginning is a character of it. */
function endOfClass(pattern: string, start: number): number {
  let at = start + (pattern[start + 1] === "^" ? 2 : 1);
  if (pattern[at] === "]") at++;
  while (at < pattern.length && pattern[at] !== "]") {
    const named = /^\[:\^?\w+:\]/.exec(pattern.slice(at))?.[0];
    at += named?.length ?? (pattern[at] === "\\" ? 2 : 1);
  }
  return at + 1;
}

/** How much a set of texts tells: the length of its shortest. */
function weightOf(texts: Required): number {
  return texts === undefined ? 0 : Math.min(...texts.map((text) => text.length));
}
