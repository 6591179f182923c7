import { expect, test } from "bun:test";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openDefinitionCache } from "../core/plugins/definition_cache.ts";
import type { Loaded } from "../core/hosts/protocol.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const hash = (n: number) => String(n).padStart(64, "0");

function loaded(name: string): Loaded {
  const definition = { name, description: "Does it.", input_schema: { type: "object", properties: {} } };
  return { definition, permissions: { read: true }, timeout_ms: 1000 };
}

test("a definition cache has what was put in it before, byte for byte", async () => {
  await using temp = await tempWorkspace();
  const state = join(temp.top, "state");
  const first = await openDefinitionCache(state);
  expect(first.get(hash(1))).toBeUndefined();
  first.put(hash(1), loaded("a"));
  expect(first.get(hash(1))).toEqual(loaded("a"));
  await first.save();
  const again = await openDefinitionCache(state);
  expect(JSON.stringify(again.get(hash(1)))).toBe(JSON.stringify(loaded("a")));
  expect(again.get(hash(2))).toBeUndefined();
  expect((await stat(join(state, "definitions.json"))).mode & 0o777).toBe(0o600);
});

test("a definition cache has why a file does not load, until it is told to forget it", async () => {
  await using temp = await tempWorkspace();
  const state = join(temp.top, "state");
  const first = await openDefinitionCache(state);
  first.put(hash(1), { problem: "line 1: no" });
  first.put(hash(2), { problem: "did not finish", late: true });
  await first.save();
  const second = await openDefinitionCache(state);
  expect([second.get(hash(1)), second.get(hash(2))]).toEqual([
    { problem: "line 1: no" },
    { problem: "did not finish", late: true },
  ]);
  second.forget(hash(2));
  await second.save();
  const third = await openDefinitionCache(state);
  expect([third.get(hash(1)), third.get(hash(2))]).toEqual([{ problem: "line 1: no" }, undefined]);
});

test("a definition cache keeps the 500 that were used last", async () => {
  await using temp = await tempWorkspace();
  const state = join(temp.top, "state");
  const first = await openDefinitionCache(state);
  for (let n = 0; n < 500; n++) first.put(hash(n), loaded(`t${n}`));
  await first.save();
  const second = await openDefinitionCache(state);
  second.get(hash(0));
  second.put(hash(500), loaded("t500"));
  await second.save();
  const third = await openDefinitionCache(state);
  expect(third.get(hash(0))).toEqual(loaded("t0"));
  expect(third.get(hash(1))).toBeUndefined();
  expect(third.get(hash(2))).toEqual(loaded("t2"));
  expect(third.get(hash(500))).toEqual(loaded("t500"));
});

test("a definition cache is empty when its file is broken, forged or of another program", async () => {
  await using temp = await tempWorkspace();
  const state = join(temp.top, "state");
  const file = join(state, "definitions.json");
  const first = await openDefinitionCache(state);
  first.put(hash(1), loaded("a"));
  await first.save();
  const text = await readFile(file, "utf8");
  const others = [
    "",
    "{",
    "[]",
    text.replace('"read":true', '"read":"all"'),
    text.replace('"program":"', '"program":"1'),
    text.replace('"name":"a"', '"name":"a b"'),
  ];
  for (const other of others) {
    await writeFile(file, other);
    expect((await openDefinitionCache(state)).get(hash(1))).toBeUndefined();
  }
  await writeFile(file, text);
  expect((await openDefinitionCache(state)).get(hash(1))).toBeDefined();
});

test("a definition cache without a folder, or with one that cannot be written, ends nothing", async () => {
  await using temp = await tempWorkspace({ "file": "" });
  for (const state of [undefined, join(temp.root, "file")]) {
    const cache = await openDefinitionCache(state);
    cache.put(hash(1), loaded("a"));
    await cache.save();
    expect(cache.get(hash(1))).toEqual(loaded("a"));
  }
});
