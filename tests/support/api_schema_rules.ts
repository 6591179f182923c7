/** The rules for tool definitions: names, `input_schema` as draft 2020-12, and what `strict` allows of it. */

import { Validator } from "@cfworker/json-schema";
import { must } from "./api_refusal.ts";
import type { Request } from "./api_shape.ts";

type Schema = Record<string, unknown>;

/** The documented limits of one request's strict schemas, all of them together. */
const MAX_STRICT_TOOLS = 20;
const MAX_OPTIONAL = 24;
const MAX_UNIONS = 16;

/** Refuses tools, or an output format, that the API would refuse. */
export function checkTools({ tools = [], tool_choice, output_config }: Request): void {
  const names = new Set<string>();
  const strict: { path: string; schema: Schema }[] = [];
  tools.forEach((tool, index) => {
    must(!names.has(tool.name), `tools: Tool names must be unique: ${tool.name}`);
    names.add(tool.name);
    if (!tool.input_schema) return;
    const path = `tools.${index}.custom.input_schema`;
    checkInputSchema(tool.input_schema, path);
    if (tool.strict) strict.push({ path, schema: tool.input_schema });
    const validator = tool.input_examples && new Validator(tool.input_schema as never, "2020-12");
    tool.input_examples?.forEach((example, at) => {
      must(
        validator?.validate(example).valid,
        `tools.${index}.custom.input_examples.${at}: does not match input_schema`,
      );
    });
  });
  must(
    strict.length <= MAX_STRICT_TOOLS,
    `tools: at most ${MAX_STRICT_TOOLS} tools can be strict, found ${strict.length}`,
  );
  if (output_config?.format) {
    const path = "output_config.format.schema";
    checkSchema(output_config.format.schema, path, output_config.format.schema);
    strict.push({ path, schema: output_config.format.schema });
  }
  checkStrict(strict);
  if (!tool_choice) return;
  must(tools.length > 0, "tool_choice: may only be specified while providing tools");
  must(
    tool_choice.type !== "tool" || names.has(tool_choice.name),
    `tool_choice: Tool '${name(tool_choice)}' not found`,
  );
}

function name(choice: object): string {
  return "name" in choice ? String(choice.name) : "";
}

function checkInputSchema(schema: Schema, path: string): void {
  for (const union of ["oneOf", "allOf", "anyOf"]) {
    must(!(union in schema), `${path}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
  }
  checkSchema(schema, path, schema);
  for (const key of Object.keys((schema.properties ?? {}) as Schema)) {
    must(
      /^[a-zA-Z0-9_.-]{1,64}$/.test(key),
      `${path}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$': ${JSON.stringify(key)}`,
    );
  }
}

const TYPES = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber = (value: unknown) => typeof value === "number";
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
const isString = (value: unknown) => typeof value === "string";
const isBoolean = (value: unknown) => typeof value === "boolean";
const isSchema = (value: unknown) => isObject(value) || isBoolean(value);
const isSchemas = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isSchema);
const isSchemaMap = (value: unknown) => isObject(value) && Object.values(value).every(isSchema);
const isNames = (value: unknown) =>
  Array.isArray(value) && value.every(isString) && new Set(value).size === value.length;
const isType = (value: unknown) => isString(value) && TYPES.has(value as string);

function isPattern(value: unknown): boolean {
  try {
    return isString(value) && new RegExp(value as string, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** What the meta-schema of draft 2020-12 says of each keyword's value. Keywords it does not know are annotations. */
const KEYWORDS: Record<string, (value: unknown) => boolean> = {
  type: (value) => isType(value) || (Array.isArray(value) && value.length > 0 && isNames(value) && value.every(isType)),
  properties: isSchemaMap,
  patternProperties: (value) => isSchemaMap(value) && Object.keys(value as Schema).every(isPattern),
  $defs: isSchemaMap,
  definitions: isSchemaMap,
  dependentSchemas: isSchemaMap,
  additionalProperties: isSchema,
  unevaluatedProperties: isSchema,
  unevaluatedItems: isSchema,
  propertyNames: isSchema,
  items: isSchema, // an array of schemas here is draft 7: prefixItems took its place
  contains: isSchema,
  not: isSchema,
  if: isSchema,
  then: isSchema,
  else: isSchema,
  prefixItems: isSchemas,
  allOf: isSchemas,
  anyOf: isSchemas,
  oneOf: isSchemas,
  required: isNames,
  enum: Array.isArray,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber, // a boolean here is draft 4
  exclusiveMaximum: isNumber,
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minContains: isCount,
  maxContains: isCount,
  minProperties: isCount,
  maxProperties: isCount,
  uniqueItems: isBoolean,
  pattern: isPattern,
  format: isString,
  title: isString,
  description: isString,
  deprecated: isBoolean,
  readOnly: isBoolean,
  writeOnly: isBoolean,
  examples: Array.isArray,
  $ref: isString,
  $id: isString,
  $schema: isString,
  $comment: isString,
};

/** Refuses what is no schema of draft 2020-12, and a `$ref` into nothing. */
function checkSchema(schema: Schema, path: string, root: Schema): void {
  for (const [keyword, value] of Object.entries(schema)) {
    const isValid = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
    must(
      !isValid || isValid(value),
      `${path}: JSON schema is invalid. It must match JSON Schema draft 2020-12 (${keyword})`,
    );
  }
  if (typeof schema.$ref === "string") {
    must(resolve(schema.$ref, root), `${path}: JSON schema is invalid: $ref '${schema.$ref}' leads nowhere`);
  }
  for (const child of childrenOf(schema)) checkSchema(child.schema, `${path}.${child.at}`, root);
}

/** The schema that a local pointer names (`#`, `#/$defs/x`), or undefined. */
function resolve(ref: string, root: Schema): Schema | undefined {
  if (!/^#(\/|$)/.test(ref)) return undefined;
  let found: unknown = root;
  for (const step of ref.slice(1).split("/").slice(1)) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) || Array.isArray(found) ? (found as Schema)[key] : undefined;
  }
  return isObject(found) ? found : undefined;
}

/** The schemas directly inside this one. */
function childrenOf(schema: Schema): { at: string; schema: Schema }[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const rule = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
    if (rule === isSchema) return isObject(value) ? [{ at: keyword, schema: value }] : [];
    const isMap = rule === isSchemaMap || keyword === "patternProperties";
    if (rule !== isSchemas && !isMap) return [];
    return Object.entries(value as Schema).flatMap(([key, inner]) =>
      isObject(inner) ? [{ at: `${keyword}.${key}`, schema: inner }] : []
    );
  });
}

/** Keywords that strict schemas refuse (docs: structured outputs, JSON Schema limitations). */
const NOT_STRICT = new Set(
  ("oneOf not if then else minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems " +
    "uniqueItems contains minContains maxContains prefixItems minProperties maxProperties patternProperties " +
    "propertyNames dependentSchemas dependentRequired unevaluatedProperties unevaluatedItems").split(" "),
);
const STRICT_FORMATS = new Set("date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" "));

function checkStrict(schemas: readonly { path: string; schema: Schema }[]): void {
  const count = { optional: 0, unions: 0 };
  for (const { path, schema } of schemas) checkStrictSchema(schema, path, schema, [], count);
  must(
    count.optional <= MAX_OPTIONAL,
    `tools: strict schemas can have at most ${MAX_OPTIONAL} optional parameters, found ${count.optional}`,
  );
  must(
    count.unions <= MAX_UNIONS,
    `tools: strict schemas can have at most ${MAX_UNIONS} parameters with unions, found ${count.unions}`,
  );
}

function checkStrictSchema(
  schema: Schema,
  path: string,
  root: Schema,
  refs: readonly string[],
  count: { optional: number; unions: number },
): void {
  for (const keyword of Object.keys(schema)) {
    must(!NOT_STRICT.has(keyword), `${path}: For strict schemas, '${keyword}' is not supported`);
  }
  const { type, properties, required, format, pattern, minItems, $ref } = schema;
  if (type === "object" || isObject(properties)) {
    must(
      schema.additionalProperties === false,
      `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`,
    );
    const needed = new Set(Array.isArray(required) ? required : []);
    count.optional += Object.keys(isObject(properties) ? properties : {}).filter((key) => !needed.has(key)).length;
  }
  if (Array.isArray(type) || "anyOf" in schema) count.unions++;
  must(minItems === undefined || minItems === 0 || minItems === 1, `${path}: 'minItems' above 1 is not supported`);
  must(format === undefined || STRICT_FORMATS.has(String(format)), `${path}: format '${format}' is not supported`);
  must(
    typeof pattern !== "string" || !/\(\?<?[=!]|\\[bB1-9]/.test(pattern),
    `${path}: pattern '${pattern}' uses look-around, a word boundary or a back reference`,
  );
  const values = [...(Array.isArray(schema.enum) ? schema.enum : []), ...("const" in schema ? [schema.const] : [])];
  must(values.every((value) => !isObject(value) && !Array.isArray(value)), `${path}: enum values must be plain`);
  if (typeof $ref === "string") {
    must(!refs.includes($ref), `${path}: recursive schemas are not supported: ${$ref}`);
    const target = resolve($ref, root);
    if (target) checkStrictSchema(target, path, root, [...refs, $ref], count);
  }
  for (const child of childrenOf(schema)) {
    // Definitions count where they are used.
    if (/^(\$defs|definitions)\./.test(child.at)) continue;
    checkStrictSchema(child.schema, `${path}.${child.at}`, root, refs, count);
  }
}
