/** What a command says, kept in bounded memory: its beginning, its end, and how much there was. */

import { cutMiddle, headLines, tailLines } from "../text.ts";

/** Takes the bytes as they come. */
export interface Output {
  push(chunk: Uint8Array): void;
  /** The last line with something in it, for the user to see that the command is alive; may be empty. */
  lastLine(): string;
  /** What the model gets to read. */
  show(): ShownOutput;
}

export interface ShownOutput {
  /** At most `OUTPUT_LIMIT` characters, without escape sequences, no newline at its end; empty when nothing was said. */
  text: string;
  /** Some of it was not UTF-8, and stands as U+FFFD. */
  damaged: boolean;
}

/** Characters of one result. The rest of what a result may have is for what is said about it. */
export const OUTPUT_LIMIT = 30_000;

/** Bytes that are kept of the beginning and of the end: more than is shown, since what is cleaned away counts here. */
const HEAD_BYTES = 64 * 1024;
const TAIL_BYTES = 256 * 1024;
/** Bytes in which the last line is looked for. */
const LINE_BYTES = 2048;

const NEWLINE = 10;

export function createOutput(): Output {
  const head = new Uint8Array(HEAD_BYTES);
  let tail: Uint8Array | undefined; // a ring, made when the head is full
  let total = 0;

  /** The last bytes that were kept, at most so many, in order. */
  function ending(most: number): Uint8Array {
    if (!tail) return head.subarray(Math.max(0, total - most), total);
    const size = Math.min(most, total - HEAD_BYTES, TAIL_BYTES);
    const end = (total - HEAD_BYTES) % TAIL_BYTES;
    if (end >= size) return tail.slice(end - size, end);
    return joined(tail.subarray(TAIL_BYTES - (size - end)), tail.subarray(0, end));
  }

  function whole(): { text: string; damaged: boolean } {
    const bytes = tail ? joined(head, ending(TAIL_BYTES)) : head.subarray(0, total);
    return { text: cutMiddle(clean(decode(bytes)).trimEnd(), OUTPUT_LIMIT), damaged: !isUtf8(bytes) };
  }

  function ends(): { text: string; damaged: boolean } {
    const [first, last] = [wholeStart(head), wholeEnd(ending(TAIL_BYTES))];
    const room = OUTPUT_LIMIT - note(total, total).length - 3; // for the newlines around it, and one that `headLines` may add
    const start = headLines(clean(decode(first)), Math.floor(room * 0.4));
    const rest = clean(decode(last)).trimEnd();
    const end = tailLines(rest, Math.floor(room * 0.6));
    const shownFirst = bytesTo(first, start);
    const shownLast = last.length - bytesBefore(last, rest.slice(0, rest.length - end.length), end);
    const said = note(total - shownFirst - shownLast, total);
    return {
      text: `${start}${start.endsWith("\n") ? "" : "\n"}${said}\n${end}`,
      damaged: !isUtf8(first) || !isUtf8(last),
    };
  }

  return {
    push(chunk) {
      const rest = chunk.subarray(Math.max(0, HEAD_BYTES - total));
      if (total < HEAD_BYTES) head.set(chunk.subarray(0, HEAD_BYTES - total), total);
      if (rest.length > 0) {
        tail ??= new Uint8Array(TAIL_BYTES);
        const kept = rest.subarray(Math.max(0, rest.length - TAIL_BYTES));
        const at = (Math.max(total, HEAD_BYTES) - HEAD_BYTES + rest.length - kept.length) % TAIL_BYTES;
        const fits = Math.min(kept.length, TAIL_BYTES - at);
        tail.set(kept.subarray(0, fits), at);
        tail.set(kept.subarray(fits), 0);
      }
      total += chunk.length;
    },
    lastLine: () => clean(decode(ending(LINE_BYTES))).trimEnd().split("\n").at(-1)?.trim() ?? "",
    show: () => total <= HEAD_BYTES + TAIL_BYTES ? whole() : ends(),
  };
}

function note(lost: number, total: number): string {
  return `[${lost} of ${total} bytes left out here, in the middle]`;
}

/**
 * How many of the bytes the beginning `shown` of their cleaned text stands for. `clean` keeps every newline, so that whole lines are
 * counted with all that was cleaned away; of a line that is cut, what is shown counts.
 */
function bytesTo(bytes: Uint8Array, shown: string): number {
  const [start, end] = lineAt(bytes, newlinesIn(shown));
  return Math.min(end, start + sizeOf(shown.slice(shown.lastIndexOf("\n") + 1)));
}

/** The same for what comes before `shown`, the end of their cleaned text; `before` is the text before it. */
function bytesBefore(bytes: Uint8Array, before: string, shown: string): number {
  const [start, end] = lineAt(bytes, newlinesIn(before));
  if (before === "" || before.endsWith("\n")) return start;
  return Math.max(start, end - sizeOf(shown.split("\n", 1)[0] ?? ""));
}

/** Where the line after so many newlines begins, and where it ends, without its newline. */
function lineAt(bytes: Uint8Array, newlines: number): [start: number, end: number] {
  let start = 0;
  for (let count = 0; count < newlines; count++) start = bytes.indexOf(NEWLINE, start) + 1;
  const end = bytes.indexOf(NEWLINE, start);
  return [start, end < 0 ? bytes.length : end];
}

function newlinesIn(text: string): number {
  return text.split("\n").length - 1;
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** CSI; OSC and the other strings, on one line; the two-character ones: ECMA-48, 5.3 to 5.6, in both their forms. */
const ESCAPES =
  // deno-lint-ignore no-control-regex -- these are the characters that this is about
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]/g;

/** Control characters that say nothing in a text: all but newline and tab. */
// deno-lint-ignore no-control-regex -- as above
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * The text as it would stand on a terminal at the end: without colours and moves of the cursor, of a line that was written over
 * (a progress bar) its last state, struck characters gone. Any other control character is written out, as `\u{0}`.
 */
export function clean(text: string): string {
  const lines = text.replace(ESCAPES, "").split("\n").map((line) => withoutStruck(lastState(line)));
  return lines.join("\n").replace(CONTROLS, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`);
}

/** What follows the last carriage return; those at the end of the line are a part of its end. */
function lastState(line: string): string {
  let end = line.length;
  while (line[end - 1] === "\r") end--;
  return end === 0 ? "" : line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}

/** Backspace takes back one character: so manual pages print bold, and spinners turn. */
function withoutStruck(line: string): string {
  if (!line.includes("\b")) return line;
  const kept: string[] = [];
  for (const char of line) {
    if (char === "\b") kept.pop();
    else kept.push(char);
  }
  return kept.join("");
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Up to the last line border; on a line that has none, up to the last whole character. */
function wholeStart(bytes: Uint8Array): Uint8Array {
  const border = bytes.lastIndexOf(NEWLINE);
  if (border > bytes.length / 2) return bytes.subarray(0, border + 1);
  let end = bytes.length;
  while (end > bytes.length - 3 && isContinuation(bytes[end - 1])) end--;
  return bytes.subarray(0, isAscii(bytes[end - 1]) ? end : end - 1);
}

/** From the first line border on; on a line that has none, from the first whole character on. */
function wholeEnd(bytes: Uint8Array): Uint8Array {
  const border = bytes.indexOf(NEWLINE);
  if (border >= 0 && border < bytes.length / 2) return bytes.subarray(border + 1);
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return bytes.subarray(start);
}

function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}

function isAscii(byte = 0): boolean {
  return byte < 0x80;
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
