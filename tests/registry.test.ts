import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Event } from "../core/agent.ts";
import type { Content, ToolResultBlock, ToolUseBlock } from "../core/message.ts";
import { byCodePoint, type CallOptions, createRegistry, type Outcome, type Tool } from "../core/registry.ts";
import { RESULT_LIMIT } from "../core/text.ts";
import type { Permissions } from "../core/tool.ts";

type Handle = (input: unknown, options: CallOptions) => Outcome | Promise<Outcome>;

function tool(name: string, permissions: Permissions, handle: Handle): Tool {
  return {
    definition: { name, description: `Is called ${name}.`, input_schema: { type: "object" } },
    permissions,
    source: "a test",
    host: { call: async (_tool, input, options) => await handle(input, options) },
  };
}

const says = (content: Outcome["content"], is_error = false): Handle => () => ({ content, is_error });

const call = (name: string, id = `toolu_${name}`, input: unknown = {}): ToolUseBlock => ({
  type: "tool_use",
  id,
  name,
  input,
});

const never = new AbortController().signal;

/** The result of one call of a tool that does this. */
async function resultOf(handle: Handle): Promise<ToolResultBlock> {
  return await createRegistry([tool("t", {}, handle)]).run(call("t"), { signal: never, progress() {} });
}

function textIn(content: string | Content[]): string {
  return typeof content === "string"
    ? content
    : content.map((block) => block.type === "text" ? block.text : "").join("");
}

describe("definitions", () => {
  const names = ["Zeta", "_x", "a", "a-b", "a10", "a2", "ab", "write_file", "\ue000", "\ufb00", "😀"];

  test("are sorted by code point: upper case first, digits as letters, astral characters last", () => {
    const tools = names.toReversed().map((name) => tool(name, {}, says("")));
    expect(createRegistry(tools).definitions.map((definition) => definition.name)).toEqual(names);
  });

  test("have the same bytes for any order of the files", () => {
    const tools = names.map((name) => tool(name, {}, says("")));
    const bytes = JSON.stringify(createRegistry(tools).definitions);
    fc.assert(fc.property(fc.shuffledSubarray(tools, { minLength: tools.length }), (shuffled) => {
      expect(JSON.stringify(createRegistry(shuffled).definitions)).toBe(bytes);
    }));
  });

  test("have the same bytes in every locale", () => {
    const script = `
      const { createRegistry } = await import(${JSON.stringify(import.meta.resolve("../core/registry.ts"))});
      const tool = (name) => ({ definition: { name, description: "", input_schema: {} }, permissions: {}, host: {} });
      console.log(JSON.stringify(createRegistry(["z", "ä", "a", "I", "i", "ı", "ch", "cz"].map(tool)).definitions));`;
    const outputs = ["C", "cs_CZ.UTF-8", "tr_TR.UTF-8", "sv_SE.UTF-8"].map((LC_ALL) => {
      const run = Bun.spawnSync([process.execPath, "-e", script], { env: { LC_ALL, LANG: LC_ALL } });
      return run.stdout.toString();
    });
    expect(outputs[0]).toStartWith('[{"name":"I"');
    expect(new Set(outputs).size).toBe(1);
  });

  test("are in the order of their UTF-8 bytes, for any names", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(fc.property(text, text, (a, b) => {
      expect(Math.sign(byCodePoint(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }));
  });
});

describe("run answers", () => {
  const cases: [what: string, handle: Handle, content: Outcome["content"], is_error: boolean][] = [
    ["with what the tool says", says("done"), "done", false],
    ["with the tool's error", says("Cannot do it", true), "Cannot do it", true],
    ["when the host rejects", () => Promise.reject(new Error("pipe\nbroken")), "Cannot run t: pipe\\nbroken", true],
    ["when the host rejects with nothing", () => Promise.reject(undefined), "Cannot run t: its host failed", true],
    [
      "when the host rejects without words",
      () => Promise.reject(new Error(" ")),
      "Cannot run t: its host failed",
      true,
    ],
    ["when the host's error cannot be read", () => Promise.reject(unreadable()), "Cannot run t: its host failed", true],
  ];
  for (const [what, handle, content, is_error] of cases) {
    test(what, async () => {
      const result = await resultOf(handle);
      expect(result).toEqual({
        type: "tool_result",
        tool_use_id: "toolu_t",
        content,
        ...(is_error ? { is_error } : {}),
      });
    });
  }

  test("when the host throws at once", async () => {
    const throwing = tool("t", {}, says(""));
    throwing.host.call = () => {
      throw new Error("no host");
    };
    const result = await createRegistry([throwing]).run(call("t"), { signal: never, progress() {} });
    expect(result.content).toBe("Cannot run t: no host");
  });

  test("by name, with the input as it came", async () => {
    const registry = createRegistry(
      ["one", "two"].map((name) =>
        tool(name, {}, (input) => ({ content: `${name} ${JSON.stringify(input)}`, is_error: false }))
      ),
    );
    const result = await registry.run(call("two", "id", { a: [1] }), { signal: never, progress() {} });
    expect(result.content).toBe('two {"a":[1]}');
  });

  test("after an abort, without starting the tool", async () => {
    const result = await createRegistry([tool("t", {}, () => expect.unreachable())])
      .run(call("t"), { signal: AbortSignal.abort(), progress() {} });
    expect(result).toMatchObject({ content: "Not run: the turn was interrupted", is_error: true });
  });

  const unknown: [name: string, tools: string[], content: string][] = [
    ["grep", ["read_file", "glob"], 'No tool is named "grep". Use one of: glob, read_file'],
    ["toString", ["glob"], 'No tool is named "toString". Use one of: glob'],
    ["__proto__", ["glob"], 'No tool is named "__proto__". Use one of: glob'],
    ["", ["glob"], 'No tool is named "". Use one of: glob'],
    ["a\nb\u001b[2J", ["glob"], 'No tool is named "a\\nb\\u{1b}[2J". Use one of: glob'],
    ["Glob", ["glob"], 'No tool is named "Glob". Use one of: glob'],
    ["glob", [], 'No tool is named "glob". There are no tools; answer without'],
  ];
  for (const [name, tools, content] of unknown) {
    test(`an unknown tool ${JSON.stringify(name)} among ${tools.length} with those there are`, async () => {
      const registry = createRegistry(tools.map((name) => tool(name, {}, says(""))));
      const result = await registry.run(call(name), { signal: never, progress() {} });
      expect(result).toMatchObject({ content, is_error: true });
    });
  }
});

/** An error whose message cannot be read. */
function unreadable(): Error {
  return Object.defineProperty(new Error(), "message", {
    get() {
      throw new Error("no message");
    },
  });
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==";

function imageOf(data: string, media_type = "image/png"): Content {
  return { type: "image", source: { type: "base64", media_type, data } };
}

describe("a result over the limit", () => {
  test("is untouched up to the limit", async () => {
    const text = "x".repeat(RESULT_LIMIT);
    expect((await resultOf(says(text))).content).toBe(text);
    expect((await resultOf(says([{ type: "text", text }]))).content).toEqual([{ type: "text", text }]);
  });

  test("keeps its head and its tail and says what was left out (X19)", async () => {
    const { content } = await resultOf(says(`START${"x".repeat(5_000_000)}END`));
    const text = textIn(content);
    expect(text.length).toBeLessThanOrEqual(RESULT_LIMIT);
    expect(text).toStartWith("START");
    expect(text).toEndWith("END");
    expect(text).toMatch(/\n\[\d+ of 5000008 characters left out here\]\n/);
  });

  test("is cut as an error, too", async () => {
    const { content, is_error } = await resultOf(says("e".repeat(1_000_000), true));
    expect(textIn(content).length).toBeLessThanOrEqual(RESULT_LIMIT);
    expect(is_error).toBe(true);
  });

  test("is cut over all its text blocks together, and keeps its images", async () => {
    const image = imageOf(PIXEL);
    const text: Content = { type: "text", text: "y".repeat(30_000) };
    const { content } = await resultOf(says([image, text, image, text, text, text]));
    const kept = content as Content[];
    expect(kept.map((block) => block.type)).toEqual(["image", "text", "image", "text", "text"]);
    expect(kept.at(-1)).toEqual({
      type: "text",
      text: "[2 more text blocks left out: one result is at most 50000 characters]",
    });
    expect(textIn(kept).length).toBeLessThanOrEqual(RESULT_LIMIT);
  });

  const images: [what: string, data: string, told: string][] = [
    ["of 50 MB", "x".repeat(50_000_000), "it has 37,500,000 bytes, at most 3,750,000 are taken"],
    ["that is none", "eA==", "it is no whole PNG, JPEG, GIF or WebP image in base64"],
    ["that is no base64", `${PIXEL}!`, "it is no whole PNG, JPEG, GIF or WebP image in base64"],
  ];
  test.each(images)("has a line in the place of an image %s", async (_, data, told) => {
    const { content } = await resultOf(says([imageOf(data)]));
    expect(content).toEqual([{ type: "text", text: `[an image was left out: ${told}]` }]);
  });

  test("names an image by what its bytes are", async () => {
    const { content } = await resultOf(says([imageOf(PIXEL, "image/jpeg")]));
    expect(content).toEqual([imageOf(PIXEL)]);
  });

  test("is at most the limit, for any blocks", async () => {
    const lengths = fc.array(fc.oneof(fc.nat(300), fc.nat(RESULT_LIMIT)), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(lengths, async (lengths) => {
        const blocks = lengths.map((length): Content => ({ type: "text", text: "z".repeat(length) }));
        const { content } = await resultOf(says(blocks));
        expect(textIn(content).length).toBeLessThanOrEqual(RESULT_LIMIT);
      }),
      { numRuns: 50 },
    );
  });
});

interface Step {
  /** What each call does before it answers; "fails" rejects. */
  kind: "reads" | "writes" | "runs" | "fails" | "unknown";
  ticks: number;
}

/** Runs the calls; each answers after some ticks, and what is going on is written down. */
async function play(steps: readonly Step[], abortAt?: number) {
  const abort = new AbortController();
  const running = new Set<number>();
  const started: number[] = [];
  const together = new Set<string>();
  let ended = 0;
  const handle = (fails: boolean): Handle => async (input) => {
    const index = (input as { index: number }).index;
    for (const other of running) together.add(`${other} ${index}`);
    running.add(index);
    started.push(index);
    for (let tick = 0; tick < (steps[index]?.ticks ?? 0); tick++) await Promise.resolve();
    running.delete(index);
    if (++ended === abortAt) abort.abort();
    if (fails) throw new Error("it fails");
    return { content: `result ${index}`, is_error: false };
  };
  const registry = createRegistry([
    tool("reads", { read: true }, handle(false)),
    tool("fails", { read: true }, handle(true)),
    tool("writes", { read: true, write: true }, handle(false)),
    tool("runs", { run: true }, handle(false)),
  ]);
  const calls = steps.map(({ kind }, index) => call(kind, `toolu_${index}`, { index }));
  const results = new Map<string, ToolResultBlock>();
  const events: Event[] = [];
  for await (const event of registry.runAll(calls, results, abort.signal)) events.push(event);
  return { started, together, results, events };
}

describe("runAll", () => {
  const anySteps = fc.array(
    fc.record<Step>({ kind: fc.constantFrom("reads", "writes", "runs", "fails", "unknown"), ticks: fc.nat(6) }),
    { maxLength: 8 },
  );
  const readsOnly = (kind: Step["kind"] | undefined) => kind !== "writes" && kind !== "runs";

  test("gives each call its result, starts them in call order, and lets only neighbours that read overlap", async () => {
    await fc.assert(fc.asyncProperty(anySteps, async (steps) => {
      const { started, together, results, events } = await play(steps);
      const known = steps.flatMap(({ kind }, index) => kind === "unknown" ? [] : [index]);
      expect(started).toEqual(known);
      expect([...results.keys()].toSorted()).toEqual(steps.map((_, index) => `toolu_${index}`));
      steps.forEach(({ kind }, index) => {
        const content = results.get(`toolu_${index}`)?.content;
        if (readsOnly(kind) && kind !== "reads") {
          expect(content).toMatch(/^(Cannot run fails: it fails|No tool is named)/);
        } else expect(content).toBe(`result ${index}`);
      });
      for (const pair of together) {
        const [first = 0, second = 0] = pair.split(" ").map(Number);
        const between = steps.slice(Math.min(first, second), Math.max(first, second) + 1);
        expect(between.every(({ kind }) => readsOnly(kind))).toBe(true);
      }
      expect(events.filter((event) => event.type === "tool_result").length).toBe(steps.length);
    }));
  });

  test("runs neighbours that only read at the same time", async () => {
    const { together } = await play([{ kind: "reads", ticks: 3 }, { kind: "fails", ticks: 3 }, {
      kind: "reads",
      ticks: 3,
    }]);
    expect([...together].toSorted()).toEqual(["0 1", "0 2", "1 2"]);
  });

  test("starts nothing after an abort and leaves no result for what was not started", async () => {
    await fc.assert(fc.asyncProperty(anySteps, fc.integer({ min: 1, max: 4 }), async (steps, abortAt) => {
      const { started, results } = await play(steps, abortAt);
      const unstarted = steps.flatMap(({ kind }, index) =>
        kind === "unknown" || started.includes(index) ? [] : [`toolu_${index}`]
      );
      for (const id of unstarted) expect(results.has(id)).toBe(false);
      for (const index of started) expect(results.has(`toolu_${index}`)).toBe(true);
      // The call that runs when the abort comes is the last, but for readers that were started together with it.
      const last = started.at(-1) ?? 0;
      const beside = started.slice(abortAt).every((index) => readsOnly(steps[index]?.kind) && index <= last);
      expect(beside).toBe(true);
    }));
  });

  test("starts nothing when it was aborted before", async () => {
    const registry = createRegistry([tool("t", {}, () => expect.unreachable())]);
    const results = new Map<string, ToolResultBlock>();
    const events = await Array.fromAsync(registry.runAll([call("t")], results, AbortSignal.abort()));
    expect({ events, results: results.size }).toEqual({ events: [], results: 0 });
  });

  test("tells of progress between a call and its result", async () => {
    const registry = createRegistry([tool("t", {}, (_, { progress }) => {
      progress("half");
      return { content: "whole", is_error: false };
    })]);
    const events = await Array.fromAsync(registry.runAll([call("t")], new Map(), never));
    expect(events.map((event) => event.type)).toEqual(["tool_use", "progress", "tool_result"]);
    expect(events[1]).toEqual({ type: "progress", tool_use_id: "toolu_t", text: "half" });
  });

  test("stops what runs and starts no more when nobody listens any more", async () => {
    const started: string[] = [];
    const handle: Handle = async (input, { signal }) => {
      started.push(String(input));
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { content: "stopped", is_error: true };
    };
    const registry = createRegistry([tool("writes", { write: true }, handle)]);
    const results = new Map<string, ToolResultBlock>();
    const calls = [call("writes", "a", "first"), call("writes", "b", "second")];
    for await (const event of registry.runAll(calls, results, never)) {
      if (event.type === "tool_use") break;
    }
    expect(started).toEqual(["first"]);
    expect([...results.keys()]).toEqual(["a"]);
  });
});
