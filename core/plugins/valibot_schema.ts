/** A valibot schema: the JSON Schema that says the same to the model, and its own check of an input. */

import { gist } from "./expectation.ts";
import { impossibleField } from "./impossible.ts";
import { isKeyword, isObject } from "./keywords.ts";
import { valueAt } from "./pointer.ts";
import { pathOf } from "./problem.ts";
import { oneLine } from "../text.ts";
import type { JsonSchema, StandardSchema } from "../tool.ts";

/** The input side as JSON Schema. Throws, for the author, where no JSON can be what it asks for. */
export async function fromValibot(schema: StandardSchema): Promise<JsonSchema> {
  const impossible = impossibleField(schema);
  if (impossible !== undefined) throw new Error(impossible);
  const { toJsonSchema } = await import("@valibot/to-json-schema");
  function convert(part: unknown): JsonSchema {
    const { $schema: _, ...json } = toJsonSchema(part as Parameters<typeof toJsonSchema>[0], {
      typeMode: "input",
      errorMode: "ignore",
      target: "draft-2020-12", // before it, a tuple has keywords of its own
      overrideSchema: ({ valibotSchema, jsonSchema }) =>
        mendSchema({ ...valibotSchema }, jsonSchema as JsonSchema, convert),
      overrideAction: ({ valibotAction, jsonSchema }) => mendAction({ ...valibotAction }, jsonSchema as JsonSchema),
    });
    return json;
  }
  return convert(schema);
}

/** What the converter does not know, or would say wrong. */
function mendSchema(schema: JsonSchema, json: JsonSchema, convert: (part: unknown) => JsonSchema): JsonSchema {
  const { type, options, wrapped } = schema;
  // A default that is made anew each time would change the bytes of the definition.
  const { default: value, oneOf, ...rest } = json;
  const kept = value === undefined || typeof schema["default"] === "function" ? rest : { ...rest, default: value };
  if (/^non_/.test(String(type))) {
    const { $defs, ...inner } = convert(wrapped);
    return $defs === undefined ? type === "non_optional" ? inner : withoutNull(inner) : kept;
  }
  if ((type !== "union" && type !== "variant") || !Array.isArray(options)) return kept;
  // A variant takes the first side that fits, and no JSON can be some of the sides.
  const sides = (rest["anyOf"] ?? oneOf) as unknown[];
  return { ...kept, anyOf: sides.filter((_, index) => impossibleField(options[index]) === undefined) };
}

function withoutNull({ anyOf, ...json }: JsonSchema): JsonSchema {
  const sides = Array.isArray(anyOf) ? anyOf.filter((side) => !isObject(side) || side["type"] !== "null") : [];
  const [only, ...others] = sides;
  if (sides.length === 0) return json;
  return others.length === 0 && isObject(only) ? { ...json, ...only } : { ...json, anyOf: sides };
}

/**
 * JSON Schema knows no flags, and its formats `time` and `date-time` want seconds and a zone where valibot takes neither: what would refuse
 * an input that valibot takes is left to valibot.
 */
function mendAction({ type, requirement }: JsonSchema, json: JsonSchema): JsonSchema {
  // The author's own place: the converter takes all of it for keywords.
  if (type === "metadata") return Object.fromEntries(Object.entries(json).filter(([keyword]) => isKeyword(keyword)));
  if (!(requirement instanceof RegExp)) return json;
  const { format, pattern, ...rest } = json;
  if (type === "iso_time" || type === "iso_date_time") return { ...rest, pattern: pattern ?? requirement.source };
  if (pattern !== requirement.source) return json;
  const isSame = !/[imsv]/.test(requirement.flags) && isWithU(requirement.source);
  return { ...rest, ...(format === undefined ? {} : { format }), ...(isSame ? { pattern } : {}) };
}

function isWithU(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

export type Checked = { ok: true; input: unknown } | { ok: false; problem: string };

interface Issue {
  message: string;
  path?: readonly unknown[];
}

/**
 * Valibot's verdict, waited for where the schema is async; the first issue as one line. Never rejects, whatever the author's own checks
 * do.
 */
export async function checkValibot(schema: StandardSchema, input: unknown): Promise<Checked> {
  let result: { value?: unknown; issues?: readonly Issue[] };
  try {
    result = await (schema["~standard"] as unknown as { validate(input: unknown): typeof result }).validate(input);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, problem: `the tool's own check of its input threw: ${oneLine(reason)}` };
  }
  const issue = result.issues?.[0];
  if (!issue) return { ok: true, input: result.value };
  const steps = (issue.path ?? []).map((item) => String(isObject(item) ? item["key"] : item));
  const path = pathOf(steps);
  return {
    ok: false,
    problem: oneLine(`${path ? `${path}: ` : ""}${issueWords(String(issue.message), valueAt(input, steps))}`, 500),
  };
}

/** A message of valibot's own in the words of the others, with what the model gave where it is known; the author's as it is. */
function issueWords(message: string, given: unknown): string {
  const own = /^Invalid ([\w -]+): (?:Expected (.+) but r|R)eceived (.+)$/s.exec(message);
  if (!own) return message.trim() === "" ? "the tool does not take it" : message;
  const [, label = "", expected, received = ""] = own;
  const isOfValue = expected === undefined || /^(type|key|value|format)$/.test(label);
  const got = isOfValue && given !== undefined || received === "undefined" ? gist(given) : oneLine(received, 60);
  if (label === "input" || expected === "unknown") return `the tool does not take ${got}`;
  return `expected ${expected === undefined ? label : wantedWords(label, oneLine(expected, 100))}, got ${got}`;
}

const SIGNS: { [sign: string]: string } = {
  ">=": "at least ",
  "<=": "at most ",
  ">": "more than ",
  "<": "less than ",
  "!": "not ",
};

function wantedWords(label: string, expected: string): string {
  if (expected.startsWith("/")) return `a match of ${expected}`;
  const limit = expected.replace(/^(>=|<=|>|<|!)/, (sign) => SIGNS[sign] ?? sign);
  const words = limit.replace(/^(Object|Array)$/, (word) => word.toLowerCase()).replaceAll(" | ", " or ");
  return /^(type|key|value)$/.test(label) ? words : `${label} ${words}`;
}
