/** The faults of plugin files: a fixture for each, named for it, and what its author is told. */

import { join } from "node:path";
import { SOURCES } from "./program.ts";

export const FAULTS = join(SOURCES, "tests", "fixtures", "faults");

/** By the name of the file without its ending. */
export const PROBLEMS: Record<string, string> = {
  default_export:
    'has no export "definition"; a default export does not count. Write export const definition = { name, description, input_schema }',
  definition_is_a_function: "definition: needs an object with name, description and input_schema, not a function",
  definition_is_null: "definition: needs an object with name, description and input_schema, not null",
  description_of_a_book: "definition.description: is over 20,000 characters",
  description_of_nothing_visible:
    "definition.description: the model needs a sentence on what it does and when to use it",
  examples_are_no_list: "definition.input_examples: needs a list of inputs",
  handler_is_no_function: "handler: needs a function, not a string",
  name_of_another_file: 'definition.name: is "another_file", but the file is called "name_of_another_file"',
  name_with_a_space: "definition.name: needs 1 to 64 of the characters a–z A–Z 0–9 _ -",
  no_definition: 'has no export "definition". Write export const definition = { name, description, input_schema }',
  no_description: "definition.description: the model needs a sentence on what it does and when to use it",
  no_handler: 'has no export "handler". Write export const handler = (input, context) => …',
  no_name: "definition.name: needs 1 to 64 of the characters a–z A–Z 0–9 _ -",
  no_schema: 'definition.input_schema: needs type "object" on top',
  permission_that_there_is_not: 'definition.permissions: there is no "delete"; there are read, write, run, net, env',
  permission_to_every_host: "definition.permissions.net: needs a list of names",
  preview_is_no_function: "preview: needs a function, not a boolean",
  read_file: 'the name "read_file" is taken (built in). Give the file and its tool another',
  schema_holds_itself: "definition.input_schema: is not plain JSON",
  schema_of_a_string: 'definition.input_schema: needs type "object" on top',
  schema_of_another_library: "definition.input_schema: is a zod schema; use JSON Schema or valibot",
  schema_of_openapi: 'definition.input_schema.a: "nullable" is not supported; use type: ["string", "null"]',
  schema_on_the_network:
    'definition.input_schema.a: $ref "https://example.com/a.json" leads nowhere. Put the schema in $defs',
  schema_with_a_broken_pattern: "definition.input_schema.a: pattern is no regular expression",
  schema_with_a_choice_on_top: 'definition.input_schema: the API takes no "anyOf" on top',
  schema_with_a_long_key: `definition.input_schema: "${
    "a".repeat(65)
  }" needs 1 to 64 of the characters a–z A–Z 0–9 _ . -`,
  schema_with_a_lost_reference: 'definition.input_schema.a: $ref "#/$defs/b" leads nowhere. Put the schema in $defs',
  schema_with_a_misspelt_keyword:
    'definition.input_schema.a: there is no keyword "maxlength". Did you mean "maxLength"?',
  schema_with_an_unknown_type: 'definition.input_schema.a: there is no type "text"',
  schema_without_properties: 'definition.input_schema: there is no keyword "path". A parameter belongs in properties',
  strict_and_recursive: "definition.strict: takes no schema that refers to itself",
  strict_but_open:
    "definition.strict: needs additionalProperties: false in every object of input_schema (here in input_schema)",
  strict_is_a_word: "definition.strict: needs true or false",
  timeout_of_an_hour: "definition.timeout_ms: needs a number from 1 to 600000",
};
