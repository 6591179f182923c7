/** What the user's grants let out of this machine, and to whom: said before anything runs. */

import { decide, grantedItems } from "../permissions/permissions.ts";
import type { Policy } from "../permissions/policy.ts";
import type { Tool } from "../registry.ts";
import { oneLine } from "../text.ts";

/**
 * One line for the start of a session, or nothing when no flag for net or env is in force: a grant that no tool declares gives
 * nobody anything, and one that is asked for is told of then. What a tool returns goes to the model's provider in any case; this is what goes beyond.
 */
export function leavingLine(policy: Policy, tools: readonly Pick<Tool, "definition" | "permissions" | "source">[]) {
  const parts = tools.flatMap(({ definition: { name }, permissions, source }) => {
    const { state, kinds } = decide(policy, permissions);
    if (state === "deny") return [];
    if (permissions.run && source === "built in") {
      return partOf(name, policy.env.scope, policy.shellNet ? ["any host"] : []);
    }
    // The question tells where things may be sent, to hosts that a flag allows as well.
    if (kinds.net === "ask" || kinds.env === "ask") return [];
    const [net, env] = [grantedItems(policy, permissions, "net"), grantedItems(policy, permissions, "env")];
    return partOf(name, env, net);
  });
  return parts.length > 0 ? `Granted: ${parts.join("; ")}` : undefined;
}

function partOf(name: string, env: readonly string[], net: readonly string[]): string[] {
  const [variables, hosts] = [env.map((item) => oneLine(item)).join(", "), net.map((item) => oneLine(item)).join(", ")];
  if (hosts !== "") return [`${name} may send what it reads${variables ? `, and ${variables},` : ""} to ${hosts}`];
  return variables === "" ? [] : [`${name} sees ${variables}`];
}
