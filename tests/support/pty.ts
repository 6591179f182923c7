/** Runs a program on a pseudo-terminal of its own (Bun's, so nothing has to be installed) and sees every byte it writes. */

export interface PtyOptions {
  columns?: number;
  rows?: number;
  cwd?: string;
  env?: Record<string, string>;
}

export interface Pty extends AsyncDisposable {
  /** Every byte written so far, as UTF-8 text. */
  raw(): string;
  /** Waits until the output since the last `mark` has the text; fails with what is there after `ms`. */
  until(text: string | RegExp, ms?: number): Promise<void>;
  /** What was written since the last `mark`. */
  since(): string;
  /** From here on `until` and `since` look. */
  mark(): void;
  type(keys: string): void;
  resize(columns: number, rows?: number): void;
  kill(signal: "SIGTERM" | "SIGHUP" | "SIGINT" | "SIGCONT" | "SIGSTOP"): void;
  /** The exit code, or 128 + the signal's number. */
  exited(): Promise<number>;
  /** The line discipline echoes and collects lines: what a shell expects after any program. */
  isCooked(): boolean;
  /** What a shell does with the terminal when the program was stopped. */
  cook(): void;
}

// Of termios(3); the same bits on Linux and macOS for ECHO, not for ICANON.
const ECHO = 0o10;
const ICANON = process.platform === "darwin" ? 0x100 : 0o2;

export function openPty(command: string[], options: PtyOptions = {}): Pty {
  const { columns = 80, rows = 24, cwd, env = {} } = options;
  const decoder = new TextDecoder();
  let written = "";
  let from = 0;
  let wake = () => {};
  // Given as options, not as a `Bun.Terminal`: only so does it control the child, which is told when its size changes.
  const child = Bun.spawn(command, {
    terminal: {
      cols: columns,
      rows,
      data(_terminal, bytes) {
        written += decoder.decode(bytes, { stream: true });
        wake();
      },
    },
    ...(cwd ? { cwd } : {}),
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", TERM: "xterm-256color", ...env },
  });
  const terminal = child.terminal;
  if (!terminal) throw new Error("no pseudo-terminal here");
  return {
    raw: () => written,
    since: () => written.slice(from),
    mark() {
      from = written.length;
    },
    async until(text, ms = 10_000) {
      const deadline = Date.now() + ms;
      while (typeof text === "string" ? !written.includes(text, from) : !text.test(written.slice(from))) {
        const left = deadline - Date.now();
        if (left <= 0) throw new Error(`no ${text} in ${JSON.stringify(written.slice(from))}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, Math.min(left, 100));
        });
      }
    },
    type: (keys) => void terminal.write(keys),
    resize: (newColumns, newRows = rows) => terminal.resize(newColumns, newRows),
    kill: (signal) => child.kill(signal),
    async exited() {
      const code = await child.exited;
      await Bun.sleep(20); // the last bytes may still be on their way
      return code;
    },
    isCooked: () => (terminal.localFlags & ECHO) !== 0 && (terminal.localFlags & ICANON) !== 0,
    cook: () => void (terminal.localFlags |= ECHO | ICANON),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      terminal.close();
    },
  };
}
