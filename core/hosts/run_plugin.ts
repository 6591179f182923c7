/** Runs the handler or the preview of a plugin, and makes of whatever comes of it what may leave the host. */

import type { Content } from "../message.ts";
import { basename } from "../path.ts";
import type { Plugin } from "../plugins/plugins.ts";
import type { Outcome } from "../registry.ts";
import { systemProblem } from "./system_problem.ts";
import { headOf, oneLine } from "../text.ts";
import type { Change, Context, Proposal } from "../tool.ts";

/** Checks the input, runs the handler, and turns whatever comes of it into an outcome. Never throws. */
export async function runPlugin(plugin: Plugin, raw: unknown, context: Context): Promise<Outcome> {
  return await attempt(plugin, raw, async (input) => {
    return { content: contentOf(await plugin.handler(input, context), plugin.loaded.definition.name), is_error: false };
  });
}

/** What the call would do. Never throws, and never runs the handler. */
export async function previewPlugin(plugin: Plugin, raw: unknown, context: Context): Promise<Outcome> {
  return await attempt(plugin, raw, async (input) => {
    const proposal: unknown = await plugin.preview?.(input, context);
    if (proposal === undefined || proposal === null) return { content: NO_OUTPUT, is_error: false };
    if (!isProposal(proposal)) throw new TypeError("its preview returned neither { path, diff } nor { command }");
    return { content: NO_OUTPUT, is_error: false, proposal: plainProposal(proposal) };
  });
}

async function attempt(plugin: Plugin, raw: unknown, act: (input: unknown) => Promise<Outcome>): Promise<Outcome> {
  try {
    const checked = await plugin.schema.check(raw);
    if (checked.ok) return await act(checked.input);
    return { content: `Cannot call ${plugin.loaded.definition.name}: ${checked.problem}`, is_error: true };
  } catch (error) {
    return { content: wordsFor(error, plugin), is_error: true };
  }
}

/** Where the runtime itself has put an end to the handler: each has words of its own for it. */
function limitReached(error: unknown): string | undefined {
  if (!(error instanceof RangeError)) return undefined;
  if (/^out of memory|allocation failed/i.test(error.message)) return "it ran out of memory";
  return /^maximum call stack size/i.test(error.message) ? "it called itself without end" : undefined;
}

/** An import within the handler. The runtimes name it each in its own way, and with places of this machine. */
function missingImport(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, specifier, message } = error as Error & { code?: unknown; specifier?: unknown };
  if (code !== "ERR_MODULE_NOT_FOUND") return undefined;
  const place = String(message).replace(/^Unsupported scheme "\w+" for /, "");
  const name = String(specifier ?? /["']([^"']+)["']/.exec(place)?.[1]);
  return `it imports "${oneLine(/^(?:[./]|file:)/.test(name) ? basename(name) : name, 80)}", which is not there`;
}

/** An `Error` of the plugin's is for the model as it is; one of the runtime's or the system's is about code, and says whose. */
function wordsFor(error: unknown, { loaded: { definition: { name }, permissions } }: Plugin): string {
  try {
    const problem = limitReached(error) ?? missingImport(error) ?? systemProblem(error, permissions);
    if (problem !== undefined) return `Cannot run ${name}: ${problem}`;
    return isOfRuntime(error) ? `Cannot run ${name}: ${messageOf(error)}` : messageOf(error);
  } catch {
    return messageOf(error); // it throws at whoever reads it
  }
}

/** The language throws these at a mistake in the code. (A `RangeError` can be an author's own word for an input.) */
function isOfRuntime(error: unknown): boolean {
  return [TypeError, ReferenceError, SyntaxError, URIError].some((kind) => error instanceof kind);
}

function contentOf(value: unknown, tool: string): string | Content[] {
  if (value === undefined) return NO_OUTPUT;
  if (typeof value === "string") return value.trim() === "" ? NO_OUTPUT : value;
  if (isContent(value)) {
    const blocks = value.map(plainBlock).filter((block) => block.type === "image" || block.text.trim() !== "");
    return blocks.length === 0 ? NO_OUTPUT : blocks;
  }
  try {
    return JSON.stringify(value, asJson) ?? NO_OUTPUT;
  } catch (error) {
    // Each runtime has words of its own for a circle.
    const reason = messageOf(error);
    const words = /circular|cyclic/i.test(reason) ? "it is circular (it holds itself)" : reason;
    throw new Error(`Cannot send what ${tool} returned as JSON: ${words}`);
  }
}

/** Characters of a diff that are sent to be shown; nobody reads that far. */
const DIFF_LIMIT = 5_000_000;

function isProposal(value: unknown): value is Proposal {
  if (typeof value !== "object" || value === null) return false;
  const { command, path, diff } = value as { [part: string]: unknown };
  return typeof command === "string" || typeof path === "string" && typeof diff === "string";
}

/** Nothing else of a proposal leaves the host. */
function plainProposal(proposal: Proposal): Proposal {
  if ("command" in proposal && proposal.command !== undefined) return { command: proposal.command };
  const { path, diff } = proposal as Change;
  const left = diff.length - DIFF_LIMIT;
  const shown = left > 0 ? `${headOf(diff, DIFF_LIMIT)}\n[${left} more characters]` : diff;
  return { path, diff: shown };
}

const NO_OUTPUT = "(no output)";

/** What JSON would lose without a word, or refuse in the words of the runtime. */
function asJson(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === "bigint") throw new Error("it holds a BigInt");
  if (value instanceof Map || value instanceof Set) return [...value];
  if (value instanceof Error) return messageOf(value);
  const given = (this as { [key: string]: unknown })[key]; // before a `toJSON` of its own
  if (ArrayBuffer.isView(given) || isOpaque(value)) {
    throw new Error(`it holds what JSON does not show (${kindOf(given)}). Return text, or plain values`);
  }
  return value;
}

/** A `Response`, a stream, a generator, a promise: JSON makes `{}` of it. A plain object that is empty is what it says. */
function isOpaque(value: unknown): boolean {
  const isWhole = typeof value !== "object" || value === null || Array.isArray(value) || isBoxed(value);
  return !isWhole && kindOf(value) !== "Object" && Object.keys(value).length === 0;
}

function isBoxed(value: object): boolean {
  return value instanceof String || value instanceof Number || value instanceof Boolean;
}

function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Nothing else of a block leaves the host: it might not even be JSON. */
function plainBlock(block: Content): Content {
  if (block.type === "text") return { type: "text", text: block.text };
  const { media_type, data } = block.source;
  return { type: "image", source: { type: "base64", media_type, data } };
}

function isContent(value: unknown): value is Content[] {
  return Array.isArray(value) && value.length > 0 &&
    value.every((block) =>
      block?.type === "text" ? typeof block.text === "string" : block?.type === "image" &&
        block.source?.type === "base64" && typeof block.source.media_type === "string" &&
        typeof block.source.data === "string"
    );
}

/** Whatever was thrown, in words; the stack stays here. */
export function messageOf(thrown: unknown): string {
  try {
    const message = thrown instanceof Error ? thrown.message : typeof thrown === "string" ? thrown : undefined;
    if (message !== undefined && message.trim() !== "") return message;
    if (thrown instanceof Error) return `The tool failed with a ${thrown.name} that has no message`;
    const json = thrown === undefined ? undefined : JSON.stringify(thrown);
    return json ? `The tool threw ${json}` : `The tool threw ${String(thrown)}`;
  } catch {
    return "The tool threw a value that cannot be shown";
  }
}
