import { describe, expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openUndoStore } from "../core/undo/undo_store.ts";
import { sha256Of } from "../core/hash.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const after = sha256Of("after");

async function open(limits?: { turns: number; bytes: number }) {
  const folder = await mkdtemp(join(tmpdir(), "tenon-undo-"));
  const place = join(folder, "undo");
  const store = openUndoStore(place, limits);
  return {
    store,
    place,
    reopen: () => openUndoStore(place, limits),
    async kept() {
      const names = await readdir(join(place, "contents")).catch(() => []);
      return (await Promise.all(names.map((name) => readFile(join(place, "contents", name), "utf8")))).sort();
    },
    add: (id: string, path: string, before: string | null | undefined, hash = after) =>
      store.add(id, { path, before: typeof before === "string" ? bytes(before) : before, after: hash }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

describe("a store for undo", () => {
  test("keeps the first content and the last hash of a file in a turn", async () => {
    await using undo = await open();
    const last = sha256Of("last");
    for (const [before, hash] of [["one", after], ["two", last]] as const) {
      expect(await undo.add("t", "a", before, hash)).toBe(true);
    }
    expect(await undo.reopen().last()).toEqual({
      id: "t",
      files: [{ path: "a", before: sha256Of("one"), after: last }],
    });
    expect(await undo.kept()).toEqual(["one"]);
  });

  test("drops the oldest turns past their number, with what only they need", async () => {
    await using undo = await open({ turns: 2, bytes: 1000 });
    for (const id of ["1", "2", "3"]) await undo.add(id, "a", `old ${id}`);
    await undo.add("3", "b", "old 2");
    expect(await undo.kept()).toEqual(["old 2", "old 3"]);
    await undo.store.settle("3", []);
    expect(await undo.store.last()).toMatchObject({ id: "2" });
    await undo.store.settle("2", []);
    expect(await undo.store.last()).toBeUndefined();
    expect(await undo.kept()).toEqual([]);
  });

  test("drops the oldest turns past their size, and of a turn that is too large only the contents", async () => {
    await using undo = await open({ turns: 10, bytes: 100 });
    for (const id of ["1", "2", "3"]) await undo.add(id, "a", id.repeat(40));
    expect(await undo.kept()).toEqual(["2".repeat(40), "3".repeat(40)]);
    await undo.add("4", "a", "4".repeat(101));
    expect(await undo.store.last()).toEqual({ id: "4", files: [{ path: "a", after }] });
    expect(await undo.kept()).toEqual([]);
  });

  test("knows a file that was made, and one whose content was not kept", async () => {
    await using undo = await open();
    await undo.add("t", "new", null);
    await undo.add("t", "large", undefined);
    expect((await undo.store.last())?.files).toEqual([{ path: "new", before: null, after }, { path: "large", after }]);
  });

  test.each([["no JSON", "{"], ["another shape", '[{"id":1}]'], [
    "a path to somewhere",
    '[{"id":"1","files":[{"path":"a","before":"../x","after":"y"}]}]',
  ]])(
    "takes a list that is %s for none, and goes on",
    async (_what, text) => {
      await using undo = await open();
      await undo.add("1", "a", "old");
      await writeFile(join(undo.place, "turns.json"), text);
      expect(await undo.store.last()).toBeUndefined();
      expect(await undo.add("2", "a", "old")).toBe(true);
      expect(await undo.store.last()).toMatchObject({ id: "2" });
    },
  );

  test("gives no content that is not what was kept", async () => {
    await using undo = await open();
    await undo.add("1", "a", "old");
    await writeFile(join(undo.place, "contents", sha256Of("old")), "forged");
    expect(await undo.store.contentOf(sha256Of("old"))).toBeUndefined();
    expect(await undo.store.contentOf(sha256Of("never"))).toBeUndefined();
  });

  test("removes what a killed process has left, and is whole whenever it was killed", async () => {
    await using undo = await open();
    await undo.add("1", "a", "old");
    // Killed after the content and before the list; or in the middle of either.
    await writeFile(join(undo.place, "contents", sha256Of("lost")), "lost");
    await writeFile(join(undo.place, "contents", `${sha256Of("half")}.99.new`), "ha");
    await writeFile(join(undo.place, "turns.json.99.new"), "[{");
    expect(await undo.reopen().last()).toMatchObject({ id: "1" });
    await undo.add("2", "a", "older");
    expect(await undo.kept()).toEqual(["old", "older"]);
  });

  test("keeps nothing without a folder", async () => {
    const store = openUndoStore(undefined);
    expect(store.isOpen).toBe(false);
    expect(await store.add("1", { path: "a", before: null, after })).toBe(false);
    expect(await store.last()).toBeUndefined();
  });
});
