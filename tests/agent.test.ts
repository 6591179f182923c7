import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { callsOf } from "../core/history.ts";
import type { Block, Message, ToolResultBlock } from "../core/message.ts";
import { agentFor, fixtureRegistry, say } from "./support/agent.ts";
import type { ReplyBlock } from "./support/api_reply.ts";
import { type Answer, type ApiRequest, fakeApi, reply } from "./support/fake_api.ts";

const registry = await fixtureRegistry("reads", "writes", "throws", "never_returns", "shows_a_picture");

/** Sorts of calls, of which each one must be answered. */
const call = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ name: fc.constant("reads"), input: fc.record({ word: fc.string({ unit: "binary" }) }) }),
  },
  fc.constant({ name: "reads", input: {} }),
  fc.constant({ name: "reads", input: { word: "\ud800" } }),
  fc.constantFrom("writes", "throws", "shows_a_picture", "no_such_tool").map((name) => ({ name, input: {} })),
  fc.record({
    name: fc.constant("throws"),
    input: fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 })),
  }),
);

const step = fc.record({
  text: fc.option(fc.oneof(fc.constant(""), fc.constant(" \n"), fc.string({ minLength: 1, unit: "binary" })), {
    nil: undefined,
  }),
  thinking: fc.option(fc.string({ minLength: 1, unit: "grapheme" }), { nil: undefined }),
  calls: fc.array(call, { maxLength: 5 }),
});

const ending = fc.constantFrom(
  "end_turn",
  "tool_use",
  "stop_sequence",
  "max_tokens",
  "refusal",
  "model_context_window_exceeded",
  "pause_turn",
  "a_reason_to_come",
);

const script = fc.array(
  fc.record({ step, ending: fc.oneof({ weight: 6, arbitrary: fc.constant("tool_use") }, ending) }),
  {
    maxLength: 4,
  },
);

/** What a paused reply ends with: a call that the server itself works on. */
function searching(): ReplyBlock {
  return {
    type: "server_tool_use",
    id: `srvtoolu_${crypto.randomUUID().slice(0, 8)}`,
    name: "web_search",
    input: { query: "q" },
  };
}

/** A script as answers; the API never ends with `tool_use` without a call. */
function answersOf(steps: typeof script extends fc.Arbitrary<infer Value> ? Value : never): Answer[] {
  return steps.map(({ step, ending }) => {
    const { calls, ...said } = step;
    const stop_reason = ending === "tool_use" && calls.length === 0 ? "end_turn" : ending;
    const spoken = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
    const answer = reply({ ...spoken, calls, stop_reason });
    if (ending === "pause_turn") answer.content.push(searching());
    return answer;
  });
}

/** Every call of the list has one result, in order, first in the very next user message. */
function expectAnswered(messages: readonly Message[]): void {
  const answered = messages.flatMap((message, index) => {
    const calls = callsOf(message.content).map((block) => block.id);
    if (calls.length === 0) return [];
    const next = messages[index + 1];
    expect(next?.role).toBe("user");
    expect(next?.content.slice(0, calls.length).map((block) => idAnswered(block))).toEqual(calls);
    return calls;
  });
  expect(new Set(answered).size).toBe(answered.length);
  expect(messages.flatMap((message) => message.content).filter((block) => block.type === "tool_result").length)
    .toBe(answered.length);
}

function idAnswered(block: Block): string | undefined {
  return block.type === "tool_result" ? block.tool_use_id : undefined;
}

/** What is sent, without the marks: what the cache compares. */
function prefix({ body }: ApiRequest): string[] {
  const parts = [body.tools, body.system, ...body.messages.flatMap((message: Message) => message.content)];
  return parts.map((part) => JSON.stringify(part, (key, value) => key === "cache_control" ? undefined : value));
}

describe("runTurn", () => {
  test("answers every call once and sends only what the API takes, whatever the model does", async () => {
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        await using api = await fakeApi([...answersOf(steps), ...Array<Answer>(6).fill(reply({ text: "done" }))]);
        const messages: Message[] = [];
        const agent = agentFor(api, { registry });
        const first = await say(agent, messages, "go");
        expect(first.error).toBeUndefined();
        expectAnswered(messages);
        expect((await say(agent, messages, "and then?")).error).toBeUndefined();
        expectAnswered(messages);
        expect(api.refusals).toEqual([]);
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test("leaves a list that the API takes, however the user interrupts", async () => {
    await fc.assert(
      fc.asyncProperty(script, fc.nat({ max: 12 }), async (steps, when) => {
        const answers = [...answersOf(steps), ...Array<Answer>(6).fill(reply({ text: "done" }))];
        await using api = await fakeApi(answers);
        const messages: Message[] = [];
        const abort = new AbortController();
        let seen = 0;
        const turn = await say(agentFor(api, { registry, signal: abort.signal }), messages, "go", () => {
          if (seen++ === when) abort.abort();
        });
        expect(turn.error).toBeUndefined();
        expectAnswered(messages);
        expect((await say(agentFor(api, { registry }), messages, "go on")).error).toBeUndefined();
        expectAnswered(messages);
        expect(api.refusals).toEqual([]);
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test("leaves a list that the API takes when nobody listens any more", async () => {
    await using api = await fakeApi([
      reply({ calls: [{ name: "reads", input: { word: "a" } }] }),
      reply({ text: "b" }),
    ]);
    const messages: Message[] = [];
    const agent = agentFor(api, { registry });
    const { appendText } = await import("../core/history.ts");
    const { runTurn } = await import("../core/agent.ts");
    appendText(messages, "go");
    for await (const event of runTurn(agent, messages)) if (event.type === "tool_use") break;
    expectAnswered(messages);
    expect((await say(agent, messages, "go on")).stop).toBe("end_turn");
  });

  test("sends the same prefix at each step, apart from the marks", async () => {
    await fc.assert(
      // A paused call of the server that nobody answers any more is dropped: that is a change, and the one there is.
      fc.asyncProperty(
        script.filter((steps) => steps.every(({ ending }) => ending !== "pause_turn")),
        async (steps) => {
          await using api = await fakeApi([...answersOf(steps), ...Array<Answer>(6).fill(reply({ text: "done" }))]);
          const messages: Message[] = [];
          const agent = agentFor(api, { registry });
          await say(agent, messages, "go");
          await say(agent, messages, "and then?");
          for (const [index, request] of api.requests.entries()) {
            const before = api.requests[index - 1];
            if (before) expect(prefix(request).slice(0, prefix(before).length)).toEqual(prefix(before));
          }
          const wire = JSON.stringify(messages);
          expect(wire).not.toContain("cache_control");
        },
      ),
      { numRuns: 30 },
    );
  }, 60_000);

  const one = { name: "reads", input: { word: "one" } };
  const two = { name: "reads", input: { word: "two" } };

  test("runs no call of a reply that was cut, goes on once, then ends", async () => {
    const cut = reply({ calls: [one, two], stop_reason: "max_tokens" });
    await using api = await fakeApi([cut, cut, reply({ text: "never asked for" })]);
    const messages: Message[] = [];
    const turn = await say(agentFor(api, { registry }), messages, "go");
    expect(turn.stop).toBe("max_tokens");
    expect(turn.events.some((event) => event.type === "tool_use")).toBe(false);
    expect(api.requests.length).toBe(2);
    const results = messages.flatMap((message) => message.content).filter((block) => block.type === "tool_result");
    expect(results.map((result) => [result.is_error, result.content])).toEqual(
      Array(4).fill([true, "Not run: the reply was cut, make a smaller call"]),
    );
  });

  test("ends at maxSteps with every call answered", async () => {
    await using api = await fakeApi(Array<Answer>(3).fill(() => reply({ calls: [one] })));
    const messages: Message[] = [];
    const turn = await say(agentFor(api, { registry, maxSteps: 3 }), messages, "go");
    expect(turn.stop).toBe("max_steps");
    expect(api.requests.length).toBe(3);
    expectAnswered(messages);
  });

  const endings: [reason: string, calls: (typeof one)[], requests: number, stop: string, runs: boolean][] = [
    ["end_turn", [], 1, "end_turn", false],
    ["stop_sequence", [], 1, "stop_sequence", false],
    ["max_tokens", [], 1, "max_tokens", false],
    ["refusal", [], 1, "refusal", false],
    ["model_context_window_exceeded", [], 1, "model_context_window_exceeded", false],
    ["a_reason_to_come", [], 1, "a_reason_to_come", false],
    ["pause_turn", [], 2, "end_turn", false],
    ["end_turn", [one], 2, "end_turn", true], // some compatible servers do that
    ["stop_sequence", [one], 2, "end_turn", true],
    ["pause_turn", [one], 2, "end_turn", true],
    ["refusal", [one], 1, "refusal", false],
    ["model_context_window_exceeded", [one], 1, "model_context_window_exceeded", false],
    ["a_reason_to_come", [one], 1, "a_reason_to_come", false],
  ];
  test.each(endings)(
    "after %s with calls %j makes %d requests and ends with %s",
    async (reason, calls, requests, stop, runs) => {
      const first = reply({ text: "so far", calls, stop_reason: reason });
      if (reason === "pause_turn") first.content.push(searching());
      await using api = await fakeApi([first, reply({ text: "done" })]);
      const messages: Message[] = [];
      const turn = await say(agentFor(api, { registry }), messages, "go");
      expect(turn.stop).toBe(stop);
      expect(api.requests.length).toBe(requests);
      expect(turn.events.some((event) => event.type === "tool_use")).toBe(runs);
      expectAnswered(messages);
    },
  );

  test("keeps thinking as it came, with its signature", async () => {
    await using api = await fakeApi([reply({ thinking: "Let me \nlook. é ", calls: [one] }), reply({ text: "done" })]);
    await say(agentFor(api, { registry }), [], "go");
    expect(api.requests[1]?.body.messages[1].content[0].thinking).toBe("Let me \nlook. é ");
  });

  test("keeps results in call order when a later call is done first, and one failure leaves the others alone", async () => {
    const calls = [{ name: "never_returns", input: {} }, one, { name: "throws", input: {} }, two];
    await using api = await fakeApi([reply({ calls }), reply({ text: "done" })]);
    const messages: Message[] = [];
    await say(agentFor(api, { registry }), messages, "go");
    const results = messages[2]?.content as ToolResultBlock[];
    expect(results.map((result) => result.content)).toEqual([
      "Cannot run never_returns: no end after 0.05 s",
      "one",
      "Cannot do it: it never works. Try something else",
      "two",
    ]);
  });
});
