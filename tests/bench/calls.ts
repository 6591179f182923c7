/** One session of `tenon call` that stays open: a line in, a line out. */

import type { Program } from "./program.ts";

export interface Calls extends AsyncDisposable {
  /** The process id of core. */
  pid: number;
  /** Makes a call and waits for its answer. Throws the answer when it is an error. */
  call(name: string, input?: unknown): Promise<string>;
}

/** Starts it in this folder and waits until it answers; none of its hosts runs yet. */
export async function openCalls({ command, env }: Program, cwd: string, args: readonly string[] = []): Promise<Calls> {
  const child = Bun.spawn([...command("executable"), ...args, "call"], {
    ...{ cwd, env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const lines = linesOf(child.stdout);
  async function ask(name: string, input: unknown): Promise<{ content: unknown; is_error: boolean }> {
    child.stdin.write(`${JSON.stringify({ name, input })}\n`);
    child.stdin.flush();
    const { value } = await lines.next();
    if (value === undefined) throw new Error("tenon call has ended");
    return JSON.parse(value);
  }
  await ask("is_there", {}); // no tool has this name: core alone answers
  return {
    pid: child.pid,
    async call(name, input = {}) {
      const { content, is_error } = await ask(name, input);
      if (is_error) throw new Error(`${name}: ${content}`);
      return String(content);
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await child.exited;
    },
  };
}

/** Each line, as soon as it is whole. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
