/** A turn as JSON: one object at its end (`json`), or one per line as it goes (`stream-json`). */

import type { Event } from "./agent.ts";
import type { Usage } from "./message.ts";

/** What a script gets to know of a turn. */
export interface TurnResult {
  type: "result";
  /** The text of the last reply; with `stop_reason: "api_error"` the reason. */
  result: string;
  stop_reason: string;
  /** Also when the text is empty or white space: that answers nothing, whatever `stop_reason` says. */
  is_error: boolean;
  steps: number;
  /** Tokens of all requests of the turn. */
  usage: Usage;
  /** US dollars; `null` where the price is not known. */
  cost_usd: number | null;
  /** `null`: nothing is kept. */
  session_id: string | null;
  model: string;
  fence: string;
}

/** The stop reasons of a turn that came to its end by itself. */
export function isDone(stopReason: string): boolean {
  return stopReason === "end_turn" || stopReason === "stop_sequence";
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Gathers the result of a turn from its events. */
export function collectTurn(model: string, fence: string): { take(event: Event): void; result: TurnResult } {
  const result: TurnResult = {
    type: "result",
    result: "",
    stop_reason: "api_error",
    is_error: true,
    steps: 0,
    usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    cost_usd: null,
    session_id: null,
    model,
    fence,
  };
  let replyIsOver = false;
  return {
    result,
    take(event) {
      if (event.type === "text") {
        result.result = replyIsOver ? event.text : result.result + event.text;
        replyIsOver = false;
      } else if (event.type === "discard") {
        result.result = "";
      } else if (event.type === "tool_use") {
        replyIsOver = true;
      } else if (event.type === "usage") {
        if (replyIsOver) result.result = ""; // this reply brought no text: that of the one before is not its
        replyIsOver = true;
        result.steps++;
        result.model = event.model;
        for (const name of Object.keys(result.usage) as (keyof Usage)[]) result.usage[name] += event.usage[name];
      } else if (event.type === "end") {
        result.stop_reason = event.stop_reason;
        result.steps = event.steps;
        result.is_error = !isDone(event.stop_reason) || isBlank(result.result);
      }
    },
  };
}

/** One event as an object of `stream-json`, or nothing for what only a terminal shows. */
export function streamObject(event: Event): { [key: string]: unknown } | undefined {
  switch (event.type) {
    case "text":
    case "usage":
    case "retry":
    case "warning":
      return event;
    case "discard":
      return { type: "warning", text: `the text of this reply does not count: ${event.reason}` };
    case "tool_use":
      return event.call as unknown as { [key: string]: unknown };
    case "tool_result":
      return event.result as unknown as { [key: string]: unknown };
    case "progress":
    case "end":
      return undefined;
  }
}

/** One line. JSON escapes every newline and lone surrogate by itself. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
