/** What a model sent as the input of a call: mended where only its form is wrong, or its problem in words. */

import { isTooDeep } from "../nesting.ts";
import { oneLine } from "../text.ts";
import type { JsonSchema } from "../tool.ts";

type Json = { [key: string]: unknown };

/**
 * What models get wrong in form only: a number or boolean sent as a string, `null` for a field left out, an object or
 * array sent as its JSON text. Whatever does not fit stays, for the check to name it.
 */
export function mendInput(input: unknown, schema: JsonSchema): unknown {
  return mend(input, schema, schema);
}

function mend(raw: unknown, schema: unknown, root: JsonSchema): unknown {
  const branches = branchesOf(schema, root);
  const value = typeof raw === "string" ? mendString(raw, branches) : raw;
  if (Array.isArray(value)) {
    const items = onlyOne(branches.filter((branch) => isObject(branch["items"])))?.["items"];
    return items === undefined ? value : value.map((item) => mend(item, items, root));
  }
  const fitting = onlyOne(branches.filter((branch) => isObject(branch["properties"])));
  if (!isObject(value) || !fitting) return value;
  const properties = fitting["properties"] as Json;
  const required = Array.isArray(fitting["required"]) ? fitting["required"] : [];
  const kept = Object.entries(value).filter(([name, item]) =>
    item !== null || required.includes(name) || !Object.hasOwn(properties, name) ||
    branchesOf(properties[name], root).some(takesNull)
  );
  return Object.fromEntries(
    kept.map(([name, item]) => [name, Object.hasOwn(properties, name) ? mend(item, properties[name], root) : item]),
  );
}

function mendString(text: string, branches: readonly Json[]): unknown {
  const takes = (...names: string[]) => branches.some((branch) => typesOf(branch).some((type) => names.includes(type)));
  if (takes("string") || !branches.every((branch) => "type" in branch)) return text;
  if (takes("number", "integer") && /^\s*-?\d+(\.\d+)?(e[+-]?\d+)?\s*$/i.test(text) && Number.isFinite(Number(text))) {
    return Number(text);
  }
  if (takes("boolean") && (text === "true" || text === "false")) return text === "true";
  const value = /^\s*[{[]/.test(text) ? parsed(text) : undefined;
  const fits = value !== undefined && takes(Array.isArray(value) ? "array" : "object");
  return fits && !isTooDeep(value) ? value : text;
}

/** What a schema stands for: itself, what it refers to, or each side of its union. */
function branchesOf(schema: unknown, root: JsonSchema, depth = 0): Json[] {
  if (!isObject(schema) || depth > 20) return []; // a reference may lead back to itself
  const union = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(union)) return union.flatMap((branch) => branchesOf(branch, root, depth + 1));
  if (typeof schema["$ref"] === "string") return branchesOf(referred(schema["$ref"], root), root, depth + 1);
  return [schema];
}

function referred(reference: string, root: JsonSchema): unknown {
  return reference.startsWith("#") ? at(root, stepsOf(reference), root) : undefined;
}

function takesNull(branch: Json): boolean {
  if ("type" in branch) return typesOf(branch).includes("null");
  if ("const" in branch) return branch["const"] === null;
  return !Array.isArray(branch["enum"]) || branch["enum"].includes(null);
}

function typesOf(schema: Json): string[] {
  return [schema["type"]].flat().map(String);
}

function onlyOne<Item>(list: readonly Item[]): Item | undefined {
  return list.length === 1 ? list[0] : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A failure as @cfworker/json-schema tells it: both places are JSON pointers, percent-encoded. */
interface Failure {
  keyword: string;
  instanceLocation: string;
  keywordLocation: string;
  error: string;
}

/** These only say that something below them failed. */
const OUTER = new Set(
  "properties items prefixItems additionalProperties unevaluatedProperties allOf $ref if then else".split(" "),
);

/** The first failure as one line: the field, what was expected, what came. */
export function problemOf(errors: readonly Failure[], input: unknown, schema: JsonSchema): string {
  const failure = deepest(errors);
  if (!failure) return "it does not fit the schema";
  const path = stepsOf(failure.instanceLocation);
  const rule = at(schema, stepsOf(failure.keywordLocation).slice(0, -1), schema);
  const parent = isObject(rule) ? rule : {};
  const value = at(input, path, schema);
  const problem = (name: string[], words: string) => {
    const field = [...path, ...name].map((part) => oneLine(part, 60)).join(".");
    return field === "" ? words : `${field}: ${words}`;
  };
  switch (failure.keyword) {
    case "required": {
      const names = Array.isArray(parent["required"]) ? parent["required"].map(String) : [];
      const name = names.find((name) => !isObject(value) || !Object.hasOwn(value, name)) ?? "";
      const properties = isObject(parent["properties"]) ? parent["properties"] : {};
      return problem([name], `expected ${describe(properties[name], schema)}, got nothing`);
    }
    case "false": {
      const outer = errors[errors.indexOf(failure) - 1];
      const owner = at(schema, stepsOf(outer?.keywordLocation ?? "#").slice(0, -1), schema);
      const names = Object.keys(isObject(owner) && isObject(owner["properties"]) ? owner["properties"] : {});
      return problem(
        [],
        `unknown parameter; ${names.length > 0 ? `there are: ${names.join(", ")}` : "there are none"}`,
      );
    }
    default: {
      const expected = expectation(failure.keyword, parent, schema);
      if (expected === undefined) return problem([], oneLine(failure.error.replace(/\.$/, "")));
      return problem([], `expected ${expected}, got ${gist(value, failure.keyword)}`);
    }
  }
}

/** A union failed as a whole, unless the value got past the type of one side: then what failed in there says more. */
function deepest(errors: readonly Failure[]): Failure | undefined {
  const first = errors.find((error) => !OUTER.has(error.keyword)) ?? errors[0];
  if (first?.keyword !== "anyOf" && first?.keyword !== "oneOf") return first;
  const inside = errors.slice(errors.indexOf(first) + 1);
  const deeper = inside.find((error) =>
    !OUTER.has(error.keyword) &&
    (error.instanceLocation.startsWith(`${first.instanceLocation}/`) || error.keyword === "required")
  );
  return deeper ?? first;
}

function expectation(keyword: string, parent: Json, root: JsonSchema): string | undefined {
  const limit = parent[keyword];
  switch (keyword) {
    case "type":
    case "enum":
    case "const":
    case "anyOf":
    case "oneOf":
      return describe(parent, root);
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
      return `at least ${limit} characters`;
    case "maxLength":
      return `at most ${limit} characters`;
    case "minItems":
      return `at least ${limit} items`;
    case "maxItems":
      return `at most ${limit} items`;
    case "pattern":
      return `a match of ${oneLine(String(limit), 100)}`;
    case "format":
      return `the format ${limit}`;
  }
}

function describe(schema: unknown, root: JsonSchema, depth = 0): string {
  if (!isObject(schema) || depth > 5) return "a value";
  if (Array.isArray(schema["enum"])) return `one of ${schema["enum"].map((item) => JSON.stringify(item)).join(", ")}`;
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const union = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(union)) return [...new Set(union.map((side) => describe(side, root, depth + 1)))].join(" or ");
  if (typeof schema["$ref"] === "string") return describe(referred(schema["$ref"], root), root, depth + 1);
  return [schema["type"] ?? "a value"].flat().join(" or ");
}

function gist(value: unknown, keyword: string): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return keyword.endsWith("Items") ? String(value.length) : "array";
  if (typeof value === "string") {
    return keyword.endsWith("Length") ? String([...value].length) : `string ${oneLine(JSON.stringify(value), 40)}`;
  }
  return typeof value === "number" || typeof value === "boolean" ? `${typeof value} ${value}` : typeof value;
}

/** Follows a path; a step `$ref` goes on where the reference leads. */
function at(value: unknown, path: readonly string[], root: JsonSchema): unknown {
  let found = value;
  for (const [index, step] of path.entries()) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Json)[step];
    if (step === "$ref" && typeof found === "string" && index < 100) found = referred(found, root);
  }
  return found;
}

function stepsOf(pointer: string): string[] {
  return pointer.split("/").slice(1).map((step) => decoded(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** An author's own `$ref` may hold a percent sign that encodes nothing. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
