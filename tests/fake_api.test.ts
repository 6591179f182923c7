/** The fake API over real HTTP, through the real SDK. */

import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { connect } from "node:net";
import { setImmediate as nextTick } from "node:timers/promises";
import { eventsOf, messageFrom, messageOf, seededRandom } from "./support/api_reply.ts";
import { type Answer, type FakeApi, fakeApi, reply } from "./support/fake_api.ts";

type Params = Anthropic.MessageCreateParamsNonStreaming;
type Turn = Anthropic.MessageParam;

const clientOf = (api: FakeApi, maxRetries = 0) => new Anthropic({ baseURL: api.url, apiKey: "key", maxRetries });
const asking = (...messages: Turn[]): Params => ({ model: "fake-model", max_tokens: 100, messages });
const HELLO = asking({ role: "user", content: "hi" });

/** The reply to one request, streamed. */
const ask = (api: FakeApi, params = HELLO) => clientOf(api).messages.stream(params).finalMessage();
/** What a request fails with. */
async function failureOf(promise: Promise<unknown>): Promise<{ status: number | undefined; type: string | null }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Anthropic.APIError) return { status: error.status, type: error.type };
    throw error;
  }
  throw new Error("it did not fail");
}

const START = {
  type: "message_start",
  message: { id: "msg_1", type: "message", role: "assistant", model: "fake-model", content: [], usage: {} },
};
const BLOCK = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
const DELTA = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "half" } };
const STOP = [
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];

describe("a reply", () => {
  const short = { thinking: "hm €", text: "Grüße 👩‍👩‍👧", calls: [{ id: "a", name: "t", input: { path: "ö👍.ts" } }] };

  test("is streamed whole: thinking, text and calls", async () => {
    await using api = await fakeApi([reply(short)]);
    const message = await ask(api);
    expect(message.content.map((block) => ({ ...block }))).toMatchObject([
      { type: "thinking", thinking: "hm €" },
      { type: "text", text: "Grüße 👩‍👩‍👧" },
      { type: "tool_use", id: "a", name: "t", input: { path: "ö👍.ts" } },
    ]);
    expect(message.stop_reason).toBe("tool_use");
  });

  test("is one JSON message when the request does not stream", async () => {
    await using api = await fakeApi([reply({ ...short, stop_reason: "max_tokens", usage: { output_tokens: 7 } })]);
    const message = await clientOf(api).messages.create(HELLO);
    expect(message.content).toMatchObject([{ thinking: "hm €" }, { text: "Grüße 👩‍👩‍👧" }, { id: "a" }]);
    expect(message).toMatchObject({ type: "message", stop_reason: "max_tokens", usage: { output_tokens: 7 } });
  });

  test("comes in several deltas of text, of thinking and of input", async () => {
    await using api = await fakeApi([reply({
      thinking: "a".repeat(50),
      text: "b".repeat(50),
      calls: [{ name: "t", input: { c: "d".repeat(50) } }],
    })]);
    const counts: Record<string, number> = {};
    for await (const event of await clientOf(api).messages.create({ ...HELLO, stream: true })) {
      if (event.type === "content_block_delta") counts[event.delta.type] = (counts[event.delta.type] ?? 0) + 1;
    }
    expect(counts.text_delta).toBeGreaterThan(3);
    expect(counts.thinking_delta).toBeGreaterThan(3);
    expect(counts.input_json_delta).toBeGreaterThan(3);
    expect(counts.signature_delta).toBe(1);
  });

  test("gives its calls ids that no other reply has", async () => {
    await using api = await fakeApi([reply({ calls: [{ name: "t", input: {} }, { name: "t", input: {} }] })]);
    const { content } = await ask(api);
    const ids = content.map((block) => block.type === "tool_use" ? block.id : "");
    expect(new Set([...ids, ""]).size).toBe(3);
  });

  test("told as events says the same as the message, whatever is in it", () => {
    const block = fc.oneof(
      fc.record({ type: fc.constant("text"), text: fc.string({ unit: "grapheme" }) }),
      fc.record({ type: fc.constant("thinking"), thinking: fc.string(), signature: fc.string() }),
      fc.record({
        type: fc.constant("tool_use"),
        id: fc.string(),
        name: fc.string(),
        input: fc.dictionary(fc.string(), fc.jsonValue()),
      }),
      fc.record({ type: fc.constant("future_block"), data: fc.string() }),
    );
    fc.assert(
      fc.property(fc.array(block, { maxLength: 4 }), fc.integer(), (content, seed) => {
        const message = messageOf({ content }, "fake-model", {});
        const heard = messageFrom(eventsOf(message, seededRandom(seed)));
        expect(JSON.parse(JSON.stringify(heard.content))).toEqual(JSON.parse(JSON.stringify(content)));
        expect(heard.stop_reason).toBe(message.stop_reason);
      }),
      { numRuns: 100 },
    );
  });

  test("is cut within characters and within lines", async () => {
    await using api = await fakeApi([reply({ text: "ä€😀".repeat(20) })]);
    const chunks = await chunksOf(api.url, { ...HELLO, stream: true });
    const isWhole = (chunk: Buffer) => {
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(chunk) !== "";
      } catch {
        return false;
      }
    };
    expect(chunks.some((chunk) => !isWhole(chunk))).toBe(true);
    expect(chunks.some((chunk) => chunk.length > 0 && !chunk.toString().endsWith("\n"))).toBe(true);
  });
});

/** The chunks of a chunked answer as they were written, read from the bare socket. */
async function chunksOf(url: string, params: object): Promise<Buffer[]> {
  const body = JSON.stringify(params);
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\nanthropic-version: 2026-10-21\r\nconnection: close\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const received: Buffer[] = [];
  for await (const data of socket) received.push(data);
  const all = Buffer.concat(received);
  const chunks: Buffer[] = [];
  let at = all.indexOf("\r\n\r\n") + 4;
  while (at < all.length) {
    const start = all.indexOf("\r\n", at) + 2;
    const length = Number.parseInt(all.toString("latin1", at, start), 16);
    chunks.push(all.subarray(start, start + length));
    at = start + length + 2;
  }
  return chunks;
}

describe("an answer", () => {
  const failures: [words: string, answer: Answer, failure: { status: number | undefined; type: string | null }][] = [
    [
      "{status, body} is that status and that error",
      { status: 413, headers: {}, body: { type: "error", error: { type: "request_too_large", message: "too large" } } },
      { status: 413, type: "request_too_large" },
    ],
    ["a page of HTML from a proxy is no API error", { status: 502, body: "<html>bad gateway</html>" }, {
      status: 502,
      type: null,
    }],
    [
      "an error event ends the stream (L29)",
      { sse: [START, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }], close: true },
      { status: undefined, type: "overloaded_error" },
    ],
  ];
  for (const [words, answer, failure] of failures) {
    test(words, async () => {
      await using api = await fakeApi([answer]);
      expect(await failureOf(ask(api))).toEqual(failure);
    });
  }

  test("{sse} is streamed as it is, events and blocks of unknown kinds too (L15)", async () => {
    const future = { type: "content_block_start", index: 1, content_block: { type: "future_block", data: "d" } };
    const sse = [START, { type: "brand_new_event", x: 1 }, BLOCK, DELTA, future, ...STOP];
    await using api = await fakeApi([{ sse }]);
    const types: unknown[] = [];
    for await (const event of await clientOf(api).messages.create({ ...HELLO, stream: true })) types.push(event.type);
    expect(types).toEqual(sse.map((event) => event.type));
  });

  test("{sse} is put together when the request does not stream", async () => {
    await using api = await fakeApi([{ sse: [START, BLOCK, DELTA, ...STOP] }]);
    const message = await clientOf(api).messages.create(HELLO);
    expect(message).toMatchObject({ content: [{ type: "text", text: "half" }], stop_reason: "end_turn" });
  });

  test("close cuts the connection, which is not the client's doing", async () => {
    await using api = await fakeApi([{ sse: [START, BLOCK, DELTA], close: true }]);
    await expect(ask(api)).rejects.toThrow();
    await nextTick();
    expect(api.disconnects).toBe(0);
  });

  test("then keeps the connection open and says nothing more (L31, L43)", async () => {
    await using api = await fakeApi([{ sse: [START, BLOCK, DELTA], then: "silence" }]);
    const stream = clientOf(api).messages.stream(HELLO);
    let heard = "";
    stream.on("text", (text) => {
      heard += text;
      setTimeout(() => stream.abort(), 50);
    });
    await expect(stream.finalMessage()).rejects.toThrow("aborted");
    await api.until(() => api.disconnects === 1);
    expect(heard).toBe("half");
  });

  test("hang never comes, and the client's leave is noticed (L07)", async () => {
    await using api = await fakeApi(["HANG"]);
    const leave = new AbortController();
    const pending = failureOf(clientOf(api).messages.create(HELLO, { signal: leave.signal }));
    await api.until(() => api.requests.length === 1);
    expect(api.disconnects).toBe(0);
    leave.abort();
    await pending;
    await api.until(() => api.disconnects === 1);
  });

  test("can be slow from piece to piece, so that a client can leave in the middle", async () => {
    await using api = await fakeApi([reply({ text: "word ".repeat(100) })], { delta_delay_ms: 10 });
    const stream = clientOf(api).messages.stream(HELLO);
    stream.once("text", () => stream.abort());
    await expect(stream.finalMessage()).rejects.toThrow("aborted");
    await api.until(() => api.disconnects === 1);
  });

  test("can be late", async () => {
    await using api = await fakeApi([{ ...reply({ text: "a" }), delay_ms: 60 }]);
    const before = performance.now();
    await ask(api);
    expect(performance.now() - before).toBeGreaterThanOrEqual(59);
  });

  test("can be a function of the request", async () => {
    await using api = await fakeApi([({ body }) => reply({ text: `you said ${body.messages[0].content}` })]);
    expect((await ask(api)).content).toMatchObject([{ text: "you said hi" }]);
  });

  test("has its HTTP date filled in when it is sent (L27)", async () => {
    const date = (seconds: number) => ({ "retry-after": `<HTTP-date ${seconds} s ahead>` });
    await using api = await fakeApi([{ status: 429, headers: date(3), body: {} }]);
    const error = await clientOf(api).messages.create(HELLO).catch((error: unknown) => error);
    const sent = error instanceof Anthropic.RateLimitError ? error.headers.get("retry-after") : undefined;
    const ahead = Date.parse(sent ?? "") - Date.now();
    expect(ahead).toBeGreaterThan(1000);
    expect(ahead).toBeLessThanOrEqual(3000);
  });
});

describe("a refusal", () => {
  const WRONG = asking({ role: "user", content: " " });

  test("is the API's own kind of error, and takes no answer of the script", async () => {
    await using api = await fakeApi([reply({ text: "a" })]);
    expect(await failureOf(ask(api, WRONG))).toEqual({ status: 400, type: "invalid_request_error" });
    expect(api.left).toBe(1);
    expect(api.requests.length).toBe(1);
    expect(api.expectRefusals()).toEqual([
      "messages.0.content: text content blocks must contain non-whitespace text",
    ]);
    await ask(api);
    expect(api.left).toBe(0);
  });

  test("fails the test at its end", async () => {
    const api = await fakeApi([]);
    await ask(api, WRONG).catch(() => {});
    await expect(api[Symbol.asyncDispose]()).rejects.toThrow("must contain non-whitespace text");
  });

  test("that comes after the expected ones fails the test, too", async () => {
    const api = await fakeApi([]);
    await ask(api, WRONG).catch(() => api.expectRefusals());
    await ask(api, WRONG).catch(() => {});
    await expect(api[Symbol.asyncDispose]()).rejects.toThrow("must contain non-whitespace text");
  });

  test("answers a request that the script has nothing for, at once", async () => {
    await using api = await fakeApi([]);
    expect(await failureOf(clientOf(api, 5).messages.create(HELLO))).toEqual({ status: 500, type: "api_error" });
    expect(api.expectRefusals()).toEqual(["request 1: the script has no answer left"]);
  });

  test("answers every other path with 404", async () => {
    await using api = await fakeApi([]);
    expect(await failureOf(clientOf(api).models.list())).toEqual({ status: 404, type: "not_found_error" });
    expect(api.expectRefusals()).toEqual(["GET /v1/models: Not found"]);
  });

  test("names a fault in the script's own function", async () => {
    await using api = await fakeApi([() => {
      throw new Error("oh no");
    }]);
    await ask(api).catch(() => {});
    expect(api.expectRefusals()).toEqual([expect.stringContaining("the fake failed: Error: oh no")]);
  });

  test("of a wrong key has status 401", async () => {
    await using api = await fakeApi([], { key: "right" });
    expect(await failureOf(ask(api))).toEqual({ status: 401, type: "authentication_error" });
    api.expectRefusals();
  });
});

describe("what was sent", () => {
  const answered = (content: unknown): Params =>
    asking({ role: "user", content: "go" }, { role: "assistant", content: content as [] }, {
      role: "user",
      content: "next",
    });
  const told = reply({ thinking: "hm", text: "a" });

  test("comes back unchanged: thinking", async () => {
    await using api = await fakeApi([told, reply({ text: "b" })]);
    const { content } = await clientOf(api).messages.create(HELLO);
    await ask(api, answered(content));
  });

  test("comes back unchanged or is refused: thinking that was edited", async () => {
    await using api = await fakeApi([told]);
    await ask(api);
    const edited = told.content.map((block) => block.type === "thinking" ? { ...block, thinking: "hmm" } : block);
    expect(await failureOf(ask(api, answered(edited)))).toEqual({ status: 400, type: "invalid_request_error" });
    expect(api.expectRefusals()).toEqual(["messages.1.content.0: Invalid `signature` in `thinking` block"]);
  });

  test("comes back unchanged or is refused: a kind of block that the rules do not know", async () => {
    const future = { type: "future_block", data: "d" };
    const content = [future, { type: "text", text: "a" }];
    await using api = await fakeApi([{ content }, reply({ text: "b" })]);
    await ask(api);
    await ask(api, answered(content));
    await failureOf(ask(api, answered([{ ...future, data: "e" }])));
    expect(api.expectRefusals()).toEqual([expect.stringContaining("messages.1.content.0.type: Input tag")]);
  });
});

describe("the cache", () => {
  const marked = (text: string): Anthropic.TextBlockParam => ({
    type: "text",
    text,
    cache_control: { type: "ephemeral" },
  });
  const first = { ...HELLO, system: [marked("You are brief.")] };
  const second = {
    ...first,
    messages: [...HELLO.messages, { role: "assistant" as const, content: "ho" }, HELLO.messages[0]!],
  };
  /** The second request's usage, after the first one. */
  async function usageAfter(one: Params, two: Params) {
    await using api = await fakeApi([reply({ text: "a" }), reply({ text: "b" })]);
    const { usage: before } = await ask(api, one);
    const { usage } = await ask(api, two);
    expect(before.cache_read_input_tokens).toBe(0);
    return { written: before.cache_creation_input_tokens ?? 0, read: usage.cache_read_input_tokens ?? 0 };
  }

  test("gives back what was marked, while its bytes hold", async () => {
    const { written, read } = await usageAfter(first, second);
    expect(written).toBeGreaterThan(0);
    expect(read).toBe(written);
  });

  test("does not see that a mark moved on", async () => {
    const moved = {
      ...HELLO,
      system: [{ type: "text" as const, text: "You are brief." }],
      cache_control: marked("").cache_control!,
    };
    const { written, read } = await usageAfter(first, moved);
    expect(read).toBe(written);
  });

  const changes: [what: string, change: Partial<Params>][] = [
    ["tools", { tools: [{ name: "t", input_schema: { type: "object" } }] }],
    ["the system prompt", { system: [marked("You are brief, today.")] }],
    ["the model", { model: "claude-sonnet-5-5" }],
  ];
  for (const [what, change] of changes) {
    test(`gives back nothing when ${what} changed`, async () => {
      expect((await usageAfter(first, { ...second, ...change })).read).toBe(0);
    });
  }

  test("gives back nothing that was not marked", async () => {
    expect(await usageAfter(HELLO, second)).toEqual({ written: 0, read: 0 });
  });

  test("does not look back further than 20 blocks from a mark", async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ type: "text" as const, text: `t${at}` }));
    const grown = (count: number): Params =>
      asking({ role: "user", content: [marked("start"), ...many(count), marked("end")] });
    const start = asking({ role: "user", content: [marked("start")] });
    const unmarked = (params: Params): Params =>
      JSON.parse(JSON.stringify(params).replace(/("start"),"cache_control":\{[^}]*\}/, "$1"));
    expect((await usageAfter(start, unmarked(grown(19)))).read).toBeGreaterThan(0);
    expect((await usageAfter(start, unmarked(grown(20)))).read).toBe(0);
  });
});

test("until gives up after its limit, and says what it waited for", async () => {
  await using api = await fakeApi([]);
  await expect(api.until(() => api.requests.length === 7, 20)).rejects.toThrow("api.requests.length === 7");
});
