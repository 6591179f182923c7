/** Named as a preload in bunfig.toml: what a whole test run shares goes away at its end. */

import { afterAll } from "bun:test";
import { rm } from "node:fs/promises";

const folders: string[] = [];

/** Removes the folder when every test file is done. */
export function removeAfterwards(folder: string): void {
  folders.push(folder);
}

afterAll(async () => {
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});
