/** Schemas: the JSON Schema that the model sees, and the model's input as one that a handler may trust. */

import type { Validator } from "@cfworker/json-schema";
import { mendInput, problemOf } from "./input.ts";
import { oneLine } from "./text.ts";
import type { JsonSchema, StandardSchema } from "./tool.ts";

export type Checked = { ok: true; input: unknown } | { ok: false; problem: string };

/** A plugin's schema made ready: `json` in full, and the one check that its inputs pass through. */
export interface Schema {
  json: JsonSchema;
  /** What the model sent → what the handler gets, or one line that names the field, what was expected and what came. */
  check(input: unknown): Promise<Checked>;
}

/** Reads either form. Throws an `Error` for the plugin's author when it is neither, or has no JSON form. */
export async function readSchema(schema: unknown): Promise<Schema> {
  const standard = isStandard(schema) ? schema : undefined;
  const json = inOneOrder(plain(standard ? await fromStandard(standard) : schema)) as JsonSchema;
  if (!isObject(json) || json["type"] !== "object") throw new Error(`input_schema: needs type "object" on top`);
  for (const keyword of ["anyOf", "oneOf", "allOf", "$ref"]) {
    if (keyword in json) throw new Error(`input_schema: the API takes no "${keyword}" on top`);
  }
  checkKeywords(json);
  let validator: Validator | undefined; // made at the first call: core reads schemas too, and never checks with them
  return {
    json,
    async check(raw) {
      const isBlank = raw === null || raw === undefined || (typeof raw === "string" && raw.trim() === "");
      const input = mendInput(isBlank ? {} : raw, json);
      if (typeof input === "string") {
        return { ok: false, problem: `its input is not valid JSON: ${oneLine(input, 80)}` };
      }
      validator ??= await makeValidator(json);
      const { valid, errors } = validator.validate(input);
      if (!valid) return { ok: false, problem: problemOf(errors, input, json) };
      if (!standard) return { ok: true, input };
      return await checkStandard(standard, input);
    },
  };
}

async function makeValidator(json: JsonSchema): Promise<Validator> {
  const { Validator } = await import("@cfworker/json-schema");
  return new Validator(json as ConstructorParameters<typeof Validator>[0], "2020-12", false);
}

/** As it will be on the wire. */
function plain(schema: unknown): unknown {
  try {
    const json = JSON.stringify(schema) ?? "null";
    return JSON.parse(json, (_, value) => typeof value === "string" ? value.toWellFormed() : value);
  } catch {
    throw new Error("input_schema: is not plain JSON");
  }
}

const TYPES = new Set("object array string number integer boolean null".split(" "));
const NUMBERS = new Set(
  ("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties " +
    "maxProperties").split(" "),
);

/**
 * Throws on what an author gets wrong and the API answers with a refusal of every request: one bad tool would end them all.
 * (Source: JSON Schema 2020-12, and the pattern for names of properties in the API's own errors.)
 */
function checkKeywords(schema: unknown, name = "input_schema"): void {
  if (typeof schema === "boolean") return;
  if (!isObject(schema)) throw new Error(`${name}: needs a schema such as { type: "string" }`);
  const { type, properties, required, enum: values, pattern } = schema;
  for (const word of type === undefined ? [] : [type].flat()) {
    if (!TYPES.has(String(word))) throw new Error(`${name}: there is no type ${oneLine(JSON.stringify(word), 40)}`);
  }
  if (properties !== undefined && !isObject(properties)) throw new Error(`${name}: properties needs an object`);
  for (const key of Object.keys(properties ?? {})) {
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) {
      throw new Error(`${name}: "${oneLine(key, 80)}" needs 1 to 64 of the characters a–z A–Z 0–9 _ . -`);
    }
  }
  const isNames = Array.isArray(required) && required.every((item) => typeof item === "string");
  if (required !== undefined && !isNames) throw new Error(`${name}: required needs a list of names`);
  if (values !== undefined && !Array.isArray(values)) throw new Error(`${name}: enum needs a list`);
  if (pattern !== undefined && !isPattern(pattern)) throw new Error(`${name}: pattern is no regular expression`);
  for (const [keyword, value] of Object.entries(schema)) {
    if (NUMBERS.has(keyword) && typeof value !== "number") throw new Error(`${name}: ${keyword} needs a number`);
    mapKeyword(keyword, value, (part, step) => checkKeywords(part, `${name}.${step}`));
  }
}

function isPattern(pattern: unknown): boolean {
  try {
    return typeof pattern === "string" && new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

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

/** Whether every object in the schema says `additionalProperties: false`, as strict needs it. */
export function isClosed(schema: unknown): boolean {
  if (!isObject(schema)) return true;
  const isOpen = (schema["type"] === "object" || "properties" in schema) && schema["additionalProperties"] !== false;
  let closed = !isOpen;
  for (const [keyword, value] of Object.entries(schema)) {
    mapKeyword(keyword, value, (part) => closed = closed && isClosed(part));
  }
  return closed;
}

function withoutRefused(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([keyword, value]) => {
    if (keyword === "minItems") return Number(value) <= 1;
    if (keyword === "format") return FORMATS.has(String(value));
    if (keyword === "pattern") return !/\(\?[=!<]|\\[bB1-9]/.test(String(value));
    return !REFUSED.has(keyword);
  });
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, mapKeyword(keyword, value, withoutRefused)]));
}

/** Goes into subschemas only: a property may be called `minimum`, an enum may hold anything. */
function mapKeyword(keyword: string, value: unknown, change: (schema: unknown, name: string) => unknown): unknown {
  if (["properties", "patternProperties", "$defs", "definitions"].includes(keyword) && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, change(schema, name)]));
  }
  if (["anyOf", "allOf", "oneOf", "prefixItems"].includes(keyword) && Array.isArray(value)) {
    return value.map((schema, index) => change(schema, `${keyword}.${index}`));
  }
  return ["items", "additionalProperties", "not", "propertyNames"].includes(keyword) ? change(value, keyword) : value;
}

const ORDER = ["$schema", "type", "description", "enum", "const", "properties", "required", "additionalProperties"];

/** Keywords in one order, so that the bytes do not depend on how the author wrote them; properties stay as written. */
function inOneOrder(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const rank = (keyword: string) => ORDER.indexOf(keyword) + 1 || ORDER.length + 1;
  const keywords = Object.keys(schema).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return Object.fromEntries(keywords.map((keyword) => [keyword, mapKeyword(keyword, schema[keyword], inOneOrder)]));
}

async function fromStandard(schema: StandardSchema): Promise<unknown> {
  if (schema["~standard"].vendor !== "valibot") {
    throw new Error(`input_schema: is a ${oneLine(schema["~standard"].vendor, 40)} schema; use JSON Schema or valibot`);
  }
  const { toJsonSchema } = await import("@valibot/to-json-schema");
  const { $schema: _, ...json } = toJsonSchema(schema as Parameters<typeof toJsonSchema>[0], {
    typeMode: "input",
    errorMode: "ignore",
  });
  return json;
}

interface Issue {
  message: string;
  path?: readonly unknown[];
}

async function checkStandard(schema: StandardSchema, input: unknown): Promise<Checked> {
  const validate = (schema["~standard"] as unknown as { validate(input: unknown): unknown }).validate;
  const result = await validate(input) as { value?: unknown; issues?: readonly Issue[] };
  const issue = result.issues?.[0];
  if (!issue) return { ok: true, input: result.value };
  const path = (issue.path ?? []).map((item) => String(isObject(item) ? item["key"] : item)).join(".");
  return { ok: false, problem: `${path ? `${path}: ` : ""}${issue.message}` };
}

function isStandard(schema: unknown): schema is StandardSchema {
  return isObject(schema) && isObject(schema["~standard"]);
}

function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
