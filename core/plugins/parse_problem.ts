/** Whether a source file can be read as code, told by the runtime's own parser without running a line of it. */

import process from "node:process";
import { extname } from "../path.ts";
import { oneLine } from "../text.ts";

interface BunParser {
  Transpiler: new (options: { loader: "js" | "ts"; macro: false }) => { scanImports(text: string): unknown };
}

/** Node.js has it since 22.13, and Deno with it; Bun not. */
interface DenoParser {
  stripTypeScriptTypes?(text: string, options: { mode: "transform" }): string;
}

/**
 * `line 1: Unexpected end of file`, in the words of the runtime; undefined when it parses, as far as this parser looks. `name` tells by its
 * ending what it is.
 */
export function parseProblem(name: string, text: string): string | undefined {
  const bun = (globalThis as unknown as { Bun?: BunParser }).Bun;
  try {
    if (bun) parseInBun(bun, name, text);
    else parseInDeno(text);
    return undefined;
  } catch (error) {
    // Another kind of error is about the parser, not about the text.
    return bun || error instanceof SyntaxError ? wordsFor(error) : undefined;
  }
}

/** `scan` and `transformSync` would run macros (`with { type: "macro" }`); this does not, and they are off as well. */
function parseInBun({ Transpiler }: BunParser, name: string, text: string): void {
  const loader = /^\.m?ts$/.test(extname(name)) ? "ts" : "js";
  new Transpiler({ loader, macro: false }).scanImports(text);
}

function parseInDeno(text: string): void {
  const module = process.getBuiltinModule("node:module") as unknown as DenoParser;
  module.stripTypeScriptTypes?.(text, { mode: "transform" });
}

/** Bun tells the place beside the words, and of several faults the first; Deno below them. */
function wordsFor(error: unknown): string {
  const [first = error] = (error as AggregateError).errors as unknown[] | undefined ?? [];
  const { message, position } = first as Error & { position?: { line: number } | null };
  const line = position?.line ?? /:(\d+):\d+$/.exec(message.trimEnd())?.[1];
  const [words = ""] = message.replace(/^SyntaxError: /, "").split("\n");
  return `${line === undefined ? "" : `line ${line}: `}${oneLine(words, 200)}`;
}
