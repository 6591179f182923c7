/** Which parts of a schema speak of a value: through references and `allOf`, and of a union the one side that it can mean. */

import { isObject } from "./keywords.ts";
import { referred, valueAt } from "./pointer.ts";
import type { JsonSchema } from "../tool.ts";

/** Whether the value may stand there by `type`, `enum` and `const`; what is inside of it, and every other keyword, is not looked at. */
export function takes(schema: unknown, value: unknown, root: JsonSchema): boolean {
  if (!isObject(schema)) return schema !== false;
  const { type, enum: values, $ref, allOf } = schema;
  if ("const" in schema && !isSame(schema["const"], value)) return false;
  if (Array.isArray(values) && !values.some((item) => isSame(item, value))) return false;
  if (type !== undefined && ![type].flat().some((name) => isOfType(value, name))) return false;
  if ($ref !== undefined && !takes(referred($ref, root), value, root)) return false;
  if (Array.isArray(allOf) && !allOf.every((part) => takes(part, value, root))) return false;
  return unionsOf(schema).every((sides) => sides.some((side) => takes(side, value, root)));
}

/** The schema itself, and each one that holds for the same value as well. Of a union that is one side at most. */
export function partsFor(value: unknown, schema: unknown, root: JsonSchema): JsonSchema[] {
  if (!isObject(schema)) return [];
  const { $ref, allOf } = schema;
  const parts = Array.isArray(allOf) ? [...allOf] : [];
  if ($ref !== undefined) parts.push(referred($ref, root));
  for (const sides of unionsOf(schema)) {
    const [index, ...others] = sidesFor(value, sides, root);
    if (index !== undefined && others.length === 0) parts.push(sides[index]);
  }
  return [schema, ...parts.flatMap((part) => partsFor(value, part, root))];
}

/**
 * Which sides of a union the value can mean, by their index: those that take it, then those whose tags it has (a property with a
 * `const` or an `enum`), then those with all that they require and nothing that they refuse.
 */
export function sidesFor(value: unknown, sides: readonly unknown[], root: JsonSchema): number[] {
  let left = [...sides.keys()].filter((index) => takes(sides[index], value, root));
  for (const fits of [hasTags, hasFields]) {
    if (left.length < 2 || !isObject(value)) break;
    const closer = left.filter((index) => propertiesOf(sides[index], root).every((part) => fits(value, part, root)));
    if (closer.length > 0) left = closer;
  }
  return left;
}

/** The unions of one schema, each with its sides. */
function unionsOf(schema: JsonSchema): unknown[][] {
  return [schema["anyOf"], schema["oneOf"]].filter((sides) => Array.isArray(sides));
}

/** The schema and what it refers to or joins, without going into unions. */
function propertiesOf(schema: unknown, root: JsonSchema): JsonSchema[] {
  if (!isObject(schema)) return [];
  const { $ref, allOf } = schema;
  const parts = [...(Array.isArray(allOf) ? allOf : []), ...($ref === undefined ? [] : [referred($ref, root)])];
  return [schema, ...parts.flatMap((part) => propertiesOf(part, root))];
}

/** The schemas that speak of the value at this path, from the top down. */
function partsAt(path: readonly string[], input: unknown, root: JsonSchema): JsonSchema[] {
  let parts = partsFor(input, root, root);
  for (const [index, step] of path.entries()) {
    const value = valueAt(input, path.slice(0, index + 1));
    parts = parts.flatMap((part) => partsFor(value, childSchema(part, step), root));
  }
  return parts;
}

function childSchema({ properties, additionalProperties, prefixItems, items }: JsonSchema, step: string): unknown {
  if (isObject(properties) && Object.hasOwn(properties, step)) return properties[step];
  if (Array.isArray(prefixItems) && Number(step) < prefixItems.length) return prefixItems[Number(step)];
  return items ?? additionalProperties;
}

/** The properties, by name, that a schema knows of the object at this path of an input. */
export function propertiesAt(path: readonly string[], input: unknown, root: JsonSchema): JsonSchema {
  const all = partsAt(path, input, root).map(({ properties }) => isObject(properties) ? properties : {});
  return Object.assign(Object.create(null), ...all);
}

/** The properties of a part that tell it from others. */
export function tagsOf({ properties }: JsonSchema, root: JsonSchema): [name: string, schema: unknown][] {
  return Object.entries(isObject(properties) ? properties : {}).filter(([, schema]) =>
    propertiesOf(schema, root).some((part) => "const" in part || "enum" in part)
  );
}

function hasTags(value: JsonSchema, part: JsonSchema, root: JsonSchema): boolean {
  const { required } = part;
  return tagsOf(part, root).every(([name, schema]) =>
    Object.hasOwn(value, name)
      ? takes(schema, value[name], root)
      : !(Array.isArray(required) && required.includes(name))
  );
}

function hasFields(value: JsonSchema, { properties, required, additionalProperties }: JsonSchema): boolean {
  const hasAll = !Array.isArray(required) || required.every((name) => Object.hasOwn(value, String(name)));
  if (additionalProperties !== false || !isObject(properties)) return hasAll;
  return hasAll && Object.keys(value).every((name) => Object.hasOwn(properties, name));
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default: {
      const own: string = typeof value;
      return own === type;
    }
  }
}

/** Of lists and objects only the kind is compared: the check itself looks inside. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || a === null) return a === b;
  return typeof b === "object" && b !== null && Array.isArray(a) === Array.isArray(b);
}
