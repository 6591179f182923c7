/** Example: a tool whose input is a valibot schema; tenon lends valibot, so nothing is to be installed. */

import type { Definition, Handler } from "tenon";
import * as v from "valibot";

const Input = v.strictObject({
  path: v.pipe(v.string(), v.minLength(1), v.description("JSON file, relative to the workspace")),
  query: v.optional(
    v.pipe(v.string(), v.description('Keys and indices with dots between them, such as "scripts.test". Empty: all')),
    "",
  ),
  keys_only: v.optional(v.pipe(v.boolean(), v.description("List the keys there instead of the value")), false),
});

export const definition: Definition = {
  name: "json_query",
  description:
    "Reads one value out of a JSON file of the workspace. Use it instead of read_file when a file is long and one part of it is " +
    "wanted; with keys_only it shows what there is to ask for.",
  input_schema: Input,
  permissions: { read: true },
  input_examples: [{ path: "package.json", query: "scripts.test" }, { path: "package.json", keys_only: true }],
};

export const handler: Handler<v.InferOutput<typeof Input>> = async ({ path, query, keys_only }, { workspace }) => {
  let value = parse(path, await workspace.readText(path));
  const steps = query === "" ? [] : query.split(".");
  for (const [index, step] of steps.entries()) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) {
      const place = steps.slice(0, index).join(".") || "the top";
      throw new Error(`Cannot find "${step}" in "${path}": at ${place} there is ${kindOf(value)}. Use one of its keys`);
    }
    value = (value as Record<string, unknown>)[step];
  }
  if (keys_only) return kindOf(value);
  return JSON.stringify(value, null, 2);
};

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`Cannot read "${path}": it is not JSON. Use read_file`);
  }
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== "object" || value === null) return `a ${value === null ? "null" : typeof value}`;
  const keys = Object.keys(value);
  const cut = keys.length > 100 ? ` (the first 100 of ${keys.length})` : "";
  return `an object with the keys ${keys.slice(0, 100).join(", ") || "none"}${cut}`;
}
