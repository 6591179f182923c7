/** How hosts are made here: a process behind the kernel's fence under Bun, a worker with fewer permissions under Deno. */

import { mkdirSync, rmSync } from "node:fs";
import process from "node:process";
import { cleanEnvironment } from "./environment.ts";
import { type FenceStatus, systemRules } from "./fence.ts";
import { coreRules, findCanary, hostRules } from "./fence_plan.ts";
import { connectProcess } from "./host_process.ts";
import { connectWorker, workerPermissions } from "./host_worker.ts";
import type { Connect, HostOrder } from "./hosts.ts";
import { isInside, join } from "./path.ts";
import type { Premises } from "./premises.ts";
import { ROLE } from "./role.ts";

/** Bytes of data memory that the tools of one host may take. */
const MEMORY_BYTES = 1_000_000_000;

/** Where nothing is kept: a host that starts no program needs no home. */
const NOWHERE = "/nonexistent";

export function connectFor(premises: Premises, fence: FenceStatus): Connect {
  return fence.level === "runtime" ? workers(premises) : processes(premises, fence);
}

function workers({ policy }: Premises): Connect {
  return (order) => connectWorker(workerPermissions(order, policy.env.scope));
}

function processes(premises: Premises, fence: FenceStatus): Connect {
  const system = systemRules();
  const canary = findCanary(coreRules(premises, system, []));
  const { policy, folders } = premises;
  const isWritable = (folder: string) => policy.write.scope.some((root) => isInside(root, folder));
  let count = 0;

  /** A private folder for the commands of one host, gone with the host. */
  function makeScratch(order: HostOrder): string | undefined {
    if (!order.needs.run || folders.state === undefined) return undefined;
    const scratch = join(folders.state, "run", `${process.pid}-${count++}`);
    mkdirSync(join(scratch, "home"), { recursive: true, mode: 0o700 });
    mkdirSync(join(scratch, "tmp"), { recursive: true, mode: 0o700 });
    return scratch;
  }

  return (order) => {
    const scratch = makeScratch(order);
    const names = order.needs.env?.filter((name) => policy.env.scope.includes(name)) ?? [];
    const places = scratch === undefined
      ? { home: NOWHERE, tmp: NOWHERE }
      : { home: join(scratch, "home"), tmp: join(scratch, "tmp") };
    const env = cleanEnvironment(process.env, { ...places, names, isWritable });
    const connection = connectProcess({
      ...(fence.level === "kernel" ? { rules: hostRules(order, system, scratch) } : {}),
      ...(canary === undefined ? {} : { canary }),
      corePid: process.pid,
      memoryBytes: MEMORY_BYTES,
    }, env);
    if (scratch !== undefined) void connection.closed.then(() => rmSync(scratch, { recursive: true, force: true }));
    return connection;
  };
}

/**
 * Core's own place behind the fence. Before: becomes this program again, there, and never returns. After: tries the
 * fence and closes core's memory to others. Throws with the reason when it does not hold.
 */
export async function takePlace(premises: Premises, further: readonly string[]): Promise<void> {
  const { enterFence, hardenCore, ownCommand, selfTest } = await import("./fence.ts");
  const rules = coreRules(premises, systemRules(), further);
  if (process.env[ROLE] !== "core") {
    const env = { ...process.env as { [name: string]: string }, [ROLE]: "core" };
    await enterFence(rules, ownCommand(process.argv.slice(2)), env);
  }
  delete process.env[ROLE];
  await hardenCore();
  const canary = findCanary(rules);
  const failures = canary === undefined ? ["nothing outside is there to be tried"] : await selfTest({ canary });
  if (failures.length > 0) throw new Error(failures.join("; "));
}
