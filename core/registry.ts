/** The tools by name, sorted, and the one way to run a call: it always has a result and never throws. */

import type { Event } from "./agent.ts";
import type { Content, ToolResultBlock, ToolUseBlock } from "./message.ts";
import type { FileChange } from "./hosts/protocol.ts";
import { isTooDeep } from "./nesting.ts";
import { limitResult } from "./result_limit.ts";
import { oneLine } from "./text.ts";
import type { JsonSchema, Permissions, Proposal } from "./tool.ts";

/** A definition as it goes over the wire; its bytes are the same on every runtime, machine and locale. */
export interface WireDefinition {
  name: string;
  description: string;
  input_schema: JsonSchema;
  strict?: boolean;
}

/** What came of a call: what the model gets to read. */
export interface Outcome {
  content: string | Content[];
  is_error: boolean;
  /** Of a preview only: what the call would do. */
  proposal?: Proposal;
  /** Of a call of a built-in tool: the files that it changed. */
  changes?: FileChange[];
}

/** One call on its way to a tool. `progress` may be called until the outcome is there. */
export interface CallOptions {
  signal: AbortSignal;
  /** The user said yes to this call alone: a plugin has a host for it that serves no other. */
  once?: boolean;
  progress(text: string): void;
  /** Tells the user, and not the model, something about this call. */
  warn?(text: string): void;
}

/** Where a tool's handler runs. Its outcome is for the model; it rejects only when the host itself has a bug. */
export interface Host {
  call(tool: string, input: unknown, options: CallOptions): Promise<Outcome>;
  /** What the call would do, for whoever is asked before it runs. Without a `proposal` the tool does not tell. */
  preview?(tool: string, input: unknown, options: CallOptions): Promise<Outcome>;
  /** Ends what runs the handlers, with all that they know; the next call starts it again. */
  end?(): void;
}

/** The `source` of a tool that is part of the program. */
export const BUILT_IN = "built in";

/** A tool that is ready to be called. */
export interface Tool {
  definition: WireDefinition;
  permissions: Permissions;
  /** For the user: where it comes from; `BUILT_IN`, or the path of its file. */
  source: string;
  host: Host;
}

export interface Registry {
  tools: readonly Tool[];
  /** Sorted by name, by code point. */
  definitions: readonly WireDefinition[];
  /** Runs one call; never throws. */
  run(call: ToolUseBlock, options: CallOptions): Promise<ToolResultBlock>;
  /**
   * Runs the calls of one reply and puts each result in `results` as soon as it is there. Neighbours that only read run
   * at the same time; any other call waits for those before it and is waited for. After an abort, or when nobody listens
   * any more, nothing more is started, and what runs is told to stop and waited for.
   */
  runAll(
    calls: readonly ToolUseBlock[],
    results: Map<string, ToolResultBlock>,
    signal: AbortSignal,
  ): AsyncGenerator<Event, void>;
}

/** The bytes of `tools` must not depend on the order in which files were found. Names are unique: the loader sees to it. */
export function createRegistry(unsorted: readonly Tool[]): Registry {
  const tools = unsorted.toSorted((a, b) => byCodePoint(a.definition.name, b.definition.name));
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));

  async function run(call: ToolUseBlock, options: CallOptions): Promise<ToolResultBlock> {
    const tool = byName.get(call.name);
    let outcome: Outcome;
    if (!tool) outcome = { content: unknownTool(call.name, tools), is_error: true };
    else if (isTooDeep(call.input)) {
      outcome = { content: `Cannot call ${call.name}: its input is nested too deep`, is_error: true };
    } else if (options.signal.aborted) outcome = { content: "Not run: the turn was interrupted", is_error: true };
    else outcome = await callHost(tool, call, options);
    return { type: "tool_result", tool_use_id: call.id, ...limitResult(outcome) };
  }

  async function* runAll(
    calls: readonly ToolUseBlock[],
    results: Map<string, ToolResultBlock>,
    turn: AbortSignal,
  ): AsyncGenerator<Event, void> {
    const events = eventQueue();
    const left = new AbortController(); // whoever listens to the events has gone
    const signal = AbortSignal.any([turn, left.signal]);
    async function runOne(call: ToolUseBlock): Promise<void> {
      if (signal.aborted) return;
      events.put({ type: "tool_use", call });
      const progress = (text: string) => events.put({ type: "progress", tool_use_id: call.id, text });
      const warn = (text: string) => events.put({ type: "warning", text });
      const result = await run(call, { signal, progress, warn });
      results.set(call.id, result);
      events.put({ type: "tool_result", result });
    }
    async function runGroups(): Promise<void> {
      for (const group of groups(calls)) await Promise.all(group.map(runOne));
    }
    const done = runGroups().finally(events.close);
    try {
      yield* events.take();
    } finally {
      left.abort();
      await done;
    }
  }

  function groups(calls: readonly ToolUseBlock[]): ToolUseBlock[][] {
    const list: ToolUseBlock[][] = [];
    let previousReads = false;
    for (const call of calls) {
      const reads = onlyReads(byName.get(call.name)?.permissions ?? {});
      if (reads && previousReads) list.at(-1)?.push(call);
      else list.push([call]);
      previousReads = reads;
    }
    return list;
  }

  return { tools, definitions: tools.map((tool) => tool.definition), run, runAll };
}

/** Orders strings by code point: `<` on its own goes by UTF-16 unit, `localeCompare` by machine. */
export function byCodePoint(a: string, b: string): number {
  const left = [...a];
  const right = [...b];
  for (let i = 0; i < left.length && i < right.length; i++) {
    const difference = (left[i]?.codePointAt(0) ?? 0) - (right[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function onlyReads({ write, run }: Permissions): boolean {
  return !write && !run;
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.definition.name).join(", ");
  return `No tool is named "${oneLine(name, 80)}". ${
    names ? `Use one of: ${names}` : "There are no tools; answer without"
  }`;
}

/** A host that throws has a bug; even then its call has an outcome. */
async function callHost({ host }: Tool, { name, input }: ToolUseBlock, options: CallOptions): Promise<Outcome> {
  try {
    return await host.call(name, input, options);
  } catch (error) {
    return { content: `Cannot run ${name}: ${reasonOf(error)}`, is_error: true };
  }
}

function reasonOf(error: unknown): string {
  try {
    return error instanceof Error && error.message.trim() !== "" ? oneLine(error.message) : "its host failed";
  } catch {
    return "its host failed";
  }
}

interface EventQueue {
  put(event: Event): void;
  close(): void;
  take(): AsyncGenerator<Event, void>;
}

/** Calls that run at the same time report in one line. */
function eventQueue(): EventQueue {
  const waiting: Event[] = [];
  let closed = false;
  let wake: () => void = () => {};
  return {
    put(event) {
      waiting.push(event);
      wake();
    },
    close() {
      closed = true;
      wake();
    },
    async *take() {
      while (true) {
        for (let event = waiting.shift(); event; event = waiting.shift()) yield event;
        if (closed) return;
        await new Promise<void>((resolve) => wake = resolve);
      }
    },
  };
}
