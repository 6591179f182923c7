/** The rules of the fake API: a row per rule, what is accepted beside what is refused. */

import { describe, expect, test } from "bun:test";
import { describeImage } from "./support/api_image_rules.ts";
import { checkRequest, type Headers, type RuleOptions } from "./support/api_rules.ts";

const HEADERS: Headers = {
  "x-api-key": "key",
  "anthropic-version": "2026-10-21",
  "content-type": "application/json",
};
const OLD: Headers = { ...HEADERS, "anthropic-version": "2023-06-01" };

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const text = (text: string, more = {}) => ({ type: "text", text, ...more });
const call = (id: string, more = {}) => ({ type: "tool_use", id, name: "t", input: {}, ...more });
const result = (tool_use_id: string, more = {}) => ({ type: "tool_result", tool_use_id, content: "ok", ...more });
const thought = { type: "thinking", thinking: "hm", signature: "s" };
const tool = (more = {}, schema = {}) => ({ name: "t", input_schema: { type: "object", ...schema }, ...more });
const tools = (properties: object, more = {}) => ({ tools: [tool(more, { properties, additionalProperties: false })] });
const strict = (property: unknown, more = {}) => tools({ a: property }, { strict: true, ...more });
const mark = (ttl?: string) => ({ cache_control: { type: "ephemeral", ...(ttl && { ttl }) } });
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, at) => make(at));
const thinking = { type: "enabled", budget_tokens: 1024 };

function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

const hex = (digits: string) => Buffer.from(digits.replaceAll(" ", ""), "hex");
/** 300 × 200, as the first bytes of each format say it. */
const JPEG = hex("ffd8 ffe0 0004 0000 ffc0 0011 08 00c8 012c 03");
const GIF = Buffer.concat([Buffer.from("GIF89a"), hex("2c01 c800")]);
const webp = (rest: string) => Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBP"), Buffer.from(rest, "latin1")]);
const VP8 = webp("VP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x2c\x01\xc8\0");
const VP8L = webp("VP8L\0\0\0\0\x2f\x2b\xc1\x31\0\0\0\0\0\0");
const VP8X = webp("VP8X\0\0\0\0\0\0\0\0\x2b\x01\0\xc7\0\0");

const image = (bytes: Buffer, kind = "png", more = {}) => ({
  type: "image",
  source: { type: "base64", media_type: `image/${kind}`, data: bytes.toString("base64") },
  ...more,
});
const base64 = (data: string) => ({ type: "image", source: { type: "base64", media_type: "image/png", data } });

/** Rule, fields put over a valid request, and a part of the refusal; a row without one is accepted. */
type Row = [rule: string, fields: Record<string, unknown>, refused?: string];

function check(rows: readonly Row[], headers: Headers = HEADERS, options: RuleOptions = {}): void {
  for (const [rule, fields, refused] of rows) {
    test(`${refused === undefined ? "accepts" : "refuses"} ${rule}`, () => {
      const body = { model: "fake-model", max_tokens: 2000, messages: [user("hi")], ...fields };
      const refusal = checkRequest(headers, JSON.stringify(body), options);
      if (refused === undefined) expect(refusal).toBeUndefined();
      else expect(refusal?.message).toContain(refused);
    });
  }
}

describe("headers", () => {
  const BODY = JSON.stringify({ model: "fake-model", max_tokens: 1, messages: [user("hi")] });
  const without = (name: string) => ({ ...HEADERS, [name]: undefined });
  const rows: [rule: string, headers: Headers, status?: number, type?: string][] = [
    ["a key", HEADERS],
    ["a bearer token", { ...without("x-api-key"), authorization: "Bearer token" }],
    ["neither", without("x-api-key"), 401, "authentication_error"],
    ["a wrong key", { ...HEADERS, "x-api-key": "other" }, 401, "authentication_error"],
    ["the oldest version", { ...HEADERS, "anthropic-version": "2023-01-01" }],
    ["an unknown version", { ...HEADERS, "anthropic-version": "2024-01-01" }, 400, "invalid_request_error"],
    ["no version", without("anthropic-version"), 400, "invalid_request_error"],
    ["a charset", { ...HEADERS, "content-type": "application/json; charset=utf-8" }],
    ["another content type", { ...HEADERS, "content-type": "text/plain" }, 400, "invalid_request_error"],
  ];
  for (const [rule, headers, status, type] of rows) {
    test(`${status ? "refuses" : "accepts"} ${rule}`, () => {
      const key = rule === "a wrong key" ? { key: "key" } : {};
      const refusal = checkRequest(headers, BODY, key);
      expect(refusal?.status).toBe(status as number);
      expect(refusal?.type).toBe(type as string);
    });
  }
});

describe("bytes", () => {
  const rows: [rule: string, body: string | Uint8Array, status?: number][] = [
    [
      "a whole emoji as escapes",
      '{"model":"fake-model","max_tokens":1,"messages":[{"role":"user","content":"\\ud83d\\ude00"}]}',
    ],
    [
      "half a surrogate pair",
      '{"model":"fake-model","max_tokens":1,"messages":[{"role":"user","content":"\\ud83d"}]}',
      400,
    ],
    ["half a pair in a key", '{"model":"fake-model","max_tokens":1,"messages":[],"\\ude00":1}', 400],
    ["bytes that are not UTF-8", Buffer.from('{"model":"\xff"}', "latin1"), 400],
    ["what is not JSON", "{", 400],
    ["a body over 32 MB", JSON.stringify(" ".repeat(32 * 1024 * 1024)), 413],
  ];
  for (const [rule, body, status] of rows) {
    test(`${status ? "refuses" : "accepts"} ${rule}`, () => {
      expect(checkRequest(HEADERS, body)?.status).toBe(status as number);
    });
  }
});

describe("fields", () => {
  check([
    ["all that a request can have", {
      system: [text("be brief")],
      tools: [tool()],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      thinking: { type: "adaptive", display: "omitted" },
      output_config: { effort: "low" },
      metadata: { user_id: "u" },
      stop_sequences: ["x"],
      stream: true,
      cache_control: { type: "ephemeral" },
      diagnostics: { previous_message_id: null },
    }],
    ["an unknown field", { foo: 1 }, "foo: Extra inputs are not permitted"],
    ["an unknown field of a message", { messages: [{ ...user("a"), id: 1 }] }, "messages.0.id: Extra inputs"],
    ["an unknown field of a block", {
      messages: [user([text("a"), text("b", { foo: 1 })])],
    }, "messages.0.content.1.foo: Extra inputs are not permitted"],
    ["an unknown field of a tool", { tools: [tool({ handler: 1 })] }, "tools.0.handler: Extra inputs"],
    ["an unknown kind of block", { messages: [user([{ type: "video" }])] }, "messages.0.content.0.type: Input tag"],
    ["a block without a type", { messages: [user([{ text: "a" }])] }, "messages.0.content.0.type"],
    ["a text that is a number", { messages: [user([{ type: "text", text: 1 }])] }, "messages.0.content.0.text: Input"],
    ["an unknown role", { messages: [{ role: "tool", content: "a" }] }, "messages.0.role"],
    ["a beta field without its beta", { context_management: {} }, "context_management: Extra inputs"],
    ["no max_tokens", { max_tokens: undefined }, "max_tokens: Field required"],
    ["max_tokens that is no whole number", { max_tokens: 1.5 }, "max_tokens"],
    ["max_tokens at the model's limit", { max_tokens: 64_000 }],
    ["max_tokens over the model's limit", { max_tokens: 64_001 }, "max_tokens: 64001 > 64000"],
    ["no model", { model: undefined }, "model: Field required"],
    ["a model of the SDK", { model: "claude-sonnet-5-5" }],
    ["an unknown model", { model: "constructor" }, "model: constructor"],
    ["a blank stop sequence", { stop_sequences: [" "] }, "stop_sequences.0"],
    ["a prompt over the context window", { messages: [user("word ".repeat(200_000))] }, "prompt is too long"],
    ["temperature, in version 2026-10-21", { temperature: 1 }, "temperature: Extra inputs are not permitted"],
    ["top_p, in version 2026-10-21", { top_p: 1 }, "top_p: Extra inputs"],
    ["top_k, in version 2026-10-21", { top_k: 1 }, "top_k: Extra inputs"],
    ["effort that the model does not know", {
      model: "fake-old-model",
      output_config: { effort: "low" },
    }, "output_config.effort"],
  ]);
  check([["a beta field with its beta", { context_management: {} }]], {
    ...HEADERS,
    "anthropic-beta": "a-2025-01-01, context-management-2025-06-27",
  });
  check([
    ["temperature, in version 2023-06-01", { model: "fake-old-model", temperature: 0 }],
    ["temperature on a newer model", { temperature: 0 }, "temperature: not supported"],
  ], OLD);
  check([["a model that was added", { model: "mine", max_tokens: 9 }]], HEADERS, {
    models: {
      mine: {
        maxTokens: 9,
        contextTokens: 1000,
        thinking: [],
        prefill: false,
        sampling: false,
        effort: false,
        systemMessages: false,
      },
    },
  });

  test("an unknown model is not found, with status 404", () => {
    const body = JSON.stringify({ model: "gpt", max_tokens: 1, messages: [user("hi")] });
    expect(checkRequest(HEADERS, body)).toEqual({ status: 404, type: "not_found_error", message: "model: gpt" });
  });
});

describe("roles and text", () => {
  const system = { role: "system", content: "now in French" };
  check([
    ["neighbours of one role", { messages: [user("a"), user("b"), assistant("c"), assistant("d"), user("e")] }],
    ["no messages", { messages: [] }, "at least one message"],
    ["an assistant first", { messages: [assistant("a"), user("b")] }, "first message must use"],
    ["an empty message", { messages: [user("")] }, "messages.0: all messages must have non-empty content"],
    ["a message without blocks", { messages: [user("a"), assistant([]), user("b")] }, "messages.1: all messages must"],
    ["a blank message", { messages: [user(" \n")] }, "messages.0.content: text content blocks must contain non-white"],
    ["an empty text block", { messages: [user([text("")])] }, "messages.0.content.0: text content blocks must be non-"],
    ["a blank text block", { messages: [user([text("a"), text("\t")])] }, "messages.0.content.1: text content"],
    ["an empty text block of system", { system: [text("")] }, "system.0: text content blocks must be non-empty"],
    ["a system message at the end", { messages: [user("a"), system] }],
    ["a system message before an assistant", { messages: [user("a"), system, assistant("b"), user("c")] }],
    ["a system message between users", { messages: [user("a"), system, user("b")] }, 'messages.1: a "system" message'],
    ["a system message first", { messages: [system, user("a")] }, "first message must use"],
    ["a system message on a model without", {
      model: "fake-old-model",
      messages: [user("a"), system],
    }, "does not take"],
    ["a prefill", { messages: [user("a"), assistant("b")] }, "does not support assistant message prefill"],
    ["a prefill on an older model", { model: "fake-old-model", messages: [user("a"), assistant("b")] }],
    ["a prefill that ends in a blank", {
      model: "fake-old-model",
      messages: [user("a"), assistant("b ")],
    }, "trailing whitespace"],
    [
      "an image of the assistant",
      { messages: [user("a"), assistant([image(png(1, 1))]), user("b")] },
      "`image` blocks",
    ],
    ["a document of the assistant", {
      messages: [user("a"), assistant([{ type: "document", source: { type: "text" } }]), user("b")],
    }, "documents are not permitted"],
    ["citations on user text", { messages: [user([text("a", { citations: [] })])] }, "citations: Extra inputs"],
    ["citations on assistant text", { messages: [user("a"), assistant([text("b", { citations: [] })]), user("c")] }],
  ]);
});

describe("calls and results", () => {
  const asked = [user("go"), assistant([call("a"), call("b")])];
  check([
    ["results first, then text", { messages: [...asked, user([result("a"), result("b"), text("and?")])] }],
    ["results in another order", { messages: [...asked, user([result("b"), result("a")])] }],
    ["results in two messages", { messages: [...asked, user([result("a")]), user([result("b")])] }],
    ["a call with what it came with", {
      messages: [
        user("go"),
        assistant([call("a", { caller: { type: "direct" }, toolset_name: null })]),
        user([result("a")]),
      ],
    }],
    [
      "calls without results",
      { messages: [...asked, user("and?")] },
      "without `tool_result` blocks immediately after: a, b",
    ],
    ["a call at the end", { messages: asked }, "messages.1: `tool_use` ids were found without"],
    ["a missing result", { messages: [...asked, user([result("a")])] }, "immediately after: b"],
    ["a result in a later turn", {
      messages: [...asked, user([result("a")]), assistant("b"), user([result("b")])],
    }, "immediately after: b"],
    ["an unknown result", { messages: [user([result("a")])] }, "messages.0.content.0: unexpected `tool_use_id`"],
    ["a result too many", {
      messages: [...asked, user([result("a"), result("b"), result("c")])],
    }, "messages.2.content.2: unexpected `tool_use_id` found in `tool_result` blocks: c"],
    ["a doubled result", { messages: [...asked, user([result("a"), result("b"), result("a")])] }, "single result"],
    ["text before results", { messages: [...asked, user([text("x"), result("a"), result("b")])] }, "must come first"],
    ["text between results", { messages: [...asked, user([result("a"), text("x"), result("b")])] }, "must come first"],
    ["text in an own message before results", {
      messages: [...asked, user("x"), user([result("a"), result("b")])],
    }, "must come first"],
    ["a doubled id", { messages: [user("go"), assistant([call("a"), call("a")]), user([result("a")])] }, "unique: a"],
    ["an id used again later", {
      messages: [user("go"), assistant([call("a")]), user([result("a")]), assistant([call("a")]), user([result("a")])],
    }, "messages.3.content.0: `tool_use` ids must be unique"],
    ["an id with odd characters", {
      messages: [user("go"), assistant([call("a:1")]), user([result("a:1")])],
    }, "messages.1.content.0.id: String should match pattern"],
    ["an input that is a list", {
      messages: [user("go"), assistant([call("a", { input: [] })]), user([result("a")])],
    }, "messages.1.content.0.input: Input should be"],
    ["an input that is a string", {
      messages: [user("go"), assistant([call("a", { input: "{}" })]), user([result("a")])],
    }, "messages.1.content.0.input"],
    ["a call with a name that no tool can have", {
      messages: [user("go"), assistant([call("a", { name: "a b" })]), user([result("a")])],
    }, "messages.1.content.0.name"],
    ["a call by the user", { messages: [user([call("a")])] }, "`tool_use` blocks are not permitted in `user`"],
    [
      "a result by the assistant",
      { messages: [user("a"), assistant([result("a")]), user("b")] },
      "`tool_result` blocks",
    ],
  ]);

  const answered = (more: object) => ({ messages: [user("go"), assistant([call("a")]), user([result("a", more)])] });
  check([
    ["a result without content", answered({ content: undefined })],
    ["an empty result", answered({ content: "" })],
    ["a result with text and image", answered({ content: [text("x"), image(png(1, 1))] })],
    ["an empty text block in a result", answered({ content: [text("")] }), "content.0: text content blocks must be"],
    ["thinking in a result", answered({ content: [thought] }), "messages.2.content.0.content.0.type: Input tag"],
    ["an error with text", answered({ is_error: true, content: [text("no")] })],
    ["an error without text", answered({ is_error: true, content: "" }), "content cannot be empty if `is_error`"],
    ["an error without content", answered({ is_error: true, content: undefined }), "content cannot be empty"],
    [
      "an error with an image",
      answered({ is_error: true, content: [text("x"), image(png(1, 1))] }),
      'must be type "text"',
    ],
  ]);

  const search = { type: "server_tool_use", id: "s", name: "web_search", input: {} };
  const found = { type: "web_search_tool_result", tool_use_id: "s", content: [] };
  check([
    ["a server tool with its result", { messages: [user("a"), assistant([search, found, text("b")]), user("c")] }],
    ["a paused turn at the end", { messages: [user("a"), assistant([text("b"), search])] }],
    ["a server tool without its result", { messages: [user("a"), assistant([search]), user("c")] }, "server tool uses"],
    [
      "a server tool's result alone",
      { messages: [user("a"), assistant([found]), user("c")] },
      "unexpected `tool_use_id`",
    ],
  ]);
});

describe("thinking", () => {
  const loop = (...blocks: unknown[]) => [user("go"), assistant([...blocks, call("a")]), user([result("a")])];
  check([
    ["a loop that begins with thinking", { thinking, messages: loop(thought) }],
    ["a loop that begins with redacted thinking", {
      thinking,
      messages: loop({ type: "redacted_thinking", data: "x" }),
    }],
    ["a running loop without thinking", { thinking, messages: loop(text("x")) }, "Expected `thinking` or `redacted"],
    ["a running loop whose first step has none", {
      thinking,
      messages: [...loop(), assistant([thought, call("b")]), user([result("b")])],
    }, "messages.1.content.0.type: Expected"],
    ["a past loop without thinking", { thinking, messages: [...loop(), assistant("done"), user("next")] }],
    ["a loop without thinking, when adaptive", { thinking: { type: "adaptive" }, messages: loop() }],
    ["thinking as the last block", {
      messages: [user("a"), assistant([thought]), user("b")],
    }, "The final block in an assistant message cannot be"],
    ["thinking without a signature", { messages: loop({ ...thought, signature: "" }) }, "Invalid `signature`"],
    ["thinking by the user", { messages: [user([thought])] }, "`thinking` blocks are not permitted in `user`"],
    ["a budget under 1,024", { thinking: { ...thinking, budget_tokens: 1023 } }, "budget_tokens"],
    [
      "a budget that leaves no answer",
      { thinking: { ...thinking, budget_tokens: 2000 } },
      "max_tokens: must be greater",
    ],
    ["a forced tool", { thinking, tools: [tool()], tool_choice: { type: "any" } }, "tool_choice: Thinking may not"],
    ["a mode that the model does not have", { model: "claude-sonnet-5-5", thinking }, 'thinking.type: "enabled"'],
    [
      "thinking off where it is always on",
      { model: "claude-sonnet-5-5", thinking: { type: "disabled" } },
      "thinking.type",
    ],
    ["a prefill while thinking", {
      model: "fake-old-model",
      thinking,
      messages: [user("a"), assistant("b")],
    }, "prefill is not supported"],
  ]);
  check([
    ["temperature 1 while thinking", { model: "fake-old-model", thinking, temperature: 1 }],
    ["temperature 0 while thinking", { model: "fake-old-model", thinking, temperature: 0 }, "temperature: may only"],
    ["top_k while thinking", { model: "fake-old-model", thinking, top_k: 5 }, "top_k: must be unset"],
    ["top_p while thinking", { model: "fake-old-model", thinking, top_p: 0.5 }, "top_p: must be at least"],
  ], OLD);
  check([["thinking that the API did not send", { messages: loop(thought) }, "Invalid `signature`"]], HEADERS, {
    isOurs: () => false,
  });
  check(
    [["a kind of block that the API itself sent", {
      messages: [user("a"), assistant([{ type: "future" }]), user("b")],
    }]],
    HEADERS,
    { isOurs: (block) => (block as { type: string }).type === "future" },
  );
});

describe("tools", () => {
  check([
    ["a name of 128 characters", { tools: [tool({ name: "a".repeat(128) })] }],
    ["a name of 129 characters", { tools: [tool({ name: "a".repeat(129) })] }, "tools.0.name: String should match"],
    ["a name with a dot", { tools: [tool({ name: "a.b" })] }, "tools.0.name: String should match"],
    ["two of one name", { tools: [tool(), tool()] }, "Tool names must be unique"],
    ["a tool of the API", { tools: [{ type: "web_search_20260318", name: "web_search", max_uses: 1 }] }],
    ["an unknown kind of tool", { tools: [{ type: "magic", name: "x" }] }, "tools.0.type"],
    ["a forced tool that is there", { tools: [tool()], tool_choice: { type: "tool", name: "t" } }],
    [
      "a forced tool that is not there",
      { tools: [tool()], tool_choice: { type: "tool", name: "u" } },
      "Tool 'u' not found",
    ],
    ["a choice without tools", { tool_choice: { type: "auto" } }, "tool_choice: may only be"],
    ["no schema", { tools: [{ name: "t" }] }, "tools.0.input_schema: Field required"],
    ["a schema that is no object", { tools: [tool({}, { type: "string" })] }, "tools.0.input_schema.type"],
    [
      "a schema without a type",
      { tools: [tool({}, { type: undefined })] },
      "tools.0.input_schema.type: Field required",
    ],
    ["an example that fits", tools({ a: { type: "string" } }, { input_examples: [{ a: "x" }] })],
    [
      "an example that does not fit",
      tools({ a: { type: "string" } }, { input_examples: [{ a: 1 }] }),
      "input_examples.0",
    ],
    ...["oneOf", "allOf", "anyOf"].map((union): Row => [
      `${union} on top`,
      { tools: [tool({}, { [union]: [{ type: "object" }] })] },
      "does not support oneOf, allOf, or anyOf at the top level",
    ]),
    ["a union further down", tools({ a: { oneOf: [{ type: "string" }, { type: "null" }] } })],
    ["a property key of 64 characters", tools({ ["a.-_".repeat(16)]: {} })],
    ["a property key of 65 characters", tools({ ["a".repeat(65)]: {} }), "Property keys should match"],
    ["a property key with a dollar", tools({ $a: {} }), "Property keys should match"],
    ["keywords that draft 2020-12 does not know", tools({ a: { type: "string", "x-order": 1, nullable: true } })],
    ["a reference to a definition", {
      tools: [tool({}, { properties: { a: { $ref: "#/$defs/a~1b" } }, $defs: { "a/b": { type: "string" } } })],
    }],
    ["a reference into nothing", tools({ a: { $ref: "#/$defs/a" } }), "leads nowhere"],
  ]);

  const wrong: [string, unknown][] = [
    ["type", "text"],
    ["type", null],
    ["type", []],
    ["properties", []],
    ["required", true],
    ["required", ["a", "a"]],
    ["items", [{}]],
    ["anyOf", []],
    ["enum", "a"],
    ["exclusiveMinimum", true],
    ["minimum", "1"],
    ["minLength", -1],
    ["multipleOf", 0],
    ["pattern", "("],
    ["additionalProperties", "no"],
    ["description", 1],
  ];
  check(wrong.map(([keyword, value]): Row => [
    `${keyword}: ${JSON.stringify(value)}, which draft 2020-12 does not allow`,
    tools({ a: { [keyword]: value } }),
    `tools.0.custom.input_schema.properties.a: JSON schema is invalid`,
  ]));
});

describe("strict tools", () => {
  const object = { type: "object", properties: {}, additionalProperties: false };
  const strictly = (schema: object) => ({
    tools: [tool({ strict: true }, { additionalProperties: false, ...schema })],
  });
  check([
    ["a plain schema", strict({ type: "string", enum: ["a"], format: "date", pattern: "^[a-z]+$" })],
    ["an object that allows more", { tools: [tool({ strict: true })] }, "'additionalProperties' must be"],
    ["an inner object that allows more", strict({ type: "object", properties: {} }), "properties.a: For 'object' type"],
    ["an inner object in a list", strict({ type: "array", items: { type: "object" } }), "properties.a.items: For"],
    ...["oneOf", "prefixItems"].map((keyword): Row => [keyword, strict({ [keyword]: [{}] }), `'${keyword}' is not`]),
    ...["not", "if", "contains", "propertyNames"].map((keyword): Row => [
      keyword,
      strict({ [keyword]: {} }),
      `'${keyword}' is not supported`,
    ]),
    ...[
      "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems minProperties",
      "maxProperties",
    ].join(" ").split(" ").map((keyword): Row => [keyword, strict({ [keyword]: 1 }), `'${keyword}' is not supported`]),
    ["uniqueItems", strict({ uniqueItems: true }), "'uniqueItems' is not supported"],
    ["patternProperties", strict({ patternProperties: { a: {} } }), "'patternProperties' is not supported"],
    ["a minimum, when not strict", tools({ a: { type: "number", minimum: 1 } })],
    ["minItems 1", strict({ type: "array", items: { type: "string" }, minItems: 1 })],
    ["minItems 2", strict({ type: "array", items: { type: "string" }, minItems: 2 }), "'minItems' above 1"],
    ["an odd format", strict({ type: "string", format: "regex" }), "format 'regex'"],
    ["look-ahead", strict({ type: "string", pattern: "a(?=b)" }), "look-around"],
    ["look-behind", strict({ type: "string", pattern: "(?<!a)b" }), "look-around"],
    ["a named group", strict({ type: "string", pattern: "(?<year>a)" })],
    ["a word boundary", strict({ type: "string", pattern: "\\ba" }), "word boundary"],
    ["an enum of objects", strict({ enum: [{}] }), "enum values must be plain"],
    [
      "a definition that is used twice",
      strictly({
        properties: { a: { $ref: "#/$defs/o" }, b: { $ref: "#/$defs/o" } },
        $defs: { o: object },
      }),
    ],
    [
      "recursion",
      strictly({
        properties: { a: { $ref: "#/$defs/o" } },
        $defs: { o: { ...object, properties: { again: { $ref: "#/$defs/o" } } } },
      }),
      "recursive schemas are not supported",
    ],
    ["20 of them", { tools: times(20, (at) => ({ ...strictly({}).tools[0], name: `t${at}` })) }],
    ["21 of them", { tools: times(21, (at) => ({ ...strictly({}).tools[0], name: `t${at}` })) }, "at most 20 tools"],
    ["24 optional parameters", strictly({ properties: Object.fromEntries(times(24, (at) => [`p${at}`, {}])) })],
    [
      "25 optional parameters",
      strictly({
        properties: Object.fromEntries(times(25, (at) => [`p${at}`, {}])),
      }),
      "at most 24 optional parameters, found 25",
    ],
    [
      "25 required parameters",
      strictly({
        properties: Object.fromEntries(times(25, (at) => [`p${at}`, {}])),
        required: times(25, (at) => `p${at}`),
      }),
    ],
    [
      "17 unions",
      strictly({
        properties: Object.fromEntries(times(17, (at) => [`p${at}`, { type: ["string", "null"] }])),
      }),
      "at most 16 parameters with unions",
    ],
    ["an output format", { output_config: { format: { type: "json_schema", schema: object } } }],
    ["an output format that allows more", {
      output_config: { format: { type: "json_schema", schema: { type: "object" } } },
    }, "output_config.format.schema: For 'object' type"],
  ]);
});

describe("cache marks", () => {
  const marked = (count: number) => [user(times(count, (at) => text(`t${at}`, mark())))];
  check([
    ["four", { messages: marked(4) }],
    ["five", { messages: marked(5) }, "A maximum of 4 blocks with cache_control may be provided. Found 5."],
    ["five over all places", {
      tools: [tool(mark())],
      system: [text("s", mark())],
      messages: marked(2),
      cache_control: { type: "ephemeral" },
    }, "Found 5"],
    ["five, one of them in a result", {
      messages: [...marked(4), assistant([call("a")]), user([result("a", { content: [text("x", mark())] })])],
    }, "Found 5"],
    ["one on thinking", {
      messages: [user("a"), assistant([{ ...thought, ...mark() }, text("b")]), user("c")],
    }, "messages.1.content.0.cache_control: Extra inputs"],
    ["one on an empty text", { messages: [user([text("", mark())])] }, "cannot be set for empty text blocks"],
    ["an hour, then five minutes", { system: [text("s", mark("1h"))], messages: [user([text("a", mark("5m"))])] }],
    ["five minutes, then an hour", {
      tools: [tool(mark())],
      messages: [user([text("a", mark("1h"))])],
    }, "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after"],
    ["a day", { messages: [user([text("a", mark("1d"))])] }, "messages.0.content.0.cache_control.ttl: Input should be"],
    ["one on top that its block contradicts", {
      cache_control: { type: "ephemeral" },
      messages: [user([text("a", mark("1h"))])],
    }, "cache_control: Top-level ttl='5m'"],
  ]);
});

describe("images", () => {
  const one = (block: unknown) => ({ messages: [user([block])] });
  const big = Buffer.concat([png(1, 1), Buffer.alloc(4 * 1024 * 1024)]);
  check([
    ["png", one(image(png(300, 200)))],
    ["jpeg", one(image(JPEG, "jpeg"))],
    ["gif", one(image(GIF, "gif"))],
    ["webp, lossy", one(image(VP8, "webp"))],
    ["webp, lossless", one(image(VP8L, "webp"))],
    ["webp, extended", one(image(VP8X, "webp"))],
    ["an image by its address", one({ type: "image", source: { type: "url", url: "https://a.test/b.png" } })],
    ["bmp", one(image(png(1, 1), "bmp")), "messages.0.content.0.source.media_type"],
    ["png that says it is jpeg", one(image(png(1, 1), "jpeg")), "but the image appears to be a image/png image"],
    ["no image at all", one(image(Buffer.from("hello"))), "Could not process image"],
    ["an image cut in its header", one(image(png(1, 1).subarray(0, 20))), "Could not process image"],
    ["an empty image", one(base64("")), "image cannot be empty"],
    ["base64 with a line break", one(base64("iVBO\nRw0=")), "invalid base64 data"],
    ["base64 of the URL kind", one(base64("_-__")), "invalid base64 data"],
    ["over 5 MB of base64", one(image(big)), "image exceeds 5 MB maximum"],
    ["8,000 pixels", one(image(png(8000, 1)))],
    ["8,001 pixels", one(image(png(1, 8001))), "exceeds the maximum of 8000 pixels"],
    ["20 images of 2,001 pixels", { messages: [user(times(20, () => image(png(2001, 1))))] }],
    ["21 images of 2,000 pixels", { messages: [user(times(21, () => image(png(2000, 1))))] }],
    ["21 images of 2,001 pixels", { messages: [user(times(21, () => image(png(2001, 1))))] }, "maximum of 2000 pixels"],
    ["100 images", { messages: [user(times(100, () => image(png(1, 1))))] }],
    ["101 images", { messages: [user(times(101, () => image(png(1, 1))))] }, "at most 100 images"],
    ["an oversized image in a result", {
      messages: [user("go"), assistant([call("a")]), user([result("a", { content: [image(png(9000, 1))] })])],
    }, "messages.2.content.0.content.0.image.source.base64"],
  ]);
  for (const [kind, bytes] of Object.entries({ jpeg: JPEG, gif: GIF, VP8, VP8L, VP8X })) {
    test(`the size of ${kind} is read from its header`, () => {
      expect(describeImage(bytes)).toMatchObject({ width: 300, height: 200 });
    });
  }
});
