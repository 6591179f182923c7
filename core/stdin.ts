/** Standard input: as the prompt, or as lines. */

import process from "node:process";

/** The words as one prompt. stdin is read when there are none, or in place of the word `-`; else it is left alone. */
export async function readPrompt(words: readonly string[]): Promise<string> {
  if (words.length > 0 && !words.includes("-")) return words.join(" ");
  if (process.stdin.isTTY) return words.filter((word) => word !== "-").join(" ");
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const text = new TextDecoder().decode(join(chunks));
  return words.length === 0 ? text : words.map((word) => word === "-" ? `\n\n${text}\n\n` : word).join(" ").trim();
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

function join(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
