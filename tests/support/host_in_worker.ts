/** A host in a worker of the test: it holds nothing back, but imports each file anew, as hosts do elsewhere. */

import type { Connection } from "../../core/hosts/running_host.ts";

export function connectInWorker(): Connection {
  const closed = Promise.withResolvers<string>();
  const worker = new Worker(new URL("../fixtures/serves_a_host.ts", import.meta.url).href);
  return {
    send: (message) => worker.postMessage(message),
    receive: (handle) => worker.onmessage = ({ data }) => handle(data),
    closed: closed.promise,
    kill() {
      worker.terminate();
      closed.resolve("its host was ended");
    },
  };
}
