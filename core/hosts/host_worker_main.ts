/** The inside of a worker: keep what a plugin prints, and its end, to the worker, then serve. Deno only. */

import process from "node:process";
import { serveHost, uncaught } from "./host.ts";
import type { WorkerEnd } from "./host_worker.ts";
import type { FromHost } from "./protocol.ts";

interface WorkerScope {
  postMessage(message: unknown): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  addEventListener(type: string, listener: (event: Event & { error?: unknown; reason?: unknown }) => void): void;
  close(): void;
  Deno: { exit: unknown; kill: Kill; pid: number; stdout: DenoStream; stderr: DenoStream };
}

interface DenoStream {
  write(bytes: Uint8Array): Promise<number>;
  writeSync(bytes: Uint8Array): number;
}

type Kill = (pid: number, signal?: string | number) => unknown;

const scope = globalThis as unknown as WorkerScope;
const post: (message: FromHost | WorkerEnd) => void = scope.postMessage.bind(scope);
const close = scope.close.bind(scope);

function printed(text: string): void {
  post({ type: "printed", text });
}

/** Before any plugin is imported: there is one stdout for all of Deno, and it is core's answer. */
function takePrints(): void {
  const methods = console as unknown as { [name: string]: unknown };
  for (const name of Object.keys(methods)) {
    if (typeof methods[name] === "function") {
      methods[name] = (...values: unknown[]) => printed(`${values.map(shown).join(" ")}\n`);
    }
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = (text: unknown) => {
      printed(textOf(text));
      return true;
    };
  }
  for (const stream of [scope.Deno.stdout, scope.Deno.stderr]) {
    stream.writeSync = (bytes) => {
      printed(textOf(bytes));
      return bytes.length;
    };
    stream.write = (bytes) => Promise.resolve(stream.writeSync(bytes));
  }
}

function textOf(text: unknown): string {
  return text instanceof Uint8Array ? new TextDecoder().decode(text) : String(text);
}

function shown(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Error) return value.stack ?? value.message;
  try {
    return JSON.stringify(value);
  } catch {
    return "[object]";
  }
}

/** A plugin that ends the process ends its own worker, and says so. */
function takeExits(): void {
  const end = (reason: string) => {
    post({ type: "ended", reason });
    close();
  };
  const exit = (code?: unknown): never => {
    end(`its process ended by itself (exit code ${Number(code ?? 0)})`);
    throw new Error("ended");
  };
  process.exit = exit as typeof process.exit;
  scope.Deno.exit = exit;
  scope.close = () => exit(0);
  takeSignals(end);
  // Deno would print what nobody caught, with a stack and in colour, where core answers.
  for (const type of ["error", "unhandledrejection"]) {
    scope.addEventListener(type, (event) => {
      event.preventDefault();
      printed(`${shown(event.error ?? event.reason)}\n`);
      end(uncaught(event.error ?? event.reason));
    });
  }
}

/**
 * There is one process for all of Deno, and no permission keeps a worker from it. What is imported by its own name
 * (`import { kill } from "node:process"`) cannot be replaced: `not_covered.ts` tells.
 */
function takeSignals(end: (reason: string) => void): void {
  const around = (kill: Kill): Kill => (pid, signal = "SIGTERM") => {
    // Nothing is sent by a 0: it asks whether the process is there. kill(2).
    if (Number(pid) !== scope.Deno.pid || signal === 0) return kill(pid, signal);
    end("its process was ended");
    return true;
  };
  const methods = process as unknown as { kill: Kill; _kill: Kill };
  methods.kill = around(methods.kill.bind(process));
  methods._kill = around(methods._kill.bind(process));
  scope.Deno.kill = around(scope.Deno.kill);
}

takePrints();
takeExits();
serveHost({
  send: (message) => post(message as FromHost),
  receive: (handle) => scope.onmessage = ({ data }) => handle(data),
});
