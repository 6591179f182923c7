/** A screen that remembers what was written to it. */

import type { Screen } from "../../core/terminal/screen.ts";

/** No terminal 40 columns wide and 10 rows high, unless told otherwise. */
export function recorder(options: Partial<Screen> = {}): Screen & { written(): string } {
  let all = "";
  return {
    tty: false,
    colour: false,
    redraws: false,
    columns: () => 40,
    rows: () => 10,
    write: (piece) => void (all += piece),
    flushed: () => Promise.resolve(),
    written: () => all,
    ...options,
  };
}
