import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { importPlugin } from "../core/plugins/plugins.ts";
import { FAULTS, PROBLEMS } from "./support/faults.ts";

/** Nothing is wrong with this file but its name, which only the whole program knows to be taken. */
const rows = Object.entries(PROBLEMS).filter(([name]) => name !== "read_file");

test.each(rows)("importPlugin tells the author of %s.ts: %s (X03, X05)", async (name, problem) => {
  const told = await importPlugin(join(FAULTS, `${name}.ts`)).then(() => "nothing", (error) => error.message);
  expect(told).toBe(problem);
});

test("there is a fixture for every fault, and a fault for every fixture", async () => {
  expect((await readdir(FAULTS)).sort()).toEqual(Object.keys(PROBLEMS).map((name) => `${name}.ts`).sort());
});
