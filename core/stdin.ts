/** Standard input: as the prompt, or as lines. */

import process from "node:process";
import { usageError } from "./usage_error.ts";

/** Characters (UTF-16 units) of stdin that a prompt takes: more than any model does. */
export const STDIN_LIMIT = 2_000_000;

/** Further on they are not even counted: a stream may have no end. */
const COUNT_LIMIT = 10 * STDIN_LIMIT;

/**
 * The words as one prompt. stdin is read when there are none, or in place of the word `-`; else it is left alone. Throws a
 * usage error when it was to be read and brought nothing, too much, or no text: a turn without it is about something else.
 */
export async function readPrompt(words: readonly string[]): Promise<string> {
  const prompt = words.join(" ");
  const isRead = words.includes("-") || words.length === 0 && !process.stdin.isTTY;
  if (!isRead && prompt.trim() === "") throw usageError(`Nothing to do: give ${AN_EXAMPLE}`);
  if (!isRead) return prompt;
  const text = process.stdin.isTTY ? "" : await readText(process.stdin);
  if (text.trim() === "") {
    const next = words.length === 0 ? `Give ${AN_EXAMPLE}` : 'Look at what comes before the pipe, or leave "-" out';
    throw usageError(`Nothing came on stdin. ${next}`);
  }
  return words.length === 0 ? text : words.map((word) => word === "-" ? `\n\n${text}\n\n` : word).join(" ").trim();
}

const AN_EXAMPLE = 'a prompt, as in tenon "What does this project do?"';

/** All of the stream as text. Throws a usage error for what is none, and for too much of it. */
export async function readText(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let count = 0;
  const take = (chunk?: Uint8Array) => {
    const piece = decode(decoder, chunk);
    if (piece.includes("\0")) throw noText();
    count += piece.length;
    if (count <= STDIN_LIMIT) text += piece;
  };
  for await (const chunk of chunks) {
    take(chunk);
    if (count > COUNT_LIMIT) break;
  }
  if (count <= COUNT_LIMIT) take();
  if (count <= STDIN_LIMIT) return text;
  const [most, is] = [STDIN_LIMIT, Math.min(count, COUNT_LIMIT)].map((number) => number.toLocaleString("en-US"));
  throw usageError(
    `Too much came on stdin: ${count > COUNT_LIMIT ? "more than " : ""}${is} characters, at most ${most}. ` +
      "Put it in a file of the workspace and name the file",
  );
}

/** Without a chunk: the end, which must not lie inside of a character. */
function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
  } catch {
    throw noText();
  }
}

function noText(): Error {
  return usageError(
    "What came on stdin is binary, or is not UTF-8. Put it in a file of the workspace and name the file",
  );
}

/** Line by line, as each one comes, until the signal is aborted. A last line needs no newline. */
export async function* readLines(signal: AbortSignal): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  const chunks = process.stdin[Symbol.asyncIterator]();
  // Under Deno a read that waits is not ended by closing the stream: it is left alone.
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  let rest = "";
  while (true) {
    const next = await Promise.race([chunks.next(), aborted]);
    if (next === undefined) return;
    if (next.done) break;
    const lines = (rest + decoder.decode(next.value, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
