/** `strict`: what the API takes of a schema that it holds the model's input to, and what keeps a schema from it. */

import { isObject, mapKeyword } from "./keywords.ts";
import type { JsonSchema } from "../tool.ts";

/** The copy for the API: with `strict` it leaves out what the API refuses there; the host still checks it all. */
export function wireSchema(json: JsonSchema, strict: boolean): JsonSchema {
  return strict ? withoutRefused(json) as JsonSchema : json;
}

/** Source: "Structured outputs", limits of JSON Schema, API documentation. */
const REFUSED = new Set(
  ("oneOf not if then else minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems " +
    "uniqueItems contains minContains maxContains prefixItems minProperties maxProperties patternProperties " +
    "propertyNames dependentSchemas dependentRequired unevaluatedProperties unevaluatedItems").split(" "),
);
const FORMATS = new Set("date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" "));
/** Of the same page. */
const OPTIONAL_LIMIT = 24;
const UNION_LIMIT = 16;

function isRefused(keyword: string, value: unknown): boolean {
  if (keyword === "minItems") return Number(value) > 1;
  if (keyword === "format") return !FORMATS.has(String(value));
  if (keyword === "pattern") return /\(\?[=!<]|\\[bB1-9]/.test(String(value));
  return REFUSED.has(keyword);
}

function withoutRefused(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([keyword, value]) => !isRefused(keyword, value));
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, mapKeyword(keyword, value, withoutRefused)]));
}

/** What `wireSchema` leaves out with `strict`, a line for each place: `input_schema.n: maximum, minimum`. */
export function leftOut(schema: unknown, name = "input_schema"): string[] {
  if (!isObject(schema)) return [];
  const own = Object.keys(schema).filter((keyword) => isRefused(keyword, schema[keyword]));
  const inside = Object.entries(schema).flatMap(([keyword, value]) =>
    own.includes(keyword) ? [] : insideOf(keyword, value).flatMap(([part, step]) => leftOut(part, `${name}.${step}`))
  );
  return [...(own.length > 0 ? [`${name}: ${own.join(", ")}`] : []), ...inside];
}

/** Why the API would refuse the schema with `strict`; nothing when it would not. */
export function strictProblem(full: JsonSchema): string | undefined {
  const json = wireSchema(full, true);
  const open = placeOf(json, isOpen);
  if (open !== undefined) return `needs additionalProperties: false in every object of input_schema (here in ${open})`;
  if (isRecursive(json, json, [])) return "takes no schema that refers to itself";
  const nested = placeOf(json, ({ enum: values }) => Array.isArray(values) && values.some(isNested));
  if (nested !== undefined) return `takes no list and no object within an enum (here in ${nested})`;
  const joined = placeOf(
    json,
    ({ allOf }) => Array.isArray(allOf) && allOf.some((part) => isObject(part) && "$ref" in part),
  );
  if (joined !== undefined) return `takes no $ref within allOf (here in ${joined})`;
  const { optional, unions } = count(json);
  if (optional > OPTIONAL_LIMIT) return `takes ${OPTIONAL_LIMIT} optional parameters at most, and here are ${optional}`;
  if (unions > UNION_LIMIT) return `takes ${UNION_LIMIT} unions at most, and here are ${unions}`;
  return undefined;
}

function isOpen(schema: JsonSchema): boolean {
  const isOfObjects = "properties" in schema || [schema["type"]].flat().includes("object");
  return isOfObjects && schema["additionalProperties"] !== false;
}

function isNested(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Of the first part that is so, as `input_schema.a.items`. */
function placeOf(schema: unknown, isSo: (part: JsonSchema) => boolean, name = "input_schema"): string | undefined {
  if (!isObject(schema)) return undefined;
  if (isSo(schema)) return name;
  for (const [keyword, value] of Object.entries(schema)) {
    for (const [part, step] of insideOf(keyword, value)) {
      const place = placeOf(part, isSo, `${name}.${step}`);
      if (place !== undefined) return place;
    }
  }
  return undefined;
}

function isRecursive(schema: unknown, root: JsonSchema, above: readonly string[]): boolean {
  if (!isObject(schema)) return false;
  const { $ref } = schema;
  if (typeof $ref === "string") {
    const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec($ref)?.[1];
    if (name === undefined || above.includes(name)) return true;
    const defs = root[$ref.startsWith("#/$defs") ? "$defs" : "definitions"];
    return isRecursive(isObject(defs) ? defs[name] : undefined, root, [...above, name]);
  }
  return Object.entries(schema).some(([keyword, value]) =>
    keyword !== "$defs" && keyword !== "definitions" &&
    insideOf(keyword, value).some(([part]) => isRecursive(part, root, above))
  );
}

function count(schema: unknown): { optional: number; unions: number } {
  const sum = { optional: 0, unions: 0 };
  if (!isObject(schema)) return sum;
  const { properties, required, type } = schema;
  const names = Array.isArray(required) ? required : [];
  sum.optional = isObject(properties) ? Object.keys(properties).filter((name) => !names.includes(name)).length : 0;
  sum.unions = Array.isArray(type) || "anyOf" in schema ? 1 : 0;
  for (const [keyword, value] of Object.entries(schema)) {
    for (const [part] of insideOf(keyword, value)) {
      const inner = count(part);
      sum.optional += inner.optional;
      sum.unions += inner.unions;
    }
  }
  return sum;
}

function insideOf(keyword: string, value: unknown): [schema: unknown, step: string][] {
  const parts: [unknown, string][] = [];
  mapKeyword(keyword, value, (part, step) => parts.push([part, step]));
  return parts;
}
