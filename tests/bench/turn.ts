/** What a turn costs: the bytes of its first request, the time of its steps, its memory, a long answer. */

import { fakeApi, reply } from "../support/fake_api.ts";
import type { Reply } from "../support/api_reply.ts";
import { streamApi, type SwiftApi, swiftApi } from "./api.ts";
import { peakOfRun } from "./memory.ts";
import type { Program } from "./program.ts";
import { compare, type Row, type Rows, timeOf } from "./row.ts";
import { toApi } from "./start.ts";

export async function* turnRows(program: Program): Rows {
  yield* requestRows(program);
  yield await memoryRow(program);
  for (const steps of [20, 100]) yield await stepsRow(program, steps);
  yield* longAnswerRows(program);
}

/** The fake that knows the rules of the API gets this one: what breaks a rule is no request. */
async function* requestRows(program: Program): Rows {
  await using api = await fakeApi([reply({ text: "Done." })]);
  await program.start({ cwd: program.root, ...toApi(api.url) }).exited;
  const body = api.requests[0]?.body;
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  yield { what: "body of the first request", ours: bytes(body), unit: "bytes", aim: { most: 6144 } };
  yield { what: "  of that: the system prompt", ours: bytes(body.system), unit: "bytes" };
  yield { what: "  of that: definitions of tools", ours: bytes(body.tools), unit: "bytes" };
  for (const tool of body.tools) yield { what: `    ${tool.name}`, ours: bytes(tool), unit: "bytes" };
}

async function memoryRow(program: Program): Promise<Row> {
  using api = swiftApi([readFile(), reply({ text: "Done." })]);
  return await compare({
    ...{ what: "peak memory of core and host, a turn with read_file", unit: "MB", times: 3 },
    ours: () => peakOfRun(program.start({ cwd: program.root, ...toApi(api.url) })),
    against: {
      what: "bun that sleeps",
      figure: () => peakOfRun(Bun.spawn([process.execPath, "-e", "Bun.sleep(100)"])),
    },
  });
}

/** From the first request to the last one. */
async function stepsRow(program: Program, steps: number): Promise<Row> {
  using api = swiftApi([...Array.from({ length: steps - 1 }, readFile), reply({ text: "Done." })]);
  let bodies: string[] = [];
  return await compare({
    ...{ what: `time per step, ${steps} steps with read_file`, unit: "ms", times: 3 },
    ours: async () => {
      api.rewind();
      await program.start({ cwd: program.root, ...toApi(api.url, ["--max-steps", `${steps}`]) }).exited;
      const { 0: first, [steps - 1]: last } = api.requests;
      if (!first || !last) throw new Error(`the turn of ${steps} steps had ${api.requests.length}`);
      bodies = api.requests.map(({ body }) => body);
      return (last.at - first.at) / (steps - 1);
    },
    against: { what: "the same requests, plain fetch", figure: async () => await timeOfRequests(api, bodies) / steps },
  });
}

async function timeOfRequests(api: SwiftApi, bodies: readonly string[]): Promise<number> {
  api.rewind();
  return await timeOf(async () => {
    for (const body of bodies) await (await fetch(api.url, { method: "POST", body })).text();
  });
}

/** 400 kB of text in 50,000 events. */
async function* longAnswerRows(program: Program): Rows {
  const head = { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-5-5", content: [] };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "8 bytes " } };
  using api = streamApi([
    { type: "message_start", message: { ...head, stop_reason: null, stop_sequence: null, usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...Array.from({ length: 50_000 }, () => delta),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ]);
  const read = `await (await fetch("${api.url}", { method: "POST", body: "{}" })).text()`;
  const plain = () => Bun.spawn([process.execPath, "-e", read]);
  const ours = () => program.start({ cwd: program.root, ...toApi(api.url) });
  const what = "an answer of 400 kB in 50,000 events";
  const against = "the stream read by plain fetch";
  yield await compare({
    ...{ what: `${what}: time`, unit: "ms", times: 5 },
    ours: () => timeOf(() => ours().exited),
    against: { what: against, figure: () => timeOf(() => plain().exited) },
  });
  yield await compare({
    ...{ what: `${what}: memory`, unit: "MB", times: 3 },
    ours: () => peakOfRun(ours()),
    against: { what: against, figure: () => peakOfRun(plain()) },
  });
}

function readFile(): Reply {
  return reply({ calls: [{ name: "read_file", input: { path: "a.txt" } }] });
}
