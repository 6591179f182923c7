/**
 * `npm run bench [GROUP…]`: figures side by side, as medians of runs in turns. Nothing here fails for being slow: on a busy machine
 * a ratio says something, a time alone does not.
 */

import { cpus, loadavg, release } from "node:os";
import process from "node:process";
import { VERSION } from "../../core/options.ts";
import { hostRows } from "./host.ts";
import { pluginRows } from "./plugins.ts";
import { openProgram, type Program } from "./program.ts";
import type { Rows } from "./row.ts";
import { searchRows } from "./search.ts";
import { startRows } from "./start.ts";
import { HEAD, lineOf } from "./table.ts";
import { toolRows } from "./tools.ts";
import { turnRows } from "./turn.ts";

const GROUPS: Record<string, (program: Program) => Rows> = {
  start: startRows,
  host: hostRows,
  turn: turnRows,
  search: searchRows,
  tools: toolRows,
  plugins: pluginRows,
};

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.find((name) => !Object.hasOwn(GROUPS, name));
  if (unknown !== undefined) {
    console.error(`There is no group "${unknown}". There are: ${Object.keys(GROUPS).join(", ")}`);
    return 2;
  }
  const start = performance.now();
  await using program = await openProgram();
  console.log(machine());
  for (const line of HEAD) console.log(line);
  for (const name of names.length > 0 ? names : Object.keys(GROUPS)) {
    for await (const row of GROUPS[name]?.(program) ?? []) console.log(lineOf(row));
  }
  console.log(`${Math.round((performance.now() - start) / 1000)} s. ${load()}`);
  return 0;
}

function machine(): string {
  const [{ model } = { model: "unknown processor" }] = cpus();
  const tools = `tenon ${VERSION}, Bun ${Bun.version}`;
  return `${tools}; ${cpus().length} × ${model}, ${process.platform} ${release()}. ${load()}\n`;
}

function load(): string {
  return `Others' work on this machine counts: its load was ${loadavg()[0]?.toFixed(1)} in the last minute`;
}

process.exit(await main(process.argv.slice(2)));
