import { describe, expect, test } from "bun:test";
import type { Event } from "../core/agent.ts";
import { createHosts } from "../core/hosts/hosts.ts";
import type { Block, Message, ToolResultBlock } from "../core/message.ts";
import { createRegistry, type Registry, type Tool } from "../core/registry.ts";
import { agentFor, fixtureRegistry, say } from "./support/agent.ts";
import type { StreamEvent } from "./support/api_reply.ts";
import { type Answer, type ApiRequest, fakeApi, reply } from "./support/fake_api.ts";
import { connectInProcess } from "./support/host_in_process.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

/** A block as it is streamed: how it starts, then its deltas. */
type Streamed = [start: Block | { type: string; [field: string]: unknown }, ...deltas: { type: string }[]];

const use = (id: string, name: string, ...json: string[]): Streamed => [
  { type: "tool_use", id, name, input: {} },
  ...json.map((partial_json) => ({ type: "input_json_delta", partial_json })),
];
const text = (...pieces: string[]): Streamed => [
  { type: "text", text: "" },
  ...pieces.map((piece) => ({ type: "text_delta", text: piece })),
];

/** A stream told event by event, so that it may be one that `reply` would not make. */
function streamed(stop_reason: string, ...blocks: Streamed[]): { sse: StreamEvent[] } {
  const message = {
    ...{ id: "msg_1", type: "message", role: "assistant", model: "fake-model", content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } },
  };
  return {
    sse: [
      { type: "message_start", message },
      ...blocks.flatMap(([content_block, ...deltas], index) => [
        { type: "content_block_start", index, content_block },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]),
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 9 } },
      { type: "message_stop" },
    ],
  };
}

const DONE = reply({ text: "done" });

interface Played {
  requests: ApiRequest[];
  /** The list after all prompts. */
  messages: Message[];
  events: Event[];
  stops: (string | undefined)[];
}

interface Case {
  id: string;
  /** What must hold, as the end of a sentence. */
  holds: string;
  server: Answer[];
  /** Default: one, "go". */
  prompts?: string[];
  tools?: () => Promise<Registry>;
  check(played: Played): void;
}

/** The results in the last message of a request, as `error text` or `text`. */
function resultsIn(request: ApiRequest | undefined): string[] {
  const content: ToolResultBlock[] = request?.body.messages.at(-1).content ?? [];
  return content.filter((block) => block.type === "tool_result").map((block) => {
    const said = typeof block.content === "string" ? block.content : JSON.stringify(block.content);
    return block.is_error ? `error ${said}` : said;
  });
}

/** Without cache marks. */
function unmarked<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (key, part) => key === "cache_control" ? undefined : part));
}

const THINKING: Streamed[] = [
  [
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking: "Let me " } as { type: string },
    { type: "thinking_delta", thinking: "look. é\n " } as { type: string },
    { type: "signature_delta", signature: "AbC" } as { type: string },
    { type: "signature_delta", signature: "d+/==" } as { type: string },
  ],
  [{ type: "redacted_thinking", data: "RkFLRQ==" }],
];

const cases: Case[] = [
  {
    id: "L01",
    holds: "an empty text beside a call is not sent back",
    server: [streamed("tool_use", text(), use("toolu_1", "list_files", "{}")), DONE],
    check({ requests }) {
      const { content } = requests[1]?.body.messages[1];
      expect(unmarked(content)).toEqual([{ type: "tool_use", id: "toolu_1", name: "list_files", input: {} }]);
    },
  },
  {
    id: "L09",
    holds: "a reply that was cut runs none of its calls and answers each",
    server: [streamed("max_tokens", use("toolu_1", "list_files", "{}"), use("toolu_2", "read_file", '{"pa')), DONE],
    check({ requests, events }) {
      const cut = "error Not run: the reply was cut, make a smaller call";
      expect(resultsIn(requests[1])).toEqual([cut, cut]);
      expect(events.some(({ type }) => type === "tool_use")).toBe(false);
    },
  },
  {
    id: "L11",
    holds: "a paused reply goes back as it came, and nothing after it",
    server: [
      streamed("pause_turn", text("Searching"), [
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
        { type: "input_json_delta", partial_json: '{"query":"q"}' } as { type: string },
      ]),
      DONE,
    ],
    check({ requests }) {
      expect(requests.length).toBe(2);
      expect(unmarked(requests[1]?.body.messages.at(-1))).toEqual({
        role: "assistant",
        content: [
          { type: "text", text: "Searching" },
          { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
        ],
      });
    },
  },
  {
    id: "L13",
    holds: "an empty reply after results ends the turn, and no empty message is kept",
    server: [streamed("tool_use", use("toolu_1", "list_files", "{}")), streamed("end_turn"), DONE],
    prompts: ["go", "and?"],
    check({ requests, messages, stops }) {
      expect(requests.length).toBe(3);
      expect(stops).toEqual(["end_turn", "end_turn"]);
      expect(messages.every(({ content }) => content.length > 0)).toBe(true);
      expect(messages.every(({ role }, index) => role === (index % 2 === 0 ? "user" : "assistant"))).toBe(true);
    },
  },
  {
    id: "L15",
    holds: "events, blocks and stop reasons that are not known yet do no harm",
    server: [
      {
        sse: streamed("future_reason", [{ type: "future_block", data: "d" }], text("hello")).sse.toSpliced(
          1,
          0,
          { type: "brand_new_event", x: 1 },
          { type: "ping" },
        ),
      },
      DONE,
    ],
    prompts: ["go", "next"],
    check({ requests, events, stops }) {
      expect(events).toContainEqual({ type: "text", text: "hello" });
      expect(stops).toEqual(["future_reason", "end_turn"]);
      expect(requests.length).toBe(2);
    },
  },
  {
    id: "L17",
    holds: "the message after calls begins with their results, in their order",
    server: [
      streamed(
        "tool_use",
        use("toolu_1", "read_file", '{"path":"b.txt"}'),
        use("toolu_2", "read_file", '{"path":"a.txt"}'),
      ),
      DONE,
    ],
    check({ requests }) {
      const { content } = requests[1]?.body.messages.at(-1);
      expect(content.map((block: ToolResultBlock) => block.tool_use_id)).toEqual(["toolu_1", "toolu_2"]);
      expect(resultsIn(requests[1])[1]).toBe("     1\tx");
    },
  },
  {
    id: "L21",
    holds: "input that breaks the schema never reaches a tool, and each answer names what is wrong",
    server: [
      streamed(
        "tool_use",
        use("toolu_1", "read_file", "{}"),
        use("toolu_2", "read_file", '{"path":5,"limit":null}'),
        use("toolu_3", "read_file", '{"path":"a.txt","frobnicate":true}'),
        use("toolu_4", "read_file", "[1]"),
        use("toolu_5", "list_files", '"ls"'),
      ),
      DONE,
    ],
    check({ requests }) {
      const results = resultsIn(requests[1]);
      expect(results.length).toBe(5);
      expect(results.every((result) => /^error Cannot call (read_file|list_files): /.test(result))).toBe(true);
      expect(results[0]).toContain("path: expected string");
      expect(results[1]).toContain("path: expected string, got number");
      expect(results[2]).toContain("frobnicate");
      const { content } = requests[1]?.body.messages[1];
      expect(content.every(({ input }: { input: unknown }) => Object(input) === input && !Array.isArray(input))).toBe(
        true,
      );
    },
  },
  {
    id: "L23",
    holds: "an input that is no JSON runs nothing, and the answer quotes it",
    server: [
      streamed(
        "tool_use",
        use("toolu_1", "read_file", 'path":"a"}'),
        use("toolu_2", "read_file", '{"path":"a"}{"x":1}'),
      ),
      DONE,
    ],
    check({ requests }) {
      expect(resultsIn(requests[1]).every((result) => /^error .*not valid JSON/.test(result))).toBe(true);
      const { content } = requests[1]?.body.messages[1];
      expect(content.map(({ input }: { input: unknown }) => typeof input)).toEqual(["object", "object"]);
    },
  },
  {
    id: "L25",
    holds: "an input that came whole with its block is used",
    server: [
      streamed("tool_use", [{ type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "a.txt" } }]),
      DONE,
    ],
    check: ({ requests }) => expect(resultsIn(requests[1])).toEqual(["     1\tx"]),
  },
  {
    id: "L35",
    holds: "thinking goes back to the letter, in its place",
    server: [streamed("tool_use", ...THINKING, use("toolu_1", "list_files", "{}")), DONE],
    check({ requests }) {
      expect(requests[1]?.body.messages[1].content.slice(0, 2)).toEqual([
        { type: "thinking", thinking: "Let me look. é\n ", signature: "AbCd+/==" },
        { type: "redacted_thinking", data: "RkFLRQ==" },
      ]);
    },
  },
  {
    id: "L37",
    holds: "no request has more than four cache marks, and the list has none",
    server: [
      ...Array.from({ length: 7 }, (_, at) => streamed("tool_use", use(`toolu_${at}`, "list_files", "{}"))),
      DONE,
    ],
    check({ requests, messages }) {
      const marks = requests.map(({ body }) => JSON.stringify(body).split('"cache_control"').length - 1);
      expect(marks.every((count) => count >= 1 && count <= 4)).toBe(true);
      expect(JSON.stringify(messages)).not.toContain("cache_control");
    },
  },
  {
    id: "L49",
    holds: "a result that is an error carries text alone",
    tools: async () => failingWith((await fixtureRegistry("shows_a_picture")).tools),
    server: [streamed("tool_use", use("toolu_1", "shows_a_picture", "{}")), DONE],
    check({ requests }) {
      const [result] = requests[1]?.body.messages.at(-1).content;
      expect(result.is_error).toBe(true);
      expect(JSON.stringify(result)).not.toContain('"image"');
    },
  },
  {
    id: "L53",
    holds: "an error is one short line with the path as the model gave it",
    server: [
      streamed(
        "tool_use",
        use("toolu_1", "read_file", '{"path":"../x"}'),
        use("toolu_2", "read_file", '{"path":"nope.txt"}'),
      ),
      DONE,
    ],
    check({ requests }) {
      const [outside, missing] = resultsIn(requests[1]);
      expect(outside).toBe('error Cannot read "../x": it is outside the workspace. Use a path inside it');
      expect(missing).toStartWith('error Cannot read "nope.txt": no such file');
      for (const result of [outside, missing]) expect(result).toMatch(/^[^\n]{1,300}$/);
      for (const result of [outside, missing]) expect(result).not.toMatch(/ {4}at |\/tmp\/|\/root|ENOENT/);
    },
  },
];

/** The same tools, in a host that calls their results errors: core must not trust it. */
function failingWith(tools: readonly Tool[]): Registry {
  return createRegistry(tools.map((tool) => ({
    ...tool,
    host: {
      async call(name, input, options) {
        return { ...await tool.host.call(name, input, options), is_error: true };
      },
    },
  })));
}

/** The tools that read, over a folder. */
async function readingTools(root: string): Promise<Registry> {
  const hosts = createHosts(connectInProcess, new Map());
  const grant = { root, read: [root], write: [], denyRead: [], denyWrite: [] };
  const plugins = { builtin: ["list_files", "read_file"] };
  const loaded = await hosts.load(plugins);
  const host = hosts.open({ plugins, grant, needs: { read: true } }, loaded);
  return createRegistry(
    loaded.map(({ definition, permissions }) => ({ definition, permissions, source: "built in", host })),
  );
}

describe("a whole turn, through the API's own stream", () => {
  test.each(cases)("$id: $holds", async ({ server, prompts = ["go"], tools, check }) => {
    await using temp = await tempWorkspace({ "a.txt": "x\n", "b.txt": "y\n" });
    await using api = await fakeApi(server);
    const agent = agentFor(api, { registry: await (tools?.() ?? readingTools(temp.root)) });
    const messages: Message[] = [];
    const played: Played = { requests: api.requests, messages, events: [], stops: [] };
    for (const prompt of prompts) {
      const turn = await say(agent, messages, prompt);
      expect(turn.error).toBeUndefined();
      played.events.push(...turn.events);
      played.stops.push(turn.stop);
    }
    check(played);
    expect(api.refusals).toEqual([]);
  });

  test("L05: an interrupt in the middle of calls leaves each with its result, before the next words", async () => {
    const calls = [{ id: "toolu_1", name: "never_returns", input: {} }, { id: "toolu_2", name: "writes", input: {} }];
    await using api = await fakeApi([reply({ calls }), DONE]);
    const registry = await fixtureRegistry("never_returns", "writes");
    const abort = new AbortController();
    const messages: Message[] = [];
    const first = await say(agentFor(api, { registry, signal: abort.signal }), messages, "go", ({ type }) => {
      if (type === "tool_use") abort.abort();
    });
    expect(first.stop).toBe("interrupted");
    await say(agentFor(api, { registry }), messages, "continue");
    const { content } = api.requests[1]?.body.messages.at(-1);
    expect(content.map(({ type, tool_use_id }: ToolResultBlock) => tool_use_id ?? type)).toEqual([
      "toolu_1",
      "toolu_2",
      "text",
    ]);
    expect(content[0].is_error && content[1].is_error).toBe(true);
  });
});
