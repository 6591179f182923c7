/** The chat: read a line, let the model have its turn, until the user leaves. */

import type { ReadStream } from "node:tty";
import type { Event } from "../agent.ts";
import { type Asker, type Choice, createAsker } from "./ask.ts";
import { type Keyboard, openKeyboard } from "./keyboard.ts";
import { openLineHistory } from "./line_history.ts";
import { paint, type Screen } from "./screen.ts";
import { terminalView, textOf } from "./terminal.ts";
import { oneLine, visible } from "../text.ts";
import { cutToWidth } from "./width.ts";

/** What a turn gets beside the user's words. */
export interface TurnIo {
  /** Aborted by Esc or Ctrl-C. */
  signal: AbortSignal;
  /** Ask about something that this turn wants to do, as `Asker` promises; Esc and Ctrl-C stop the turn as well. */
  askKey(question: string, choices: readonly Choice[], above?: string): Promise<string | undefined>;
  askLine(question: string): Promise<string | undefined>;
}

/** A slash command: what `/help` says of it, and what it does with the words behind its name. */
export interface Command {
  help: string;
  /** The text is shown; it may have several lines. */
  run(words: string): string | Promise<string>;
}

/** The agent's side of a chat. */
export interface Chat {
  header: {
    model: string;
    folder: string;
    fence: string;
    /** What nothing holds, and what may leave this machine, by what the user granted: a line each. */
    notices?: readonly string[];
  };
  /** One turn. However it ends, the next one must be possible. */
  turn(text: string, io: TurnIo): AsyncIterable<Event>;
  /** Forgets the conversation, what was read and what was granted. */
  reset(): void | Promise<void>;
  /** The registry, for `/tools`. */
  tools(): string;
  /** Further commands by their names, without the slash. */
  commands?: Record<string, Command>;
  /** Where the lines typed are kept. */
  historyFile?: string;
  /** An error that ended a turn, in one line for the user. */
  wordsFor(error: unknown): string;
}

export interface ChatIo {
  /** A terminal. */
  stdin: ReadStream;
  /** The same terminal. */
  screen: Screen;
}

/** How long a turn may take to stop before a further Ctrl-C leaves the chat. */
const STOPPING_MS = 1000;

/** Runs the chat until the user leaves it, and gives the terminal back. Errors of a turn are shown, not thrown. */
export async function runChat(chat: Chat, { stdin, screen }: ChatIo): Promise<void> {
  const keyboard = openKeyboard(stdin, screen);
  try {
    const asker = createAsker(keyboard, screen);
    keyboard.listen(asker.keep);
    const history = openLineHistory(chat.historyFile);
    let left = false;
    let lastResult: string | undefined;
    const commands = commandsOf(chat, { leave: () => left = true, lastResult: () => lastResult });
    showHeader(chat, screen);
    while (!left) {
      const line = await asker.readLine(history.lines);
      if (line === undefined) break;
      history.add(line);
      const command = /^\/([^\s/]*)(?:\s+([\s\S]*))?$/.exec(line);
      if (command) await runCommand(commands, command[1] ?? "", command[2] ?? "", screen);
      else if (line.trim() !== "") {
        left = await runTurn(chat, line, {
          keyboard,
          asker,
          screen,
          note: (result) => lastResult = result,
        });
      }
    }
  } finally {
    keyboard.close();
  }
}

function showHeader({ header: { model, folder, fence, notices = [] } }: Chat, screen: Screen) {
  const about = `tenon · ${oneLine(model)} · ${oneLine(folder)} · fence: ${oneLine(fence)}`;
  const keys = "/help /tools /reset /exit · Esc stops a turn";
  screen.write(`${paint(screen, "bold", cutToWidth(about, screen.columns()))}\n`);
  // Never cut: the end of a line may name the host.
  for (const notice of notices) screen.write(`${paint(screen, "yellow", visible(notice))}\n`);
  screen.write(`${paint(screen, "grey", cutToWidth(keys, screen.columns()))}\n`);
}

function commandsOf(
  chat: Chat,
  { leave, lastResult }: { leave(): void; lastResult(): string | undefined },
): Map<string, Command> {
  const commands = new Map<string, Command>();
  const exit = () => {
    leave();
    return "";
  };
  commands.set("help", {
    help: "this list",
    run: () =>
      [
        ...Array.from(commands, ([name, { help }]) => `  ${`/${name}`.padEnd(widthOfNames(commands))}  ${help}`),
        "  A line that ends in \\ goes on in the next one. Esc or Ctrl-C stops a turn.",
        "  Ctrl-D leaves, and so does Ctrl-C on an empty line.",
      ].join("\n"),
  });
  commands.set("tools", { help: "the tools that the model has", run: () => chat.tools() });
  commands.set("show", {
    help: "the last result of a tool, all of it",
    run: () => lastResult() ?? "No tool has been called yet",
  });
  commands.set("reset", {
    help: "forget this conversation, what was read and what was granted",
    async run() {
      await chat.reset();
      return "Forgotten: this conversation, what was read and what was granted";
    },
  });
  for (const [name, command] of Object.entries(chat.commands ?? {})) commands.set(name, command);
  commands.set("exit", { help: "leave (also /quit)", run: exit });
  return commands;
}

/** With the slash. */
function widthOfNames(commands: ReadonlyMap<string, Command>): number {
  return 1 + Math.max(...Array.from(commands.keys(), (name) => name.length));
}

async function runCommand(commands: Map<string, Command>, name: string, words: string, screen: Screen) {
  const command = commands.get(name === "quit" ? "exit" : name);
  const text = command
    ? await command.run(words.trim())
    : `No command is named "/${oneLine(name)}". See /help; a space before it makes it a question`;
  if (text !== "") screen.write(`${visible(text)}\n`);
}

/** One turn on the screen. Tells whether the user left instead of waiting for a turn that does not stop. */
async function runTurn(
  chat: Chat,
  line: string,
  { keyboard, asker, screen, note }: {
    keyboard: Keyboard;
    asker: Asker;
    screen: Screen;
    /** Gets each result, as text. */
    note(result: string): void;
  },
): Promise<boolean> {
  const stop = new AbortController();
  const view = terminalView({ stdout: screen, stderr: screen });
  let stoppedAt = 0;
  let leave = () => {};
  const left = new Promise<boolean>((resolve) => leave = () => resolve(true));

  function interrupt() {
    if (stop.signal.aborted && Date.now() - stoppedAt > STOPPING_MS) leave();
    if (!stop.signal.aborted) stoppedAt = Date.now();
    stop.abort();
  }

  const release = keyboard.listen((key) => {
    if (key.name === "interrupt" || key.name === "escape") interrupt();
    else if (key.name === "closed") {
      stop.abort();
      leave();
    } else asker.keep(key);
  });

  /** A question that gets no answer stops the turn. */
  async function answered(answer: Promise<string | undefined>): Promise<string | undefined> {
    const given = await answer;
    if (given === undefined) interrupt();
    return given;
  }

  const options = { signal: stop.signal, pause: view.pause };
  async function showTurn(): Promise<boolean> {
    const events = chat.turn(line, {
      signal: stop.signal,
      askKey: (question, choices, above = "") => answered(asker.askKey(question, choices, { ...options, above })),
      askLine: (question) => answered(asker.askLine(question, options)),
    });
    for await (const event of events) {
      if (event.type === "tool_result") note(textOf(event.result));
      view.show(event);
    }
    return false;
  }

  try {
    return await Promise.race([showTurn(), left]);
  } catch (error) {
    view.show({ type: "warning", text: chat.wordsFor(error) });
    return false;
  } finally {
    release();
    view.end();
  }
}
