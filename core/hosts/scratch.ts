/** Private folders for the commands of one host: their home, and their place for temporary files. */

import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import process from "node:process";
import { join } from "../path.ts";
import { isRunning } from "../runtime.ts";

export interface Scratch {
  /** Holds the other two. */
  folder: string;
  home: string;
  tmp: string;
}

/**
 * Makes one below the state folder, for the `count`th host of this process, and removes those of processes that are gone.
 * Undefined where the state folder cannot be written: commands then have no home and no folder for temporary files.
 */
export function makeScratch(state: string, count: number): Scratch | undefined {
  const run = join(state, "run");
  const folder = join(run, `${process.pid}-${count}`);
  const [home, tmp] = [join(folder, "home"), join(folder, "tmp")];
  try {
    for (const path of [home, tmp]) mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(run)) {
      const pid = Number.parseInt(name, 10);
      if (pid !== process.pid && !isRunning(pid)) removeScratch(join(run, name));
    }
  } catch {
    return undefined;
  }
  return { folder, home, tmp };
}

/** Removes it with all that is in it. What cannot be removed stays for the next start; never throws. */
export function removeScratch(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    try {
      unlock(folder); // package managers make folders that cannot be written
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // The next start tries again.
    }
  }
}

function unlock(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) unlock(join(folder, entry.name));
  }
}
