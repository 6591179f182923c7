/** Outside a host: start one when it is first needed, talk to it, time it out, end it, start it again. */

// @ts-types="../../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { type Fetching, openFetching } from "./fetching.ts";
import { basename, extname } from "../path.ts";
import { type Channel, FromHost, type HostStart, type Loaded, type ToHost } from "./protocol.ts";
import { INTERRUPTED, unlessAborted } from "./interrupt.ts";
import { createQueue } from "./queue.ts";
import { noteSeen } from "../files/seen_files.ts";
import type { CallOptions, Host, Outcome } from "../registry.ts";
import { createThrottle } from "./throttle.ts";
import type { Permissions, SeenFile } from "../tool.ts";

/** A running host. `closed` settles, with the reason in words, when it is gone; `kill` makes that happen at once. */
export interface Connection extends Channel {
  closed: Promise<string>;
  kill(): void;
}

/** What a host is for, and what its tools need. */
export interface HostOrder extends Omit<HostStart, "type"> {
  needs: Permissions;
}

/** How hosts are made on this runtime: a process, a worker, or (in tests) in here. */
export type Connect = (order: HostOrder) => Connection;

export interface Hosts {
  /** Loads plugins in a host of their own and ends it. Rejects with the reason; `cause`: "plugin" that is bad, "late", or none. */
  load(plugins: HostStart["plugins"]): Promise<Loaded[]>;
  /** A host that starts at its first call, for calls of `tools`; after its end the next call starts it again. */
  open(order: HostOrder, tools: readonly Loaded[]): Required<Host>;
  /** Ends every host. */
  close(): void;
}

/**
 * In milliseconds: for a plugin to be loaded, since the user waits for the slowest one; for a host to be ready, when a
 * call waits for it; and for a call to go on after it was told to stop.
 */
export const HOST_LIMITS = { loadMs: 5000, startMs: 10_000, graceMs: 500 };

/** Gets what a plugin printed, by the name of its file without the ending. */
export type Printed = (plugin: string, text: string) => void;

/** Plugins loaded at the same time: each is a process, and `loadMs` runs while it waits for a processor. */
const LOADS_AT_ONCE = 4;

/** `seen`: what the model has seen of files in this session. */
export function createHosts(
  connect: Connect,
  seen: Map<string, SeenFile>,
  limits = HOST_LIMITS,
  printed: Printed = () => {},
): Hosts {
  const live = new Set<Session>();
  const inTurn = createQueue(LOADS_AT_ONCE);

  const late = (ms: number, how: string, why = "") => ({ ms, reason: `${how} within ${ms / 1000} s${why}` });
  const loading = late(limits.loadMs, "did not finish loading", " (a top-level await, or a loop?)");
  const starting = late(limits.startMs, "its host was not ready");

  function start({ needs, ...order }: HostOrder, late: Late): Session {
    const { plugins } = order;
    const name = "file" in plugins ? basename(plugins.file, extname(plugins.file)) : "built-in";
    const hear = (text: string) => printed(name, text);
    const session = openSession(connect({ needs, ...order }), { type: "start", ...order }, { ...limits, late }, hear);
    live.add(session);
    void session.gone.then(() => live.delete(session));
    return session;
  }

  return {
    load: (plugins) =>
      inTurn(async () => {
        const session = start({ plugins, needs: {} }, loading);
        try {
          return await session.ready;
        } finally {
          session.kill();
        }
      }),
    open(order, tools) {
      const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
      const isPlugin = "file" in order.plugins;
      const forCalls = keepStarted(() => start(order, starting));
      // Before the user has said yes a plugin gets nothing to change anything with, but for what its guard says of paths.
      const { read = false } = order.needs;
      const forPreviews = isPlugin ? keepStarted(() => start({ ...order, needs: { read } }, starting)) : forCalls;
      async function ask(message: Pick<Order, "tool" | "input" | "preview">, options: CallOptions): Promise<Outcome> {
        // What a plugin gets for one call it has for no other: a variable that it read nobody takes back.
        const isAlone = isPlugin && options.once === true;
        const session = isAlone ? start(order, starting) : (message.preview ? forPreviews : forCalls).session();
        const known = byName.get(message.tool);
        const handed = known?.permissions.write ? [...seen] : [];
        const outcome = await session.call({ ...message, seen: handed }, known?.timeout_ms ?? 0, options, (notes) => {
          if (message.preview) return; // nobody has seen anything by it
          for (const [path, file] of notes) noteSeen(seen, path, file);
        });
        if (isAlone) session.kill();
        return outcome;
      }
      return {
        call: (tool, input, options) => ask({ tool, input }, options),
        preview: (tool, input, options) => ask({ tool, input, preview: true }, options),
        end() {
          forCalls.end();
          forPreviews.end();
        },
      };
    },
    close() {
      for (const session of live) session.kill();
    },
  };
}

/** A session that starts when it is needed, and again when it is gone. */
function keepStarted(start: () => Session): { session(): Session; end(): void } {
  let session: Session | undefined;
  return {
    session: () => session = !session || session.isGone() ? start() : session,
    end: () => session?.kill(),
  };
}

type Order = Omit<ToHost & { type: "call" }, "type" | "id">;
type Result = FromHost & { type: "result" };

interface Session {
  ready: Promise<Loaded[]>;
  gone: Promise<string>;
  isGone(): boolean;
  call(order: Order, timeoutMs: number, options: CallOptions, note: (seen: Result["seen"]) => void): Promise<Outcome>;
  kill(): void;
}

/** How long a host may take to be ready, and what is said when it took longer. */
interface Late {
  ms: number;
  reason: string;
}

interface OpenCall {
  settle(outcome: Result | string): void;
  progress(text: string): void;
  fetching: Fetching;
}

function openSession(
  connection: Connection,
  start: HostStart,
  limits: { late: Late; graceMs: number },
  printed: (text: string) => void,
): Session {
  const open = new Map<number, OpenCall>();
  const ready = Promise.withResolvers<Loaded[]>();
  const late = setTimeout(() => ready.reject(new Error(limits.late.reason, { cause: "late" })), limits.late.ms);
  ready.promise.then(() => clearTimeout(late), () => {
    clearTimeout(late);
    kill();
  });
  let nextId = 1;
  let gone = false;
  let closed: string | undefined;
  /** Ends the host, if it is not gone: its process id may be another's by now. Without a reason `closed` tells one. */
  function kill(reason?: string): void {
    if (gone) return;
    gone = true; // at once: a call that comes now needs another host
    if (reason !== undefined) settle(reason);
    connection.kill();
  }
  function settle(reason: string): void {
    gone = true;
    closed ??= reason;
    ready.reject(new Error(closed));
    for (const call of open.values()) call.settle(closed);
  }
  void connection.closed.then(settle);
  connection.receive((raw) => {
    const parsed = v.safeParse(FromHost, raw);
    if (!parsed.success) return kill("its plugin wrote into tenon's own channel");
    const message = parsed.output;
    if (message.type === "ready") ready.resolve(message.tools);
    else if (message.type === "failed") ready.reject(new Error(message.problem, { cause: "plugin" }));
    else if (message.type === "printed") printed(message.text);
    else if (message.type === "progress") open.get(message.id)?.progress(message.text);
    else if (message.type === "fetch" || message.type === "abandon") open.get(message.id)?.fetching.take(message);
    else open.get(message.id)?.settle(message);
  });
  connection.send(start);

  async function call(
    order: Order,
    timeoutMs: number,
    options: CallOptions,
    note: (seen: Result["seen"]) => void,
  ): Promise<Outcome> {
    try {
      await unlessAborted(ready.promise, options.signal);
    } catch (error) {
      return failed(order.tool, error instanceof Error ? error.message : "it did not start");
    }
    if (closed !== undefined) return failed(order.tool, closed);
    const id = nextId++;
    const done = Promise.withResolvers<Result | string>();
    const progress = createThrottle(options.progress);
    const fetching = openFetching(order.preview ? [] : start.grant?.net ?? [], id, connection.send);
    open.set(id, { settle: done.resolve, progress: progress.push, fetching });
    connection.send({ type: "call", id, ...order });
    let ended: string | undefined;
    let grace: ReturnType<typeof setTimeout> | undefined;
    const stop = (reason: string) => {
      ended ??= reason;
      connection.send({ type: "cancel", id });
      grace ??= setTimeout(() => {
        done.resolve(reason);
        kill("its host was ended: another call in it did not stop");
      }, limits.graceMs);
    };
    const limit = setTimeout(() => stop(`no end after ${timeoutMs / 1000} s`), timeoutMs);
    const interrupt = () => stop(INTERRUPTED);
    options.signal.addEventListener("abort", interrupt, { once: true });
    const result = await done.promise;
    fetching.end();
    clearTimeout(limit);
    clearTimeout(grace);
    progress.end();
    options.signal.removeEventListener("abort", interrupt);
    open.delete(id);
    if (typeof result === "string") return failed(order.tool, result);
    note(result.seen);
    if (ended !== undefined && result.is_error && !tells(result)) return failed(order.tool, ended);
    const { content, is_error, proposal, changes } = result;
    return { content, is_error, ...(proposal ? { proposal } : {}), ...(changes ? { changes } : {}) };
  }

  return { ready: ready.promise, gone: connection.closed, isGone: () => gone, call, kill };
}

/** A tool that stopped in time says itself how far it came (`Cannot run "npm test": …`); else all it has is an abort. */
function tells({ content }: Result): boolean {
  return typeof content === "string" && content.startsWith("Cannot ");
}

function failed(tool: string, reason: string): Outcome {
  return { content: `Cannot run ${tool}: ${reason}`, is_error: true };
}
