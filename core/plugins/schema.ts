/** Schemas: the JSON Schema that the model sees, and the model's input as one that a handler may trust. */

import type { Validator } from "@cfworker/json-schema";
import { mendInput } from "./input.ts";
import { checkKeywords, isObject, mapKeyword, withoutNotes } from "./keywords.ts";
import { isTooDeep } from "../nesting.ts";
import { problemOf } from "./problem.ts";
import { oneLine, stripped } from "../text.ts";
import type { JsonSchema, StandardSchema } from "../tool.ts";
import { type Checked, checkValibot, fromValibot } from "./valibot_schema.ts";

export type { Checked };

/** A plugin's schema made ready: `json` in full, and the one check that its inputs pass through. */
export interface Schema {
  json: JsonSchema;
  /**
   * What the model sent, mended by the rule of `mendInput` → what the handler gets, or one line that names the field, what was expected
   * and what came. Of a valibot schema the verdict is valibot's. Runs in the plugin's own host: a pattern
   * that backtracks without end (`^(a+)+$`) is the runtime's to run. Bun's engine gives up and says no; Deno's ends with the call, at
   * its limit.
   */
  check(input: unknown): Promise<Checked>;
}

/** Reads either form. Throws an `Error` for the plugin's author when it is neither, or has no JSON form. */
export async function readSchema(schema: unknown): Promise<Schema> {
  const standard = isStandard(schema) ? schema : undefined;
  if (standard && standard["~standard"].vendor !== "valibot") {
    throw new Error(
      `input_schema: is a ${oneLine(standard["~standard"].vendor, 40)} schema; use JSON Schema or valibot`,
    );
  }
  const json = inOneOrder(plain(standard ? await fromValibot(standard) : schema)) as JsonSchema;
  if (!isObject(json) || json["type"] !== "object") throw new Error(`input_schema: needs type "object" on top`);
  for (const keyword of ["anyOf", "oneOf", "allOf", "$ref"]) {
    if (keyword in json) throw new Error(`input_schema: the API takes no "${keyword}" on top`);
  }
  checkKeywords(json);
  let validator: Validator | undefined; // made at the first call: core reads schemas too, and never checks with them
  async function checkJson(input: unknown): Promise<Checked> {
    validator ??= await makeValidator(json);
    try {
      const { valid, errors } = validator.validate(input);
      return valid ? { ok: true, input } : { ok: false, problem: problemOf(errors, input, json) };
    } catch (error) {
      if (error instanceof URIError) return { ok: false, problem: "a key of its input is no valid Unicode" };
      if (error instanceof RangeError) {
        return { ok: false, problem: "its input is nested too deep, or has too many faults" };
      }
      throw error;
    }
  }
  return {
    json,
    async check(raw) {
      const isBlank = raw === null || raw === undefined || (typeof raw === "string" && raw.trim() === "");
      const input = mendInput(isBlank ? {} : raw, json);
      if (typeof input === "string" && !isJsonText(input)) {
        return { ok: false, problem: `its input is not valid JSON: ${oneLine(input, 80)}` };
      }
      if (isTooDeep(input)) return { ok: false, problem: "its input is nested too deep" };
      if (!standard) return await checkJson(input);
      const checked = await checkValibot(standard, input);
      if (checked.ok) return checked;
      const inJson = await checkJson(input); // where it sees the fault as well, it tells it better
      return inJson.ok ? checked : inJson;
    },
  };
}

async function makeValidator(json: JsonSchema): Promise<Validator> {
  const { Validator } = await import("@cfworker/json-schema");
  return new Validator(withoutNotes(json) as ConstructorParameters<typeof Validator>[0], "2020-12", true);
}

function isJsonText(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
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

function isStandard(schema: unknown): schema is StandardSchema {
  return isObject(schema) && isObject(schema["~standard"]);
}
