/** Inside a host: load the plugins it is for, then serve calls until the channel ends. */

import process from "node:process";
import { type HostFetch, openHostFetch } from "./host_fetch.ts";
import { openHostWrites } from "./host_writes.ts";
import type { Content } from "../message.ts";
import { checkPlugin, importPlugin, OWN_TIMEOUT_MS, type Plugin } from "../plugins/plugins.ts";
import { noteChanges } from "../undo/noted_changes.ts";
import { type Channel, type FileChange, type HostStart, isSeenFile, type SeenList, type ToHost } from "./protocol.ts";
import type { Outcome } from "../registry.ts";
import { limitResult } from "../result_limit.ts";
import { headOf, oneLine } from "../text.ts";
import { createThrottle } from "./throttle.ts";
import type { Context, Proposal, Seen, SeenFile } from "../tool.ts";
import { openOwnWorkspace, openWorkspace } from "../files/workspace.ts";

/** Serves one channel. A host runs handlers; it never decides what is allowed: that is done around it. */
export function serveHost(channel: Channel): void {
  const plugins = new Map<string, Plugin>();
  const running = new Map<number, { abort: AbortController; fetching: HostFetch | undefined }>();
  let makeContext: ContextMaker = () => {
    throw new Error("this host only loads");
  };
  let run: Context["run"];
  let canFetch = false;
  const writes = openHostWrites(channel.send);

  async function start(message: HostStart): Promise<void> {
    for (const plugin of await load(message.plugins)) plugins.set(plugin.loaded.definition.name, plugin);
    if (message.grant) {
      const announce = message.tellWrites ? writes.announce : undefined;
      const own = "builtin" in message.plugins ? await openOwnWorkspace(message.grant, announce) : undefined;
      const workspace = own ?? await openWorkspace(message.grant, announce);
      canFetch = message.grant.net !== undefined;
      run = { cwd: message.grant.root, env: message.env ?? ownEnvironment() };
      makeContext = (signal, progress, seen, changes) => {
        const noted = own && noteChanges(own, (change) => changes.push(change));
        return { workspace: noted ?? workspace, signal, progress, seen };
      };
    }
    channel.send({ type: "ready", tools: [...plugins.values()].map((plugin) => plugin.loaded) });
  }

  async function call(message: ToHost & { type: "call" }): Promise<void> {
    const { id, tool } = message;
    const abort = new AbortController();
    // A preview comes before the user's answer: nothing leaves for it.
    const fetching = canFetch && !message.preview ? openHostFetch(id, channel.send, abort.signal) : undefined;
    running.set(id, { abort, fetching });
    const notes: SeenList = [];
    const changes: FileChange[] = [];
    const progress = createThrottle((text) => channel.send({ type: "progress", id, text }));
    const plugin = plugins.get(tool);
    const runOrPreview = message.preview ? previewPlugin : runPlugin;
    const outcome: Outcome = plugin
      ? await runOrPreview(plugin, message.input, {
        ...makeContext(abort.signal, (text) => progress.push(String(text)), seenFiles(message.seen, notes), changes),
        ...(plugin.loaded.permissions.run && run ? { run } : {}),
        ...(fetching ? { fetch: fetching.fetch } : {}),
      })
      : { content: `Cannot run ${tool}: its host does not have it`, is_error: true };
    running.delete(id);
    progress.end();
    // Cut here and not only in core: 50 MB of text need not travel.
    const result = { ...outcome, ...limitResult(outcome), is_error: outcome.is_error, seen: notes };
    channel.send({ type: "result", id, ...result, ...(changes.length > 0 ? { changes } : {}) });
  }

  channel.receive((message) => {
    // Core is trusted by the host, not the other way round: its messages are taken as typed.
    const order = message as ToHost;
    if (order.type === "call") void call(order);
    else if (order.type === "cancel") running.get(order.id)?.abort.abort();
    else if (order.type === "noted") writes.take(order);
    else if (order.type === "fetched") running.get(order.id)?.fetching?.take(order);
    else start(order).catch((error) => channel.send({ type: "failed", problem: messageOf(error) }));
  });
}

type ContextMaker = (
  signal: AbortSignal,
  progress: (text: string) => void,
  seen: Seen,
  changes: FileChange[],
) => Context;

/** Core built it from nothing when it started this process. */
function ownEnvironment(): { [name: string]: string } {
  return { ...process.env as { [name: string]: string } };
}

async function load(from: HostStart["plugins"]): Promise<Plugin[]> {
  if ("file" in from) {
    const plugin = await importPlugin(from.file);
    return [from.inspect ? await inspect(plugin) : plugin];
  }
  const builtin: { [name: string]: { [name: string]: unknown } } = {
    ...await import("../../plugins/mod.ts"),
    remove_folder: await import("../undo/remove_folder.ts"),
    remove_leftovers: await import("../files/remove_leftovers.ts"),
    restore: await import("../undo/restore.ts"),
  };
  return await Promise.all(from.builtin.map((name) => checkPlugin(builtin[name] ?? {}, name, OWN_TIMEOUT_MS)));
}

async function inspect(plugin: Plugin): Promise<Plugin> {
  const checks = await Promise.all(plugin.examples.map((example) => plugin.schema.check(example)));
  const examples = checks.map((checked) => checked.ok ? null : checked.problem);
  return { ...plugin, loaded: { ...plugin.loaded, inspected: { input_schema: plugin.schema.json, examples } } };
}

/** Checks the input, runs the handler, and turns whatever comes of it into an outcome. Never throws. */
export async function runPlugin(plugin: Plugin, raw: unknown, context: Context): Promise<Outcome> {
  try {
    const checked = await plugin.schema.check(raw);
    if (!checked.ok) {
      return { content: `Cannot call ${plugin.loaded.definition.name}: ${checked.problem}`, is_error: true };
    }
    return {
      content: contentOf(await plugin.handler(checked.input, context), plugin.loaded.definition.name),
      is_error: false,
    };
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

/** What the call would do. Never throws, and never runs the handler. */
async function previewPlugin(plugin: Plugin, raw: unknown, context: Context): Promise<Outcome> {
  try {
    const checked = await plugin.schema.check(raw);
    if (!checked.ok) {
      return { content: `Cannot call ${plugin.loaded.definition.name}: ${checked.problem}`, is_error: true };
    }
    const proposal = await plugin.preview?.(checked.input, context);
    return { content: NO_OUTPUT, is_error: false, ...(proposal ? { proposal: plainProposal(proposal) } : {}) };
  } catch (error) {
    return { content: wordsFor(error, plugin), is_error: true };
  }
}

/** An `Error` of the plugin's is for the model as it is; one of the runtime's is about code, and says whose. */
function wordsFor(error: unknown, { loaded: { definition: { name } } }: Plugin): string {
  const limit = limitReached(error);
  if (limit !== undefined) return `Cannot run ${name}: ${limit}`;
  return isOfRuntime(error) ? `Cannot run ${name}: ${messageOf(error)}` : messageOf(error);
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

/** Nothing else of a proposal leaves the host. */
function plainProposal(proposal: Proposal): Proposal {
  if ("command" in proposal) return { command: String(proposal.command) };
  const diff = String(proposal.diff);
  const left = diff.length - DIFF_LIMIT;
  const shown = left > 0 ? `${headOf(diff, DIFF_LIMIT)}\n[${left} more characters]` : diff;
  return { path: String(proposal.path), diff: shown };
}

const NO_OUTPUT = "(no output)";

/** What JSON would lose without a word, or refuse in the words of the runtime. */
function asJson(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") throw new Error("it holds a BigInt");
  return value instanceof Map || value instanceof Set ? [...value] : value;
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

/** Why a host ended, when an error came from outside of every call. One line. */
export function uncaught(error: unknown): string {
  return `its process ended by itself, with an error that nobody caught: ${oneLine(messageOf(error))}`;
}

function seenFiles(list: SeenList, notes: SeenList): Seen {
  const files = new Map<string, SeenFile>(list);
  return {
    get: (path) => files.get(path),
    note(path, file) {
      if (typeof path !== "string" || !isSeenFile(file)) {
        throw new Error("seen.note needs a path, and { sha256, whole }");
      }
      files.set(path, file);
      notes.push([path, file]);
    },
  };
}
