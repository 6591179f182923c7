/** The keywords of JSON Schema: which of them are checked here, how they are nested, and what an author gets wrong about them. */

import { referred } from "./pointer.ts";
import { oneLine } from "../text.ts";
import type { JsonSchema } from "../tool.ts";

const TYPES = new Set("object array string number integer boolean null".split(" "));
const NUMBERS = new Set(
  ("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties " +
    "maxProperties minContains maxContains").split(" "),
);
/** Whose value is a schema, a list of schemas, or schemas by name. */
const SCHEMA = new Set(
  "items additionalProperties not propertyNames if then else contains unevaluatedProperties unevaluatedItems".split(
    " ",
  ),
);
const SCHEMAS = new Set(["anyOf", "allOf", "oneOf", "prefixItems"]);
const NAMED_SCHEMAS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const TEXTS = new Set("format title description $comment".split(" "));
const OTHERS = new Set("type enum const required pattern format uniqueItems dependentRequired $ref".split(" "));
/** Whose schemas speak of the value itself, not of something in it. */
const SAME_VALUE = new Set("allOf anyOf oneOf not if then else dependentSchemas".split(" "));
/** Say something and check nothing. `example` is of OpenAPI. */
const NOTES = new Set(
  ("title description default examples example deprecated readOnly writeOnly $comment $schema $id contentMediaType " +
    "contentEncoding").split(" "),
);
/** Values of `format` that are checked; any other only tells the model something. */
const FORMATS = new Set(
  ("date time date-time duration uri uri-reference uri-template url email hostname ipv4 ipv6 regex uuid json-pointer " +
    "json-pointer-uri-fragment relative-json-pointer").split(" "),
);
/** Of JSON Schema or OpenAPI, and not checked here: an author would take a promise for kept that is not. */
const INSTEAD: { [keyword: string]: string } = {
  $dynamicRef: "use $ref",
  $recursiveRef: "use $ref",
  $anchor: "use $defs",
  $dynamicAnchor: "use $defs",
  dependencies: "use dependentRequired or dependentSchemas",
  additionalItems: "use prefixItems and items",
  nullable: 'use type: ["string", "null"]',
  discriminator: "use anyOf with a const in each",
};

/**
 * Throws on what an author gets wrong: what the API answers with a refusal of every request (one bad tool would end them all), and
 * what would not be checked. A keyword that begins with `x-` is the author's own.
 * (Source: JSON Schema 2020-12, and the pattern for names of properties in the API's own errors.)
 */
export function checkKeywords(root: JsonSchema): void {
  checkSchema(root, "input_schema", root);
  checkCircles(root);
}

function checkSchema(schema: unknown, name: string, root: JsonSchema): void {
  if (typeof schema === "boolean") return;
  if (!isObject(schema)) throw new Error(`${name}: needs a schema such as { type: "string" }`);
  const { type, properties, required, enum: values, pattern, $ref } = schema;
  if (Array.isArray(type) && (type.length === 0 || new Set(type).size < type.length)) {
    throw new Error(`${name}: type needs a type, or a list of different ones`);
  }
  for (const word of type === undefined ? [] : [type].flat()) {
    if (!TYPES.has(String(word))) throw new Error(`${name}: there is no type ${oneLine(JSON.stringify(word), 40)}`);
  }
  for (const key of Object.keys(isObject(properties) ? properties : {})) {
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) {
      throw new Error(`${name}: "${oneLine(key, 80)}" needs 1 to 64 of the characters a–z A–Z 0–9 _ . -`);
    }
  }
  if (required !== undefined && !isNames(required)) {
    throw new Error(`${name}: required needs a list of different names`);
  }
  if (values !== undefined && !Array.isArray(values)) throw new Error(`${name}: enum needs a list`);
  if (pattern !== undefined && !isPattern(pattern)) throw new Error(`${name}: pattern is no regular expression`);
  const target = $ref === undefined || referred($ref, root);
  if (!isObject(target) && typeof target !== "boolean") {
    throw new Error(`${name}: $ref ${oneLine(JSON.stringify($ref), 80)} leads nowhere. Put the schema in $defs`);
  }
  for (const [keyword, value] of Object.entries(schema)) {
    checkKeyword(keyword, name);
    const needed = neededBy(keyword, value);
    if (needed !== undefined) throw new Error(`${name}: ${keyword} needs ${needed}`);
    mapKeyword(keyword, value, (part, step) => checkSchema(part, `${name}.${step}`, root));
  }
}

/** What a value of this keyword has to be, where it is not. */
function neededBy(keyword: string, value: unknown): string | undefined {
  if (NUMBERS.has(keyword)) {
    if (typeof value !== "number") return "a number";
    if (keyword === "multipleOf") return value > 0 ? undefined : "a number above 0";
    return /^(min|max)[A-Z]/.test(keyword) && !(Number.isInteger(value) && value >= 0)
      ? "a whole number from 0"
      : undefined;
  }
  if (SCHEMAS.has(keyword)) return Array.isArray(value) && value.length > 0 ? undefined : "a list of schemas";
  if (NAMED_SCHEMAS.has(keyword) && !isObject(value)) return "an object";
  if (keyword === "patternProperties") {
    return Object.keys(value as object).every(isPattern) ? undefined : "regular expressions as keys";
  }
  if (keyword === "dependentRequired") {
    return isObject(value) && Object.values(value).every(isNames)
      ? undefined
      : "an object with lists of different names";
  }
  if (TEXTS.has(keyword)) return typeof value === "string" ? undefined : "a string";
  return keyword === "uniqueItems" && typeof value !== "boolean" ? "true or false" : undefined;
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string") &&
    new Set(value).size === value.length;
}

const KNOWN = [NUMBERS, SCHEMA, SCHEMAS, NAMED_SCHEMAS, OTHERS, NOTES];

/** Whether it says something here; one that begins with `x-` is the author's own. */
export function isKeyword(keyword: string): boolean {
  return KNOWN.some((set) => set.has(keyword)) || keyword.startsWith("x-");
}

function checkKeyword(keyword: string, name: string): void {
  if (isKeyword(keyword)) return;
  const shown = oneLine(keyword, 60);
  const instead = Object.hasOwn(INSTEAD, keyword) ? INSTEAD[keyword] : undefined;
  if (instead !== undefined) throw new Error(`${name}: "${shown}" is not supported; ${instead}`);
  const near = KNOWN.flatMap((set) => [...set]).find((word) => word.toLowerCase() === keyword.toLowerCase());
  const hint = near === undefined ? "A parameter belongs in properties" : `Did you mean "${near}"?`;
  throw new Error(`${name}: there is no keyword "${shown}". ${hint}`);
}

function isPattern(pattern: unknown): boolean {
  try {
    return typeof pattern === "string" && new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** Where references lead round in a circle for one and the same value, a check would never end. Throws at the first. */
function checkCircles(root: JsonSchema): void {
  const done = new Set<unknown>();
  function follow(schema: unknown, name: string, above: readonly unknown[]): unknown {
    if (!isObject(schema) || done.has(schema)) return schema;
    if (above.includes(schema)) throw new Error(`${name}: leads back to itself before it says what it takes`);
    const below = [...above, schema];
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === "$ref") follow(referred(value, root), name, below);
      else if (SAME_VALUE.has(keyword)) {
        mapKeyword(keyword, value, (part, step) => follow(part, `${name}.${step}`, below));
      }
    }
    done.add(schema);
    return schema;
  }
  function start(schema: unknown, name: string): unknown {
    follow(schema, name, []);
    for (const [keyword, value] of Object.entries(isObject(schema) ? schema : {})) {
      mapKeyword(keyword, value, (part, step) => start(part, `${name}.${step}`));
    }
    return schema;
  }
  start(root, "input_schema");
}

/** The formats that nothing is held to, as `input_schema.n: format "int32" is not checked`. */
export function uncheckedFormats(schema: unknown, name = "input_schema"): string[] {
  if (!isObject(schema)) return [];
  const found: string[] = [];
  const { format } = schema;
  if (format !== undefined && !FORMATS.has(String(format))) {
    found.push(`${name}: format ${oneLine(JSON.stringify(format), 60)} is not checked`);
  }
  for (const [keyword, value] of Object.entries(schema)) {
    mapKeyword(keyword, value, (part, step) => found.push(...uncheckedFormats(part, `${name}.${step}`)));
  }
  return found;
}

/** For the check alone: without what says something to a reader, and might be taken for a schema or for an address. */
export function withoutNotes(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => !NOTES.has(keyword) && !keyword.startsWith("x-"));
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, mapKeyword(keyword, value, withoutNotes)]));
}

/** Goes into subschemas only: a property may be called `minimum`, an enum may hold anything. */
export function mapKeyword(
  keyword: string,
  value: unknown,
  change: (schema: unknown, name: string) => unknown,
): unknown {
  if (NAMED_SCHEMAS.has(keyword) && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, change(schema, name)]));
  }
  if (SCHEMAS.has(keyword) && Array.isArray(value)) {
    return value.map((schema, index) => change(schema, `${keyword}.${index}`));
  }
  return SCHEMA.has(keyword) ? change(value, keyword) : value;
}

export function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
