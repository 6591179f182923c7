/** What plugin files add to the start, and what a call to one costs. */

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { reply } from "../support/api_reply.ts";
import { swiftApi } from "./api.ts";
import { openCalls } from "./calls.ts";
import { NOTHING, type Program } from "./program.ts";
import { compare, type Row, type Rows, timeOf } from "./row.ts";
import { firstRequest } from "./start.ts";

export async function* pluginRows(program: Program): Rows {
  using api = swiftApi([reply({ text: "Done." })]);
  const folders = new Map<number, string>();
  for (const count of [0, 10, 100]) {
    folders.set(count, await makePlugins(join(program.folder, `plugins${count}`), count));
  }
  for (const [count, folder] of folders) {
    const start = (home: string) => firstRequest(program, api, { args: ["--plugins", folder], env: { HOME: home } });
    const none = { what: "no plugin file", figure: () => firstRequest(program, api, {}) };
    if (count === 0) continue;
    const times = count > 10 ? 1 : 5;
    yield await compare({
      ...{ what: `first request, ${count} plugin files never seen`, unit: "ms", times, against: none },
      ours: async () => {
        const home = join(program.folder, "new_home");
        await rm(home, { recursive: true, force: true });
        await mkdir(home);
        return await start(home);
      },
    });
    const warm = await compare({
      ...{ what: `first request, ${count} plugin files unchanged`, unit: "ms", times, against: none },
      ours: () => start(program.home),
    });
    yield warm;
    if (count === 10) yield added(warm);
  }
  const folder = folders.get(10) ?? "";
  yield await compare({
    ...{ what: "call of a plugin: host start, and one call", unit: "ms", times: 5, against: NOTHING },
    ours: async () => {
      await using calls = await openCalls(program, program.root, ["--plugins", folder]);
      return await timeOf(() => calls.call("plugin_1", { text: "a" }));
    },
  });
  await using calls = await openCalls(program, program.root, ["--plugins", folder]);
  yield await compare({
    ...{ what: "call of a plugin, warm", unit: "ms", times: 50 },
    ours: () => timeOf(() => calls.call("plugin_1", { text: "a" })),
    against: { what: "call of get_time, warm", figure: () => timeOf(() => calls.call("get_time")) },
  });
}

/** By how much the files put the first request off. */
function added({ ours, against }: Row): Row {
  return { what: "  of that: added by 10 files", ours: ours - (against?.figure ?? 0), unit: "ms", aim: { most: 30 } };
}

async function makePlugins(folder: string, count: number): Promise<string> {
  await mkdir(folder);
  for (let at = 0; at < count; at++) {
    const definition = {
      name: `plugin_${at}`,
      description: "Gives the text back. Use it when the user asks for an echo.",
      input_schema: {
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
        additionalProperties: false,
      },
    };
    const lines = [
      'import type { Definition, Handler } from "tenon";',
      `export const definition: Definition = ${JSON.stringify(definition)};`,
      "export const handler: Handler<{ text: string }> = ({ text }) => text;",
      "",
    ];
    await Bun.write(join(folder, `plugin_${at}.ts`), lines.join("\n"));
  }
  return folder;
}
