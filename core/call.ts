/** `tenon call`: run tools without a model, from arguments or from lines of JSON. */

// @ts-types="../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { jsonLine } from "./json_output.ts";
import type { ToolResultBlock, ToolUseBlock } from "./message.ts";
import type { Registry } from "./registry.ts";
import type { Screen } from "./terminal/screen.ts";
import { oneLine, visible } from "./text.ts";

const Call = v.strictObject({ name: v.string(), input: v.exactOptional(v.unknown()) });
const Line = v.union([Call, v.array(Call)]);

const NO_JSON = Symbol("no JSON");

export interface CallIo {
  registry: Registry;
  signal: AbortSignal;
  stdout: Screen;
  stderr: Screen;
}

/** For whoever starts it by hand: a terminal that waits for lines looks like a program that hangs. */
export const CALL_HINT =
  'Waiting for calls, one JSON object per line, as {"name": "get_time", "input": {}}. Ctrl-D ends';

/** One call from the arguments; its content goes to stdout. Resolves with whether all went well. */
export async function callOnce(io: CallIo, tool: string, json: string | undefined): Promise<boolean> {
  const input = json === undefined ? {} : parseJson(json);
  // A string as input is what a model wrote that was no JSON; here it is a user's slip of quotes.
  if (input === NO_JSON || typeof input === "string") {
    const how = input === NO_JSON ? "is not JSON" : "is a string, not an object";
    io.stderr.write(`tenon: the input of ${oneLine(tool, 80)} ${how}: ${oneLine(json ?? "", 80)}\n`);
    return false;
  }
  const [result] = await runBatch(io, [{ name: tool, input }]);
  if (!result) return false;
  const text = typeof result.content === "string" ? result.content : JSON.stringify(result.content);
  const screen = result.is_error ? io.stderr : io.stdout;
  // What a file says must not steer a terminal; a pipe gets it as it is.
  const shown = screen.tty ? visible(text) : text;
  screen.write(shown.endsWith("\n") ? shown : `${shown}\n`);
  return !result.is_error;
}

/** A line of stdin is a call or an array of calls (one batch, as in one reply). Each is answered before the next is read. */
export async function callLines(io: CallIo, lines: AsyncIterable<string>): Promise<boolean> {
  let allWell = true;
  for await (const line of lines) {
    if (line.trim() === "") continue;
    if (io.signal.aborted) return false;
    const value = parseJson(line);
    const parsed = v.safeParse(Line, value);
    if (!parsed.success) {
      const why = value === NO_JSON ? "it is not JSON" : `it needs {"name": …, "input": …} or an array of them`;
      const content = `Not a call: ${why}: ${oneLine(line, 80)}`;
      io.stderr.write(`tenon: ${content}\n`);
      answer(io, { name: null, content, is_error: true });
      await io.stdout.flushed();
      allWell = false;
      continue;
    }
    const calls = [parsed.output].flat();
    const results = await runBatch(io, calls);
    for (const [index, result] of results.entries()) {
      answer(io, { name: calls[index]?.name, content: result.content, is_error: result.is_error === true });
      if (result.is_error) allWell = false;
    }
    await io.stdout.flushed();
  }
  return allWell;
}

async function runBatch(io: CallIo, batch: readonly { name: string; input?: unknown }[]): Promise<ToolResultBlock[]> {
  const calls = batch.map(({ name, input }, index): ToolUseBlock => ({
    type: "tool_use",
    id: `call_${index}`,
    name,
    input,
  }));
  const results = new Map<string, ToolResultBlock>();
  for await (const event of io.registry.runAll(calls, results, io.signal)) {
    if (event.type === "warning") io.stderr.write(`${oneLine(event.text, 500)}\n`);
  }
  return calls.map((call): ToolResultBlock =>
    results.get(call.id) ??
      { type: "tool_result", tool_use_id: call.id, content: "Not run: interrupted", is_error: true }
  );
}

function answer(io: CallIo, object: unknown): void {
  io.stdout.write(jsonLine(object));
}

/** The runtimes' own words on broken JSON differ. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return NO_JSON;
  }
}
