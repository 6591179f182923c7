import { describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Message } from "../core/message.ts";
import { gistOf } from "../core/model/retry.ts";
import { agentFor, fixtureRegistry, say } from "./support/agent.ts";
import { type Answer, fakeApi, reply } from "./support/fake_api.ts";

const registry = await fixtureRegistry("reads");
const done = reply({ text: "done" });

function refusal(status: number, type: string, message: string, headers = {}): Answer {
  return { status, headers, body: { type: "error", error: { type, message } } };
}

/** A stream that says `text` and then breaks off in the way that is told. */
function broken(text: string, ending: object): Answer {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "fake-model", content: [], usage };
  return {
    sse: [
      { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
      ...("error" in ending ? [{ type: "error", ...ending }] : []),
    ],
    close: true,
    ...ending,
  };
}

describe("apiModel tries again", () => {
  const worthIt: [what: string, first: Answer][] = [
    ["429", refusal(429, "rate_limit_error", "slow down", { "retry-after": "0" })],
    ["529", refusal(529, "overloaded_error", "Overloaded", { "retry-after": "0" })],
    ["500 with HTML from a proxy", { status: 500, headers: { "retry-after": "0" }, body: "<h1>Bad gateway</h1>" }],
    [
      "an error in the middle of a stream (L29)",
      broken("Hel", { error: { type: "overloaded_error", message: "Overloaded" } }),
    ],
    ["a connection that is cut", broken("Hel", {})],
    ["a stream that falls silent (L31)", broken("Hel", { close: false, then: "silence" })],
    ["a server that never answers", "hang"],
  ];
  test.each(worthIt)("after %s, and keeps nothing of the broken reply", async (_, first) => {
    await using api = await fakeApi([first, done]);
    const messages: Message[] = [];
    const turn = await say(agentFor(api, { registry, limits: { silenceMs: 300 } }), messages, "go");
    expect(turn.stop).toBe("end_turn");
    expect(turn.events.filter((event) => event.type === "retry").length).toBe(1);
    expect(api.requests.length).toBe(2);
    expect(messages.at(-1)).toEqual({ role: "assistant", content: [{ type: "text", text: "done" }] });
    const seen = turn.events.some((event) => event.type === "text" && event.text.includes("H"));
    expect(turn.events.some((event) => event.type === "discard")).toBe(seen);
  });

  test("no sooner than the server asks, in seconds or as a date (L27)", async () => {
    const waits: number[] = [];
    const inTwo = new Date(Date.now() + 2600).toUTCString();
    await using api = await fakeApi([
      refusal(429, "rate_limit_error", "slow down", { "retry-after": "1" }),
      refusal(429, "rate_limit_error", "slow down", { "retry-after": inTwo }),
      done,
    ]);
    await say(agentFor(api, { registry }), [], "go", (event) => event.type === "retry" && waits.push(event.wait_ms));
    expect(waits[0]).toBe(1000);
    expect(waits[1]).toBeGreaterThan(0);
    expect(waits[1]).toBeLessThanOrEqual(2600);
  });

  test("but not for ever", async () => {
    const overloaded = refusal(529, "overloaded_error", "Overloaded", { "retry-after": "0" });
    await using api = await fakeApi(Array<Answer>(3).fill(overloaded));
    const turn = await say(agentFor(api, { registry, limits: { retries: 2 } }), [], "go");
    expect(String(turn.error)).toMatch(
      /^ApiError: The API answered 529 overloaded_error: Overloaded \(request req_\w+\)\. Try again later$/,
    );
    expect(api.requests.length).toBe(3);
  });
});

describe("apiModel gives up", () => {
  const hopeless: [what: string, answer: Answer, words: RegExp][] = [
    [
      "401",
      refusal(401, "authentication_error", "invalid x-api-key"),
      /401 authentication_error: invalid x-api-key \(request req_\w+\)\. Check ANTHROPIC_API_KEY$/,
    ],
    ["400", refusal(400, "invalid_request_error", "nope"), /400 invalid_request_error: nope \(request req_\w+\)$/],
    [
      "413",
      refusal(413, "request_too_large", "Request exceeds the maximum size"),
      /413 request_too_large: Request exceeds/,
    ],
    [
      "a wait of an hour (RES-09)",
      refusal(429, "rate_limit_error", "slow", { "retry-after": "3600" }),
      /It asks to wait 3600 s; try again later$/,
    ],
    [
      "a page instead of a stream",
      { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body: "<h1>Welcome</h1>" },
      /^http:\S+ answered with something that is not the Messages API \(text\/html\)\. Check --base-url$/,
    ],
    ["an answer that is not streamed", { body: {} }, /not the Messages API \(application\/json\)/],
    ["an answer of no type", { headers: { "content-type": "" }, body: "" }, /not the Messages API \(no media type\)/],
    [
      "a redirect",
      { status: 307, headers: { location: "http://127.0.0.1:9/" }, body: "" },
      /redirects elsewhere, where the key must not go/,
    ],
  ];
  test.each(hopeless)("at once after %s, in one line", async (_, answer, words) => {
    await using api = await fakeApi([answer, done]);
    const messages: Message[] = [];
    const turn = await say(agentFor(api, { registry }), messages, "go");
    expect((turn.error as Error).message).toMatch(words);
    expect((turn.error as Error).message).not.toContain("\n");
    expect(api.requests.length).toBe(1);
    const next = await say(agentFor(api, { registry }), messages, "again");
    expect(next.stop).toBe("end_turn");
  });

  test("when nobody listens at the address, in words that are the same on every runtime", async () => {
    const url = "http://127.0.0.1:2";
    const turn = await say(agentFor({ url }, { registry, limits: { retries: 0 } }), [], "go");
    expect((turn.error as Error).message).toBe(
      `Cannot reach ${url}: nothing listens there (the connection was refused). Check the network, or --base-url`,
    );
  });

  test("on a redirect before the key has gone to the other address", async () => {
    const keys: unknown[] = [];
    const other = createServer((request, response) => {
      keys.push(request.headers["x-api-key"]);
      response.end();
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    await using api = await fakeApi([{ status: 307, headers: { location }, body: "" }]);
    await say(agentFor(api, { registry }), [], "go");
    other.close();
    expect(keys).toEqual([]);
  });
});

describe("apiModel when the user interrupts", () => {
  test("keeps what was seen, marked, and no calls (L43)", async () => {
    const abort = new AbortController();
    await using api = await fakeApi([broken("Step one is done,  ", { close: false, then: "silence" }), done]);
    const messages: Message[] = [];
    const agent = agentFor(api, { registry, signal: abort.signal });
    const turn = await say(agent, messages, "go", (event) => event.type === "text" && abort.abort());
    expect(turn.stop).toBe("interrupted");
    await say(agentFor(api, { registry }), messages, "and?");
    expect(api.requests[1]?.body.messages[1]).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "Step one is done, [interrupted by the user]" }],
    });
  });

  test("ends at once while it waits for another try", async () => {
    const abort = new AbortController();
    await using api = await fakeApi([refusal(429, "rate_limit_error", "slow", { "retry-after": "50" })]);
    const agent = agentFor(api, { registry, signal: abort.signal });
    const started = Date.now();
    const turn = await say(agent, [], "go", (event) => event.type === "retry" && setTimeout(() => abort.abort(), 20));
    expect(turn.stop).toBe("interrupted");
    expect(Date.now() - started).toBeLessThan(5000);
  });
});

describe("the request", () => {
  test("has at most four marks and none in the list itself (L37)", async () => {
    const calls = [{ name: "reads", input: { word: "a" } }];
    await using api = await fakeApi([...Array<Answer>(4).fill(() => reply({ calls })), done]);
    await say(agentFor(api, { registry }), [], "go");
    for (const { body } of api.requests) {
      expect(JSON.stringify(body).split('"cache_control"').length - 1).toBeLessThanOrEqual(4);
    }
  });

  test("with compat has no strict, no marks, and the version that others know", async () => {
    await using api = await fakeApi([done]);
    await say(agentFor(api, { registry, compat: true }), [], "go");
    const [request] = api.requests;
    expect(JSON.stringify(request?.body)).not.toMatch(/cache_control|strict/);
    expect(request?.headers["anthropic-version"]).toBe("2023-06-01");
  });
});

describe("gistOf tells in the same words what each runtime says of", () => {
  const REFUSED = "nothing listens there (the connection was refused)";
  const UNKNOWN = "no address is known for this name";
  const UNTRUSTED = "its certificate is not one that is trusted here";
  const rows: [words: string, code: string | undefined, said: string][] = [
    [REFUSED, "ConnectionRefused", "Unable to connect. Is the computer able to access the url?"],
    [REFUSED, undefined, "client error (Connect): tcp connect error: Connection refused (os error 111)"],
    [UNKNOWN, "ENOTFOUND", "getaddrinfo ENOTFOUND api.example"],
    [UNKNOWN, undefined, "client error (Connect): dns error: failed to lookup address information"],
    ["it did not answer in time", "ETIMEDOUT", "connect ETIMEDOUT"],
    ["it did not answer in time", undefined, "tcp connect error: Connection timed out (os error 110)"],
    ["the connection was cut", "ECONNRESET", "The socket connection was closed unexpectedly"],
    [UNTRUSTED, "DEPTH_ZERO_SELF_SIGNED_CERT", "self signed certificate"],
    [UNTRUSTED, "CERT_HAS_EXPIRED", "certificate has expired"],
    [UNTRUSTED, undefined, "client error (Connect): invalid peer certificate: UnknownIssuer"],
    ["something\\nnew", undefined, "something\nnew"],
  ];
  test.each(rows)("%s (%p)", (words, code, said) => {
    const cause = Object.assign(new Error(said), code === undefined ? {} : { code });
    expect(gistOf(new TypeError("fetch failed", { cause }))).toBe(words);
  });
});
