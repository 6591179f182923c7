import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Block, Reply } from "../core/message.ts";
import { NESTING_LIMIT } from "../core/nesting.ts";
import { finishReply, interruptedReply, newDraft, readEvent } from "../core/model/reply.ts";

type StreamEvent = { type: string; [field: string]: unknown };

const start = (index: number, content_block: unknown): StreamEvent => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, type: string, field: string, value: unknown): StreamEvent => ({
  type: "content_block_delta",
  index,
  delta: { type, [field]: value },
});
const text = (index: number, value: string) => delta(index, "text_delta", "text", value);
const json = (index: number, value: string) => delta(index, "input_json_delta", "partial_json", value);
const end = (stop_reason: unknown = "tool_use"): StreamEvent[] => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];
const BEGIN: StreamEvent = {
  type: "message_start",
  message: { id: "msg_1", model: "fake-model", content: [], usage: { input_tokens: 10, output_tokens: 1 } },
};

function read(events: readonly StreamEvent[]) {
  const draft = newDraft();
  const shown = events.map((event) => readEvent(draft, event)).join("");
  return { draft, shown };
}

function replyOf(...events: StreamEvent[]): Reply {
  return finishReply(read([BEGIN, ...events]).draft);
}

const call = (id: string, input: unknown = {}, name = "read_file") => ({ type: "tool_use", id, name, input });

describe("a reply", () => {
  const cases: [what: string, events: StreamEvent[], content: unknown[]][] = [
    [
      "keeps an empty text beside a call, for the list to drop (L01)",
      [start(0, { type: "text", text: "" }), start(1, call("toolu_1")), json(1, "{}"), ...end()],
      [{ type: "text", text: "" }, call("toolu_1")],
    ],
    [
      "keeps an unknown block and skips unknown events and deltas (L15)",
      [
        { type: "brand_new_event", x: 1 },
        { type: "ping" },
        start(0, { type: "future_block", data: "d" }),
        delta(0, "future_delta", "v", "q"),
        start(1, { type: "text", text: "" }),
        text(1, "hello"),
        delta(1, "future_delta", "text", "no"),
        ...end("future_reason"),
      ],
      [{ type: "future_block", data: "d" }, { type: "text", text: "hello" }],
    ],
    [
      "keeps as text an input that is no JSON (L23)",
      [
        start(0, call("toolu_1")),
        json(0, 'path":"a"}'),
        start(1, call("toolu_2")),
        json(1, '{"path":"a"}{"x":1}'),
        ...end(),
      ],
      [call("toolu_1", 'path":"a"}'), call("toolu_2", '{"path":"a"}{"x":1}')],
    ],
    [
      "cuts an input that is nested 100,000 deep",
      [start(0, call("toolu_1")), json(0, `{"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`), ...end()],
      [call("toolu_1", { x: JSON.parse(`${"[".repeat(NESTING_LIMIT)}${"]".repeat(NESTING_LIMIT)}`) })],
    ],
    [
      "keeps an input that came with its block, when none is streamed (L25)",
      [start(0, call("toolu_1", { path: "a.txt" })), ...end()],
      [call("toolu_1", { path: "a.txt" })],
    ],
    [
      "keeps such an input when only blanks are streamed",
      [start(0, call("toolu_1", { path: "a.txt" })), json(0, ""), json(0, " "), ...end()],
      [call("toolu_1", { path: "a.txt" })],
    ],
    [
      "keeps thinking to the letter, its joined signature, its order (L35)",
      [
        start(0, { type: "thinking", thinking: "", signature: "" }),
        delta(0, "thinking_delta", "thinking", "Let me "),
        delta(0, "thinking_delta", "thinking", "look. é\n "),
        delta(0, "signature_delta", "signature", "AbC"),
        delta(0, "signature_delta", "signature", "d+/=="),
        start(1, { type: "redacted_thinking", data: "RkFLRQ==" }),
        start(2, call("toolu_1", {}, "list_files")),
        json(2, "{}"),
        ...end(),
      ],
      [
        { type: "thinking", thinking: "Let me look. é\n ", signature: "AbCd+/==" },
        { type: "redacted_thinking", data: "RkFLRQ==" },
        call("toolu_1", {}, "list_files"),
      ],
    ],
    [
      "reads the inputs of calls whose deltas are mixed",
      [
        start(0, call("a")),
        start(1, call("b")),
        json(1, '{"y"'),
        json(0, '{"x":'),
        json(1, ":2}"),
        json(0, "1}"),
        ...end(),
      ],
      [call("a", { x: 1 }), call("b", { y: 2 })],
    ],
    [
      "keeps the fields of a block that it does not know",
      [start(0, { ...call("a"), caller: { type: "direct" } }), start(1, { type: "text", text: "t", citations: null })],
      [{ ...call("a"), caller: { type: "direct" } }, { type: "text", text: "t", citations: null }],
    ],
    [
      "reads a text that begins without its field",
      [start(0, { type: "text" }), text(0, "hi")],
      [{ type: "text", text: "hi" }],
    ],
    [
      "reads thinking that begins without its fields",
      [
        start(0, { type: "thinking" }),
        delta(0, "thinking_delta", "thinking", "t"),
        delta(0, "signature_delta", "signature", "s"),
      ],
      [{ type: "thinking", thinking: "t", signature: "s" }],
    ],
    [
      "reads a call that begins without its fields",
      [start(0, { type: "tool_use", input: null }), json(0, '{"a":1}')],
      [call("", { a: 1 }, "")],
    ],
    ["skips a delta without its block", [text(3, "lost"), json(4, "{}")], []],
    ["leaves no hole for an index that is left out", [start(5, { type: "text", text: "t" })], [{
      type: "text",
      text: "t",
    }]],
    ["skips a delta without a text", [start(0, { type: "text", text: "t" }), delta(0, "text_delta", "text", null)], [
      { type: "text", text: "t" },
    ]],
  ];
  for (const [what, events, content] of cases) {
    test(what, () => expect(replyOf(...events).content).toEqual(content as Block[]));
  }

  test("has the stop reason of the stream, or end_turn", () => {
    expect(replyOf(...end("max_tokens")).stop_reason).toBe("max_tokens");
    expect(replyOf(...end("future_reason")).stop_reason).toBe("future_reason");
    expect(replyOf(...end(null)).stop_reason).toBe("end_turn");
  });

  test("counts the tokens, and no field that is none of ours", () => {
    const usage = {
      output_tokens: 9,
      cache_read_input_tokens: 7,
      cache_creation_input_tokens: null,
      toString: 5,
      x: 1,
    };
    const reply = replyOf({ type: "message_delta", delta: {}, usage });
    expect(reply.usage).toEqual({
      input_tokens: 10,
      output_tokens: 9,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 7,
    });
  });

  test("is whole once message_stop has come", () => {
    expect(read([BEGIN, start(0, { type: "text", text: "" })]).draft.whole).toBe(false);
    expect(read([BEGIN, ...end()]).draft).toMatchObject({ whole: true, model: "fake-model" });
  });
});

describe("any cut of the deltas", () => {
  /** The text in pieces of any size: empty, or half a surrogate pair. */
  const cut = (text: fc.Arbitrary<string>) =>
    fc.tuple(text, fc.array(fc.nat(40))).map(([whole, cuts]) => {
      const borders = [0, ...cuts.map((at) => Math.min(at, whole.length)).toSorted((a, b) => a - b), whole.length];
      return { whole, pieces: borders.slice(1).map((to, index) => whole.slice(borders[index], to)) };
    });
  const anyText = cut(fc.string({ unit: "binary", maxLength: 40 }));

  test("gives the same reply, and shows all of its text in order", () => {
    const input = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }));
    fc.assert(
      fc.property(anyText, anyText, cut(input.map((value) => JSON.stringify(value))), (said, thought, input) => {
        const { draft, shown } = read([
          BEGIN,
          start(0, { type: "thinking", thinking: "", signature: "" }),
          ...thought.pieces.map((piece) => delta(0, "thinking_delta", "thinking", piece)),
          start(1, { type: "text", text: "" }),
          ...said.pieces.map((piece) => text(1, piece)),
          start(2, call("a")),
          ...input.pieces.map((piece) => json(2, piece)),
          ...end(),
        ]);
        expect(shown).toBe(said.whole);
        expect(finishReply(draft).content).toEqual([
          { type: "thinking", thinking: thought.whole, signature: "" },
          { type: "text", text: said.whole },
          call("a", JSON.parse(input.whole)) as Block,
        ]);
      }),
    );
  });
});

test("readEvent takes any JSON, and always returns text", () => {
  const kinds = fc.constantFrom(
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  );
  const block = fc.record({ type: fc.constantFrom("text", "thinking", "tool_use", "x"), text: fc.jsonValue() });
  const change = fc.record({
    type: fc.constantFrom("text_delta", "thinking_delta", "signature_delta", "input_json_delta", "x"),
    text: fc.jsonValue({ maxDepth: 1 }),
    thinking: fc.jsonValue({ maxDepth: 1 }),
    partial_json: fc.jsonValue({ maxDepth: 1 }),
    stop_reason: fc.jsonValue({ maxDepth: 1 }),
  });
  const event = fc.record({
    type: kinds,
    index: fc.oneof(fc.nat(3), fc.constantFrom("x", -1, null)),
    content_block: fc.oneof(block, fc.jsonValue({ maxDepth: 1 })),
    delta: fc.oneof(change, fc.jsonValue({ maxDepth: 1 })),
    message: fc.jsonValue({ maxDepth: 1 }),
    usage: fc.oneof(fc.record({ input_tokens: fc.jsonValue({ maxDepth: 0 }) }), fc.jsonValue({ maxDepth: 1 })),
  }, { requiredKeys: ["type"] });
  fc.assert(fc.property(fc.array(event, { maxLength: 12 }), (events) => {
    const { draft, shown } = read(events);
    expect(shown).not.toContain("undefined");
    const reply = finishReply(draft);
    expect(typeof reply.stop_reason).toBe("string");
    for (const count of Object.values(reply.usage)) expect(typeof count).toBe("number");
  }));
});

describe("an interrupted reply", () => {
  const cases: [what: string, events: StreamEvent[], content: unknown[]][] = [
    [
      "is what the user has seen, and says that it was interrupted",
      [start(0, { type: "text", text: "" }), text(0, "Let me \n")],
      [{ type: "text", text: "Let me [interrupted by the user]" }],
    ],
    [
      "has no thinking, no blank text and no call",
      [
        start(0, { type: "thinking" }),
        start(1, { type: "text" }),
        text(1, " "),
        start(2, { type: "text" }),
        text(2, "a"),
        start(3, call("a")),
      ],
      [{ type: "text", text: "a [interrupted by the user]" }],
    ],
    ["has nothing, when nothing was seen", [start(0, call("a")), json(0, "{")], []],
  ];
  for (const [what, events, content] of cases) {
    test(what, () => {
      expect(interruptedReply(read([BEGIN, ...events]).draft))
        .toMatchObject({ content, stop_reason: "interrupted", usage: { input_tokens: 10 } });
    });
  }
});
