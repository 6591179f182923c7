/** The inside of a worker: keep what a plugin prints and its exits to the worker, then serve. Deno only. */

import process from "node:process";
import { serveHost } from "./host.ts";
import type { WorkerEnd } from "./host_worker.ts";

interface WorkerScope {
  postMessage(message: unknown): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  close(): void;
}

const scope = globalThis as unknown as WorkerScope;
const post = scope.postMessage.bind(scope);
const close = scope.close.bind(scope);

/** Before any plugin is imported: there is one console for all of Deno, and it is core's answer. */
function quieten(): void {
  for (const name of ["log", "info", "debug", "warn", "error", "trace", "dir", "table"] as const) {
    console[name] = () => {};
  }
  process.stdout.write = () => true;
  process.stderr.write = () => true;
}

/** A plugin that ends the process ends its own worker, and says so. */
function wrapExits(): void {
  const exit = (code?: unknown): never => {
    const end: WorkerEnd = { type: "ended", reason: `its process ended by itself (exit code ${Number(code ?? 0)})` };
    post(end);
    close();
    throw new Error("ended");
  };
  process.exit = exit as typeof process.exit;
  (globalThis as unknown as { Deno: { exit: unknown } }).Deno.exit = exit;
  scope.close = () => exit(0);
}

quieten();
wrapExits();
serveHost({
  send: post,
  receive: (handle) => scope.onmessage = ({ data }) => handle(data),
});
