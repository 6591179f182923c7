/** What stands between core and a tool: the start of a host, and the way of one call. */

import { linesOf, openCalls } from "./calls.ts";
import { NOTHING, type Program } from "./program.ts";
import { compare, type Rows, timeOf } from "./row.ts";

const ROUNDS = 200;

export async function* hostRows(program: Program): Rows {
  yield await compare({
    ...{ what: "first call in a session: host start, and one call", unit: "ms", times: 9, aim: { most: 40 } },
    against: NOTHING,
    ours: async () => {
      await using calls = await openCalls(program, program.root);
      return await timeOf(() => calls.call("get_time"));
    },
  });
  await using calls = await openCalls(program, program.root);
  const cat = Bun.spawn(["cat"], { stdin: "pipe", stdout: "pipe" });
  const lines = linesOf(cat.stdout);
  const ask = async () => {
    cat.stdin.write("a line\n");
    cat.stdin.flush();
    await lines.next();
  };
  // The bench itself is one pipe away from core, and core one from its host.
  yield await compare({
    ...{ what: `round trip of an empty call, the mean of ${ROUNDS}`, unit: "ms", times: 9, aim: { most: 1 } },
    ours: () => timeOf(() => repeat(() => calls.call("get_time"))).then((time) => time / ROUNDS),
    against: { what: "a line through cat", figure: () => timeOf(() => repeat(ask)).then((time) => time / ROUNDS) },
  });
  cat.kill();
}

async function repeat(run: () => Promise<unknown>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await run();
}
