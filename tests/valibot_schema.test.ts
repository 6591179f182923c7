import { describe, expect, test } from "bun:test";
// @ts-types="../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { readSchema } from "../core/plugins/schema.ts";
import type { JsonSchema } from "../core/tool.ts";

type Field = v.GenericSchema | v.GenericSchemaAsync;

async function read(field: Field): Promise<JsonSchema> {
  const { json } = await readSchema(v.objectAsync({ it: field }));
  return (json["properties"] as JsonSchema)["it"] as JsonSchema;
}

async function refusal(field: Field): Promise<string> {
  return await read(field).then((json) => `taken: ${JSON.stringify(json)}`, (error) => error.message);
}

interface Node {
  next?: Node | undefined;
  when: Date;
}
const node: v.GenericSchema<Node> = v.object({ next: v.optional(v.lazy(() => node)), when: v.date() });
const fine: v.GenericSchema<{ next?: unknown }> = v.object({ next: v.optional(v.lazy(() => fine)) });
const anew = (): v.GenericSchema => v.object({ next: v.optional(v.lazy(() => anew())) });
const self: v.GenericSchema = v.lazy(() => self);

const DATE = "v.date() takes no JSON. Use v.pipe(v.string(), v.isoTimestamp(), v.transform((text) => new Date(text)))";
const MAP = "Use v.pipe(v.record(v.string(), …), v.transform((fields) => new Map(Object.entries(fields))))";

describe("a field that no JSON can satisfy sets the plugin aside, with its path and what to do:", () => {
  const cases: [what: string, field: Field, words: string][] = [
    ["date", v.date(), `it: ${DATE}`],
    ["map", v.map(v.string(), v.number()), `it: v.map() takes no JSON. ${MAP}`],
    [
      "set",
      v.set(v.string()),
      "it: v.set() takes no JSON. Use v.pipe(v.array(…), v.transform((items) => new Set(items)))",
    ],
    ["bigint", v.bigint(), "it: v.bigint() takes no JSON. Use v.pipe(v.string(), v.digits(), v.transform(BigInt))"],
    ["symbol", v.symbol(), "it: v.symbol() takes no JSON. Use v.picklist with names"],
    [
      "instance",
      v.instance(URL),
      "it: v.instance() takes no JSON. Use v.pipe(v.object(…), v.transform((fields) => new …))",
    ],
    ["function", v.function(), "it: v.function() takes no JSON. Use v.picklist with names"],
    ["promise", v.promise(), "it: v.promise() takes no JSON. Use the schema of what it resolves to"],
    ["blob", v.blob(), "it: v.blob() takes no JSON. Use v.string() for a path in the workspace"],
    ["file", v.file(), "it: v.file() takes no JSON. Use v.string() for a path in the workspace"],
    ["nan", v.nan(), "it: v.nan() takes no JSON. Use v.null()"],
    ["undefined", v.undefined(), "it: v.undefined() takes no JSON. Use v.optional(…) around the field"],
    ["void", v.void(), "it: v.void() takes no JSON. Use v.optional(…) around the field"],
    ["never", v.never(), "it: v.never() takes no JSON. Use v.optional(v.never()), or leave the field out"],
    [
      "a bigint as a literal",
      v.literal(5n),
      "it: 5 is a bigint that JSON has not. Use a string, a finite number or a boolean",
    ],
    [
      "bigints to pick from",
      v.picklist([1n, 2n]),
      "it: 1 is a bigint that JSON has not. Use a string, a finite number or a boolean",
    ],
    ["one that may be left out", v.optional(v.date()), `it: ${DATE}`],
    ["or be null", v.nullish(v.date()), `it: ${DATE}`],
    ["the first of a pipe", v.pipe(v.date(), v.transform(String)), `it: ${DATE}`],
    ["one in a pipe before anything is changed", v.pipe(v.any(), v.date()), `it: ${DATE}`],
    ["every side of a union", v.union([v.date(), v.bigint()]), `it.anyOf.0: ${DATE}`],
    ["every side but null", v.union([v.null(), v.date()]), `it.anyOf.1: ${DATE}`],
    ["in an object", v.object({ a: v.strictObject({ b: v.date() }) }), `it.a.b: ${DATE}`],
    ["in a partial one", v.partial(v.object({ a: v.date() })), `it.a: ${DATE}`],
    ["in the rest of one", v.objectWithRest({}, v.date()), `it.additionalProperties: ${DATE}`],
    ["in a list", v.array(v.date()), `it.items: ${DATE}`],
    ["in a tuple", v.tuple([v.string(), v.date()]), `it.prefixItems.1: ${DATE}`],
    ["in the rest of one", v.tupleWithRest([], v.date()), `it.items: ${DATE}`],
    ["in a record", v.record(v.string(), v.date()), `it.additionalProperties: ${DATE}`],
    ["in an intersection", v.intersect([v.object({}), v.object({ a: v.date() })]), `it.allOf.1.a: ${DATE}`],
    ["in a recursive schema", v.lazy(() => node), `it.when: ${DATE}`],
    ["in an async one", v.optionalAsync(v.date()), `it: ${DATE}`],
  ];
  test.each(cases)("%s", async (_, field, words) => {
    expect(await refusal(field)).toBe(`input_schema.${words}`);
  });

  test("as is one that cannot be shown at all", async () => {
    expect(await refusal(v.lazy(anew))).toBe(
      "input_schema: is nested without end. Make the schema of v.lazy once, outside of its function",
    );
    expect(await refusal(self)).toBe("input_schema.it: leads back to itself before it says what it takes");
    expect(await refusal(v.lazyAsync(() => Promise.resolve(v.string())))).toBe(
      "input_schema.it: is a lazyAsync, whose schema cannot be shown to the model. Use v.lazy",
    );
  });
});

describe("the JSON Schema of valibot's", () => {
  const cases: [what: string, field: Field, json: JsonSchema][] = [
    ["any", v.any(), {}],
    ["unknown", v.unknown(), {}],
    ["custom", v.custom(() => true), {}],
    ["check", v.pipe(v.string(), v.check(() => true)), { type: "string" }],
    ["a date made of a string", v.pipe(v.string(), v.transform((text) => new Date(text)), v.date()), {
      type: "string",
    }],
    ["never, where it may be left out", v.optional(v.never()), { not: {} }],
    ["a union leaves out what JSON cannot be", v.union([v.string(), v.date(), v.undefined()]), {
      anyOf: [{ type: "string" }],
    }],
    ["variant is no oneOf, since the first that fits is taken", v.variant("k", [v.object({ k: v.literal(1) })]), {
      anyOf: [{ type: "object", properties: { k: { const: 1 } }, required: ["k"] }],
    }],
    ["tuple", v.tuple([v.string()]), { type: "array", minItems: 1, prefixItems: [{ type: "string" }] }],
    ["a default", v.optional(v.string(), "a"), { type: "string", default: "a" }],
    ["a default that is made anew each time is none", v.optional(v.string(), () => String(Math.random())), {
      type: "string",
    }],
    ["metadata, but what is no keyword", v.pipe(v.string(), v.metadata({ title: "A", widget: "area", order: 1 })), {
      type: "string",
      title: "A",
    }],
    ["nonOptional", v.nonOptional(v.optional(v.string())), { type: "string" }],
    ["nonNullable", v.nonNullable(v.nullable(v.string())), { type: "string" }],
    ["a pattern with a flag is left to valibot", v.pipe(v.string(), v.regex(/^a$/i)), { type: "string" }],
    ["so is one that needs to have no flag", v.pipe(v.string(), v.regex(/^\_$/)), { type: "string" }],
    ["a pattern", v.pipe(v.string(), v.regex(/^a$/u)), { type: "string", pattern: "^a$" }],
  ];
  test.each(cases)("%s", async (_, field, json) => {
    expect(await read(field)).toEqual(json);
  });

  test("takes what valibot takes, where the two mean something else by a word", async () => {
    const cases: [field: Field, input: unknown][] = [
      [v.pipe(v.string(), v.isoTime()), "12:30"],
      [v.pipe(v.string(), v.isoDateTime()), "2026-01-02T12:30"],
      [v.pipe(v.string(), v.hexColor()), "#FFF"],
      [v.pipe(v.string(), v.url()), "https://exämple.com/ä"],
      [v.pipe(v.string(), v.minLength(2)), "😀"],
      [v.variant("k", [v.object({ k: v.literal(1) }), v.looseObject({ k: v.literal(1) })]), { k: 1 }],
      [v.lazy(() => fine), { next: { next: {} } }],
    ];
    for (const [field, input] of cases) {
      const schema = await readSchema(v.objectAsync({ it: field }));
      expect(await schema.check({ it: input })).toEqual({ ok: true, input: { it: input } });
    }
  });
});
