/** A host as a worker with fewer permissions: how core starts it, hears it and ends it. Deno only. */

import type { HostOrder } from "./hosts.ts";
import type { Connection } from "./running_host.ts";
import { dirname } from "../path.ts";
import { realOf } from "../place.ts";
import { programFolder } from "../runtime.ts";

/** What a worker may do, in Deno's words; what is not named here it may not. */
export interface WorkerPermissions {
  read: string[];
  write: string[] | false;
  run: string[] | boolean;
  env: string[] | false;
  net: false;
  ffi: false;
  sys: false;
  import: false;
}

/** A worker tells its end by itself, since Deno has no event for it. */
export interface WorkerEnd {
  type: "ended";
  reason: string;
}

/**
 * What the host's tools declare and the user granted, of programs `run` at most; to load it must read the
 * program's own sources and the plugin's. What may be written may be read as well: without that Deno lets nobody look where a path
 * leads, and the guard could not tell what it is about to write. A tool that only writes is kept from reading by the guard alone.
 */
export function workerPermissions(
  { plugins, grant, needs }: HostOrder,
  run: string[] | boolean,
): WorkerPermissions {
  const own = "file" in plugins ? [dirname(realOf(plugins.file))] : [];
  const write = needs.write ? grant?.write ?? [] : [];
  const names = needs.env?.filter((name) => grant?.env?.includes(name)) ?? [];
  return {
    read: [realOf(programFolder()), ...own, ...(grant?.read ?? []), ...write],
    write: write.length > 0 ? write : false,
    run: needs.run === true && run,
    env: names.length > 0 ? names : false,
    net: false,
    ffi: false,
    sys: false,
    import: false,
  };
}

/**
 * Starts the worker. `kill` asks the runtime to end it, which a handler that never yields does not hear: its thread goes on
 * until tenon ends, and nothing that it says is listened to any more. `env` is for the programs that its tools start.
 */
export function connectWorker(permissions: WorkerPermissions, env: { [name: string]: string }): Connection {
  const closed = Promise.withResolvers<string>();
  let receive: (message: unknown) => void = () => {};
  const options = { type: "module" as const, deno: { permissions } };
  const worker = new Worker(new URL("./host_worker_main.ts", import.meta.url).href, options);

  function end(reason: string): void {
    worker.terminate();
    receive = () => {};
    closed.resolve(reason);
  }

  worker.onmessage = ({ data }: MessageEvent) => {
    if ((data as WorkerEnd | undefined)?.type === "ended") end(String((data as WorkerEnd).reason));
    else receive(data);
  };
  worker.onerror = (event) => {
    event.preventDefault(); // or core would end with it
    end(`it failed outside of the call (${event.message})`);
  };
  return {
    send: (message) => worker.postMessage(message.type === "start" ? { ...message, env } : message),
    receive: (handle) => receive = handle,
    closed: closed.promise,
    kill: () => end("it was ended"),
  };
}
