import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { append, appendText, callsOf, markForCache, repair } from "../core/history.ts";
import type { Block, Message, ToolResultBlock } from "../core/message.ts";
import { checkRequest } from "./support/api_rules.ts";

const text = (text: string): Block => ({ type: "text", text });
const use = (id: string, input: unknown = {}, name = "list_files"): Block => ({ type: "tool_use", id, name, input });
const result = (tool_use_id: string, content: ToolResultBlock["content"] = "r", is_error?: boolean): Block => ({
  type: "tool_result",
  tool_use_id,
  content,
  ...(is_error === undefined ? {} : { is_error }),
});
/** A picture of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "image" as const, source: { type: "base64" as const, media_type: "image/png", data: PIXEL } };
const user = (...content: Block[]): Message => ({ role: "user", content });
const assistant = (...content: Block[]): Message => ({ role: "assistant", content });
const thinking: Block = { type: "thinking", thinking: "Let me look. é\n ", signature: "s=" };
/** A call with a field that tenon does not know. */
const called = Object.assign(use("a"), { caller: { type: "direct" } });
const redacted = { type: "redacted_thinking", data: "RkFLRQ==" } as unknown as Block;

/** What the API says to a request with this list, after which the user goes on. */
function refusal(messages: readonly Message[]): string | undefined {
  const body = { model: "claude-sonnet-5-5", max_tokens: 100, messages };
  const headers = { "x-api-key": "k", "anthropic-version": "2026-10-21", "content-type": "application/json" };
  return checkRequest(headers, JSON.stringify(body))?.message;
}

function appended(...messages: Message[]): Message[] {
  const list: Message[] = [];
  for (const message of messages) append(list, message);
  return list;
}

const lost = (id: string) =>
  result(id, "Not run, or its result was lost: the program stopped before it was written down", true);

describe("append", () => {
  const deep = { a: ["x\ud800", { "k\udfff": "\udc00" }], fine: "😀", text: "\\ud800" };
  const mended = { a: ["x\ufffd", { "k\ufffd": "\ufffd" }], fine: "😀", text: "\\ud800" };
  const cases: [what: string, messages: Message[], list: Message[]][] = [
    ["drops text that is empty or blank (L01)", [assistant(text(""), text(" \n\t"), use("a"))], [assistant(use("a"))]],
    ["adds no message with nothing in it", [user(text("go")), assistant(text(" ")), user(text(""))], [
      user(text("go")),
    ]],
    ["keeps the white space of other text", [user(text(" go\n"))], [user(text(" go\n"))]],
    ["replaces lone surrogates in text", [user(text("a\ud83db"))], [user(text("a\ufffdb"))]],
    ["replaces lone surrogates inside an input", [assistant(use("a", deep))], [assistant(use("a", mended))]],
    ["replaces lone surrogates in a result", [user(result("a", "x\udc00"))], [user(result("a", "x\ufffd"))]],
    [
      "replaces lone surrogates in the blocks of a result",
      [user(result("a", [{ type: "text", text: "x\udc00" }]))],
      [user(result("a", [{ type: "text", text: "x\ufffd" }]))],
    ],
    ["makes an object of an input that is text (L23)", [assistant(use("a", '{"path":'))], [assistant(use("a", {}))]],
    ["makes an object of an input that is an array", [assistant(use("a", [1]))], [assistant(use("a", {}))]],
    ["makes an object of an input that is null", [assistant(use("a", null))], [assistant(use("a", {}))]],
    ["makes an object of no input", [assistant(use("a", undefined))], [assistant(use("a", {}))]],
    ["mends an id", [assistant(use("call.1/é"))], [assistant(use("call_1__"))]],
    ["gives an id to a call without one", [assistant(use(""))], [assistant(use("toolu"))]],
    ["mends a name", [assistant(use("a", {}, "my tool"))], [assistant(use("a", {}, "my_tool"))]],
    ["cuts a name", [assistant(use("a", {}, "x".repeat(200)))], [assistant(use("a", {}, "x".repeat(128)))]],
    ["gives a name to a call without one", [assistant(use("a", {}, ""))], [assistant(use("a", {}, "_"))]],
    ["tells two ids of one message apart", [assistant(use("a"), use("a"))], [assistant(use("a"), use("a_2"))]],
    [
      "tells two ids of two turns apart",
      [assistant(use("a")), user(result("a")), assistant(use("a"), use("a_2"))],
      [assistant(use("a")), user(result("a")), assistant(use("a_2"), use("a_2_2"))],
    ],
    ["fills in an empty result", [user(result("a", " \n"))], [user(result("a", "(no output)"))]],
    ["fills in a result without blocks", [user(result("a", []))], [user(result("a", "(no output)"))]],
    ["fills in an empty error", [user(result("a", "", true))], [user(result("a", "(no output)", true))]],
    [
      "takes the pictures out of an error",
      [user(result("a", [image, { type: "text", text: "why" }], true))],
      [user(result("a", [{ type: "text", text: "why" }], true))],
    ],
    ["leaves words to an error that is a picture", [user(result("a", [image], true))], [
      user(result("a", "(no output)", true)),
    ]],
    ["keeps the pictures of a result", [user(result("a", [image]))], [user(result("a", [image]))]],
    [
      "keeps thinking as it came, and in its place (L35)",
      [assistant(thinking, redacted, text("\ud800"), use("a"))],
      [assistant(thinking, redacted, text("\ufffd"), use("a"))],
    ],
    ["drops thinking with nothing behind it", [assistant(text("t"), thinking, redacted)], [assistant(text("t"))]],
    [
      "keeps unknown fields and kinds of blocks (L15)",
      [assistant({ type: "future", data: "" } as never, called)],
      [assistant({ type: "future", data: "" } as never, called)],
    ],
    ["joins neighbours of one role", [user(text("a")), user(text("b"))], [user(text("a"), text("b"))]],
    ["puts results first", [user(text("a"), result("x"), image, result("y"))], [
      user(result("x"), result("y"), text("a"), image),
    ]],
    ["puts results first when it joins", [user(text("a")), user(result("x"))], [user(result("x"), text("a"))]],
  ];
  for (const [what, messages, list] of cases) {
    test(what, () => expect(appended(...messages)).toEqual(list));
  }

  test("returns the calls under their stored id and name, with the input as it came", () => {
    const list = appended(user(text("go")), assistant(use("a")), user(result("a")));
    const calls = append(list, assistant(text("t"), use("a", "{bad", "my tool"), use("b")));
    expect(calls).toEqual([use("a_2", "{bad", "my_tool"), use("b")] as never);
    expect(callsOf(list.at(-1)?.content ?? [])).toEqual([use("a_2", {}, "my_tool"), use("b")] as never);
  });

  test("changes no block and no message that it was given", () => {
    const given = [
      user(text("a\ud800"), result("x", "")),
      user(text("b")),
      assistant(use("x", { k: "\ud800" }, "a b")),
    ];
    const before = structuredClone(given);
    appended(...given);
    expect(given).toEqual(before);
  });
});

describe("appendText", () => {
  test("adds what the user says, and nothing for blank text", () => {
    const list: Message[] = [];
    appendText(list, " ");
    expect(list).toEqual([]);
    appendText(list, "go");
    expect(list).toEqual([user(text("go"))]);
  });
});

describe("repair", () => {
  const cases: [what: string, messages: Message[], list: Message[]][] = [
    ["takes nothing", [], []],
    [
      "drops a result without its call and a second one (L55)",
      [
        user(text("go")),
        user(result("toolu_7", "orphan"), text("next")),
        assistant(use("toolu_8")),
        user(result("toolu_8", "one"), result("toolu_8", "two"), text("more")),
        assistant(text("ok")),
        user(text("and?")),
      ],
      [
        user(text("go"), text("next")),
        assistant(use("toolu_8")),
        user(result("toolu_8", "one"), text("more")),
        assistant(text("ok")),
        user(text("and?")),
      ],
    ],
    [
      "answers the calls of a turn that was interrupted, before the text (L05)",
      [user(text("go")), assistant(use("toolu_1"), use("toolu_2")), user(text("continue"))],
      [
        user(text("go")),
        assistant(use("toolu_1"), use("toolu_2")),
        user(lost("toolu_1"), lost("toolu_2"), text("continue")),
      ],
    ],
    [
      "answers the calls at the end of the list (L05)",
      [user(text("go")), assistant(use("a"))],
      [user(text("go")), assistant(use("a")), user(lost("a"))],
    ],
    [
      "answers one call of two, in call order",
      [user(text("go")), assistant(use("a"), use("b")), user(result("b"))],
      [user(text("go")), assistant(use("a"), use("b")), user(lost("a"), result("b"))],
    ],
    [
      "keeps results that were written one by one",
      [user(text("go")), assistant(use("a"), use("b")), user(result("a")), user(result("b"), text("t"))],
      [user(text("go")), assistant(use("a"), use("b")), user(result("a"), result("b"), text("t"))],
    ],
    [
      "keeps a result whose call gets another id",
      [
        user(text("go")),
        assistant(use("a.b")),
        user(result("a.b", "one")),
        assistant(use("a.b")),
        user(result("a.b", "two")),
      ],
      [
        user(text("go")),
        assistant(use("a_b")),
        user(result("a_b", "one")),
        assistant(use("a_b_2")),
        user(result("a_b_2", "two")),
      ],
    ],
    [
      "drops a late result",
      [user(text("go")), assistant(use("a")), user(text("t")), assistant(text("ok")), user(result("a", "late"))],
      [user(text("go")), assistant(use("a")), user(lost("a"), text("t")), assistant(text("ok"))],
    ],
    ["begins with the user", [assistant(text("hello"), use("a")), user(result("a"), text("go"))], [user(text("go"))]],
    [
      "drops what the other role says",
      [user(use("a"), thinking, text("go")), assistant(result("a"), image, text("t"))],
      [
        user(text("go")),
        assistant(text("t")),
      ],
    ],
    [
      "joins a reply that was written block by block",
      [user(text("go")), assistant(thinking), assistant(text("t")), assistant(use("a")), user(result("a"))],
      [user(text("go")), assistant(thinking, text("t"), use("a")), user(result("a"))],
    ],
  ];
  for (const [what, messages, list] of cases) {
    test(what, () => {
      expect(repair(messages)).toEqual(list);
      expect(refusal([...list, user(text("go on"))])).toBeUndefined();
    });
  }

  const words = fc.oneof(fc.string({ unit: "binary", maxLength: 8 }), fc.constantFrom("", " ", "\ud800", "x\udc00y"));
  const id = fc.constantFrom("a", "b", "a_2", "a.b", "");
  const content = fc.oneof(
    words,
    fc.array(fc.oneof(words.map((text) => ({ type: "text" as const, text })), fc.constant(image))),
  );
  const block: fc.Arbitrary<Block> = fc.oneof(
    words.map(text),
    fc.record({ type: fc.constant("tool_use" as const), id, name: words, input: fc.jsonValue({ maxDepth: 1 }) }),
    fc.tuple(id, content, fc.option(fc.boolean(), { nil: undefined })).map(([id, content, bad]) =>
      result(id, content, bad)
    ),
    fc.constant<Block>({ type: "thinking", thinking: "t", signature: "s" }),
    fc.constant(redacted),
    fc.constant(image),
  );
  const anyList = fc.array(
    fc.record<Message>({ role: fc.constantFrom("user", "assistant"), content: fc.array(block, { maxLength: 5 }) }),
    { maxLength: 8 },
  );

  test("makes of any list one that the API takes, and loses no word of the user", () => {
    fc.assert(
      fc.property(anyList, (messages) => {
        const list = repair(messages);
        appendText(list, "go on");
        expect(refusal(list)).toBeUndefined();
        expect(textsOf(list)).toEqual([...textsOf(messages), "go on"]);
      }),
      { numRuns: 500 },
    );
  });

  test("changes nothing in a list that append made, nor in one that it repaired before", () => {
    fc.assert(
      fc.property(anyList, (messages) => {
        const once = repair(messages);
        expect(repair(once)).toEqual(once);
      }),
      { numRuns: 200 },
    );
  });

  test("changes no list that it was given", () => {
    fc.assert(fc.property(anyList, (messages) => {
      const before = structuredClone(messages);
      repair(messages);
      expect(messages).toEqual(before);
    }));
  });

  /** What the user wrote, as it can be sent. */
  function textsOf(messages: readonly Message[]): string[] {
    return messages.filter((message) => message.role === "user").flatMap((message) => message.content)
      .flatMap((block) => block.type === "text" && block.text.trim() !== "" ? [block.text.toWellFormed()] : []);
  }

  describe("and markForCache", () => {
    const marksIn = (messages: readonly Message[]) =>
      messages.flatMap((message) => message.content).filter((block) => "cache_control" in block);

    test("marks at most two blocks, none of them thinking or blank, and the API takes them", () => {
      fc.assert(fc.property(anyList, (messages) => {
        for (const block of marksIn(markForCache(messages))) {
          expect(block.type).not.toMatch(/thinking$/);
          if (block.type === "text") expect(block.text.trim()).not.toBe("");
        }
        const list = repair(messages);
        appendText(list, "go on");
        const marked = markForCache(list);
        expect(marksIn(marked).length).toBe(Math.min(2, list.filter((message) => message.role === "user").length));
        expect(refusal(marked)).toBeUndefined();
      }));
    });

    test("changes nothing but the marks, and never the list itself", () => {
      fc.assert(fc.property(anyList, (messages) => {
        const before = structuredClone(messages);
        const marked = markForCache(messages);
        expect(messages).toEqual(before);
        const bare = marked.map(({ role, content }) => ({
          role,
          content: content.map((block) => {
            const { cache_control: _, ...rest } = block as Block & { cache_control?: unknown };
            return rest;
          }),
        }));
        expect(bare as Message[]).toEqual(before);
      }));
    });
  });
});

test("markForCache marks the last block of the last two user messages", () => {
  const mark = { cache_control: { type: "ephemeral" } };
  const list = [
    user(text("1")),
    assistant(text("2")),
    user(text("3"), text("4")),
    assistant(use("a")),
    user(result("a")),
  ];
  expect(markForCache(list)).toEqual([
    user(text("1")),
    assistant(text("2")),
    user(text("3"), { ...text("4"), ...mark } as Block),
    assistant(use("a")),
    user({ ...result("a"), ...mark } as Block),
  ]);
});
