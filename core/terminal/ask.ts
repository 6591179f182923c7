/** Ask the user at the terminal: for a line, or for one of a few keys. */

import type { Keyboard, Signal } from "./keyboard.ts";
import { type Line, newLine, pressKey } from "./line_editor.ts";
import { createLineView } from "./line_view.ts";
import { paint, type Screen } from "./screen.ts";
import { visible } from "../text.ts";

/** An answer of one key, a lower-case letter, and what it means. */
export interface Choice {
  key: string;
  label: string;
}

export interface QuestionOptions {
  /** What the question is about: lines above it, cleaned by the caller. */
  above?: string;
  /** Takes the question back. */
  signal?: AbortSignal;
  /** Called when the question's turn has come: keeps the screen still until the function it returns is called. */
  pause?: () => () => void;
}

export interface Asker {
  /**
   * Reads a line to act on, with what was typed ahead already in it. `undefined`: the user leaves (Ctrl-D, Ctrl-C on an
   * empty line), or no key will come any more.
   */
  readLine(history: readonly string[]): Promise<string | undefined>;
  /**
   * Waits for one of the keys; `undefined` is no answer: Esc, Ctrl-C, Ctrl-D, the signal. Questions wait for one another.
   * A key counts only after a pause of `PAUSE_MS` in which the question could be read: whoever is typing when it comes up
   * answers nothing by that. All other keys are kept for the next line.
   */
  askKey(question: string, choices: readonly Choice[], options?: QuestionOptions): Promise<string | undefined>;
  /** As `askKey`, but the answer is a line, begun after the pause and ended by Enter. It may be empty. */
  askLine(question: string, options?: QuestionOptions): Promise<string | undefined>;
  /** Keeps a key that nobody waits for; it will be in the next line. */
  keep(key: Signal): void;
}

/** Shorter than this no one reads a question. */
export const PAUSE_MS = 400;

/** After so many keys that do not count the question names those that do. */
const MISSES = 2;

const PROMPT = "› ";

/** The keys that take every question back. */
const NO_ANSWER: ReadonlySet<string> = new Set(["escape", "interrupt", "end_of_input", "closed"]);

export function createAsker(keyboard: Keyboard, screen: Screen, now: () => number = Date.now): Asker {
  let ahead = newLine([]);
  let last: Promise<unknown> = Promise.resolve();

  function keep(key: Signal) {
    if (key.name === "closed" || key.name === "interrupt") return;
    // Enter ends a line of what was typed ahead; only an Enter at the prompt sends it.
    ahead = pressKey(ahead, key.name === "enter" ? { name: "newline" } : key).line;
  }

  /** Reads keys until one of them settles the answer. */
  function wait<T>(
    signal: AbortSignal | undefined,
    onKey: (key: Signal, settle: (answer: T | undefined) => void) => void,
  ) {
    return new Promise<T | undefined>((resolve) => {
      const settle = (answer: T | undefined) => {
        release();
        signal?.removeEventListener("abort", onAbort);
        resolve(answer);
      };
      const onAbort = () => settle(undefined);
      const release = keyboard.listen((key) => onKey(key, settle));
      signal?.addEventListener("abort", onAbort);
      if (signal?.aborted) settle(undefined);
    });
  }

  /** One question at a time; one that was taken back before its turn is not shown. */
  function inTurn<T>({ signal, pause }: QuestionOptions, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    const answer = last.then(async () => {
      if (signal?.aborted) return undefined;
      const resume = pause?.();
      try {
        return await ask();
      } finally {
        resume?.();
      }
    });
    last = answer.catch(() => {});
    return answer;
  }

  /** Whether a key comes after a time in which the user could read. */
  function createPause(): () => boolean {
    let quietSince = now();
    return () => {
      const wasQuiet = now() - quietSince >= PAUSE_MS;
      quietSince = now();
      return wasQuiet;
    };
  }

  /** Edits a line on the screen; keys that are not for it are kept, and one that gives up ends it without an answer. */
  async function editLine(start: Line, purposeOf: (key: Signal) => "edit" | "keep" | "give_up", signal?: AbortSignal) {
    const view = createLineView(screen, PROMPT);
    let line = start;
    view.draw(line);
    const answer = await wait<string>(signal, (key, settle) => {
      const purpose = purposeOf(key);
      if (key.name === "closed" || purpose === "give_up") return settle(undefined);
      if (purpose === "keep") return keep(key);
      const pressed = pressKey(line, key);
      line = pressed.line;
      if (pressed.wish === "submit") return settle(line.text);
      if (pressed.wish === "leave") return settle(undefined);
      if (pressed.wish === "suspend") {
        view.finish(line);
        keyboard.suspend();
      } else view.draw(line);
    });
    view.finish(line);
    return answer;
  }

  return {
    keep,
    readLine(history) {
      const start = newLine(history, ahead.text.trimEnd());
      ahead = newLine([]);
      return editLine(start, () => "edit");
    },
    askKey: (question, choices, options = {}) =>
      inTurn(options, async () => {
        if (options.above) screen.write(`${options.above}\n`);
        const isMeant = createPause();
        let misses = 0;
        const keys = choices.map(({ key, label }) => `[${key}] ${label}`).join("  ");
        screen.write(`${paint(screen, "yellow", visible(question))} ${keys} `);
        const answer = await wait<Choice>(options.signal, (key, settle) => {
          if (NO_ANSWER.has(key.name)) return settle(undefined);
          const meant = isMeant();
          const choice = key.name === "text" ? choices.find((one) => one.key === key.text.toLowerCase()) : undefined;
          if (choice && meant) return settle(choice);
          if (key.name !== "redraw" && ++misses === MISSES) {
            screen.write(`\n${paint(screen, "grey", `Press ${listed(choices)}:`)} `);
          }
          keep(key);
        });
        screen.write(`${answer ? answer.label : "no answer"}\n`);
        return answer?.key;
      }),
    askLine: (question, options = {}) =>
      inTurn(options, async () => {
        screen.write(`${paint(screen, "yellow", visible(question))}\n`);
        const isMeant = createPause();
        let begun = false;
        return await editLine(newLine([]), (key) => {
          if (key.name === "escape" || key.name === "interrupt") return "give_up";
          begun = isMeant() || begun;
          return begun ? "edit" : "keep";
        }, options.signal);
      }),
  };
}

/** `y, n or w`. */
function listed(choices: readonly Choice[]): string {
  return choices.map(({ key }) => key).join(", ").replace(/, (?=[^,]*$)/, " or ");
}
