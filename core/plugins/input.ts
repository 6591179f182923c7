/** What a model sent as the input of a call, mended where only its form is wrong. */

import { partsFor, takes } from "./branches.ts";
import { isTooDeep } from "../nesting.ts";
import { isObject } from "./keywords.ts";
import type { JsonSchema } from "../tool.ts";

/**
 * The one rule: a string that may not stand in its place, by `type`, `enum` and `const`, becomes what its text says as JSON (white
 * space around it does not count), if that may stand there: `"5"`, `"true"`, `"null"`, `"[1]"`, `"{…}"`. And a `null` that may not
 * stand there is left out where the property may be. It holds in items, in properties and in the one side of a union that
 * the value can mean.
 *
 * So a string stays where a string will do (`type: ["number", "string"]`). `"1e400"`, `"0x10"`, `"007"` and `""` are no number of
 * JSON; a whole number that is not exact as a double (9007199254740993) stays its text. What does not fit stays as it came, for the check
 * to name it. Properties that only `patternProperties`, `if` or `dependentSchemas` speak of are left alone.
 */
export function mendInput(input: unknown, schema: JsonSchema): unknown {
  return mend(input, schema, schema);
}

function mend(raw: unknown, schema: unknown, root: JsonSchema): unknown {
  let value = typeof raw === "string" ? mendString(raw, schema, root) : raw;
  if (typeof value !== "object" || value === null) return value;
  for (const part of partsFor(value, schema, root)) value = mendInside(value, part, root);
  return value;
}

function mendString(text: string, schema: unknown, root: JsonSchema): unknown {
  if (takes(schema, text, root)) return text;
  const value = parsed(text);
  return value !== undefined && takes(schema, value, root) ? value : text;
}

function mendInside(value: unknown, part: JsonSchema, root: JsonSchema): unknown {
  if (Array.isArray(value)) {
    const { prefixItems, items } = part;
    const first = Array.isArray(prefixItems) ? prefixItems : [];
    if (first.length === 0 && !isObject(items)) return value;
    return value.map((item, index) => mend(item, index < first.length ? first[index] : items, root));
  }
  if (!isObject(value)) return value;
  const { properties, patternProperties, additionalProperties, required } = part;
  const named = isObject(properties) ? properties : {};
  const others = patternProperties === undefined && isObject(additionalProperties) ? additionalProperties : undefined;
  const isNeedless = (name: string) => {
    const isRequired = Array.isArray(required) && required.includes(name);
    return !isRequired && Object.hasOwn(named, name) && !takes(named[name], null, root);
  };
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, item]) => item !== null || !isNeedless(name))
      .map(([name, item]) => [name, mend(item, Object.hasOwn(named, name) ? named[name] : others, root)]),
  );
}

/** What a text says as JSON; undefined for a string, and for what a double or the stack does not hold. */
function parsed(text: string): unknown {
  if (!/^\s*[-\d[{tfn]/.test(text)) return undefined; // to fail at it takes long, where there are very many
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value === "string") return undefined;
  if (typeof value === "number") {
    const isHeld = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    return isHeld ? value : undefined;
  }
  return isTooDeep(value) ? undefined : value;
}
