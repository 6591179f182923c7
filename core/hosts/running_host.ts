/** Talks to one running host: its start, its calls with their limits, its end. */

// @ts-types="../../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { type Fetching, openFetching } from "./fetching.ts";
import { INTERRUPTED, unlessAborted } from "./interrupt.ts";
import { type Channel, FromHost, type HostStart, type Loaded, type ToHost } from "./protocol.ts";
import type { CallOptions, Outcome } from "../registry.ts";
import { createThrottle } from "./throttle.ts";

/** A running host. `closed` settles, with the reason in words, when it is gone; `kill` makes that happen at once. */
export interface Connection extends Channel {
  closed: Promise<string>;
  kill(): void;
}

/** A call, as it is handed to the host. */
export type Order = Omit<ToHost & { type: "call" }, "type" | "id">;
type Result = FromHost & { type: "result" };

/** A host from its start to its end. */
export interface RunningHost {
  /** Rejects with the reason; `cause`: "plugin" that is bad, "late", or none. */
  ready: Promise<Loaded[]>;
  gone: Promise<string>;
  isGone(): boolean;
  call(order: Order, timeoutMs: number, options: CallOptions, note: (seen: Result["seen"]) => void): Promise<Outcome>;
  kill(): void;
}

/** How long a host may take to be ready, and what is said when it took longer. */
export interface Late {
  ms: number;
  reason: string;
}

interface OpenCall {
  settle(outcome: Result | string): void;
  progress(text: string): void;
  fetching: Fetching;
}

/** Sends the start, and ends the host once it is late. `graceMs`: for a call to go on after it was told to stop. */
export function openHost(
  connection: Connection,
  start: HostStart,
  limits: { late: Late; graceMs: number },
  printed: (text: string) => void,
): RunningHost {
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
