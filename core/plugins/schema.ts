/** Schemas: the JSON Schema that the model sees, and the model's input as one that a handler may trust. */

import type { Validator } from "@cfworker/json-schema";
import { mendInput, problemOf } from "./input.ts";
import { checkKeywords, isObject, mapKeyword } from "./keywords.ts";
import { oneLine, stripped } from "../text.ts";
import type { JsonSchema, StandardSchema } from "../tool.ts";

export type Checked = { ok: true; input: unknown } | { ok: false; problem: string };

/** A plugin's schema made ready: `json` in full, and the one check that its inputs pass through. */
export interface Schema {
  json: JsonSchema;
  /** What the model sent → what the handler gets, or one line that names the field, what was expected and what came. */
  check(input: unknown): Promise<Checked>;
}

/** Reads either form. Throws an `Error` for the plugin's author when it is neither, or has no JSON form. */
export async function readSchema(schema: unknown): Promise<Schema> {
  const standard = isStandard(schema) ? schema : undefined;
  const json = inOneOrder(plain(standard ? await fromStandard(standard) : schema)) as JsonSchema;
  if (!isObject(json) || json["type"] !== "object") throw new Error(`input_schema: needs type "object" on top`);
  for (const keyword of ["anyOf", "oneOf", "allOf", "$ref"]) {
    if (keyword in json) throw new Error(`input_schema: the API takes no "${keyword}" on top`);
  }
  checkKeywords(json);
  let validator: Validator | undefined; // made at the first call: core reads schemas too, and never checks with them
  return {
    json,
    async check(raw) {
      const isBlank = raw === null || raw === undefined || (typeof raw === "string" && raw.trim() === "");
      const input = mendInput(isBlank ? {} : raw, json);
      if (typeof input === "string") {
        return { ok: false, problem: `its input is not valid JSON: ${oneLine(input, 80)}` };
      }
      validator ??= await makeValidator(json);
      const { valid, errors } = validator.validate(input);
      if (!valid) return { ok: false, problem: problemOf(errors, input, json) };
      if (!standard) return { ok: true, input };
      return await checkStandard(standard, input);
    },
  };
}

async function makeValidator(json: JsonSchema): Promise<Validator> {
  const { Validator } = await import("@cfworker/json-schema");
  return new Validator(json as ConstructorParameters<typeof Validator>[0], "2020-12", false);
}

/** As it will be on the wire. */
function plain(schema: unknown): unknown {
  try {
    const json = JSON.stringify(schema) ?? "null";
    return JSON.parse(json, (_, value) => typeof value === "string" ? stripped(value) : value);
  } catch {
    throw new Error("input_schema: is not plain JSON");
  }
}

const ORDER = ["$schema", "type", "description", "enum", "const", "properties", "required", "additionalProperties"];

/** Keywords in one order, so that the bytes do not depend on how the author wrote them; properties stay as written. */
function inOneOrder(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const rank = (keyword: string) => ORDER.indexOf(keyword) + 1 || ORDER.length + 1;
  const keywords = Object.keys(schema).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return Object.fromEntries(keywords.map((keyword) => [keyword, mapKeyword(keyword, schema[keyword], inOneOrder)]));
}

async function fromStandard(schema: StandardSchema): Promise<unknown> {
  if (schema["~standard"].vendor !== "valibot") {
    throw new Error(`input_schema: is a ${oneLine(schema["~standard"].vendor, 40)} schema; use JSON Schema or valibot`);
  }
  const { toJsonSchema } = await import("@valibot/to-json-schema");
  const { $schema: _, ...json } = toJsonSchema(schema as Parameters<typeof toJsonSchema>[0], {
    typeMode: "input",
    errorMode: "ignore",
  });
  return json;
}

interface Issue {
  message: string;
  path?: readonly unknown[];
}

async function checkStandard(schema: StandardSchema, input: unknown): Promise<Checked> {
  const validate = (schema["~standard"] as unknown as { validate(input: unknown): unknown }).validate;
  const result = await validate(input) as { value?: unknown; issues?: readonly Issue[] };
  const issue = result.issues?.[0];
  if (!issue) return { ok: true, input: result.value };
  const path = (issue.path ?? []).map((item) => String(isObject(item) ? item["key"] : item)).join(".");
  return { ok: false, problem: `${path ? `${path}: ` : ""}${issue.message}` };
}

function isStandard(schema: unknown): schema is StandardSchema {
  return isObject(schema) && isObject(schema["~standard"]);
}
