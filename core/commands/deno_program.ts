/** Starts programs by Deno's own means: its `node:child_process` looks at variables that it may not have been given. */

/** What is used of a child of Deno's. */
export interface DenoChild {
  pid: number;
  stdin: WritableStream<Uint8Array>;
  stdout: ReadableStream<Uint8Array>;
  /** A code is there also when a signal ended it. */
  status: Promise<{ code: number; signal: string | null }>;
  /** Deno does not wait for its end any more. */
  unref(): void;
}

interface DenoCommand {
  spawn(): DenoChild;
  outputSync(): { success: boolean; stdout: Uint8Array };
}

export interface DenoProgram {
  args: readonly string[];
  cwd?: string;
  /** The whole environment. */
  env: { [name: string]: string };
  stdin?: "piped";
  stdout?: "piped";
  /** In a session of its own: no signal of the terminal reaches it. */
  detached?: true;
}

interface DenoPrograms {
  Command: new (name: string, options: { [option: string]: unknown }) => DenoCommand;
}

/** To be spawned, which throws where it cannot be: `ENOENT`, `E2BIG`, or Deno's `NotCapable`. stderr is thrown away. */
export function denoProgram(name: string, program: DenoProgram): DenoCommand {
  const { Command } = (globalThis as unknown as { Deno: DenoPrograms }).Deno;
  return new Command(name, { stdin: "null", stdout: "null", stderr: "null", clearEnv: true, ...program });
}
