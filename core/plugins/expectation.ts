/** A schema and a value in a few words each: what is wanted, and what was given. */

import { isObject } from "./keywords.ts";
import { referred } from "./pointer.ts";
import { oneLine } from "../text.ts";
import type { JsonSchema } from "../tool.ts";

/** Characters of a list at most, and of one word in it; the rest is counted. */
const LIST_LIMIT = 200;
const WORD_LIMIT = 60;

/** As many as there is room for. */
export function listed(words: readonly string[], between = ", "): string {
  const shown: string[] = [];
  let room = LIST_LIMIT;
  for (const word of words) {
    const cut = oneLine(word, WORD_LIMIT);
    room -= cut.length + between.length;
    if (room < 0) return `${shown.join(between)} … (${words.length} in all)`;
    shown.push(cut);
  }
  return shown.join(between);
}

/** By its values or its type; `closely` with every limit as well, to tell the sides of a union apart. */
export function describe(schema: unknown, root: JsonSchema, closely = false, depth = 0): string {
  if (schema === false) return "nothing";
  if (!isObject(schema) || depth > 5) return "a value";
  const { type, const: value, enum: values, anyOf, oneOf, $ref, allOf } = schema;
  if (Array.isArray(values)) return `one of ${listed(values.map((item) => JSON.stringify(item)))}`;
  if (value !== undefined) return oneLine(JSON.stringify(value), 60);
  const union = anyOf ?? oneOf;
  const own = closely ? closeWords(schema, depth === 0) : "";
  if (type !== undefined) return `${[type].flat().join(" or ")}${own}`;
  if (Array.isArray(union)) {
    return listed([...new Set(union.map((side) => describe(side, root, closely, depth + 1)))], " or ");
  }
  if ($ref !== undefined) return describe(referred($ref, root), root, closely, depth + 1);
  if (Array.isArray(allOf) && allOf.length > 0) return describe(allOf[0], root, closely, depth + 1);
  return schema["properties"] || schema["required"] ? `object${own}` : `a value${own}`;
}

function closeWords(schema: JsonSchema, isWhole: boolean): string {
  const { required, items } = schema;
  const words = isWhole ? [] : Object.keys(schema).map((keyword) => limitOf(keyword, schema) ?? "").filter(Boolean);
  const fields = Array.isArray(required) && required.length > 0 ? ` with ${listed(required.map(String))}` : "";
  const of = isObject(items) && items["type"] !== undefined ? ` of ${[items["type"]].flat().join(" or ")}` : "";
  return `${fields}${of}${words.length > 0 ? ` (${words.join(", ")})` : ""}`;
}

/** What a keyword that limits a value asks for; undefined for any other. */
export function limitOf(keyword: string, schema: JsonSchema): string | undefined {
  const limit = schema[keyword];
  switch (keyword) {
    case "minimum":
      return `at least ${limit}`;
    case "maximum":
      return `at most ${limit}`;
    case "exclusiveMinimum":
      return `more than ${limit}`;
    case "exclusiveMaximum":
      return `less than ${limit}`;
    case "multipleOf":
      return `a multiple of ${limit}`;
    case "minLength":
      return `at least ${counted(limit, "character")}`;
    case "maxLength":
      return `at most ${counted(limit, "character")}`;
    case "minItems":
      return `at least ${counted(limit, "item")}`;
    case "maxItems":
      return `at most ${counted(limit, "item")}`;
    case "minProperties":
      return `at least ${counted(limit, "key")}`;
    case "maxProperties":
      return `at most ${counted(limit, "key")}`;
    case "pattern":
      return `a match of ${oneLine(String(limit), 100)}`;
    case "format":
      return `the format ${oneLine(String(limit), 60)}`;
  }
}

export function counted(count: unknown, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** For a keyword that counts: how many there are. */
export function gist(value: unknown, keyword = ""): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return keyword.endsWith("Items") ? String(value.length) : "array";
  if (isObject(value)) return keyword.endsWith("Properties") ? String(Object.keys(value).length) : "object";
  if (typeof value === "string") {
    return keyword.endsWith("Length") ? String([...value].length) : `string ${oneLine(JSON.stringify(value), 40)}`;
  }
  return `${typeof value} ${oneLine(String(value), 40)}`;
}

/** With the names of an object, and the types in a list. */
export function closeGist(value: unknown): string {
  if (Array.isArray(value)) {
    const types = new Set(value.slice(0, 100).map((item) => gist(item).split(" ")[0] ?? ""));
    return value.length === 0 ? "an empty array" : `array of ${[...types].join(" and ")}`;
  }
  if (!isObject(value)) return gist(value);
  const names = Object.keys(value);
  return names.length === 0 ? "an empty object" : `object with ${listed(names)}`;
}
