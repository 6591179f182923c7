import { expect, test } from "bun:test";
import type { Message } from "../core/message.ts";
import { traced } from "../core/model/trace.ts";
import { agentFor, fixtureRegistry, say } from "./support/agent.ts";
import { fakeApi, reply } from "./support/fake_api.ts";

test("traced tells of each request its messages, bytes and prefix, and sees a changed one", async () => {
  const registry = await fixtureRegistry("reads");
  await using api = await fakeApi([
    reply({ text: "I\x1b[2J look", calls: [{ name: "reads", input: { word: "a" } }] }),
    reply({ text: "done" }),
    reply({ text: "done" }),
  ]);
  const lines: string[] = [];
  const agent = agentFor(api, { registry });
  const watched = { ...agent, ask: traced(agent.ask, "system", registry.definitions, (line) => lines.push(line)) };
  const messages: Message[] = [];
  await say(watched, messages, "go");
  expect(lines.map((line) => line.replace(/\d+ bytes/, "N bytes").replace(/[0-9a-f]{12}/, "HASH"))).toEqual([
    "trace: request 1: 1 message, N bytes, prefix HASH",
    "trace:   user: text: go",
    "trace: request 2: 3 messages, N bytes, prefix HASH",
    "trace:   user: text: go",
    String.raw`trace:   assistant: text tool_use: I\u{1b}[2J look reads {"word":"a"}`,
    "trace:   user: tool_result: a",
  ]);
  messages[0]?.content.push({ type: "text", text: "meddled with" });
  await say(watched, messages, "more");
  expect(lines.find((line) => line.startsWith("trace: request 3"))).toEndWith("(CHANGED: the cache begins anew)");
});
