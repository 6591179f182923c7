/** Lets through a few words of many: the first at once, then the last of each moment. */

import { headOf } from "../text.ts";

/** One line is shown each so many milliseconds, at most. */
const EVERY_MS = 50;

/** A line of progress is at most this many characters (UTF-16 units). */
const LINE_LIMIT = 1000;

export interface Throttle {
  push(text: string): void;
  /** Hands on what is still held back, and from then on nothing. */
  end(): void;
}

/** What a tool says while it runs is shown, not kept: a million lines must cost neither core nor the terminal anything. */
export function createThrottle(show: (text: string) => void): Throttle {
  let last = -Infinity;
  let held: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (held === undefined) return;
    const text = held;
    held = undefined;
    last = performance.now();
    show(text);
  }

  return {
    push(text) {
      if (ended) return;
      held = headOf(text, LINE_LIMIT);
      const wait = last + EVERY_MS - performance.now();
      if (wait <= 0) flush();
      else timer ??= setTimeout(flush, wait);
    },
    end() {
      flush();
      ended = true;
    },
  };
}
