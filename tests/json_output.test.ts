import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Event } from "../core/agent.ts";
import { collectTurn, isDone, jsonLine, streamObject } from "../core/json_output.ts";

const NONE = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
const call = { type: "tool_use" as const, id: "toolu_1", name: "read_file", input: { path: "a" } };
const result = { type: "tool_result" as const, tool_use_id: "toolu_1", content: "one", is_error: true };

const text = (text: string): Event => ({ type: "text", text });
const used = (tokens = 1): Event => ({
  type: "usage",
  usage: { ...NONE, input_tokens: tokens, cache_read_input_tokens: 2 * tokens },
  model: "the-model",
});
const end = (stop_reason = "end_turn", steps = 1): Event => ({ type: "end", stop_reason, steps });
const called: Event[] = [{ type: "tool_use", call }, { type: "tool_result", result }];

function collect(...events: Event[]) {
  const collected = collectTurn("asked-for", "kernel");
  for (const event of events) collected.take(event);
  return collected.result;
}

describe("the result of a turn is", () => {
  const cases: [what: string, events: Event[], result: string][] = [
    ["the joined text of its reply", [text("one "), text("two"), used(), end()], "one two"],
    ["the text of its last reply alone", [text("look"), used(), ...called, text("done"), used(), end()], "done"],
    ["nothing, when the last reply has no text", [text("look"), used(), ...called, used(), end()], ""],
    ["not the text of a reply that broke off", [
      text("lo"),
      { type: "discard", reason: "r" },
      text("look"),
      used(),
      end(),
    ], "look"],
    ["the text after a pause", [text("searching"), used(), text("found"), used(), end()], "found"],
    ["what was seen before an interrupt", [text("on"), end("interrupted")], "on"],
  ];
  for (const [what, events, words] of cases) test(what, () => expect(collect(...events).result).toBe(words));
});

test("a turn adds up its tokens and names the model that answered", () => {
  expect(collect(text("a"), used(5), ...called, text("b"), used(7), end("end_turn", 2))).toEqual({
    type: "result",
    result: "b",
    stop_reason: "end_turn",
    is_error: false,
    steps: 2,
    usage: { ...NONE, input_tokens: 12, cache_read_input_tokens: 24 },
    cost_usd: null,
    session_id: null,
    model: "the-model",
    fence: "kernel",
  });
});

test("a turn that never came to its end is an API error, with the steps it took", () => {
  expect(collect(text("a"), used(), ...called)).toMatchObject({ stop_reason: "api_error", is_error: true, steps: 1 });
  expect(collect()).toMatchObject({ result: "", model: "asked-for", steps: 0 });
});

describe("isDone", () => {
  const cases: [stopReason: string, done: boolean][] = [
    ["end_turn", true],
    ["stop_sequence", true],
    ...["max_tokens", "max_steps", "refusal", "interrupted", "pause_turn", "api_error", "a_reason_to_come", ""]
      .map((reason): [string, boolean] => [reason, false]),
  ];
  for (const [stopReason, done] of cases) {
    test(`is ${done} for "${stopReason}", and the result agrees`, () => {
      expect(isDone(stopReason)).toBe(done);
      expect(collect(text("a"), used(), end(stopReason)).is_error).toBe(!done);
    });
  }
});

test.each(["", " \n\t", "\u00a0\u2028"])(
  "a turn whose answer is %j is an error, with the stop reason as it came",
  (blank) => {
    expect(collect(text(blank), used(), end())).toMatchObject({
      result: blank,
      stop_reason: "end_turn",
      is_error: true,
    });
    expect(collect(text("look"), used(), ...called, text(blank), used(), end()).is_error).toBe(true);
  },
);

describe("streamObject makes", () => {
  const retry: Event = { type: "retry", reason: "busy", wait_ms: 5 };
  const warning: Event = { type: "warning", text: "w" };
  const cases: [what: string, event: Event, object: unknown][] = [
    ["a text of a text", text("a"), { type: "text", text: "a" }],
    ["usage of usage", used(), used()],
    ["a retry of a retry", retry, retry],
    ["a warning of a warning", warning, warning],
    ["a warning of text that does not count", { type: "discard", reason: "it broke off" }, {
      type: "warning",
      text: "the text of this reply does not count: it broke off",
    }],
    ["a block of a call", { type: "tool_use", call }, call],
    ["a block of a result", { type: "tool_result", result }, result],
    ["nothing of progress", { type: "progress", tool_use_id: "toolu_1", text: "p" }, undefined],
    ["nothing of the end, which is the result's", end(), undefined],
  ];
  for (const [what, event, object] of cases) test(what, () => expect(streamObject(event)).toEqual(object as never));
});

test("jsonLine is one line that reads back as the same value", () => {
  fc.assert(fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
    const line = jsonLine({ value });
    expect(line.indexOf("\n")).toBe(line.length - 1);
    expect(line.isWellFormed()).toBe(true);
    expect(JSON.stringify(JSON.parse(line))).toBe(JSON.stringify({ value }));
  }));
  expect(jsonLine("a\ud800\n")).toBe('"a\\ud800\\n"\n');
});
