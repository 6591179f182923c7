/** The loop: ask the model, run the calls it makes, answer every one of them, until it makes none. */

import { append } from "./history.ts";
import type { Message, Reply, ToolResultBlock, ToolUseBlock, Usage } from "./message.ts";
import type { Registry } from "./registry.ts";

/** What happens during a turn, in order. The last one is always `end`. */
export type Event =
  | { type: "text"; text: string }
  | { type: "discard"; reason: string } // the text of this step so far is void: the reply is asked for again
  | { type: "tool_use"; call: ToolUseBlock }
  | { type: "progress"; tool_use_id: string; text: string }
  | { type: "tool_result"; result: ToolResultBlock }
  | { type: "usage"; usage: Usage; model: string }
  | { type: "retry"; reason: string; wait_ms: number }
  | { type: "warning"; text: string }
  | { type: "end"; stop_reason: string; steps: number };

/**
 * Asks the model once. Yields the text as it comes and returns the whole reply; when the signal is aborted it returns
 * what the user has seen so far with `stop_reason: "interrupted"` and no calls. Throws only when the API says no for good.
 */
export type Ask = (messages: readonly Message[], signal: AbortSignal) => AsyncGenerator<Event, Reply>;

export interface Agent {
  ask: Ask;
  registry: Registry;
  /** Requests per turn, at most. */
  maxSteps: number;
  signal: AbortSignal;
}

/** The stop reasons after which a reply is whole, so that its calls may run. */
const WHOLE = new Set(["tool_use", "end_turn", "stop_sequence", "pause_turn"]);

/**
 * One turn, from a list that ends in a user message to the final answer. However it ends (also when the caller stops
 * listening, or `ask` throws), `messages` is a list that the API accepts: each call has its one result in the next message.
 */
export async function* runTurn(agent: Agent, messages: Message[]): AsyncGenerator<Event, string> {
  let stop = "max_steps";
  let step = 0;
  let wasCut = false;
  while (step < agent.maxSteps) {
    // 1. Ask the model.
    step++;
    const reply = yield* agent.ask(messages, agent.signal);
    // 2. Remember its answer as it came.
    const calls = append(messages, { role: "assistant", content: reply.content });
    // 3. Stop when it asks for no tool; a paused reply is sent back so that the model goes on.
    if (calls.length === 0 && reply.stop_reason !== "pause_turn") {
      stop = reply.stop_reason;
      break;
    }
    if (calls.length === 0) continue;
    const results = new Map<string, ToolResultBlock>();
    try {
      // 4. Run the calls; a reply that was cut short runs none.
      if (WHOLE.has(reply.stop_reason)) yield* agent.registry.runAll(calls, results, agent.signal);
    } finally {
      // 5. Answer every call, in its order, in one message.
      append(messages, { role: "user", content: calls.map((call) => results.get(call.id) ?? notRun(call, reply)) });
    }
    if (agent.signal.aborted) {
      stop = "interrupted";
      break;
    }
    const cut = reply.stop_reason === "max_tokens";
    if (!WHOLE.has(reply.stop_reason) && (!cut || wasCut)) {
      stop = reply.stop_reason;
      break;
    }
    wasCut = cut;
  }
  yield { type: "end", stop_reason: stop, steps: step };
  return stop;
}

function notRun(call: ToolUseBlock, reply: Reply): ToolResultBlock {
  const why = reply.stop_reason === "max_tokens"
    ? "the reply was cut, make a smaller call"
    : WHOLE.has(reply.stop_reason)
    ? "the turn was interrupted"
    : `the reply ended with ${reply.stop_reason}`;
  return { type: "tool_result", tool_use_id: call.id, content: `Not run: ${why}`, is_error: true };
}
