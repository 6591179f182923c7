/** One turn for the command line: from a prompt to its output and its exit code. */

import { type Agent, type Event, runTurn } from "./agent.ts";
import { appendText } from "./history.ts";
import { collectTurn, isDone, jsonLine, streamObject } from "./json_output.ts";
import type { Message } from "./message.ts";
import { isApiError } from "./model/api_error.ts";
import type { OutputFormat } from "./options.ts";
import type { Screen } from "./terminal/screen.ts";
import { terminalView, type View } from "./terminal/terminal.ts";

/** Done; stopped early; could not start; interrupted. */
export const EXIT = { done: 0, stopped: 1, unusable: 2, interrupted: 130 } as const;

export interface TurnOptions {
  agent: Agent;
  prompt: string;
  format: OutputFormat;
  model: string;
  /** The fence's level. */
  fence: string;
  stdout: Screen;
  stderr: Screen;
  /** What was said on stderr before the turn, for whoever reads only the objects. */
  warnings?: readonly string[];
  /** Called with the view before the turn begins: whoever asks the user has to keep it still meanwhile. */
  prepare?: (view: View) => void;
}

/** Runs the turn and writes what comes of it. Throws only bugs: an API that says no is an ending like others. */
export async function printTurn(options: TurnOptions): Promise<number> {
  const { agent, format, stdout, stderr } = options;
  const messages: Message[] = [];
  appendText(messages, options.prompt);
  const collected = collectTurn(options.model, options.fence);
  const show = format === "text" ? undefined : (value: unknown) => stdout.write(jsonLine(value));
  const view = terminalView({ stdout: format === "text" ? stdout : nowhere(stderr), stderr });
  options.prepare?.(view);
  if (format === "stream-json") {
    const tools = agent.registry.definitions.map((tool) => tool.name);
    show?.({ type: "init", model: options.model, fence: options.fence, tools });
    for (const text of options.warnings ?? []) show?.({ type: "warning", text });
  }
  function take(event: Event): void {
    collected.take(event);
    view.show(event);
    const object = format === "stream-json" ? streamObject(event) : undefined;
    if (object) show?.(object);
  }
  let failure: string | undefined;
  try {
    for await (const event of runTurn(agent, messages)) take(event);
  } catch (error) {
    if (!isApiError(error)) throw error;
    failure = error.message;
  } finally {
    view.end();
  }
  const { result } = collected;
  if (failure !== undefined) {
    Object.assign(result, { result: failure, stop_reason: "api_error", is_error: true });
    stderr.write(`tenon: ${failure}\n`);
  } else if (result.is_error && isDone(result.stop_reason)) {
    stderr.write("tenon: the model's answer is empty. Ask again, or in other words\n");
  }
  show?.(result);
  if (result.stop_reason === "interrupted") return EXIT.interrupted;
  return result.is_error ? EXIT.stopped : EXIT.done;
}

/** With JSON on stdout the answer's text is for the program that reads it, not for the screen. */
function nowhere(like: Screen): Screen {
  return { ...like, tty: false, colour: false, redraws: false, write: () => {} };
}
