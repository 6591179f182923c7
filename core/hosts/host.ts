/** Inside a host: load the plugins it is for, then serve calls until the channel ends. */

import process from "node:process";
import { type HostFetch, openHostFetch } from "./host_fetch.ts";
import { openHostWrites } from "./host_writes.ts";
import { checkPlugin, importPlugin, OWN_TIMEOUT_MS, type Plugin } from "../plugins/plugins.ts";
import { noteChanges } from "../undo/noted_changes.ts";
import { type Channel, type FileChange, type HostStart, isSeenFile, type SeenList, type ToHost } from "./protocol.ts";
import type { Outcome } from "../registry.ts";
import { limitResult } from "../result_limit.ts";
import { messageOf, previewPlugin, runPlugin } from "./run_plugin.ts";
import { systemProblem } from "./system_problem.ts";
import { oneLine } from "../text.ts";
import { createThrottle } from "./throttle.ts";
import type { Context, Seen, SeenFile } from "../tool.ts";
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
    fetching?.end();
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

/** Why a host ended, when an error came from outside of every call, so that nobody knows of which tool. One line. */
export function uncaught(error: unknown): string {
  const reason = systemProblem(error, {}) ?? messageOf(error);
  return `its process ended by itself, with an error that nobody caught: ${oneLine(reason)}`;
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
