import { describe, expect, test } from "bun:test";
import fc from "fast-check";
// @ts-types="../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { mendInput } from "../core/plugins/input.ts";
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
    ["a string is too short", { path: "" }, "path: expected at least 1 character, got 0"],
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
      "expected at most 1 character, got 2",
    ],
    ["a pattern", { type: "string", pattern: "^a" }, "b", 'expected a match of ^a, got string "b"'],
    ["a format", { type: "string", format: "date" }, "soon", 'expected the format date, got string "soon"'],
    ["a least number of items", { type: "array", minItems: 2 }, [1], "expected at least 2 items, got 1"],
    ["a greatest number of items", { type: "array", maxItems: 1 }, [1, 2], "expected at most 1 item, got 2"],
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
    [
      "items that differ",
      { type: "array", uniqueItems: true },
      [1, 1],
      "expected items that differ, got the same at 0 and 1",
    ],
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

  const list = (items: JsonSchema) => ({ type: "array", items });
  const tagged = (kind: string, n: JsonSchema) => object({ kind: { const: kind }, n }, { required: ["kind"] });
  const number = { type: "number" };
  const pairs: [what: string, json: JsonSchema, valibot: v.GenericSchema, given: unknown, mended: unknown][] = [
    ["the text of a whole number", { type: "integer" }, v.pipe(v.number(), v.integer()), "5", 5],
    ["of a fraction for a whole number: stays", { type: "integer" }, v.pipe(v.number(), v.integer()), "5.5", "5.5"],
    ["of 5.0 for a whole number", { type: "integer" }, v.pipe(v.number(), v.integer()), "5.0", 5],
    ["of a number with an exponent", number, v.number(), "-1.5e3", -1500],
    ["nothing for a number: stays", number, v.number(), "", ""],
    ["blank for a number: stays", number, v.number(), " ", " "],
    ["hexadecimal: stays", number, v.number(), "0x10", "0x10"],
    ["a zero before: stays", number, v.number(), "007", "007"],
    ["more than a double: stays", number, v.number(), "1e400", "1e400"],
    ["not exact as a double: stays", number, v.number(), "9007199254740993", "9007199254740993"],
    ["NaN: stays", number, v.number(), "NaN", "NaN"],
    ["a boolean with space", { type: "boolean" }, v.boolean(), " true ", true],
    ["a boolean of Python: stays", { type: "boolean" }, v.boolean(), "True", "True"],
    ["a number for a boolean: stays", { type: "boolean" }, v.boolean(), "1", "1"],
    [
      "a string stays where a string will do",
      { type: ["number", "string"] },
      v.union([v.number(), v.string()]),
      "5",
      "5",
    ],
    ["where anything will do", {}, v.any(), "5", "5"],
    ["one of some numbers", { enum: [1, 2] }, v.picklist([1, 2]), "2", 2],
    ["none of them: stays", { enum: [1, 2] }, v.picklist([1, 2]), "3", "3"],
    ["one of some words and numbers", { enum: ["1", 2] }, v.picklist(["1", 2]), "1", "1"],
    ["a constant number", { const: 5 }, v.literal(5), "5", 5],
    ["a constant boolean", { const: true }, v.literal(true), "true", true],
    ["a word or a number", { anyOf: [{ const: "auto" }, number] }, v.union([v.literal("auto"), v.number()]), "5", 5],
    ["null in words", { anyOf: [number, { type: "null" }] }, v.nullable(v.number()), "null", null],
    ["items", list(number), v.array(v.number()), ["1", 2, "x"], [1, 2, "x"]],
    ["items of items", list(list({ type: "boolean" })), v.array(v.array(v.boolean())), [["true"]], [[true]]],
    ["a list in words, with its items", list(number), v.array(v.number()), '["1"]', [1]],
    ["words that are a list of words: stay", { type: "string" }, v.string(), '["1"]', '["1"]'],
    ["a tuple", { type: "array", prefixItems: [number, { type: "boolean" }] }, v.tuple([v.number(), v.boolean()]), [
      "1",
      "true",
    ], [1, true]],
    ["any key", { type: "object", additionalProperties: number }, v.record(v.string(), v.number()), { a: "1" }, {
      a: 1,
    }],
    [
      "the side of a union with the tag",
      { anyOf: [tagged("a", number), tagged("b", { type: "string" })] },
      v.variant("kind", [
        v.object({ kind: v.literal("a"), n: v.optional(v.number()) }),
        v.object({ kind: v.literal("b"), n: v.optional(v.string()) }),
      ]),
      [{ kind: "a", n: "1" }, { kind: "b", n: "1" }, { kind: "a", n: null }],
      [{ kind: "a", n: 1 }, { kind: "b", n: "1" }, { kind: "a" }],
    ],
    [
      "each part that is joined",
      { allOf: [object({ a: number }), object({ b: { type: "boolean" } })] },
      v.intersect([v.object({ a: v.number() }), v.object({ b: v.boolean() })]),
      { a: "1", b: "true" },
      { a: 1, b: true },
    ],
    ["null for a field that may be left out", object({ a: number }), v.object({ a: v.optional(v.number()) }), {
      a: null,
    }, {}],
  ];
  test.each(pairs)("%s, in either form", async (_, json, valibot, given, mended) => {
    const isUnion = Array.isArray(given) && Array.isArray(mended) && json["type"] === undefined;
    for (const [index, one] of (isUnion ? given : [given]).entries()) {
      const wanted = isUnion ? mended[index] : mended;
      for (const schema of [json, (await readSchema(v.object({ it: valibot }))).json["properties"]]) {
        const whole = schema === json ? object({ it: json }) : object(schema as JsonSchema);
        expect(mendInput({ it: one }, whole)).toEqual({ it: wanted });
      }
    }
  });

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

describe("any schema of the keywords that are checked", () => {
  const word = fc.constantFrom("a", "b", "ab", "1", "");
  const few = fc.integer({ min: 0, max: 3 });
  const value = fc.oneof(fc.integer({ min: -2, max: 4 }), word, fc.boolean(), fc.constant(null), fc.constant(1.5));
  const { schema } = fc.letrec<{ schema: unknown; leaf: unknown }>((tie) => ({
    leaf: fc.oneof(
      fc.boolean(),
      fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object") }),
      fc.record({ type: fc.constant(["string", "null"]), minLength: few, maxLength: few }, { requiredKeys: [] }),
      fc.record({ pattern: fc.constantFrom("^a", "b$", "\\d") }),
      fc.record({ enum: fc.array(value, { minLength: 1, maxLength: 3 }) }),
      fc.record({ const: value }),
      fc.record({ minimum: few, exclusiveMaximum: few, multipleOf: fc.constantFrom(1, 2, 0.5) }, { requiredKeys: [] }),
      fc.record({ uniqueItems: fc.boolean(), minItems: few, maxItems: few }, { requiredKeys: [] }),
      fc.record({ minProperties: few, maxProperties: few, required: fc.uniqueArray(word, { maxLength: 2 }) }, {
        requiredKeys: [],
      }),
      fc.record({ format: fc.constantFrom("date", "uuid", "email", "color") }),
      fc.record({ $ref: fc.constant("#/$defs/node") }),
    ),
    schema: fc.oneof(
      { maxDepth: 3 },
      tie("leaf"),
      fc.record({
        properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema"), { maxKeys: 2 }),
        patternProperties: fc.record({ "^a": tie("schema") }),
        additionalProperties: tie("schema"),
        propertyNames: tie("leaf"),
        dependentRequired: fc.constant({ a: ["b"] }),
        dependentSchemas: fc.record({ a: tie("schema") }),
      }, { requiredKeys: [] }),
      fc.record({ prefixItems: fc.array(tie("schema"), { maxLength: 2, minLength: 1 }), items: tie("schema") }, {
        requiredKeys: [],
      }),
      fc.record({ contains: tie("schema"), minContains: few, maxContains: few }, { requiredKeys: ["contains"] }),
      fc.record({ if: tie("schema"), then: tie("schema"), else: tie("schema") }, { requiredKeys: ["if"] }),
      fc.record({
        anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
        oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
        allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        not: tie("schema"),
        unevaluatedProperties: fc.boolean(),
        unevaluatedItems: fc.boolean(),
      }, { requiredKeys: [] }),
    ),
  }));
  const whole = fc.record({ a: schema, b: schema }).map((properties) =>
    object(properties, { $defs: { node: object({ a: { $ref: "#/$defs/node" } }) }, minProperties: 1 })
  );
  const input = fc.dictionary(
    word,
    fc.oneof(value, fc.jsonValue({ maxDepth: 2 }), fc.array(value), fc.dictionary(word, value)),
  );

  test("is checked as @cfworker/json-schema does what was mended, and never without a line", async () => {
    const { Validator } = await import("@cfworker/json-schema");
    const seen = { good: 0, bad: 0 };
    await fc.assert(
      fc.asyncProperty(whole, input, async (plain, input) => {
        const json = JSON.parse(JSON.stringify(plain));
        const given = JSON.parse(JSON.stringify(input));
        const checked = await check(json, given);
        const mended = mendInput(given, json);
        const alone = new Validator(json, "2020-12", false).validate(mended);
        expect(checked.ok).toBe(alone.valid);
        seen[checked.ok ? "good" : "bad"]++;
        if (checked.ok) expect(checked.input).toEqual(mended);
        else expect(checked.problem).toMatch(/^[^\n]{1,500}$/);
        // What fits as it came is never made unfit.
        if (new Validator(json, "2020-12").validate(given).valid) expect(checked.ok).toBe(true);
      }),
      { numRuns: 400 },
    );
    expect(Math.min(seen.good, seen.bad)).toBeGreaterThan(30);
  });
});

test("a note in a schema is no address to the check", async () => {
  const note = { type: "string", examples: [{ id: 5 }], example: { id: 5 }, "x-of": { id: 5, $ref: "::" }, $id: "a" };
  const schema = object({ a: note, b: note, c: { $ref: "#/$defs/c" } }, {
    $id: "https://x.example/y",
    $defs: { c: note },
  });
  expect(await check(schema, { a: "1", b: "2", c: "3" })).toEqual({ ok: true, input: { a: "1", b: "2", c: "3" } });
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
    ["required is a word", object({}, { required: "a" }), "input_schema: required needs a list of different names"],
    [
      "required is a flag",
      object({ a: { type: "string", required: true } }),
      "input_schema.a: required needs a list of different names",
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
