/** A pipe of this process's own, so that a command has one for stdout and stderr. Bun on Linux. */

import { closeSync } from "node:fs";
import process from "node:process";
import { demand, openKernel } from "../fence/kernel.ts";

export interface Pipe {
  /** The handle that a child is given. Close it here once the child has it, or the reading never ends. */
  input: number;
  closeInput(): void;
  /** What comes out, until every writer is gone or `cancel`. To be read once. */
  chunks(): AsyncGenerator<Uint8Array>;
  /** Ends the reading. */
  cancel(): void;
}

interface BunFiles {
  file(handle: number): { stream(): ReadableStream<Uint8Array> };
}

const O_CLOEXEC = 0o2000000;

/**
 * pipe(2), close-on-exec. Elsewhere undefined: there the runtime's own `"pipe"` has to do. Bun's is a pair of sockets, which
 * a command cannot open by name (`echo text > /dev/stderr` fails), and one for each stream, so that their order is lost.
 */
export async function openPipe(): Promise<Pipe | undefined> {
  const bun = (globalThis as { Bun?: BunFiles }).Bun;
  if (!bun || process.platform !== "linux") return undefined;
  const kernel = await openKernel().catch(() => undefined);
  if (!kernel) return undefined;
  const pair = new Int32Array(2);
  demand(kernel.call("pipe2", new Uint8Array(pair.buffer), O_CLOEXEC), "a pipe");
  const [output = -1, input = -1] = pair;
  // Not createReadStream: that waits in a thread of the few that the runtime has for files.
  const reader = bun.file(output).stream().getReader();
  return {
    input,
    closeInput: () => closeSync(input),
    async *chunks() {
      try {
        for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
      } finally {
        closeSync(output); // the stream leaves it open
      }
    },
    cancel: () => void reader.cancel().catch(() => {}),
  };
}
