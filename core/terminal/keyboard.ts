/** The user's keys, one by one. The terminal is given back as it was found, however the program ends. */

import process from "node:process";
import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import type { ReadStream } from "node:tty";
import { createKeyDecoder, type Key, QUIET_MS } from "./keys.ts";
import type { Screen } from "./screen.ts";

/** A key, or `closed`: no key will ever come again. `redraw` also comes when the window changed. */
export type Signal = Key | { name: "closed" };

export interface Keyboard {
  /** From now on this reader gets every key, until it is released; then the one before it. */
  listen(reader: (key: Signal) => void): () => void;
  /** Hands the terminal to the shell until the program goes on, which a `redraw` tells. */
  suspend(): void;
  /** Gives the terminal back. A second call does nothing. */
  close(): void;
}

/**
 * Deno tells an error that nobody caught by these and not by `exit`, Bun the other way round. (`uncaughtExceptionMonitor`,
 * which both tell, makes Bun go on after the error.)
 */
const FATAL = ["error", "unhandledrejection"];

const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";
const CURSOR_ON = "\x1b[?25h";

/** Takes the terminal, which must be one: no echo, no line editing, Ctrl-C is a key, pastes are marked. */
export function openKeyboard(stdin: ReadStream, screen: Screen): Keyboard {
  const readers: ((key: Signal) => void)[] = [];
  const decoder = createKeyDecoder();
  let quiet: ReturnType<typeof setTimeout> | undefined;
  let burst = 0;
  let taken = false;

  function take() {
    if (taken) return;
    taken = true;
    stdin.setRawMode(true);
    screen.write(PASTE_ON);
  }

  function giveBack() {
    if (!taken) return;
    taken = false;
    screen.write(PASTE_OFF + CURSOR_ON);
    try {
      stdin.setRawMode(false);
    } catch {
      // The terminal is gone, and its modes with it.
    }
  }

  function deliver(keys: Signal[]) {
    for (const key of keys) readers.at(-1)?.(key);
  }

  function onData(bytes: Uint8Array) {
    clearTimeout(quiet);
    const mine = ++burst;
    deliver(decoder.push(bytes));
    // After a busy time the timer is early: bytes that wait to be read come first.
    const ifQuiet = () => mine === burst && deliver(decoder.rest());
    quiet = setTimeout(() => setImmediate(ifQuiet), QUIET_MS);
  }

  const onClosed = () => deliver([{ name: "closed" }]);
  const onResize = () => deliver([{ name: "redraw" }]);
  const onInterrupt = () => deliver([{ name: "interrupt" }]);
  const onTerminate = () => process.exit(128 + 15);
  const onHangUp = () => process.exit(128 + 1);
  const onContinue = () => {
    giveBack(); // a shell has set the modes that it likes, and the runtime, which does not know, would find it raw already
    take();
    onResize();
  };

  const listeners: [string, () => void][] = [
    ["SIGWINCH", onResize],
    ["SIGINT", onInterrupt],
    ["SIGTERM", onTerminate],
    ["SIGHUP", onHangUp],
    ["SIGCONT", onContinue],
    ["exit", giveBack],
  ];
  for (const [event, listener] of listeners) process.on(event, listener);
  for (const event of FATAL) globalThis.addEventListener(event, giveBack);
  stdin.on("data", onData).on("end", onClosed).on("error", onClosed);
  take();
  stdin.resume();

  return {
    listen(reader) {
      readers.push(reader);
      return () => {
        const index = readers.lastIndexOf(reader);
        if (index >= 0) readers.splice(index, 1);
      };
    },
    suspend() {
      giveBack();
      try {
        process.kill(process.pid, "SIGTSTP");
      } catch {
        // Deno allows it with --allow-run only: then nothing stops, and the next line takes the terminal again.
      }
      setTimeout(onContinue, 20); // runs when the program goes on; at once where no shell could bring it back
    },
    close() {
      clearTimeout(quiet);
      stdin.off("data", onData).off("end", onClosed).off("error", onClosed);
      stdin.pause();
      for (const [event, listener] of listeners) process.off(event, listener);
      for (const event of FATAL) globalThis.removeEventListener(event, giveBack);
      giveBack();
    },
  };
}
