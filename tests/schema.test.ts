import { describe, expect, test } from "bun:test";
import fc from "fast-check";
// @ts-types="../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { type Checked, readSchema } from "../core/plugins/schema.ts";
import { wireSchema } from "../core/plugins/strict.ts";
import type { JsonSchema } from "../core/tool.ts";
import { checkRequest } from "./support/api_rules.ts";

/** Every form of the same tool's input, as JSON Schema. */
const JSON_FORM = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1 },
    count: { type: "integer", minimum: 1 },
    all: { type: "boolean" },
    kind: { enum: ["file", "folder"], type: "string" },
    names: { type: "array", items: { type: "string" } },
    limit: { anyOf: [{ type: "number" }, { type: "null" }] },
    range: {
      type: "object",
      properties: { from: { type: "number" } },
      required: ["from"],
      additionalProperties: false,
    },
  },
  required: ["path"],
  additionalProperties: false,
};

/** The same as a valibot schema. */
const VALIBOT_FORM = v.strictObject({
  path: v.pipe(v.string(), v.minLength(1)),
  count: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  all: v.optional(v.boolean()),
  kind: v.optional(v.picklist(["file", "folder"])),
  names: v.optional(v.array(v.string())),
  limit: v.optional(v.nullable(v.number())),
  range: v.optional(v.strictObject({ from: v.number() })),
});

async function check(schema: unknown, input: unknown): Promise<Checked> {
  return await (await readSchema(schema)).check(input);
}

async function problem(schema: unknown, input: unknown): Promise<string> {
  const checked = await check(schema, input);
  return checked.ok ? `passed: ${JSON.stringify(checked.input)}` : checked.problem;
}

function object(properties: JsonSchema, more: JsonSchema = {}): JsonSchema {
  return { type: "object", properties, ...more };
}

/** What the API says to a request with this tool. */
function refusal(input_schema: JsonSchema, strict: boolean): string | undefined {
  const body = {
    model: "claude-sonnet-5-5",
    max_tokens: 100,
    messages: [{ role: "user", content: "go" }],
    tools: [{ name: "tool", description: "d", input_schema, ...(strict ? { strict } : {}) }],
  };
  const headers = { "x-api-key": "k", "anthropic-version": "2026-10-21", "content-type": "application/json" };
  return checkRequest(headers, JSON.stringify(body))?.message;
}

describe("check names the field, what was expected and what came, in either form, when", () => {
  const top = "there are: path, count, all, kind, names, limit, range";
  const cases: [what: string, input: unknown, problem: string][] = [
    ["there is no input", undefined, "path: expected string, got nothing"],
    ["the input is null", null, "path: expected string, got nothing"],
    ["the input is empty", "", "path: expected string, got nothing"],
    ["the input is blank", " \n", "path: expected string, got nothing"],
    ["the input is an array", [], "expected object, got array"],
    ["the input is a number", 5, "expected object, got number 5"],
    ["the input's text is no JSON (L23)", 'path":"a"}', 'its input is not valid JSON: path":"a"}'],
    [
      "the input's text is two objects (L23)",
      '{"path":"a"}{"x":1}',
      'its input is not valid JSON: {"path":"a"}{"x":1}',
    ],
    ["a required field is null", { path: null }, "path: expected string, got null"],
    ["a string is a number", { path: 7 }, "path: expected string, got number 7"],
    ["a string is an object", { path: {} }, "path: expected string, got object"],
    ["a string is too short", { path: "" }, "path: expected at least 1 characters, got 0"],
    ["a number is a word", { path: "a", count: "many" }, 'count: expected integer, got string "many"'],
    ["a number is no number JSON has", { path: "a", count: "1e999" }, 'count: expected integer, got string "1e999"'],
    ["an integer is a fraction", { path: "a", count: 1.5 }, "count: expected integer, got number 1.5"],
    ["a number is too small", { path: "a", count: "0" }, "count: expected at least 1, got number 0"],
    ["a boolean is a word", { path: "a", all: "yes" }, 'all: expected boolean, got string "yes"'],
    ["a boolean is a number", { path: "a", all: 1 }, "all: expected boolean, got number 1"],
    ["a word is none of those", { path: "a", kind: "dir" }, 'kind: expected one of "file", "folder", got string "dir"'],
    ["an item does not fit", { path: "a", names: ["b", 2] }, "names.1: expected string, got number 2"],
    ["no side of a union fits", { path: "a", limit: "no" }, 'limit: expected number or null, got string "no"'],
    ["an inner field is not there", { path: "a", range: {} }, "range.from: expected number, got nothing"],
    ["an object's text is no JSON", { path: "a", range: "{bad" }, 'range: expected object, got string "{bad"'],
    [
      "an inner key is unknown",
      { path: "a", range: { from: 1, to: 2 } },
      "range.to: unknown parameter; there are: from",
    ],
    ["a key is unknown", { path: "a", file: 1 }, `file: unknown parameter; ${top}`],
    ["a key has signs of a pointer", { path: "a", "50% a/~b": 1 }, `50% a/~b: unknown parameter; ${top}`],
    ["a key hides a line break", { path: "a", "x\ny\u202e": 1 }, `x\\ny\\u{202e}: unknown parameter; ${top}`],
    ["a key is that of all objects", { path: "a", toString: 1 }, `toString: unknown parameter; ${top}`],
  ];
  for (const [what, input, words] of cases) {
    test(what, async () => {
      expect({ json: await problem(JSON_FORM, input), valibot: await problem(VALIBOT_FORM, input) })
        .toEqual({ json: words, valibot: words });
    });
  }
});

describe("check names the rule that", () => {
  const union = { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] };
  const node = { $ref: "#/$defs/node" };
  const defs = { $defs: { node: object({ next: node, size: { type: "number" } }, { required: ["size"] }) } };
  const cases: [what: string, schema: JsonSchema, input: unknown, problem: string][] = [
    ["a maximum", { type: "number", maximum: 5 }, 6, "expected at most 5, got number 6"],
    ["an exclusive minimum", { type: "number", exclusiveMinimum: 5 }, 5, "expected more than 5, got number 5"],
    ["an exclusive maximum", { type: "number", exclusiveMaximum: 5 }, 5, "expected less than 5, got number 5"],
    ["a step", { type: "number", multipleOf: 5 }, 3, "expected a multiple of 5, got number 3"],
    [
      "a greatest length in characters",
      { type: "string", maxLength: 1 },
      "😀😀",
      "expected at most 1 characters, got 2",
    ],
    ["a pattern", { type: "string", pattern: "^a" }, "b", 'expected a match of ^a, got string "b"'],
    ["a format", { type: "string", format: "date" }, "soon", 'expected the format date, got string "soon"'],
    ["a least number of items", { type: "array", minItems: 2 }, [1], "expected at least 2 items, got 1"],
    ["a greatest number of items", { type: "array", maxItems: 1 }, [1, 2], "expected at most 1 items, got 2"],
    ["a constant", { const: "on" }, true, 'expected "on", got boolean true'],
    ["several types", { type: ["string", "null"] }, 5, "expected string or null, got number 5"],
    ["a union, by the side that nearly fits", union, [5], "0: expected string, got number 5"],
    ["a union, when no side is near", union, 5, "expected string or array, got number 5"],
    ["a reference", node, {}, "size: expected number, got nothing"],
    ["a reference to itself", node, { size: 1, next: { size: "x" } }, 'next.size: expected number, got string "x"'],
    [
      "one for any key",
      { additionalProperties: { type: "number" } },
      { "50% a/~b": "x" },
      '50% a/~b: expected number, got string "x"',
    ],
    ["items that differ", { type: "array", uniqueItems: true }, [1, 1], "Duplicate items at indexes 0 and 1"],
  ];
  for (const [what, schema, input, words] of cases) {
    test(`is ${what}`, async () => {
      const said = await problem(object({ it: schema }, defs), { it: input });
      expect(said.replace(/^it(\.|: )/, "")).toBe(words);
    });
  }

  test("is a check of valibot's own, in valibot's words", async () => {
    const schema = v.object({ word: v.pipe(v.string(), v.check((word) => word !== "no", "must not be no")) });
    expect(await problem(schema, { word: "no" })).toBe("word: must not be no");
  });

  test("is long, in one short line", async () => {
    const said = await problem(JSON_FORM, { path: "a", count: "x".repeat(1e6), kind: "y\n".repeat(1e5) });
    expect(said).not.toContain("\n");
    expect(said.length).toBeLessThan(200);
  });
});

describe("check mends an input whose form alone is wrong:", () => {
  const cases: [what: string, input: unknown, mended: unknown][] = [
    ["a number as a string", { path: "a", count: "5" }, { path: "a", count: 5 }],
    ["a number with spaces", { path: "a", count: " 5 " }, { path: "a", count: 5 }],
    ["true as a string", { path: "a", all: "true" }, { path: "a", all: true }],
    ["false as a string", { path: "a", all: "false" }, { path: "a", all: false }],
    ["null for an optional field", { path: "a", count: null, kind: null, range: null }, { path: "a" }],
    ["a number as a string, where null would do too", { path: "a", limit: "2.5" }, { path: "a", limit: 2.5 }],
    ["an array as its text", { path: "a", names: '["b"]' }, { path: "a", names: ["b"] }],
    ["an object as its text", { path: "a", range: '{"from":"1"}' }, { path: "a", range: { from: 1 } }],
    ["all of it as its text", '{"path":"a","all":"true"}', { path: "a", all: true }],
    ["but not a null that the schema names", { path: "a", limit: null }, { path: "a", limit: null }],
    ["but not a string that may be one", { path: "5" }, { path: "5" }],
  ];
  for (const [what, input, mended] of cases) {
    test(what, async () => {
      const form = { json: await check(JSON_FORM, input), valibot: await check(VALIBOT_FORM, input) };
      expect(form).toEqual({ json: { ok: true, input: mended }, valibot: { ok: true, input: mended } });
    });
  }

  test("nothing, when every field may be left out", async () => {
    for (const input of [undefined, null, "", " "]) {
      expect(await check(object({ path: { type: "string" } }), input)).toEqual({ ok: true, input: {} });
    }
  });

  test("in a part that a reference leads to", async () => {
    const schema = object({ it: { $ref: "#/$defs/n" } }, { $defs: { n: { type: "number" } } });
    expect(await check(schema, { it: "5" })).toEqual({ ok: true, input: { it: 5 } });
  });

  test("but not a text that is a list nested 100,000 deep", async () => {
    const names = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(await problem(object({ names: { type: "array" } }), { names })).toStartWith(
      "names: expected array, got string",
    );
  });

  test("and gives the handler what valibot makes of it", async () => {
    const schema = v.object({
      n: v.optional(v.number(), 3),
      t: v.pipe(v.string(), v.transform((text) => text.length)),
    });
    expect(await check(schema, { t: "four" })).toEqual({ ok: true, input: { n: 3, t: 4 } });
  });

  test("and never touches what already fits", async () => {
    const schema = await readSchema(JSON_FORM);
    const fitting = fc.record({
      path: fc.string({ minLength: 1, unit: "grapheme" }),
      count: fc.integer({ min: 1 }),
      all: fc.boolean(),
      kind: fc.constantFrom("file", "folder"),
      names: fc.array(fc.string()),
      limit: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
      range: fc.record({ from: fc.integer() }),
    }, { requiredKeys: ["path"], noNullPrototype: true });
    await fc.assert(fc.asyncProperty(fitting, async (input) => {
      expect(await schema.check(input)).toEqual({ ok: true, input });
    }));
  });
});

test("check always answers, whatever JSON comes", async () => {
  const schemas = await Promise.all([JSON_FORM, VALIBOT_FORM].map(readSchema));
  const field = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.string(),
  );
  const keys = fc.constantFrom(...Object.keys(JSON_FORM.properties), "__proto__", "a/b");
  await fc.assert(
    fc.asyncProperty(fc.oneof(field, fc.dictionary(keys, field, { noNullPrototype: true })), async (input) => {
      for (const schema of schemas) {
        const checked = await schema.check(input);
        if (!checked.ok) expect(checked.problem).toMatch(/^[^\n]+$/);
      }
    }),
  );
});

describe("readSchema says to the author that", () => {
  const circular: JsonSchema = { type: "object" };
  circular["properties"] = { self: circular };
  const zod = { "~standard": { version: 1, vendor: "zod", validate: () => ({}) } };
  const cases: [what: string, schema: unknown, problem: string][] = [
    ["there is none", undefined, 'input_schema: needs type "object" on top'],
    ["it is a string", "object", 'input_schema: needs type "object" on top'],
    ["it is an array", [], 'input_schema: needs type "object" on top'],
    ["it is no object schema", { type: "string" }, 'input_schema: needs type "object" on top'],
    ["valibot's is none either", v.string(), 'input_schema: needs type "object" on top'],
    ["there is a union on top", { type: "object", anyOf: [] }, 'input_schema: the API takes no "anyOf" on top'],
    [
      "there is a reference on top",
      { type: "object", $ref: "#/$defs/a" },
      'input_schema: the API takes no "$ref" on top',
    ],
    ["it is of another library", zod, "input_schema: is a zod schema; use JSON Schema or valibot"],
    ["it holds itself", circular, "input_schema: is not plain JSON"],
    ["a type does not exist", object({ a: { type: "int" } }), 'input_schema.a: there is no type "int"'],
    ["a field is a word", object({ a: "string" }), 'input_schema.a: needs a schema such as { type: "string" }'],
    [
      "an item is a word",
      object({ a: { type: "array", items: "string" } }),
      'input_schema.a.items: needs a schema such as { type: "string" }',
    ],
    ["properties are a list", { type: "object", properties: ["a"] }, "input_schema: properties needs an object"],
    ["required is a word", object({}, { required: "a" }), "input_schema: required needs a list of names"],
    [
      "required is a flag",
      object({ a: { type: "string", required: true } }),
      "input_schema.a: required needs a list of names",
    ],
    ["enum is a word", object({ a: { enum: "b" } }), "input_schema.a: enum needs a list"],
    [
      "a limit is a flag, as in draft 4",
      object({ a: { type: "number", minimum: 1, exclusiveMinimum: true } }),
      "input_schema.a: exclusiveMinimum needs a number",
    ],
    ["a pattern is broken", object({ a: { pattern: "(" } }), "input_schema.a: pattern is no regular expression"],
    [
      "a field's name is refused by the API",
      object({ "my file": { type: "string" } }),
      'input_schema: "my file" needs 1 to 64 of the characters a–z A–Z 0–9 _ . -',
    ],
  ];
  for (const [what, schema, words] of cases) {
    test(what, async () => {
      const error = await readSchema(schema).then(() => "none", (error) => error.message);
      expect(error).toBe(words);
    });
  }
});

describe("the schema that the model sees", () => {
  test("has its keywords in one order, its properties in the author's", async () => {
    const one = await readSchema({
      required: ["z"],
      properties: { z: { description: "Z", type: "string" }, a: { minimum: 1, type: "number" } },
      additionalProperties: false,
      type: "object",
    });
    expect(JSON.stringify(one.json)).toBe(
      '{"type":"object","properties":{"z":{"type":"string","description":"Z"},"a":{"type":"number","minimum":1}},' +
        '"required":["z"],"additionalProperties":false}',
    );
  });

  test("has the same bytes for any order of its keywords", async () => {
    const entries = Object.entries({
      ...JSON_FORM,
      title: "T",
      $defs: {},
      description: "D",
      examples: [{ z: 1, a: 2 }],
    });
    const expected = JSON.stringify((await readSchema(Object.fromEntries(entries))).json);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(entries, { minLength: entries.length }), async (shuffled) => {
        expect(JSON.stringify((await readSchema(Object.fromEntries(shuffled))).json)).toBe(expected);
      }),
      { numRuns: 50 },
    );
  });

  test("never holds half of a surrogate pair", async () => {
    const { json } = await readSchema({ type: "object", description: "a \ud83d b" });
    expect(json["description"]).toBe("a \ufffd b");
  });

  test("is not the author's own object", async () => {
    const schema = object({ a: { type: "string" } });
    const { json } = await readSchema(schema);
    schema["properties"] = {};
    expect(json["properties"]).toEqual({ a: { type: "string" } });
  });
});

describe("wireSchema", () => {
  const closed = { additionalProperties: false };
  const rich = object({
    minimum: { type: "number", minimum: 1, maximum: 9, multipleOf: 2 },
    not: { type: "string", minLength: 1, maxLength: 9, pattern: "^a+$", format: "date" },
    look: { type: "string", pattern: "(?=a)", format: "color" },
    word: { type: "string", pattern: "\\bword\\b" },
    list: { type: "array", items: { type: "string", maxLength: 2 }, minItems: 1, maxItems: 3, uniqueItems: true },
    pair: { type: "array", items: { type: "string" }, minItems: 2 },
    word_list: { enum: ["minimum", "not"], default: { minimum: 1 } },
    either: { anyOf: [{ type: "string", minLength: 1 }, { $ref: "#/$defs/if" }] },
  }, { ...closed, $defs: { if: { type: "object", properties: { a: { type: "number", maximum: 1 } }, ...closed } } });

  test("is the schema itself without strict", async () => {
    const { json } = await readSchema(rich);
    expect(wireSchema(json, false)).toBe(json);
  });

  test("leaves out what strict refuses, and no field that is called so", async () => {
    const wire = wireSchema((await readSchema(rich)).json, true);
    expect(wire).toEqual(object({
      minimum: { type: "number" },
      not: { type: "string", pattern: "^a+$", format: "date" },
      look: { type: "string" },
      word: { type: "string" },
      list: { type: "array", items: { type: "string" }, minItems: 1 },
      pair: { type: "array", items: { type: "string" } },
      word_list: { enum: ["minimum", "not"], default: { minimum: 1 } },
      either: { anyOf: [{ type: "string" }, { $ref: "#/$defs/if" }] },
    }, { ...closed, $defs: { if: { type: "object", properties: { a: { type: "number" } }, ...closed } } }));
    expect(refusal(wire, true)).toBeUndefined();
    expect(refusal((await readSchema(rich)).json, true)).toBeDefined();
  });

  test("keeps checking what it left out", async () => {
    expect(await problem(rich, { minimum: 10 })).toBe("minimum: expected at most 9, got number 10");
  });
});

test("a schema that readSchema takes is one that the API takes", async () => {
  const leaf = fc.oneof(
    fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "null", "int", "any") }),
    fc.record({ type: fc.constant("string"), pattern: fc.constantFrom("^a", "(", "[", "\\d+") }),
    fc.record({ enum: fc.oneof(fc.constant("a"), fc.array(fc.string(), { minLength: 1 })) }),
    fc.constantFrom("string", true, 5, {}),
  );
  const name = fc.constantFrom("a", "b.c", "d-e", "f g", "é", "", "x".repeat(65));
  const properties = fc.dictionary(name, fc.oneof(leaf, fc.record({ type: fc.constant("array"), items: leaf })));
  const required = fc.option(fc.constantFrom<unknown>("a", ["a"], [1], true), { nil: undefined });
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(properties, required, async (properties, required) => {
      const schema = await readSchema({ type: "object", properties, required }).catch(() => undefined);
      if (schema) taken++;
      if (schema) expect(refusal(schema.json, false)).toBeUndefined();
    }),
    { numRuns: 200 },
  );
  expect(taken).toBeGreaterThan(0);
});
