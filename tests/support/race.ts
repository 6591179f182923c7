/** Reads while another process swaps a folder of the workspace for a link that leads out. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlink } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "../../core/path.ts";
import { tempWorkspace } from "./temp_workspace.ts";

export interface Outcome {
  inside: number;
  refused: number;
  outside: number;
}

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** `command` starts the reader under its runtime; `how` is the guard or, to see that the race is real, the naive check. */
export async function readInRace(
  command: readonly string[],
  times: number,
  how: "guarded" | "naive",
): Promise<Outcome> {
  await using temp = await tempWorkspace({ "dir/f.txt": "inside" });
  await temp.sh("mkdir ../outside && printf outside > ../outside/f.txt");
  await symlink("../outside", join(temp.root, "link"));
  const swapper = spawn(process.execPath, [
    fixture("swaps_a_folder.ts"),
    join(temp.root, "dir"),
    join(temp.root, "link"),
  ]);
  try {
    await once(swapper.stdout, "data");
    const [program = "", ...options] = command.map((part) => part.replace("$ROOT", () => temp.root));
    const reader = Bun.spawn([program, ...options, fixture("reads_in_a_race.ts"), temp.root, String(times), how]);
    const [out, code] = await Promise.all([new Response(reader.stdout).text(), reader.exited]);
    if (code !== 0) throw new Error(`the reader ended with ${code}`);
    return JSON.parse(out);
  } finally {
    const ended = once(swapper, "exit");
    swapper.kill("SIGKILL");
    await ended;
  }
}
