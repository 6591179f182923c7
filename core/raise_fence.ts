/** From the premises to the fence that this start is behind. */

import process from "node:process";
import type { FenceStatus } from "./fence/fence_rules.ts";
import type { Options } from "./options.ts";
import { bakedFlags } from "./permissions/baked.ts";
import { printFlags } from "./permissions/permission_flags.ts";
import type { Premises } from "./premises.ts";
import { mayRead, programFolder } from "./runtime.ts";
import { paint, type Screen } from "./terminal/screen.ts";
import { usageError } from "./usage_error.ts";

/**
 * Goes behind the fence, and says where there is none. Never goes on with less than was asked for, by whoever starts it or whoever
 * built it: then it throws a usage error. `further` may be read as well.
 */
export async function raiseFence(
  options: Options,
  premises: Premises,
  further: readonly string[],
  stderr: Screen,
): Promise<FenceStatus> {
  const built = printFlags(bakedFlags()).join(" ");
  if (options.sandbox === "off") {
    if (built !== "") throw usageError(`--sandbox=off is not available: this executable was built with ${built}`);
    const { openWithGuardOnly } = await import("./fence/not_covered.ts");
    stderr.write(
      `${paint(stderr, "red", "--sandbox=off: no fence; only the paths that tools open through tenon are checked")}\n`,
    );
    return { level: "guard", landlock_abi: 0, seccomp: false, not_covered: openWithGuardOnly("--sandbox=off") };
  }
  const { openByGrant, probeFence } = await import("./fence/fence.ts");
  const fence = await probeFence();
  if (fence.level === "kernel") fence.not_covered.push(...openByGrant(premises.policy));
  if (fence.level === "runtime" && !mayRead(programFolder())) {
    const flag = `--allow-read=${[options.workspace, programFolder()].join(",")}`;
    throw usageError(`Tools run in a worker that has to read tenon's own files. Start with deno run ${flag}`);
  }
  // What an executable was built with holds for the code of plugins too, and the guard does not hold that.
  const required = options.sandbox === "require"
    ? "--sandbox=require"
    : built && `This executable was built with ${built} and needs a fence`;
  if (fence.level === "guard" && required !== "") {
    throw usageError(`${required}: ${fence.not_covered[0] ?? "there is no fence here"}`);
  }
  // Seatbelt does not nest: on macOS only the hosts are behind it.
  if (fence.level !== "kernel" || process.platform !== "linux") return fence;
  const { takePlace } = await import("./hosts/connect.ts");
  try {
    await takePlace(premises, options.systemFile === undefined ? further : [...further, options.systemFile]);
  } catch (error) {
    throw usageError(`The fence does not hold: ${error instanceof Error ? error.message : error}. Nothing was started`);
  }
  return fence;
}
