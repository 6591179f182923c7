/** A host in the process of the test: it holds nothing back. Elsewhere hosts are processes or workers. */

import { serveHost } from "../../core/hosts/host.ts";
import type { Connection } from "../../core/hosts/running_host.ts";

export function connectInProcess(): Connection {
  const closed = Promise.withResolvers<string>();
  let toHost: (message: unknown) => void = () => {};
  let toCore: (message: unknown) => void = () => {};
  let dead = false;
  const pass = (message: unknown, receiver: () => (message: unknown) => void) => {
    const copy = structuredClone(message);
    queueMicrotask(() => dead || receiver()(copy));
  };
  serveHost({
    send: (message) => pass(message, () => toCore),
    receive: (handle) => toHost = handle,
  });
  return {
    send: (message) => pass(message, () => toHost),
    receive: (handle) => toCore = handle,
    closed: closed.promise,
    kill() {
      dead = true;
      closed.resolve("its host was ended");
    },
  };
}
