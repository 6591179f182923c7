import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { placeAt, realFolders } from "../core/place.ts";

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
