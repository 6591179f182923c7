/** The line that moves while something runs: what it is, for how long, and how far. */

import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { paint, type Screen } from "./screen.ts";
import { cutToWidth, widthOf } from "./width.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 120;

export interface Spinner {
  /** Begins to tell of something new; its time starts at 0. The text is one clean line. */
  start(text: string): void;
  /** How far it is: one clean line behind the time. */
  progress(text: string): void;
  /** Takes the line away, so that something else can be written; it comes back with the next frame, unless stopped. */
  hide(): void;
  /** Takes the line away for good. Must be called, or the timer goes on. Tells whether there was something to stop. */
  stop(): boolean;
  /** Goes on with what was stopped, its time included. */
  resume(): void;
}

/** A spinner on the screen's current line, which must be empty; on one that cannot redraw it shows nothing. */
export function createSpinner(screen: Screen, now: () => number): Spinner {
  let timer: ReturnType<typeof setInterval> | undefined;
  let text = "";
  let detail = "";
  let startedAt = 0;
  let frame = 0;
  let shownWidth = 0;

  /** What takes the line away. A window made narrower since it was drawn has wrapped it. */
  function erased(): string {
    if (shownWidth === 0) return "";
    const up = Math.ceil(shownWidth / screen.columns()) - 1;
    shownWidth = 0;
    return `\r${up > 0 ? `\x1b[${up}A` : ""}\x1b[J`;
  }

  function hide() {
    screen.write(erased());
  }

  function draw() {
    const line = `${FRAMES[frame++ % FRAMES.length]} ${text} ${durationOf(now() - startedAt)}${
      detail && ` · ${detail}`
    }`;
    const fitting = cutToWidth(line, screen.columns() - 1);
    const before = erased();
    shownWidth = widthOf(fitting);
    screen.write(before + paint(screen, "grey", fitting));
  }

  function resume() {
    if (!screen.redraws || timer !== undefined) return;
    timer = setInterval(draw, FRAME_MS);
    process.on("exit", hide); // a signal may end the program at any frame
  }

  return {
    hide,
    resume,
    start(what) {
      text = what;
      detail = "";
      startedAt = now();
      resume();
    },
    progress(how) {
      detail = how;
    },
    stop() {
      const ran = timer !== undefined;
      clearInterval(timer);
      timer = undefined;
      process.off("exit", hide);
      hide();
      return ran;
    },
  };
}

/** `4 s`, `1 min 05 s`. */
export function durationOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}
