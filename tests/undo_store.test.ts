import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openUndoStore, type Turn, UNDO_LIMITS } from "../core/undo/undo_store.ts";
import { sha256Of } from "../core/hash.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const after = sha256Of("after");

async function open(given: Partial<typeof UNDO_LIMITS> = {}) {
  const limits = { ...UNDO_LIMITS, ...given };
  const folder = await mkdtemp(join(tmpdir(), "tenon-undo-"));
  const place = join(folder, "undo");
  const store = openUndoStore(place, limits);
  return {
    store,
    place,
    turns: async (): Promise<Turn[]> => JSON.parse(await readFile(join(place, "turns.json"), "utf8")),
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
    for (const [before, hash] of [["one", after], ["after", last]] as const) {
      expect(await undo.add("t", "a", before, hash)).toBe("kept");
    }
    expect(await undo.reopen().last()).toEqual({
      id: "t",
      files: [{ path: "a", before: sha256Of("one"), after: last }],
    });
    expect(await undo.kept()).toEqual(["one"]);
    await undo.add("t", "a", "by something else");
    expect((await undo.store.last())?.files).toMatchObject([{ before: sha256Of("one"), mixed: true, after }]);
  });

  test("keeps no content of a file whose first one it has, also where nothing can be kept", async () => {
    await using undo = await open();
    await undo.add("t", "a", "one");
    const contents = join(undo.place, "contents");
    await rm(contents, { recursive: true });
    await writeFile(contents, "a file, in which nothing can be kept");
    expect(await undo.add("t", "a", "after")).toBe("kept");
    expect(await undo.add("t", "b", "two")).toBe("failed");
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
    expect(await undo.add("4", "a", "4".repeat(101))).toBe("without content");
    expect(await undo.store.last()).toEqual({ id: "4", files: [{ path: "a", after }] });
    expect(await undo.kept()).toEqual([]);
  });

  test("keeps the first contents of a turn that is too large, and tells of the others", async () => {
    await using undo = await open({ bytes: 100 });
    expect(await undo.add("1", "a", "a".repeat(60))).toBe("kept");
    expect(await undo.add("1", "b", "b".repeat(60))).toBe("without content");
    expect(await undo.add("1", "c", "c".repeat(40))).toBe("kept");
    expect(await undo.add("1", "new", null)).toBe("kept");
    expect(await undo.kept()).toEqual(["a".repeat(60), "c".repeat(40)]);
  });

  test("drops the oldest turns past the number of files, and keeps none of a turn past it", async () => {
    await using undo = await open({ files: 3 });
    for (const [id, path] of [["1", "a"], ["2", "a"], ["2", "b"], ["3", "a"]] as const) {
      expect(await undo.add(id, path, null)).toBe("kept");
    }
    expect((await undo.turns()).map(({ id }) => id)).toEqual(["2", "3"]);
    await undo.add("3", "b", null);
    await undo.add("3", "c", null);
    expect((await undo.turns()).map(({ id }) => id)).toEqual(["3"]);
    expect(await undo.add("3", "d", null)).toBe("failed");
    expect((await undo.store.last())?.files.map(({ path }) => path)).toEqual(["a", "b", "c"]);
  });

  test("has the newest turns and no others, within every bound, whatever is changed", async () => {
    const change = fc.record({
      id: fc.integer({ min: 0, max: 6 }).map(String),
      path: fc.constantFrom("a", "b", "c"),
      before: fc.option(fc.string({ maxLength: 40, unit: fc.constantFrom("x", "y") })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 25 }), async (changes) => {
        const limits = { turns: 3, files: 4, bytes: 60 };
        await using undo = await open(limits);
        let ids: string[] = [];
        for (const { id, path, before } of changes) {
          expect(await undo.add(id, path, before)).not.toBe("failed");
          ids = [...ids.filter((one) => one !== id), id];
          const turns = await undo.turns();
          expect(turns.map((turn) => turn.id)).toEqual(ids.slice(-turns.length));
          ids = ids.slice(-turns.length);
          expect(turns.length).toBeLessThanOrEqual(limits.turns);
          expect(turns.flatMap(({ files }) => files).length).toBeLessThanOrEqual(limits.files);
          expect((await undo.kept()).join("").length).toBeLessThanOrEqual(limits.bytes);
        }
      }),
      { numRuns: 30 },
    );
  });

  test("removes the stores of workspaces in which nothing was changed for long, and nothing else", async () => {
    await using undo = await open();
    const names = ["a", "b", "c"].map((char) => join(undo.place, "..", char.repeat(32)));
    const [unused = "", used = "", empty = ""] = names;
    for (const name of [...names, `${unused}.notes`]) await mkdir(name);
    for (const name of [unused, used, `${unused}.notes`]) await writeFile(join(name, "turns.json"), "[]");
    const old = Date.now() / 1000 - UNDO_LIMITS.unusedMs / 1000 - 10;
    for (const name of [unused, `${unused}.notes`]) await utimes(join(name, "turns.json"), old, old);
    await undo.add("1", "a", "old");
    for (let tries = 0; existsSync(unused) && tries < 1000; tries++) await Bun.sleep(1);
    expect(existsSync(unused)).toBe(false);
    expect([used, empty, `${unused}.notes`, undo.place].filter(existsSync)).toHaveLength(4);
  });

  test("remembers the folders of a turn until all its files are back", async () => {
    await using undo = await open();
    const made = (path: string, folders: string[]) => undo.store.add("1", { path, before: null, after, folders });
    await made("a/x", ["a"]);
    await made("a/b/y", ["a/b"]);
    expect((await undo.store.last())?.folders).toEqual(["a", "a/b"]);
    const [first] = (await undo.store.last())?.files ?? [];
    await undo.store.settle("1", first ? [first] : []);
    expect(await undo.reopen().last()).toEqual({
      id: "1",
      files: [{ path: "a/x", before: null, after }],
      folders: ["a", "a/b"],
    });
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
      expect(await undo.add("2", "a", "old")).toBe("kept");
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

  test("leaves no part of what it could not write", async () => {
    await using undo = await open();
    await mkdir(join(undo.place, "turns.json"), { recursive: true }); // so that the list can be written, but not put there
    expect(await undo.add("1", "a", "old")).toBe("failed");
    expect((await readdir(undo.place)).sort()).toEqual(["contents", "turns.json"]);
  });

  test("keeps nothing without a folder", async () => {
    const store = openUndoStore(undefined);
    expect(store.isOpen).toBe(false);
    expect(await store.add("1", { path: "a", before: null, after })).toBe("failed");
    expect(await store.last()).toBeUndefined();
  });
});
