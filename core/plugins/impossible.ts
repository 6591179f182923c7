/** Fields of a valibot schema that no JSON can satisfy: a model could fill them in only to be refused. */

import { isObject } from "./keywords.ts";

/** By the name of valibot's schema: what to write instead. */
const INSTEAD: { [type: string]: string } = {
  date: "v.pipe(v.string(), v.isoTimestamp(), v.transform((text) => new Date(text)))",
  bigint: "v.pipe(v.string(), v.digits(), v.transform(BigInt))",
  map: "v.pipe(v.record(v.string(), …), v.transform((fields) => new Map(Object.entries(fields))))",
  set: "v.pipe(v.array(…), v.transform((items) => new Set(items)))",
  instance: "v.pipe(v.object(…), v.transform((fields) => new …))",
  symbol: "v.picklist with names",
  function: "v.picklist with names",
  promise: "the schema of what it resolves to",
  blob: "v.string() for a path in the workspace",
  file: "v.string() for a path in the workspace",
  nan: "v.null()",
  undefined: "v.optional(…) around the field",
  void: "v.optional(…) around the field",
  never: "v.optional(v.never()), or leave the field out",
};
/** Of these the value may be absent: an empty list, a key that is left out. */
const MAY_BE_ABSENT = new Set(["undefined", "void", "never"]);
/** No input of a tool is nested as deep; a lazy schema that makes a new one each time never ends. */
const DEPTH_LIMIT = 100;

type Schema = { [key: string]: unknown };

/** Of the first such field its path, why, and what to do; undefined when JSON can be all of it. Only the input side counts. */
export function impossibleField(schema: unknown): string | undefined {
  return impossible(schema, "input_schema", { above: [], mayBeAbsent: false });
}

interface Place {
  above: readonly unknown[];
  mayBeAbsent: boolean;
}

function impossible(schema: unknown, path: string, { above, mayBeAbsent }: Place): string | undefined {
  if (!isObject(schema) || above.includes(schema)) return undefined; // recursion: said where it began
  if (above.length > DEPTH_LIMIT) {
    return `input_schema: is nested without end. Make the schema of v.lazy once, outside of its function`;
  }
  const within = (part: unknown, step: string, absent = false) =>
    impossible(part, step === "" ? path : `${path}.${step}`, { above: [...above, schema], mayBeAbsent: absent });
  const first = <Item>(items: readonly Item[], find: (item: Item, index: number) => string | undefined) => {
    for (const [index, item] of items.entries()) {
      const found = find(item, index);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  if (Array.isArray(schema["pipe"])) return first(inputSide(schema["pipe"]), (part) => within(part, "", mayBeAbsent));
  const type = String(schema["type"]);
  if (Object.hasOwn(INSTEAD, type)) {
    if (mayBeAbsent && MAY_BE_ABSENT.has(type)) return undefined;
    return `${path}: v.${type}() takes no JSON. Use ${INSTEAD[type]}`;
  }
  const options = Array.isArray(schema["options"]) ? schema["options"] : [];
  switch (type) {
    case "literal":
      return isJson(schema["literal"]) ? undefined : notJson(path, schema["literal"]);
    case "picklist":
    case "enum":
      return options.length === 0 || options.some(isJson) ? undefined : notJson(path, options[0]);
    case "union":
    case "variant": {
      // A null is no use of it.
      const sides = options.filter((side) =>
        !isObject(side) || !["null", ...MAY_BE_ABSENT].includes(String(side["type"]))
      );
      const found = sides.map((side, index) => within(side, `anyOf.${options.indexOf(side, index)}`));
      return found.includes(undefined) ? undefined : found[0];
    }
    case "intersect":
      return first(options, (part, index) => within(part, `allOf.${index}`));
    case "lazy":
      return lazyPart(schema, path, (part) => within(part, "", mayBeAbsent));
    case "record":
      return within(schema["key"], "propertyNames", true) ?? within(schema["value"], "additionalProperties", true);
    case "array":
      return within(schema["item"], "items", true);
  }
  const isOptional = /optional|nullish|undefinedable/.test(type) && !type.startsWith("non_");
  if ("wrapped" in schema) return within(schema["wrapped"], "", mayBeAbsent || isOptional);
  const items = Array.isArray(schema["items"]) ? schema["items"] : [];
  const entries = Object.entries(isObject(schema["entries"]) ? schema["entries"] : {});
  return first(entries, ([name, entry]) => within(entry, name)) ??
    first(items, (item, index) => within(item, `prefixItems.${index}`)) ??
    within(schema["rest"], type.startsWith("object") ? "additionalProperties" : "items", true);
}

/** Up to where a pipe makes something else of what came. */
function inputSide(pipe: readonly unknown[]): unknown[] {
  const end = pipe.findIndex((item) => isObject(item) && item["kind"] === "transformation");
  return pipe.slice(0, end < 0 ? pipe.length : end).filter((item) => isObject(item) && item["kind"] === "schema");
}

function lazyPart(schema: Schema, path: string, next: (part: unknown) => string | undefined): string | undefined {
  const part = (schema["getter"] as (input: unknown) => unknown)(undefined);
  if (part instanceof Promise) return `${path}: is a lazyAsync, whose schema cannot be shown to the model. Use v.lazy`;
  return next(part);
}

function isJson(value: unknown): boolean {
  return typeof value === "number" ? Number.isFinite(value) : typeof value === "string" || typeof value === "boolean";
}

function notJson(path: string, value: unknown): string {
  return `${path}: ${String(value)} is a ${typeof value} that JSON has not. Use a string, a finite number or a boolean`;
}
