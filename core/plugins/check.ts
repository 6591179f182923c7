/** `tenon check`: loads plugin files as the program would, and tells their author what is wrong and what they cost. */

import { stat } from "node:fs/promises";
import * as builtin from "../../plugins/mod.ts";
import { bytesOf, tokensOf } from "./definition_size.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { basename, dirname } from "../path.ts";
import { neverGiven } from "../permissions/permission_flags.ts";
import { permissionSet } from "../permissions/permissions.ts";
import { loadPlugin } from "./load_plugin.ts";
import { readClosure } from "./plugin_closure.ts";
import { isPluginName, nameIsTaken, toolOf } from "./plugins.ts";
import type { Loaded } from "../hosts/protocol.ts";
import { BUILT_IN } from "../registry.ts";
import { mayRead, ownPluginFolder } from "../runtime.ts";
import { leftOut, strictProblem } from "./strict.ts";
import { oneLine } from "../text.ts";
import { uncheckedFormats } from "./keywords.ts";

/** What is to be said of one file. */
export interface CheckedFile {
  file: string;
  /** It would be loaded, and its examples pass. */
  good: boolean;
  /** It can be imported, whatever else is wrong with it; then the hash of it and what it imports. */
  loads?: string;
  /** Label and words, in the order in which they are shown. */
  lines: [label: string, words: string][];
}

/** A description shorter or longer than this many characters is warned of: the API's guide asks for three to four sentences. */
const SHORT = 40;
const LONG = 1200;
/** A definition of more tokens is warned of: the built-in ones have about 200 each. */
const LARGE = 1000;

/**
 * `file` is absolute and real. It is loaded in a host of its own that has neither the workspace, nor a network, nor the key; what
 * is known of it from before does not count.
 */
export async function checkFile(file: string, hosts: Pick<Hosts, "load">): Promise<CheckedFile> {
  const problem = await problemOfName(file);
  if (problem !== undefined) return { file, good: false, lines: [["problem", problem]] };
  const before = performance.now();
  try {
    const closure = await readClosure(file);
    const loaded = await loadPlugin(hosts, { file, closure, inspect: true });
    if ("problem" in loaded) return { file, good: false, lines: [["problem", loaded.problem]] };
    return { file, loads: closure.sha256, ...report(loaded, Math.round(performance.now() - before)) };
  } catch (error) {
    return { file, good: false, lines: [["problem", error instanceof Error ? error.message : "did not load"]] };
  }
}

async function problemOfName(file: string): Promise<string | undefined> {
  if (!mayRead(file)) return `Deno may not read it. Start with deno run --allow-read="${dirname(file)}"`;
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) return "is a folder with no plugin file in it";
  if (!found?.isFile()) return found ? "is not a regular file" : "no such file";
  if (!isPluginName(basename(file))) {
    return "a file of this name is not loaded: a plugin ends in .ts, .mts, .js or .mjs and is no test and no declaration";
  }
  const tool = toolOf(file);
  const isTaken = Object.hasOwn(builtin, tool) && dirname(file) !== ownPluginFolder();
  return isTaken ? nameIsTaken(tool, BUILT_IN) : undefined;
}

function report({ definition, permissions, inspected }: Loaded, ms: number): Omit<CheckedFile, "file"> {
  const examples = inspected?.examples ?? [];
  const failed = examples.flatMap((problem, index): [string, string][] =>
    problem === null ? [] : [["problem", `definition.input_examples.${index}: ${problem}`]]
  );
  const bytes = bytesOf(definition);
  const count = examples.length;
  return {
    good: failed.length === 0,
    lines: [
      ["tool", definition.name],
      ["permissions", permissionSet(permissions)],
      ["loaded in", `${ms} ms, with the start of its host`],
      ["definition", `${bytes} bytes, about ${tokensOf(bytes)} tokens of every request`],
      [
        "examples",
        count === 0 ? "none: definition.input_examples has inputs to try" : `${count - failed.length} of ${count} pass`,
      ],
      ["strict", strictWords(definition.strict === true, inspected?.input_schema ?? definition.input_schema)],
      ...failed,
      ...warnings({ definition, permissions }, inspected?.input_schema, tokensOf(bytes)),
    ],
  };
}

function strictWords(isOn: boolean, schema: { [keyword: string]: unknown }): string {
  if (isOn) return "on: the API holds the model to the schema";
  const problem = strictProblem(schema);
  return problem === undefined ? "off: strict: true would work" : `off: strict: true ${problem}`;
}

/** A tool with one of these is refused at every call, whatever the user says. */
function neverGranted(needs: Loaded["permissions"]): string[] {
  return (["net", "env"] as const).flatMap((kind) =>
    (needs[kind] ?? []).flatMap((item) => {
      const problem = neverGiven(kind, item);
      return problem === undefined
        ? []
        : [`definition.permissions.${kind}: "${oneLine(item)}" is never granted: ${problem}`];
    })
  );
}

function warnings(
  { definition: { description, strict }, permissions }: Pick<Loaded, "definition" | "permissions">,
  full: unknown,
  tokens: number,
): [string, string][] {
  const words = neverGranted(permissions);
  const { length } = description;
  if (length < SHORT) {
    words.push(`description: ${length} characters. Say what it does, when to use it, and what it returns`);
  }
  if (length > LONG) {
    words.push(`description: ${length} characters go with every request. Three or four sentences are enough`);
  }
  if (tokens > LARGE && length <= LONG) {
    words.push(`definition: about ${tokens} tokens go with every request. Most tools need fewer than ${LARGE}`);
  }
  words.push(...uncheckedFormats(full));
  if (strict) words.push(...leftOut(full).map((place) => `${place}: checked here, but not sent: strict refuses it`));
  return words.map((text) => ["warning", text]);
}

/** The file with `good` or `bad`, and its lines below it. */
export function checkLines({ file, good, lines }: CheckedFile): string[] {
  return [`${file}: ${good ? "good" : "bad"}`, ...lines.map(([label, words]) => `  ${label.padEnd(11)}  ${words}`)];
}
