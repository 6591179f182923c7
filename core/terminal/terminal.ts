/** How the events of a turn look on a terminal, or in a file that stands in for one. */

import type { Event } from "../agent.ts";
import type { ToolResultBlock, ToolUseBlock, Usage } from "../message.ts";
import { paint, type Screen, type Style } from "./screen.ts";
import { createSpinner, durationOf } from "./spinner.ts";
import { createCleaner, oneLine } from "../text.ts";
import { cutToWidth } from "./width.ts";

export interface View {
  show(event: Event): void;
  /** Keeps the screen still for a question. What happens in the meantime is shown when the answer calls the function. */
  pause(): () => void;
  /**
   * Ends the turn's output: on a stdout that is no terminal the answer is written here. Must be called however the turn
   * ends, or the spinner goes on. A second call does nothing.
   */
  end(): void;
}

export interface ViewOptions {
  /** Gets the answer and nothing else. */
  stdout: Screen;
  /** Gets calls, results, notes and the text that was not the answer. May be the same screen. */
  stderr: Screen;
  now?: () => number;
}

/**
 * Shows one turn. On a terminal the text streams; else stdout gets the text of the last reply, whole, at the end, and
 * earlier text goes to stderr. Nothing that a model, a file or a tool wrote reaches either unless `visible`.
 */
export function terminalView({ stdout, stderr, now = Date.now }: ViewOptions): View {
  const startedAt = now();
  const spinner = createSpinner(stderr, now);
  const running = new Map<string, ToolUseBlock>();
  let clean = createCleaner();
  let lineIsOpen = false; // text on stdout whose line goes on
  let replyIsSeen = false; // some of the reply's text is on the terminal
  let held = ""; // the reply's text so far, where stdout is no terminal
  let replyIsOver = false;
  let lastCall = "";
  let ended = false;
  let missed: Event[] | undefined; // while the screen is kept still
  const used: Usage = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

  function note(style: Style, text: string) {
    closeLine();
    spinner.hide();
    stderr.write(`${paint(stderr, style, text)}\n`);
  }

  function closeLine() {
    showText(clean.end());
    if (lineIsOpen) stdout.write("\n");
    lineIsOpen = false;
  }

  function showText(text: string) {
    if (text === "") return;
    if (!stdout.tty) {
      held += text;
      return;
    }
    spinner.stop(); // a line that is being written has no room for it
    stdout.write(text);
    replyIsSeen = true;
    lineIsOpen = !text.endsWith("\n");
  }

  /** Another reply begins, so the text so far was not the answer. */
  function turnPage() {
    closeLine();
    spinner.hide();
    if (held.trim() !== "") stderr.write(held.endsWith("\n") ? held : `${held}\n`);
    held = "";
    replyIsSeen = false;
    replyIsOver = false;
  }

  function showCall(call: ToolUseBlock) {
    turnPage();
    running.set(call.id, call);
    lastCall = call.id;
    note("cyan", cutToWidth(`⏺ ${labelOf(call)}`, widthFor(stderr)));
    spinner.start(running.size === 1 ? oneLine(call.name, 64) : `${running.size} tools`);
  }

  function showResult(result: ToolResultBlock) {
    const call = running.get(result.tool_use_id);
    running.delete(result.tool_use_id);
    // Of calls that ran together each result names its own.
    const name = call && call.id !== lastCall ? `${cutToWidth(labelOf(call), widthFor(stderr) / 2)}: ` : "";
    if (result.is_error) note("red", `  ${name}${problemOf(result)}`);
    else note("grey", cutToWidth(`  ${name}${summaryOf(result)}`, widthFor(stderr)));
    if (call?.id !== lastCall) lastCall = "";
    if (running.size === 0) spinner.start("thinking");
  }

  function show(event: Event) {
    if (missed) {
      missed.push(event);
      return;
    }
    switch (event.type) {
      case "text":
        if (replyIsOver) turnPage();
        showText(clean.push(event.text));
        break;
      case "discard":
        clean = createCleaner();
        if (replyIsSeen) note("yellow", `The text above does not count: ${oneLine(event.reason)}`);
        held = "";
        replyIsSeen = false;
        spinner.start("thinking");
        break;
      case "tool_use":
        showCall(event.call);
        break;
      case "progress":
        spinner.progress(oneLine(event.text));
        break;
      case "tool_result":
        showResult(event.result);
        break;
      case "usage":
        replyIsOver = true;
        for (const key of Object.keys(used) as (keyof Usage)[]) used[key] += event.usage[key];
        break;
      case "retry":
        note("yellow", `Trying again ${waitOf(event.wait_ms)}: ${oneLine(event.reason)}`);
        break;
      case "warning":
        note("yellow", oneLine(event.text, 500));
        break;
      case "end": {
        const stopped = wordsForStop(event.stop_reason, event.steps);
        if (stopped) note("yellow", stopped);
        else if (stderr.tty) note("grey", closingNote(used, event.steps, now() - startedAt));
      }
    }
  }

  spinner.start("thinking");

  return {
    show,
    pause() {
      closeLine();
      const spun = spinner.stop();
      missed ??= [];
      return () => {
        const events = missed ?? [];
        missed = undefined;
        if (spun) spinner.resume();
        for (const event of events) show(event);
      };
    },
    end() {
      if (ended) return;
      ended = true;
      closeLine();
      spinner.stop();
      if (held !== "") stdout.write(held.endsWith("\n") ? held : `${held}\n`);
    },
  };
}

/** A wait of less than ten seconds in tenths, so that a short one is not none. */
function waitOf(ms: number): string {
  const tenths = Math.round(ms / 100);
  return tenths === 0 ? "now" : `in ${tenths < 100 ? `${tenths / 10} s` : durationOf(ms)}`;
}

/** Why a turn ended before its answer was whole, for the user; nothing where it was. */
function wordsForStop(stopReason: string, steps: number): string | undefined {
  switch (stopReason) {
    case "end_turn":
    case "stop_sequence":
      return undefined;
    case "interrupted":
      return "Stopped: interrupted";
    case "max_steps":
      return `Stopped after ${steps} ${
        steps === 1 ? "step" : "steps"
      }, the limit of one turn. Raise it with --max-steps`;
    case "max_tokens":
      return "Stopped: the reply was cut at its token limit. Raise it with --max-tokens, or ask for less at once";
    case "refusal":
      return "Stopped: the model refused to answer";
    case "model_context_window_exceeded":
      return "Stopped: the conversation is longer than the model can take. Start a new one";
    default:
      return `Stopped: ${oneLine(stopReason)}`;
  }
}

function labelOf({ name, input }: ToolUseBlock): string {
  return `${oneLine(name, 64)} ${oneLine(JSON.stringify(input ?? {}), 500)}`;
}

/** A result as text. Images are named by their type. */
export function textOf({ content }: ToolResultBlock): string {
  if (typeof content === "string") return content;
  return content.map((block) => block.type === "text" ? block.text : `(${block.source.media_type})`).join("\n");
}

/** The line number that `read_file` puts before a line. */
const GUTTER = /^ +\d+\t/;

/**
 * A line says itself, and so does one that is followed by numbered lines only: what an edit made of them. What a tool says in brackets
 * of all that it shows is worth more than a count: the exit code, what was left out.
 */
function summaryOf(result: ToolResultBlock): string {
  const [first = "", ...more] = textOf(result).trimEnd().split("\n");
  if (more.length === 0) return oneLine(first.replace(GUTTER, ""));
  if (!GUTTER.test(first) && more.every((line) => GUTTER.test(line))) return oneLine(first);
  const said = /^\[(.+)\]$/.exec(more.at(-1) ?? "")?.[1];
  return said === undefined ? countOf(more.length + 1) : `${countOf(more.length)} · ${oneLine(said)}`;
}

/** The first line says why; behind it comes what a command said until then, which `/show` has. */
function problemOf(result: ToolResultBlock): string {
  const [first = "", ...more] = textOf(result).trimEnd().split("\n");
  return `${oneLine(first, 500)}${more.length > 0 ? ` (and ${countOf(more.length)} more)` : ""}`;
}

function countOf(lines: number): string {
  return `${lines} ${lines === 1 ? "line" : "lines"}`;
}

function closingNote(used: Usage, steps: number, ms: number): string {
  const read = used.input_tokens + used.cache_creation_input_tokens + used.cache_read_input_tokens;
  const tokens = read > 0
    ? ` · ${read} tokens in, ${used.cache_read_input_tokens} of them cached, ${used.output_tokens} out`
    : "";
  return `${steps} ${steps === 1 ? "step" : "steps"} · ${durationOf(ms)}${tokens}`;
}

/** A line in a file is not cut to a window. */
function widthFor(screen: Screen): number {
  return screen.tty ? screen.columns() : 200;
}
