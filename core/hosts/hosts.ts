/** Outside of hosts: start one when it is first needed, end it, start it again, and hand calls to it. */

import { noteSeen } from "../files/seen_files.ts";
import { basename, extname } from "../path.ts";
import type { HostStart, Loaded } from "./protocol.ts";
import { createQueue } from "./queue.ts";
import type { CallOptions, Host, Outcome } from "../registry.ts";
import { type Connection, type Late, openHost, type Order, type RunningHost } from "./running_host.ts";
import type { Permissions, SeenFile } from "../tool.ts";

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
  const live = new Set<RunningHost>();
  const inTurn = createQueue(LOADS_AT_ONCE);

  const late = (ms: number, how: string, why = "") => ({ ms, reason: `${how} within ${ms / 1000} s${why}` });
  const loading = late(limits.loadMs, "did not finish loading", " (a top-level await, or a loop?)");
  const starting = late(limits.startMs, "its host was not ready");

  function start({ needs, ...order }: HostOrder, late: Late): RunningHost {
    const { plugins } = order;
    const name = "file" in plugins ? basename(plugins.file, extname(plugins.file)) : "built-in";
    const hear = (text: string) => printed(name, text);
    const host = openHost(connect({ needs, ...order }), { type: "start", ...order }, { ...limits, late }, hear);
    live.add(host);
    void host.gone.then(() => live.delete(host));
    return host;
  }

  return {
    load: (plugins) =>
      inTurn(async () => {
        const host = start({ plugins, needs: {} }, loading);
        try {
          return await host.ready;
        } finally {
          host.kill();
        }
      }),
    open(order, tools) {
      const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
      const isPlugin = "file" in order.plugins;
      const forCalls = keepStarted(() => start(order, starting));
      // Before the user has said yes a plugin gets nothing to change anything with. That its guard knows where it may write only
      // lets it tell what the call would meet there.
      const { read = false } = order.needs;
      const forPreviews = isPlugin ? keepStarted(() => start({ ...order, needs: { read } }, starting)) : forCalls;
      async function ask(message: Pick<Order, "tool" | "input" | "preview">, options: CallOptions): Promise<Outcome> {
        // What a plugin gets for one call it has for no other: a variable that it read nobody takes back.
        const isAlone = isPlugin && options.once === true;
        const host = isAlone ? start(order, starting) : (message.preview ? forPreviews : forCalls).host();
        const known = byName.get(message.tool);
        const handed = known?.permissions.write ? [...seen] : [];
        const outcome = await host.call({ ...message, seen: handed }, known?.timeout_ms ?? 0, options, (notes) => {
          if (message.preview) return; // nobody has seen anything by it
          for (const [path, file] of notes) noteSeen(seen, path, file);
        });
        if (isAlone) host.kill();
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
      for (const host of live) host.kill();
    },
  };
}

/** A host that starts when it is needed, and again when it is gone. */
function keepStarted(start: () => RunningHost): { host(): RunningHost; end(): void } {
  let host: RunningHost | undefined;
  return {
    host: () => host = !host || host.isGone() ? start() : host,
    end: () => host?.kill(),
  };
}
