/** How hosts are made here: a process behind the kernel's fence under Bun, a worker with fewer permissions under Deno. */

import { mkdirSync } from "node:fs";
import process from "node:process";
import { cleanEnvironment } from "../fence/environment.ts";
import { type FenceStatus, type SystemRules, systemRules } from "../fence/fence.ts";
import { coreRules, findCanary, type Granted, hostRules } from "../fence/fence_plan.ts";
import { connectProcess } from "./host_process.ts";
import { connectWorker, workerPermissions } from "./host_worker.ts";
import type { Connect, HostOrder } from "./hosts.ts";
import type { Connection } from "./running_host.ts";
import { openKeeper } from "./keeper.ts";
import { isInside, join } from "../path.ts";
import type { Policy } from "../permissions/policy.ts";
import { placeToKeep, type Premises } from "../premises.ts";
import { ROLE } from "./role.ts";
import { deno, denoState, isTerminal, readEnv } from "../runtime.ts";
import { makeScratch, removeScratch, type Scratch } from "./scratch.ts";
import { SHELLS } from "../commands/shells.ts";
import { shellPlace } from "../commands/shell_place.ts";

/** Bytes of data memory that the tools of one host may take. */
const MEMORY_BYTES = 1_000_000_000;

/** Where nothing can be kept, not even by root: a host that starts no program needs no home, and Bun makes a folder in it. */
const NOWHERE = "/dev/null";

export function connectFor(premises: Premises, fence: FenceStatus): Connect {
  // Without a fence too: Deno may not start processes, and its workers are held by what it was given.
  return deno ? workers(premises) : processes(premises, fence);
}

function workers(premises: Premises): Connect {
  const { policy } = premises;
  const isGranted = (command: string) => denoState({ name: "run", command }) === "granted";
  const granted = SHELLS.filter(isGranted);
  // Deno does not list what it was given: of other programs only those are known that the user named to tenon as well.
  const named = policy.run.scope === true ? [] : policy.run.scope.filter(isGranted);
  const programs = [...new Set([...granted, ...named])];
  const run = denoState({ name: "run" }) === "granted" ? true : programs.length > 0 && programs;
  const isWritable = writableIn(policy);
  return (order) => {
    if (!order.needs.run) return connectWorker(workerPermissions(order, run), {});
    const names = ["PATH", "LANG", "TMPDIR", "TZ", ...variablesFor(order, policy)];
    const env = Object.fromEntries(names.map((name) => [name, readEnv(name)]));
    const [shell] = granted;
    const tmp = env["TMPDIR"] ?? "/tmp";
    const { PATH = "" } = cleanEnvironment(env, { home: NOWHERE, tmp, names, isWritable });
    const keeper = shell === undefined ? undefined : openKeeper(shell, tmp, PATH);
    const places = keeper ?? { home: NOWHERE, tmp };
    const forCommands = {
      ...cleanEnvironment(env, { ...places, names, isWritable }),
      ...shellPlace(premises).env,
      ...keeper?.env,
    };
    const connection = connectWorker(workerPermissions(order, run), forCommands);
    void connection.closed.then(() => keeper?.end());
    return connection;
  };
}

function processes(premises: Premises, fence: FenceStatus): Connect {
  const { policy, kept } = premises;
  const isWritable = writableIn(policy);
  let count = 0;
  // Looks at a hundred places of the system: not before the first host, when the model has long been asked.
  let system: SystemRules | undefined;

  return (order) => {
    const commands = order.needs.run
      ? {
        scratch: kept === undefined ? undefined : makeScratch(kept, count++),
        place: shellPlace(premises),
      }
      : undefined;
    const { home, tmp } = commands?.scratch ?? { home: NOWHERE, tmp: NOWHERE };
    const names = variablesFor(order, policy);
    const env = { ...cleanEnvironment(process.env, { home, tmp, names, isWritable }), ...commands?.place.env };
    system ??= fence.level === "kernel" ? systemRules() : undefined;
    const rules = system ? hostRules(order, system, commands) : null;
    const canary = rules ? findCanary(rules) : undefined;
    const connection = connectProcess({
      rules,
      ...(canary === undefined ? {} : { canary }),
      corePid: process.pid,
      memoryBytes: MEMORY_BYTES,
    }, env);
    const scratch = commands?.scratch;
    if (scratch !== undefined) clearAtEnd(connection, scratch);
    return connection;
  };
}

/** However the host ends, or core: what a command left in its folders goes with it. */
function clearAtEnd({ closed, kill }: Connection, { folder }: Scratch): void {
  const atExit = () => {
    kill();
    removeScratch(folder);
  };
  process.on("exit", atExit);
  void closed.then(() => {
    process.off("exit", atExit);
    removeScratch(folder);
  });
}

/** What a flag let through is for commands; a plugin gets what it names, by flag or answer. A host that only loads has no grant. */
function variablesFor({ plugins, needs, grant }: HostOrder, { env }: Policy): string[] {
  const named = needs.env?.filter((name) => grant?.env?.includes(name)) ?? [];
  return needs.run && "builtin" in plugins ? [...new Set([...env.scope, ...named])] : named;
}

/** Whether a tool may write there: a program in such a folder is not one that the user put in the path. */
function writableIn({ write }: Policy): (folder: string) => boolean {
  return (folder) => write.scope.some((root) => isInside(root, folder));
}

/**
 * Core's own place behind the fence. Before: becomes this program again, there, and never returns. After: tries the
 * fence and closes core's memory to others. Throws with the reason when it does not hold.
 */
export async function takePlace(premises: Premises, further: readonly string[]): Promise<void> {
  const { enterFence, hardenCore, ownCommand, selfTest } = await import("../fence/fence.ts");
  const allRules = () => coreRules(premises, systemRules(), further);
  if (process.env[ROLE] !== "core") {
    makeFolders(premises);
    const env = { ...process.env as { [name: string]: string }, [ROLE]: "core" };
    await enterFence(allRules(), ownCommand(process.argv.slice(2)), env);
  }
  delete process.env[ROLE];
  await hardenCore();
  const failuresBy = (rules: Granted) => {
    const canary = findCanary(rules);
    return selfTest({ ...(canary === undefined ? {} : { canary }), sockets: "inet" });
  };
  // Whatever is refused proves the fence. What else of the system is let through takes 3 ms to find out, and most often this will do.
  const { read, write } = premises.policy;
  const fewRules = { readExec: [], read: read.scope, devices: [], write: write.scope, writeOnly: [] };
  if ((await failuresBy(fewRules)).length === 0) return;
  const failures = await failuresBy(allRules());
  if (failures.length > 0) throw new Error(failures.join("; "));
}

/**
 * The fence can only let through a folder that is there. Without the one for what is kept commands have no private home; without the
 * user's own for plugins a chat would not see the first file that is dropped there.
 */
function makeFolders({ kept, folders }: Premises): void {
  const config = isTerminal(0) ? placeToKeep(folders.config, folders) : undefined;
  for (const folder of [kept, config && join(config, "plugins")]) {
    try {
      if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch {
      // Behind the fence already, or a home that cannot be written.
    }
  }
}
