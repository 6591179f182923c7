import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { namedRoot, placeAt, realFolders } from "../core/place.ts";

let top = "";
beforeAll(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "tenon-place-")));
  await mkdir(join(top, "ws/a"), { recursive: true });
  await mkdir(join(top, "out"));
  await symlink("../out", join(top, "ws/link"));
  await symlink("loop", join(top, "ws/loop"));
});
afterAll(() => rm(top, { recursive: true }));

const places: [string, string][] = [
  [".", "ws"],
  ["a/", "ws/a"],
  ["a/../b", "ws/b"],
  ["not/yet", "ws/not/yet"],
  ["link", "out"],
  ["link/not/yet", "out/not/yet"],
  ["../out", "out"],
  ["loop/x", "ws/loop/x"],
];
test.each(places)("placeAt takes %j to the real %j", (path, real) => {
  expect(placeAt(join(top, "ws")).resolve(path)).toBe(join(top, real));
});

test("placeAt takes an absolute path to its real place", () => {
  expect(placeAt(join(top, "ws")).resolve(join(top, "ws/link/x"))).toBe(join(top, "out/x"));
});

test("realFolders follows a home that is a link, also to folders that are not there yet", () => {
  const home = join(top, "ws/link");
  expect(realFolders({ home, config: join(home, ".config/tenon"), state: undefined })).toEqual({
    home: join(top, "out"),
    config: join(top, "out/.config/tenon"),
    state: undefined,
  });
});

const spelled: [words: string, name: string, pwd: string | undefined, named: string | undefined][] = [
  ["the shell's current folder", ".", "entry", "entry"],
  ["a folder below it", "a", "entry", "entry/a"],
  ["no link on the way", ".", "ws", undefined],
  ["a current folder that was left", ".", "out", undefined],
  ["one that is not there", ".", "gone", undefined],
  ["a link that is named", "$TOP/entry", undefined, "entry"],
];
test.each(spelled)("namedRoot, with %s", async (_case, name, pwd, named) => {
  await symlink("ws", join(top, "entry")).catch(() => {});
  const real = join(top, name === "a" ? "ws/a" : "ws");
  const found = namedRoot(name.replace("$TOP", () => top), real, pwd && join(top, pwd));
  expect(found).toBe(named && join(top, named));
});

test("namedRoot takes no relative word of the shell", () => {
  expect(namedRoot(".", join(top, "ws"), "entry")).toBeUndefined();
});
