import { describe, expect, test } from "bun:test";
// @ts-types="../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { readSchema } from "../core/plugins/schema.ts";
import type { JsonSchema } from "../core/tool.ts";

const text = { type: "string" };
const number = { type: "number" };

function object(properties: JsonSchema, more: JsonSchema = {}): JsonSchema {
  return { type: "object", properties, ...more };
}

/** The schema of the one field `it`. */
function it(schema: unknown): JsonSchema {
  return object({ it: schema });
}

async function problem(schema: unknown, input: unknown): Promise<string> {
  const checked = await (await readSchema(schema)).check(input);
  return checked.ok ? `passed: ${JSON.stringify(checked.input)}` : checked.problem;
}

/** The first of them, as they are listed. */
function keys(count: number): string {
  return Array.from({ length: count }, (_, index) => `"key_${index}"`).join(", ");
}

const kinds = [
  object({ kind: { const: "a" }, n: number }, { required: ["kind", "n"] }),
  object({ kind: { const: "b" }, s: text }, { required: ["kind", "s"] }),
];
const twoPatterns = { anyOf: [{ type: "string", pattern: "^a" }, { type: "string", pattern: "^b" }] };
const ways = {
  anyOf: [object({ path: text }, { required: ["path"] }), object({ url: text }, { required: ["url"] })],
};
const eitherField = { ...object({ a: text, b: text }), anyOf: [{ required: ["a"] }, { required: ["b"] }] };
const joined = { allOf: [object({ a: text })], type: "object", unevaluatedProperties: false };
const whenX = { if: { properties: { a: { const: "x" } } } };

describe("a fault of the input is told by its place, what was wanted and what was given, for", () => {
  const cases: [what: string, schema: unknown, input: unknown, words: string][] = [
    [
      "a pattern in a union",
      it({ anyOf: [{ type: "string", pattern: "^a" }, { type: "null" }] }),
      { it: "b" },
      'it: expected a match of ^a, got string "b"',
    ],
    [
      "a required name and others in its place",
      object({ path: text, old: text, new: text }, { required: ["path", "new"], additionalProperties: false }),
      { path: "a", old_text: "b", text: "c" },
      'new: expected string, got nothing; there is no "old_text", "text"; there are: path, old, new',
    ],
    [
      "a required name of an inner object, and another in its place",
      it(object({ a: text }, { required: ["a"], additionalProperties: false })),
      { it: { b: "\n" } },
      'it.a: expected string, got nothing; there is no "b"; there are: a',
    ],
    [
      "a required name where others may be given",
      object({ a: text }, { required: ["a"] }),
      { b: "x" },
      "a: expected string, got nothing",
    ],
    [
      "a required name where others have a pattern",
      object({ a: text }, { required: ["a"], patternProperties: { "^x": text }, additionalProperties: false }),
      { x1: "x" },
      "a: expected string, got nothing",
    ],
    [
      "a required name and very many others",
      object({ a: text }, { required: ["a"], additionalProperties: false }),
      Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key_${index}`, 1])),
      `a: expected string, got nothing; there is no ${keys(21)} … (500 in all); there are: a`,
    ],
    [
      "one in oneOf",
      it({ oneOf: [{ type: "string", maxLength: 1 }, number] }),
      { it: "bb" },
      "it: expected at most 1 character, got 2",
    ],
    [
      "one that two sides have",
      it(twoPatterns),
      { it: "c" },
      'it: expected string (a match of ^a) or string (a match of ^b), got string "c"',
    ],
    [
      "oneOf with two that fit",
      it({ oneOf: [{ type: "integer" }, number] }),
      { it: 5 },
      "it: expected what is one only of integer or number, got number 5, which is 2",
    ],
    [
      "oneOf with none",
      it({ oneOf: [{ type: "integer" }, number] }),
      { it: true },
      "it: expected integer or number, got boolean true",
    ],
    [
      "contains",
      it({ type: "array", contains: { type: "string", pattern: "^a" } }),
      { it: ["b", 1] },
      "it: expected at least 1 item that can be string (a match of ^a)",
    ],
    [
      "contains of an empty list",
      it({ type: "array", contains: number }),
      { it: [] },
      "it: expected at least 1 item that can be number",
    ],
    [
      "minContains",
      it({ type: "array", contains: number, minContains: 2 }),
      { it: [1, "a"] },
      "it: expected at least 2 items that can be number",
    ],
    [
      "maxContains",
      it({ type: "array", contains: number, maxContains: 1 }),
      { it: [1, 2] },
      "it: expected at most 1 item that can be number",
    ],
    ["not", it({ not: text }), { it: "a" }, 'it: expected anything but string, got string "a"'],
    [
      "not one of some",
      it({ ...text, not: { enum: ["a"] } }),
      { it: "a" },
      'it: expected anything but one of "a", got string "a"',
    ],
    ["not anything", it({ not: {} }), { it: 1 }, "it: takes no value. Leave it out"],
    ["a property that is false", it(false), { it: 1 }, "it: takes no value. Leave it out"],
    [
      "then",
      object({ a: text, b: text }, { ...whenX, then: { required: ["b"] } }),
      { a: "x" },
      "b: expected string, got nothing",
    ],
    [
      "else",
      object({ a: text, b: number }, { ...whenX, else: { properties: { b: { maximum: 1 } } } }),
      { a: "y", b: 5 },
      "b: expected at most 1, got number 5",
    ],
    [
      "dependentRequired",
      object({ a: text, b: text }, { dependentRequired: { a: ["b"] } }),
      { a: "x" },
      "b: expected string, got nothing, which a needs beside it",
    ],
    [
      "dependentSchemas",
      object({ a: text, b: text }, { dependentSchemas: { a: { required: ["b"] } } }),
      { a: "x" },
      "b: expected string, got nothing",
    ],
    [
      "uniqueItems",
      it({ type: "array", uniqueItems: true }),
      { it: [1, { a: 1 }, { a: 1 }] },
      "it: expected items that differ, got the same at 1 and 2",
    ],
    [
      "the length of a key",
      it({ type: "object", propertyNames: { maxLength: 3 } }),
      { it: { long: 1 } },
      'it: the key "long" does not fit: expected at most 3 characters, got 4',
    ],
    [
      "the pattern of a key",
      it({ type: "object", propertyNames: { pattern: "^[a-z]+$" } }),
      { it: { "B\u202e": 1 } },
      'it: the key "B\\u{202e}" does not fit: expected a match of ^[a-z]+$',
    ],
    [
      "a key that is none of some",
      it({ type: "object", propertyNames: { enum: ["a", "b"] } }),
      { it: { c: 1 } },
      'it: the key "c" does not fit: expected one of "a", "b"',
    ],
    [
      "an item of a tuple",
      it({ type: "array", prefixItems: [text, number] }),
      { it: ["a", "b"] },
      'it.1: expected number, got string "b"',
    ],
    [
      "an item too many",
      it({ type: "array", prefixItems: [text], items: false }),
      { it: ["a", "b"] },
      "it: expected at most 1 item, got 2",
    ],
    [
      "an item that nothing speaks of",
      it({ type: "array", prefixItems: [text], unevaluatedItems: false }),
      { it: ["a", 1, 2] },
      "it: expected at most 1 item, got 3",
    ],
    ["a key that nothing speaks of", it(joined), { it: { a: "x", z: 1 } }, "it.z: unknown parameter; there are: a"],
    ["too few keys", it({ type: "object", minProperties: 1 }), { it: {} }, "it: expected at least 1 key, got 0"],
    [
      "too many keys",
      it({ type: "object", maxProperties: 1 }),
      { it: { a: 1, b: 2 } },
      "it: expected at most 1 key, got 2",
    ],
    [
      "a key that matches no pattern",
      it({ type: "object", patternProperties: { "^x": number }, additionalProperties: false }),
      { it: { y: 1 } },
      "it.y: unknown parameter; there are: what matches ^x",
    ],
    [
      "the value of a key that matches",
      it({ type: "object", patternProperties: { "^x": number } }),
      { it: { x1: "a" } },
      'it.x1: expected number, got string "a"',
    ],
    [
      "a tag that no side has",
      it({ anyOf: kinds }),
      { it: { kind: "c" } },
      'it.kind: expected "a" or "b", got string "c"',
    ],
    ["no tag", it({ anyOf: kinds }), { it: {} }, 'it.kind: expected "a" or "b", got nothing'],
    [
      "a field of the side with the tag",
      it({ anyOf: kinds }),
      { it: { kind: "b", s: 5 } },
      "it.s: expected string, got number 5",
    ],
    ["none of that side's fields", it({ anyOf: kinds }), { it: { kind: "a" } }, "it.n: expected number, got nothing"],
    [
      "neither of two fields",
      it(ways),
      { it: { file: 1 } },
      "it: expected object with path or object with url, got object with file",
    ],
    [
      "no field beside a union",
      it(eitherField),
      { it: {} },
      "it: expected object with a or object with b, got an empty object",
    ],
    [
      "lists of another kind",
      it({ anyOf: [{ type: "array", items: number }, { type: "array", items: { type: "boolean" } }] }),
      { it: ["x", 1] },
      "it: expected array of number or array of boolean, got array of string and number",
    ],
    ["a constant object", it({ const: { a: 1 } }), { it: { a: 2 } }, 'it: expected {"a":1}, got object'],
    [
      "what allOf joins",
      it({ allOf: [text, { minLength: 3 }] }),
      { it: "a" },
      "it: expected at least 3 characters, got 1",
    ],
    [
      "a name with a dot",
      it({ type: "array", items: object({ "a.b": number }) }),
      { it: [{ "a.b": "x" }] },
      'it.0.a.b: expected number, got string "x"',
    ],
    ["an empty key", object({}, { additionalProperties: false }), { "": 1 }, '"": unknown parameter; there are none'],
    [
      "half of a surrogate pair in a key",
      object({}, { additionalProperties: false }),
      { "\ud800": 1 },
      "a key of its input is no valid Unicode",
    ],
    [
      "a key $ref",
      object({ a: number }, { additionalProperties: number }),
      { $ref: "#/a" },
      '$ref: expected number, got string "#/a"',
    ],
  ];
  test.each(cases)("%s", async (_, schema, input, words) => {
    expect(await problem(schema, input)).toBe(words);
  });
});

const variant = v.variant("k", [
  v.object({ k: v.literal("a"), n: v.number() }),
  v.object({ k: v.literal("b"), s: v.string() }),
]);
const no = v.check<string>((word) => word !== "no");

describe("valibot's own words become those of the others:", () => {
  const cases: [what: string, schema: v.GenericSchema | v.GenericSchemaAsync, input: unknown, words: string][] = [
    [
      "a pattern with a flag",
      v.pipe(v.string(), v.regex(/^a$/i)),
      "b",
      'it: expected a match of /^a$/i, got string "b"',
    ],
    ["a pattern", v.pipe(v.string(), v.regex(/^a$/)), "b", 'it: expected a match of ^a$, got string "b"'],
    ["an address", v.pipe(v.string(), v.email()), "b", 'it: expected the format email, got string "b"'],
    ["a check without a message", v.pipe(v.string(), no), "no", 'it: the tool does not take string "no"'],
    ["a check of an object", v.pipe(v.object({}), v.check(() => false)), {}, "it: the tool does not take object"],
    ["a check with one", v.pipe(v.string(), v.check(() => false, "two\nlines\u202e")), "x", "it: two\\nlines\\u{202e}"],
    ["an empty message", v.pipe(v.string(), v.check(() => false, "")), "x", "it: the tool does not take it"],
    [
      "an async check",
      v.pipeAsync(v.string(), v.checkAsync(() => Promise.resolve(false), "not now")),
      "x",
      "it: not now",
    ],
    ["a custom schema", v.custom<string>((word) => word === "a"), "b", 'it: the tool does not take string "b"'],
    [
      "a raw issue",
      v.pipe(v.string(), v.rawCheck(({ addIssue }) => addIssue())),
      "x",
      'it: the tool does not take string "x"',
    ],
    [
      "a check of two fields",
      v.pipe(
        v.object({ a: v.number(), b: v.number() }),
        v.forward(v.partialCheck([["a"], ["b"]], ({ a, b }) => a < b, "a must be less than b"), ["b"]),
      ),
      {
        a: 2,
        b: 1,
      },
      "it.b: a must be less than b",
    ],
    [
      "what a Date is made of",
      v.pipe(v.string(), v.transform((word) => new Date(word)), v.date()),
      "soon",
      'it: expected Date, got string "soon"',
    ],
    [
      "what a number is made of",
      v.pipe(v.string(), v.transform(Number), v.minValue(5)),
      "3",
      'it: expected at least 5, got string "3"',
    ],
    [
      "a field in a text of JSON",
      v.pipe(v.string(), v.parseJson(), v.object({ a: v.number() })),
      '{"a":"x"}',
      'it.a: expected number, got "x"',
    ],
    ["a length in UTF-16", v.pipe(v.string(), v.maxLength(1)), "😀", "it: expected length at most 1, got 2"],
    ["an unknown tag", variant, { k: "c" }, 'it.k: expected "a" or "b", got string "c"'],
    ["a field of a variant", variant, { k: "a", n: "x" }, 'it.n: expected number, got string "x"'],
    ["a short tuple", v.tuple([v.string(), v.number()]), ["a"], "it: expected at least 2 items, got 1"],
    ["a long strict tuple", v.strictTuple([v.string()]), ["a", 1], "it: expected at most 1 item, got 2"],
    [
      "a key of a record",
      v.record(v.picklist(["a", "b"]), v.number()),
      { c: 1 },
      'it: the key "c" does not fit: expected one of "a", "b"',
    ],
    ["a part of an intersection", v.intersect([v.object({ a: v.number() }), v.object({ b: v.number() })]), {
      a: 1,
      b: "x",
    }, 'it.b: expected number, got string "x"'],
  ];
  test.each(cases)("%s", async (_, field, input, words) => {
    expect(await problem(v.objectAsync({ it: field }), { it: input })).toBe(words);
  });

  test("a check that throws is told of, with its reason", async () => {
    const throws = v.pipe(
      v.string(),
      v.transform((word): string => {
        throw new Error(`boom\n${word}`);
      }),
    );
    expect(await problem(v.object({ it: throws }), { it: "x" })).toBe(
      "the tool's own check of its input threw: boom\\nx",
    );
  });
});

describe("a problem is one short line, however much is wrong:", () => {
  const cut = `${"a".repeat(39)}…`;
  const many = Array.from({ length: 10_000 }, () => "x");
  const names = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`name_${index}`, text]));
  const cases: [what: string, schema: unknown, input: unknown, start: string][] = [
    ["10,000 items", it({ type: "array", items: number }), { it: many }, 'it.0: expected number, got string "x"'],
    [
      "10,000 in a union",
      it({ anyOf: [{ type: "array", items: number }, number] }),
      { it: many },
      'it.0: expected number, got string "x"',
    ],
    ["10,000 that none is like", it({ type: "array", contains: number }), { it: many }, "it: expected at least 1 item"],
    [
      "2,000 names",
      object(names, { additionalProperties: false }),
      { x: 1 },
      "x: unknown parameter; there are: name_0, name_1",
    ],
    ["2,000 values", it({ enum: Object.keys(names) }), { it: "x" }, 'it: expected one of "name_0", "name_1"'],
    ["a long key", object({}, { additionalProperties: false }), { ["k\n".repeat(1e5)]: 1 }, "k\\nk\\n"],
    [
      "a deep path",
      it({ type: "object", additionalProperties: { $ref: "#/properties/it" } }),
      { it: nested(100) },
      `it.${cut}.${cut}.${cut}.….${cut}.${cut}.${cut}.${cut}: expected object, got number 1`,
    ],
    [
      "valibot's own",
      v.object({ it: v.pipe(v.string(), no, v.check(() => false)) }),
      { it: "no".repeat(1e6) },
      "it: the tool does not take",
    ],
    [
      "the author's",
      v.object({ it: v.pipe(v.string(), v.check(() => false, "no ".repeat(1e6))) }),
      { it: "x" },
      "it: no no",
    ],
  ];
  test.each(cases)("%s", async (_, schema, input, start) => {
    const words = await problem(schema, input);
    expect(words).toStartWith(start);
    expect(words).not.toContain("\n");
    expect(words.length).toBeLessThanOrEqual(500);
  });
});

test("more faults than can be told apart are one problem as well", async () => {
  const schema = it({ type: "array", contains: number, minContains: 2 });
  const words = await problem(schema, { it: Array.from({ length: 1_000_000 }, () => true) });
  expect(words).toBe("its input is nested too deep, or has too many faults");
});

/** Objects in each other, with a number where an object should be. */
function nested(depth: number): unknown {
  return depth === 0 ? 1 : { ["a".repeat(50)]: nested(depth - 1) };
}
