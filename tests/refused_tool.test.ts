import { describe, expect, test } from "bun:test";
import type { Event } from "../core/agent.ts";
import { isApiError } from "../core/model/api_error.ts";
import { apiModel, MODEL_LIMITS } from "../core/model/model.ts";
import { askWithoutRefused } from "../core/model/refused_tool.ts";
import type { WireDefinition } from "../core/registry.ts";
import { type Answer, type FakeApi, fakeApi, reply } from "./support/fake_api.ts";

const good = (name: string): WireDefinition => ({
  name,
  description: "Does it.",
  input_schema: { type: "object", properties: {} },
});
/** What passes tenon's own checks and not the API's: a key with a blank. */
const bad = (name: string): WireDefinition => ({
  ...good(name),
  input_schema: { type: "object", properties: { "a key": { type: "string" } } },
});

interface Asked {
  events: Event[];
  refused: string[];
  error?: string;
}

async function ask(api: FakeApi, definitions: WireDefinition[], plugins: readonly string[]): Promise<Asked> {
  const asked: Asked = { events: [], refused: [] };
  const common = { model: "fake-model", credential: { apiKey: "k" }, baseUrl: api.url, compat: false, maxTokens: 1000 };
  const one = askWithoutRefused({
    askWith: (offered) => apiModel({ ...common, system: "s", limits: MODEL_LIMITS, definitions: offered }),
    definitions,
    refuse(tool, words) {
      if (!plugins.includes(tool)) return false;
      asked.refused.push(`${tool}: ${words}`);
      return true;
    },
  });
  try {
    for await (
      const event of one([{ role: "user", content: [{ type: "text", text: "hi" }] }], new AbortController().signal)
    ) {
      asked.events.push(event);
    }
  } catch (error) {
    if (!isApiError(error)) throw error;
    asked.error = error.message;
  }
  return asked;
}

const offered = (api: FakeApi) =>
  api.requests.map(({ body }) => (body.tools ?? []).map(({ name }: { name: string }) => name).join());

describe("askWithoutRefused", () => {
  test("sets the plugin aside that the API names, with its words, and asks once more without it", async () => {
    await using api = await fakeApi([reply({ text: "done" })]);
    const { events, refused, error } = await ask(api, [good("a"), bad("b"), good("c")], ["b"]);
    const [words] = api.expectRefusals();
    expect(words).toStartWith("tools.1.custom.input_schema");
    expect(error).toBeUndefined();
    expect(refused).toEqual([`b: ${words}`]);
    expect(events[0]).toEqual({ type: "warning", text: `The API refuses the tool b, which is set aside: ${words}` });
    expect(events).toContainEqual({ type: "text", text: "done" });
    expect(offered(api)).toEqual(["a,b,c", "a,c"]);
  });

  test("does so for each that is named, and counts in what is left", async () => {
    await using api = await fakeApi([reply({ text: "done" })]);
    const { refused } = await ask(api, [bad("a"), good("b"), bad("c")], ["a", "c"]);
    expect(refused.map((line) => line.slice(0, 10))).toEqual(["a: tools.0", "c: tools.1"]);
    expect(offered(api)).toEqual(["a,b,c", "b,c", "b"]);
    expect(api.expectRefusals().length).toBe(2);
  });

  test("lets the refusal of a built-in tool stand", async () => {
    await using api = await fakeApi([]);
    const { error, events } = await ask(api, [bad("read_file")], []);
    expect(error).toContain("The API answered 400 invalid_request_error: tools.0");
    expect([events, offered(api)]).toEqual([[], ["read_file"]]);
    api.expectRefusals();
  });

  const refusal = (status: number, message: string): Answer => ({
    status,
    headers: { "x-should-retry": "false" },
    body: { type: "error", error: { type: "invalid_request_error", message } },
  });
  const others: [what: string, answer: Answer][] = [
    ["another 400", refusal(400, "messages.0: no")],
    ["a 400 that counts tools", refusal(400, "tools: at most 20 tools can be strict, found 21")],
    ["a tool that was not sent", refusal(400, "tools.7.custom.name: no")],
    ["another status that names a tool", refusal(403, "tools.0.custom.name: no")],
  ];
  test.each(others)("takes no tool away for %s", async (_, answer) => {
    await using api = await fakeApi([answer]);
    const { error, refused } = await ask(api, [good("a")], ["a"]);
    expect(error).toStartWith("The API answered 40");
    expect([refused, offered(api)]).toEqual([[], ["a"]]);
  });
});
