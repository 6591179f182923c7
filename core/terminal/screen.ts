/** One output stream as the user sees it: what it can show, and that nobody may be reading any more. */

import type { WriteStream } from "node:tty";

export interface Screen {
  /** A person reads it on a terminal. */
  readonly tty: boolean;
  /** Colours are wanted: a terminal, no `NO_COLOR` (no-color.org), not `TERM=dumb`. */
  readonly colour: boolean;
  /** A line can be drawn over: a terminal that is not `TERM=dumb`. */
  readonly redraws: boolean;
  /** Columns now; a stream that has none tells 80. */
  columns(): number;
  /** Rows now; a stream that has none tells 24. */
  rows(): number;
  /** Never throws and never waits; what comes after the reader went away is dropped. The caller has cleaned the text. */
  write(text: string): void;
  /** Resolves when all that was written has left this process, or nobody reads it any more. */
  flushed(): Promise<void>;
}

export interface ScreenOptions {
  /** Whether a terminal is there. */
  tty: boolean;
  /** The two names that this looks at; an object, since a program under Deno may not read its environment. */
  env: { NO_COLOR?: string | undefined; TERM?: string | undefined };
  /**
   * Called once, before `flushed` resolves, when the stream cannot be written to: with `EPIPE` or `EIO` the reader went
   * away, with another code (`ENOSPC`) what was written is lost. Of a file Deno throws it, and Bun tells the writer
   * before it emits `error`, which must have a listener in any case.
   */
  closed?: (code: string) => void;
}

/** Wraps stdout or stderr, once per stream. It is opened when it is needed: the runtime's own takes 9 ms for it. */
export function openScreen(openStream: () => WriteStream, { tty, env, closed }: ScreenOptions): Screen {
  const redraws = tty && env.TERM !== "dumb";
  let open = true;
  let unwritten = 0;
  let waiting: (() => void)[] = [];
  let opened: WriteStream | undefined;

  function stream(): WriteStream {
    return opened ??= openStream().on("error", fail);
  }

  function fail(error: unknown): void {
    if (!open) return;
    open = false;
    settle();
    closed?.((error as { code?: string }).code ?? "unknown");
  }

  function settle() {
    if (open && unwritten > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  return {
    tty,
    redraws,
    colour: redraws && !env.NO_COLOR,
    columns: () => stream().columns || 80,
    rows: () => stream().rows || 24,
    write(text) {
      if (!open || text === "") return;
      unwritten++;
      try {
        stream().write(text, (error) => {
          if (error) fail(error);
          unwritten--;
          settle();
        });
      } catch (error) {
        fail(error);
      }
    },
    flushed: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        settle();
      }),
  };
}

const STYLES = { cyan: "36", green: "32", grey: "90", red: "31", yellow: "33", bold: "1" } as const;

export type Style = keyof typeof STYLES;

/** The text in a colour, where the screen has colours. */
export function paint({ colour }: Pick<Screen, "colour">, style: Style, text: string): string {
  return colour ? `\x1b[${STYLES[style]}m${text}\x1b[0m` : text;
}
