/** Why an input does not fit its schema: the first fault as one line for the model. */

import { partsFor, propertiesAt, sidesFor, tagsOf, takes } from "./branches.ts";
import { closeGist, counted, describe, gist, limitOf, listed } from "./expectation.ts";
import { isObject } from "./keywords.ts";
import { schemaAt, stepsOf, valueAt } from "./pointer.ts";
import { oneLine } from "../text.ts";
import type { JsonSchema } from "../tool.ts";

/** A failure as @cfworker/json-schema tells it: both places are JSON pointers, percent-encoded. */
interface Failure {
  keyword: string;
  instanceLocation: string;
  keywordLocation: string;
  error: string;
}

/** These only say that something below them failed. */
const OUTER = new Set(
  ("properties patternProperties items prefixItems additionalProperties unevaluatedProperties unevaluatedItems allOf $ref if then " +
    "else dependentSchemas").split(" "),
);

/** Characters of a line at most. */
const LIMIT = 500;

/** `count: expected integer, got string "many"`: the field, what was expected, what came. Cleaned, and at most 500 characters. */
export function problemOf(all: readonly Failure[], input: unknown, schema: JsonSchema): string {
  const failures = withoutItemsOfContains(all);
  const index = failures.findIndex((failure) => !OUTER.has(failure.keyword));
  const problem = index < 0 ? "it does not fit the schema" : wordsFor(failures.slice(index), failures[index - 1], {
    input,
    schema,
  });
  return oneLine(problem, LIMIT);
}

/** That one item is none of those wanted is no fault: that there are too few is, and is told after them. */
function withoutItemsOfContains(failures: readonly Failure[]): readonly Failure[] {
  const few = failures.filter(({ keyword }) => keyword === "minContains")
    .map(({ keywordLocation }) => `${keywordLocation.slice(0, -"minContains".length)}contains/`);
  return few.length === 0
    ? failures
    : failures.filter(({ keywordLocation }) => !few.some((place) => keywordLocation.startsWith(place)));
}

interface Checked {
  input: unknown;
  schema: JsonSchema;
}

/** `failures` begins with the one to tell of; `outer` came before it. */
function wordsFor(failures: readonly Failure[], outer: Failure | undefined, checked: Checked): string {
  const [failure] = failures;
  if (!failure) return "it does not fit the schema";
  const { input, schema: root } = checked;
  const { keyword } = failure;
  const path = stepsOf(failure.instanceLocation);
  const value = valueAt(input, path);
  const found = schemaAt(root, stepsOf(failure.keywordLocation).slice(0, -1));
  const rule: JsonSchema = isObject(found) ? found : {};
  const limit = limitOf(keyword, rule);
  if (limit !== undefined) return at(path, `expected ${limit}, got ${gist(value, keyword)}`);
  switch (keyword) {
    case "type":
    case "enum":
    case "const":
      return at(path, `expected ${describe(rule, root)}, got ${gist(value)}`);
    case "anyOf":
    case "oneOf":
      return unionWords(failures, rule, checked);
    case "not":
      return isNothing(rule["not"])
        ? at(path, "takes no value. Leave it out")
        : at(path, `expected anything but ${describe(rule["not"], root, true)}, got ${gist(value)}`);
    case "required":
      return missing(path, namesMissing(value, rule["required"]), checked) + unknownWords(path, value, rule, checked);
    case "dependentRequired":
      return dependentWords(path, value, rule, checked);
    case "propertyNames":
      return nameWords(failures, path, value, rule, root);
    case "contains":
    case "minContains":
      return at(
        path,
        `expected at least ${counted(rule["minContains"] ?? 1, "item")} that can be ${kindOf(rule, root)}`,
      );
    case "maxContains":
      return at(path, `expected at most ${counted(rule["maxContains"], "item")} that can be ${kindOf(rule, root)}`);
    case "uniqueItems": {
      const [one, other] = [...failure.error.matchAll(/\d+/g)].map(String);
      return at(path, `expected items that differ, got the same at ${one} and ${other}`);
    }
    case "false":
      return refusedWords(path, outer, checked);
    default:
      return at(path, oneLine(failure.error.replace(/\.$/, "")));
  }
}

function at(path: readonly string[], words: string): string {
  return path.length === 0 ? words : `${pathOf(path)}: ${words}`;
}

/** Steps at either end of a path that is deeper than both. */
const PATH_END = 4;

/** `a.0.b`; the middle of a very deep one is left out. */
export function pathOf(path: readonly string[]): string {
  const steps = path.length > 2 * PATH_END ? [...path.slice(0, PATH_END), "…", ...path.slice(-PATH_END)] : path;
  return steps.map((step) => step === "" ? '""' : oneLine(step, 40)).join(".");
}

function isNothing(schema: unknown): boolean {
  return schema === true || isObject(schema) && Object.keys(schema).length === 0;
}

function kindOf(rule: JsonSchema, root: JsonSchema): string {
  return describe({ anyOf: [rule["contains"]] }, root, true);
}

/** When the value can mean one side only, what is wrong in there says more than that the whole does not fit. */
function unionWords(failures: readonly Failure[], rule: JsonSchema, checked: Checked): string {
  const [failure] = failures as [Failure];
  const { input, schema: root } = checked;
  const sides = rule[failure.keyword] as unknown[];
  const path = stepsOf(failure.instanceLocation);
  const value = valueAt(input, path);
  const matches = Number(/\((\d+) matches\)/.exec(failure.error)?.[1] ?? 0);
  if (matches > 1) {
    return at(
      path,
      `expected what is one only of ${describe(rule, root, true)}, got ${closeGist(value)}, which is ${matches}`,
    );
  }
  const [index, ...others] = sidesFor(value, sides, root);
  if (index !== undefined && others.length === 0) {
    const wrongTag = tagWords(path, value, [sides[index]], root);
    if (wrongTag !== undefined) return wrongTag;
    const inside = failuresOf(`${failure.keywordLocation}/${index}/`, failures);
    const first = inside.findIndex(({ keyword }) => !OUTER.has(keyword));
    if (first >= 0) return wordsFor(inside.slice(first), inside[first - 1], checked);
  }
  const likely = index === undefined ? sides : [index, ...others].map((one) => sides[one]);
  const wrongTag = tagWords(path, value, likely, root);
  if (wrongTag !== undefined) return wrongTag;
  const wanted = describe({ anyOf: likely }, root, index !== undefined);
  return at(path, `expected ${wanted}, got ${closeGist(value)}`);
}

/** The failures below one side; a `false` schema is told of without its place, beside the one that it belongs to. */
function failuresOf(side: string, failures: readonly Failure[]): Failure[] {
  const isInside = (failure: Failure | undefined) => failure?.keywordLocation.startsWith(side) ?? false;
  return failures.filter((failure, index) =>
    isInside(failure) || failure.keyword === "false" && isInside(failures[index - 1])
  );
}

/** A tag that every side has, and whose value none of them takes. */
function tagWords(
  path: readonly string[],
  value: unknown,
  sides: readonly unknown[],
  root: JsonSchema,
): string | undefined {
  if (!isObject(value)) return undefined;
  const tags = sides.map((side) => partsFor(value, side, root).flatMap((part) => tagsOf(part, root)));
  for (const [name] of tags[0] ?? []) {
    const ofAll = tags.map((list) => list.find(([other]) => other === name)?.[1]);
    if (ofAll.includes(undefined) || ofAll.some((schema) => takes(schema, value[name], root))) continue;
    return at([...path, name], `expected ${describe({ anyOf: ofAll }, root)}, got ${gist(value[name])}`);
  }
  return undefined;
}

function namesMissing(value: unknown, required: unknown): string[] {
  const names = Array.isArray(required) ? required.map(String) : [];
  return names.filter((name) => !isObject(value) || !Object.hasOwn(value, name));
}

function missing(
  path: readonly string[],
  [name = ""]: readonly string[],
  { schema: root, input }: Checked,
  why = "",
): string {
  const property = propertiesAt(path, input, root)[name];
  return at([...path, name], `expected ${describe(property, root)}, got nothing${why}`);
}

/** A name that nobody knows beside one that is missing is most likely the wrong name of it. */
function unknownWords(path: readonly string[], value: unknown, rule: JsonSchema, { input, schema }: Checked): string {
  const isClosed = rule["additionalProperties"] === false || rule["unevaluatedProperties"] === false;
  if (!isClosed || !isObject(value) || rule["patternProperties"] !== undefined) return "";
  const known = Object.keys(propertiesAt(path, input, schema));
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  if (unknown.length === 0) return "";
  return `; there is no ${listed(unknown.map((name) => JSON.stringify(name)))}; there are: ${listed(known)}`;
}

function dependentWords(path: readonly string[], value: unknown, rule: JsonSchema, checked: Checked): string {
  const rules = isObject(rule["dependentRequired"]) ? rule["dependentRequired"] : {};
  for (const [name, required] of Object.entries(rules)) {
    const names = namesMissing(value, required);
    if (isObject(value) && Object.hasOwn(value, name) && names.length > 0) {
      return missing(path, names, checked, `, which ${oneLine(name, 60)} needs beside it`);
    }
  }
  return at(path, "a key is missing that another one needs beside it");
}

function nameWords(
  failures: readonly Failure[],
  path: readonly string[],
  value: unknown,
  rule: JsonSchema,
  root: JsonSchema,
): string {
  const inner = failures[1];
  const name = inner === undefined ? "" : stepsOf(inner.instanceLocation).at(-1) ?? "";
  const names = rule["propertyNames"];
  const wanted = (isObject(names) && inner && limitOf(inner.keyword, names)) ?? describe(names, root, true);
  const got = inner?.keyword.endsWith("Length") ? `, got ${[...name].length}` : "";
  if (names === false) return at(path, `expected no keys, got ${gist(value, "Properties")}`);
  return at(path, `the key ${oneLine(JSON.stringify(name), 60)} does not fit: expected ${wanted}${got}`);
}

function refusedWords(path: readonly string[], outer: Failure | undefined, checked: Checked): string {
  const { input, schema: root } = checked;
  const above = path.slice(0, -1);
  if (/items$/i.test(outer?.keyword ?? "")) {
    return at(
      above,
      `expected at most ${counted(Number(path.at(-1)), "item")}, got ${gist(valueAt(input, above), "Items")}`,
    );
  }
  if (outer?.keyword === "properties") return at(path, "takes no value. Leave it out");
  const owner = schemaAt(root, stepsOf(outer?.keywordLocation ?? "#").slice(0, -1));
  const isAlone = outer?.keyword === "additionalProperties" && isObject(owner);
  const properties = isAlone ? owner["properties"] : propertiesAt(above, input, root);
  const names = Object.keys(isObject(properties) ? properties : {});
  const patterns = isAlone && isObject(owner["patternProperties"]) ? Object.keys(owner["patternProperties"]) : [];
  const known = [...names, ...patterns.map((pattern) => `what matches ${pattern}`)];
  return at(path, `unknown parameter; ${known.length > 0 ? `there are: ${listed(known)}` : "there are none"}`);
}
