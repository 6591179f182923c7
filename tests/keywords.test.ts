import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkKeywords, uncheckedFormats } from "../core/plugins/keywords.ts";
import { readSchema } from "../core/plugins/schema.ts";
import { leftOut, strictProblem } from "../core/plugins/strict.ts";
import type { JsonSchema } from "../core/tool.ts";

function object(properties: JsonSchema, more: JsonSchema = {}): JsonSchema {
  return { type: "object", properties, ...more };
}

const closed = { additionalProperties: false };

function problemOf(schema: JsonSchema): string | undefined {
  try {
    return void checkKeywords(schema);
  } catch (error) {
    return (error as Error).message;
  }
}

describe("checkKeywords takes", () => {
  const every: JsonSchema = object({
    a: { type: ["string", "null"], minLength: 1, maxLength: 9, pattern: "^a", format: "uri", title: "A", default: "a" },
    b: { type: "number", minimum: 0, maximum: 9, exclusiveMinimum: -1, exclusiveMaximum: 10, multipleOf: 0.5 },
    c: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 3, uniqueItems: true, contains: true },
    d: { anyOf: [{ const: 1 }, { enum: [2, "x"] }], oneOf: [{}, {}], allOf: [{}], not: { type: "null" } },
    e: { prefixItems: [{ type: "string" }], unevaluatedItems: false, minContains: 0, maxContains: 1 },
    f: { if: { type: "string" }, then: { minLength: 1 }, else: true, $comment: "why", examples: [1], deprecated: true },
    g: { $ref: "#/$defs/g" },
    minimum: { type: "string", "x-order": 1 },
  }, {
    $defs: { g: { type: "object", patternProperties: { "^x": {} }, propertyNames: { maxLength: 9 }, ...closed } },
    dependentRequired: { a: ["b"] },
    dependentSchemas: { a: { required: ["b"] } },
    unevaluatedProperties: false,
    minProperties: 1,
    maxProperties: 9,
  });

  test("every keyword that is checked, and every note", () => expect(problemOf(every)).toBeUndefined());

  test("a schema that then checks each of them", async () => {
    const schema = await readSchema(every);
    const bad: unknown[] = [
      { a: "" },
      { a: "b" },
      { b: 0.3 },
      { b: 10 },
      { c: ["a", "a"] },
      { c: [] },
      { c: [1] },
      { d: 3 },
      { e: ["a", "b"] },
      { f: "" },
      { g: { y: 1 } },
      { minimum: 1 },
      { z: 1 },
      {},
    ];
    for (const input of bad) expect([input, (await schema.check(input)).ok]).toEqual([input, false]);
    const good = { a: "a:b", b: 1.5, c: ["x", "y"], e: ["a"], f: 1, g: { x1: 1 }, minimum: "m" };
    expect(await schema.check(good)).toEqual({ ok: true, input: good });
  });
});

describe("checkKeywords tells of", () => {
  const cases: [what: string, schema: JsonSchema, problem: string][] = [
    [
      "a misspelt keyword, wherever it stands",
      object({ a: { type: "array", items: { type: "object", properties: { b: { minlength: 1 } } } } }),
      'input_schema.a.items.b: there is no keyword "minlength". Did you mean "minLength"?',
    ],
    [
      "a parameter outside of properties",
      { type: "object", path: { type: "string" } },
      'input_schema: there is no keyword "path". A parameter belongs in properties',
    ],
    [
      "another draft",
      object({ a: { type: "array", additionalItems: false } }),
      'input_schema.a: "additionalItems" is not supported; use prefixItems and items',
    ],
    [
      "a keyword of all objects",
      object({ a: { toString: 1 } }),
      'input_schema.a: there is no keyword "toString". A parameter belongs in properties',
    ],
    [
      "a reference into nothing",
      object({ a: { $ref: "#/$defs/a" } }),
      'input_schema.a: $ref "#/$defs/a" leads nowhere. Put the schema in $defs',
    ],
    [
      "a reference to a name",
      object({ a: { $ref: "#name" } }),
      'input_schema.a: $ref "#name" leads nowhere. Put the schema in $defs',
    ],
    [
      "a reference to what is no schema",
      object({ a: { $ref: "#/type" } }),
      'input_schema.a: $ref "#/type" leads nowhere. Put the schema in $defs',
    ],
    [
      "a hidden character in a keyword",
      object({ a: { "x\u202e": 1, "\u202e": 1 } }),
      'input_schema.a: there is no keyword "x\\u{202e}". A parameter belongs in properties',
    ],
  ];
  test.each(cases)("%s", (_, schema, problem) => expect(problemOf(schema)).toBe(problem));

  const values: [keyword: string, value: unknown, needed: string][] = [
    ["anyOf", { type: "string" }, "a list of schemas"],
    ["oneOf", [], "a list of schemas"],
    ["prefixItems", [], "a list of schemas"],
    ["properties", [], "an object"],
    ["$defs", "a", "an object"],
    ["patternProperties", { "(": {} }, "regular expressions as keys"],
    ["dependentRequired", { a: "b" }, "an object with lists of different names"],
    ["required", ["a", "a"], "a list of different names"],
    ["minLength", -1, "a whole number from 0"],
    ["maxItems", 1.5, "a whole number from 0"],
    ["minimum", "1", "a number"],
    ["multipleOf", 0, "a number above 0"],
    ["uniqueItems", "yes", "true or false"],
    ["description", 5, "a string"],
    ["format", ["date"], "a string"],
    ["type", [], "a type, or a list of different ones"],
    ["type", ["string", "string"], "a type, or a list of different ones"],
  ];
  test.each(values)("%s with %j", (keyword, value, needed) => {
    expect(problemOf(object({ a: { [keyword]: value } }))).toBe(`input_schema.a: ${keyword} needs ${needed}`);
  });

  test("whatever it is, in one line that names a place", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const problem = problemOf(object({ a: value as JsonSchema }));
        if (problem !== undefined) expect(problem).toMatch(/^input_schema[^\n]*$/);
      }),
      { numRuns: 200 },
    );
  });
});

describe("strictProblem", () => {
  const many = (count: number, schema: JsonSchema) =>
    object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema])), closed);
  const node = object({ next: { $ref: "#/$defs/node" } }, closed);
  const cases: [what: string, schema: JsonSchema, problem: string | undefined][] = [
    ["has nothing against a closed schema", object({ a: object({}, closed) }, closed), undefined],
    [
      "names the object that is open",
      object({ a: { anyOf: [{ type: "null" }, object({})] } }, closed),
      "needs additionalProperties: false in every object of input_schema (here in input_schema.a.anyOf.1)",
    ],
    [
      "names one that may be null as well",
      object({ a: { type: ["object", "null"] } }, closed),
      "needs additionalProperties: false in every object of input_schema (here in input_schema.a)",
    ],
    [
      "has nothing against what is left out of the wire copy",
      object({ a: { type: "string" } }, { ...closed, if: object({ a: { const: "x" } }), then: { properties: {} } }),
      undefined,
    ],
    [
      "does not take an object in an enum",
      object({ a: { enum: [null, { a: 1 }] } }, closed),
      "takes no list and no object within an enum (here in input_schema.a)",
    ],
    [
      "does not take a reference in allOf",
      object({ a: { allOf: [{ $ref: "#/$defs/b" }] } }, { ...closed, $defs: { b: { type: "string" } } }),
      "takes no $ref within allOf (here in input_schema.a)",
    ],
    [
      "does not take recursion",
      { ...node, $defs: { node } },
      "takes no schema that refers to itself",
    ],
    [
      "takes a definition that is used twice",
      object({ a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/b" } }, { ...closed, $defs: { b: { type: "string" } } }),
      undefined,
    ],
    ["takes 24 optional parameters", many(24, { type: "string" }), undefined],
    ["does not take 25", many(25, { type: "string" }), "takes 24 optional parameters at most, and here are 25"],
    ["does not take 17 unions", many(17, { type: ["string", "null"] }), "takes 16 unions at most, and here are 17"],
  ];
  test.each(cases)("%s", (_, schema, problem) => expect(strictProblem(schema)).toBe(problem));
});

test("leftOut names what strict leaves out of the wire copy, and where", () => {
  const schema = object({
    n: { type: "number", minimum: 1 },
    minimum: { type: "array", items: { type: "string", pattern: "(?=a)", format: "uri" }, minItems: 2 },
  }, closed);
  expect(leftOut(schema)).toEqual([
    "input_schema.n: minimum",
    "input_schema.minimum: minItems",
    "input_schema.minimum.items: pattern",
  ]);
});

test("uncheckedFormats names a format that nothing is held to, and no property that is called so", () => {
  const schema = object({ format: { type: "string", format: "color" }, b: { items: { format: "date" } } });
  expect(uncheckedFormats(schema)).toEqual(['input_schema.format: format "color" is not checked']);
});

describe("checkKeywords tells of a circle of references for one value,", () => {
  const circle = (a: JsonSchema, more: JsonSchema = {}) =>
    object({ a: { $ref: "#/$defs/a" } }, { $defs: { a, ...more } });
  const cases: [what: string, schema: JsonSchema, isTold: boolean][] = [
    ["a reference to itself", circle({ $ref: "#/$defs/a" }), true],
    ["one round two", circle({ $ref: "#/$defs/b" }, { b: { $ref: "#/$defs/a" } }), true],
    ["one within a union", circle({ anyOf: [{ type: "string" }, { $ref: "#/$defs/a" }] }), true],
    ["but not of one within a property", circle(object({ a: { $ref: "#/$defs/a" } })), false],
    [
      "nor of one used twice",
      circle({ type: "string" }, { b: { allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] } }),
      false,
    ],
  ];
  test.each(cases)("%s", async (_, schema, isTold) => {
    const problem = problemOf(schema);
    expect(problem?.endsWith("leads back to itself before it says what it takes") ?? false).toBe(isTold);
    if (!isTold) expect((await (await readSchema(schema)).check({})).ok).toBe(true);
  });
});
