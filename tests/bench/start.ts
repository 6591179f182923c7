/** How long the user waits before the model hears of the prompt. */

import { reply } from "../support/api_reply.ts";
import { type SwiftApi, swiftApi } from "./api.ts";
import { NOTHING, processorTime, type Program, type Started, timeOfCommand } from "./program.ts";
import { compare, type Row, type Rows } from "./row.ts";

const OFF = "--sandbox=off";

export async function* startRows(program: Program): Rows {
  const version = () => timeOfCommand([...program.command("executable"), "--version"]);
  yield await compare({ what: "tenon --version", unit: "ms", ours: version, against: NOTHING, times: 15 });
  using api = swiftApi([reply({ text: "Done." })]);
  const first = (what: string, started: Partial<Started>, aim?: Row["aim"]) =>
    compare({
      ...{ what, unit: "ms", against: NOTHING, times: 15, ...(aim ? { aim } : {}) },
      ours: () => firstRequest(program, api, started),
    });
  yield await first("start to first request, no fence", { args: [OFF] }, { ratio: 3 });
  yield await first("start to first request, fence", {}, { ratio: 5 });
  for (const [what, args] of [["no fence", [OFF]], ["fence", []]] as const) {
    yield await compare({
      ...{ what: `processor time of the whole turn, ${what}`, unit: "ms", times: 9 },
      ours: () => processorTime(program.start({ cwd: program.root, ...toApi(api.url, args) })),
      against: { what: "bun -e 0", figure: () => processorTime(Bun.spawn([process.execPath, "-e", "0"])) },
    });
  }
  yield await first("first request from source under Bun, no fence", { way: "bun", args: [OFF] });
  yield await first("first request from source under Bun, fence", { way: "bun" });
  yield await first("first request from source under Deno", { way: "deno" });
}

/** Milliseconds from the start of the process until the API has its request. */
export async function firstRequest(program: Program, api: SwiftApi, started: Partial<Started>): Promise<number> {
  api.rewind();
  const start = performance.now();
  const { args, env } = toApi(api.url, started.args);
  const child = program.start({ cwd: program.root, ...started, args, env: { ...env, ...started.env } });
  await child.exited;
  const [request] = api.requests;
  if (!request || child.exitCode !== 0) throw new Error(`tenon ended with ${child.exitCode} after no whole turn`);
  return request.at - start;
}

/** The arguments and the environment of one turn with this API. */
export function toApi(url: string, args: readonly string[] = []): Pick<Started, "args" | "env"> {
  return { args: [...args, "-p", "hello"], env: { ANTHROPIC_API_KEY: "bench", ANTHROPIC_BASE_URL: url } };
}
