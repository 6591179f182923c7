/** Ask the user at the terminal: for a line, or for one of a few keys. */

import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import type { Keyboard, Signal } from "./keyboard.ts";
import { type Line, newLine, pressKey } from "./line_editor.ts";
import { createLineView } from "./line_view.ts";
import { paint, type Screen } from "./screen.ts";
import { listed, visible } from "../text.ts";

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
   * Waits for one of the keys; `undefined` is no answer: Esc, Ctrl-C, Ctrl-D, the signal. Questions wait for one another. Ctrl-Z goes
   * to the shell, for a look at what it is about; the question is put again when it comes back.
   * A key counts only after a pause of `PAUSE_MS` in which the question could be read, and only when no other follows in
   * `ALONE_MS`: neither typing nor a paste answers, also where the terminal does not mark pastes. Whoever was typing when the
   * question came up goes on with the next line. All else that is typed at it is dropped, with a bell.
   */
  askKey(question: string, choices: readonly Choice[], options?: QuestionOptions): Promise<string | undefined>;
  /** As `askKey`, but the answer is a line that Enter ends. It may be empty, which an Enter out of habit does not make it. */
  askLine(question: string, options?: QuestionOptions): Promise<string | undefined>;
  /** Keeps a key that nobody waits for; it will be in the next line. */
  keep(key: Signal): void;
}

/** Shorter than this no one reads a question. */
export const PAUSE_MS = 400;

/** Keys of a person come further apart than this; those of a paste do not. */
export const ALONE_MS = 30;

/** After so many keys that are dropped the question names those that do. */
const MISSES = 2;

const PROMPT = "› ";

/** The keys that take every question back. */
const NO_ANSWER: ReadonlySet<string> = new Set(["escape", "interrupt", "end_of_input", "closed"]);

const BELL = "\x07";

export interface Clock {
  /** Milliseconds. */
  now(): number;
  /** Calls it after so many milliseconds, and after all that the terminal sent until then; what is returned takes it back. */
  after(ms: number, act: () => void): () => void;
}

const CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, act) {
    let canceled = false;
    // After a busy time the timer is early: keys that wait to be read come first.
    const timer = setTimeout(() => setImmediate(() => canceled || act()), ms);
    return () => {
      canceled = true;
      clearTimeout(timer);
    };
  },
};

export function createAsker(keyboard: Keyboard, screen: Screen, { now, after }: Clock = CLOCK): Asker {
  let ahead = newLine([]);
  let keptAt = -Infinity;
  let last: Promise<unknown> = Promise.resolve();

  function keep(key: Signal) {
    if (key.name === "closed" || key.name === "interrupt") return;
    // Out of the habit to end an answer by it.
    if (key.name === "enter" && ahead.text === "") return;
    keptAt = now();
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

  /**
   * Tells each key at a question from the others: `ahead`, the user was typing before it and has not paused since; `early`, too
   * soon to have read it, or right behind another key; `meant`, after a pause.
   */
  function createListening(): () => "ahead" | "early" | "meant" {
    let isTyping = now() - keptAt < PAUSE_MS;
    let quietSince = Infinity;
    // What was sent before the question was shown may not have been read yet.
    after(0, () => quietSince = now());
    return () => {
      isTyping = quietSince === Infinity || isTyping && now() - quietSince < PAUSE_MS;
      const isMeant = now() - quietSince >= PAUSE_MS;
      if (quietSince !== Infinity) quietSince = now();
      return isTyping ? "ahead" : isMeant ? "meant" : "early";
    };
  }

  /** Edits a line on the screen; keys that are not for it are kept or dropped, and one that gives up ends it without an answer. */
  async function editLine(
    start: Line,
    purposeOf: (key: Signal, text: string) => "edit" | "keep" | "drop" | "give_up",
    signal?: AbortSignal,
  ) {
    const view = createLineView(screen, PROMPT);
    let line = start;
    view.draw(line);
    const answer = await wait<string>(signal, (key, settle) => {
      const purpose = purposeOf(key, line.text);
      if (key.name === "closed" || purpose === "give_up") return settle(undefined);
      if (purpose === "keep") return keep(key);
      if (purpose === "drop") return;
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
        const keys = choices.map(({ key, label }) => `[${key}] ${label}`).join("  ");
        const put = () => screen.write(`${paint(screen, "yellow", visible(question))} ${keys} `);
        put();
        let listening = createListening();
        let isAway = false;
        let misses = 0;
        let isHinted = false;
        let rungAt = -Infinity;
        let takeBack = () => {};
        const answer = await wait<Choice>(options.signal, (key, settle) => {
          if (NO_ANSWER.has(key.name)) return settle(undefined);
          if (key.name === "redraw" && !isAway) return;
          takeBack();
          if (key.name === "suspend") {
            isAway = true;
            screen.write("\n");
            return keyboard.suspend();
          }
          if (key.name === "redraw") {
            isAway = false;
            put(); // a shell has written below it
            return void (listening = createListening());
          }
          const heard = listening();
          if (heard === "ahead") return keep(key);
          const choice = key.name === "text" ? choices.find((one) => one.key === key.text.toLowerCase()) : undefined;
          misses++; // also a key that the next one takes back
          if (choice && heard === "meant") return void (takeBack = after(ALONE_MS, () => settle(choice)));
          // One bell for all of a paste.
          if (now() - rungAt >= PAUSE_MS) screen.write(BELL);
          rungAt = now();
          if (misses < MISSES || isHinted) return;
          isHinted = true;
          screen.write(`\n${paint(screen, "grey", `Press one key: ${listed(choices.map(({ key }) => key), "or")}.`)} `);
        });
        takeBack();
        screen.write(`${answer ? answer.label : "no answer"}\n`);
        return answer?.key;
      }),
    askLine: (question, options = {}) =>
      inTurn(options, async () => {
        screen.write(`${paint(screen, "yellow", visible(question))}\n`);
        const listening = createListening();
        return await editLine(newLine([]), (key, text) => {
          if (key.name === "escape" || key.name === "interrupt") return "give_up";
          const heard = listening();
          if (heard === "ahead") return "keep";
          return heard === "early" && key.name === "enter" && text === "" ? "drop" : "edit";
        }, options.signal);
      }),
  };
}
