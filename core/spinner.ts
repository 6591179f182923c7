/** The line that moves while something runs: what it is, for how long, and how far. */

import { clearInterval, setInterval } from "node:timers";
import { paint, type Screen } from "./screen.ts";
import { cutToWidth } from "./width.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 120;

export interface Spinner {
  /** Begins to tell of something new; its time starts at 0. The text is one clean line. */
  start(text: string): void;
  /** How far it is: one clean line behind the time. */
  progress(text: string): void;
  /** Takes the line away, so that something else can be written; it comes back with the next frame, unless stopped. */
  hide(): void;
  /** Nothing runs any more. Must be called, or the timer goes on. */
  stop(): void;
}

/** A spinner on the screen's current line, which must be empty; on one that cannot redraw it shows nothing. */
export function createSpinner(screen: Screen, now: () => number): Spinner {
  let timer: ReturnType<typeof setInterval> | undefined;
  let text = "";
  let detail = "";
  let startedAt = 0;
  let frame = 0;
  let shown = false;

  function hide() {
    if (shown) screen.write("\r\x1b[K");
    shown = false;
  }

  function draw() {
    const line = `${FRAMES[frame++ % FRAMES.length]} ${text} ${durationOf(now() - startedAt)}${
      detail && ` · ${detail}`
    }`;
    shown = true;
    screen.write(`\r${paint(screen, "grey", cutToWidth(line, screen.columns() - 1))}\x1b[K`);
  }

  return {
    hide,
    start(what) {
      text = what;
      detail = "";
      startedAt = now();
      if (screen.redraws) timer ??= setInterval(draw, FRAME_MS);
    },
    progress(how) {
      detail = how;
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
      hide();
    },
  };
}

/** `4 s`, `1 min 05 s`. */
export function durationOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}
