/** Reads, writes or lists while another process swaps a folder of the workspace for a link that leads out. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, symlink } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "../../core/path.ts";
import { tempWorkspace } from "./temp_workspace.ts";

export interface Outcome {
  inside: number;
  refused: number;
  outside: number;
  /** What lies outside afterwards: name and content. */
  left: string[];
}

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** `command` starts the actor under its runtime; `readNaively` is the check that loses, to see that the race is real. */
export async function actInRace(
  command: readonly string[],
  times: number,
  how: "read" | "write" | "list" | "readNaively",
): Promise<Outcome> {
  await using temp = await tempWorkspace({ "dir/f.txt": "inside" });
  await temp.sh("mkdir ../outside && printf outside > ../outside/f.txt && printf x > ../outside/x");
  await symlink("../outside", join(temp.root, "link"));
  await using swapper = await startSwapper(join(temp.root, "dir"), join(temp.root, "link"));
  const [program = "", ...options] = command.map((part) => part.replace("$ROOT", () => temp.root));
  const actor = Bun.spawn([program, ...options, fixture("acts_in_a_race.ts"), temp.root, String(times), how]);
  const [out, code] = await Promise.all([new Response(actor.stdout).text(), actor.exited]);
  if (code !== 0) throw new Error(`the actor ended with ${code}`);
  if (!swapper.isRunning()) throw new Error("the swapper ended by itself");
  const outside = join(temp.top, "outside");
  const left = (await readdir(outside)).sort().map(async (name) =>
    `${name}: ${await readFile(join(outside, name), "utf8")}`
  );
  return { ...JSON.parse(out), left: await Promise.all(left) };
}

export interface Swapper extends AsyncDisposable {
  /** Whether it has not ended by itself, as it does when one of the two names is gone. */
  isRunning(): boolean;
}

/** Another process that exchanges two names, over and over, until the scope is left. */
export async function startSwapper(one: string, other: string): Promise<Swapper> {
  const child = spawn(process.execPath, [fixture("swaps_a_folder.ts"), one, other]);
  await once(child.stdout, "data");
  const isRunning = () => child.exitCode === null;
  return {
    isRunning,
    async [Symbol.asyncDispose]() {
      if (!isRunning()) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
