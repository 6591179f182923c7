/** Under Deno: the policy cut down to what Deno itself was given, so that no tool meets Deno's own question. */

import type { Listed, Named } from "./permission_flags.ts";
import { type ListRule, placeName, type Policy, type Rule } from "./policy.ts";
import { oneLine } from "../text.ts";

/** The descriptors of `Deno.permissions` that are asked about. */
export type DenoDescriptor =
  | { name: "read" | "write"; path: string }
  | { name: "run"; command?: string }
  | { name: "net"; host: string }
  | { name: "env"; variable: string };

/** `Deno.permissions.querySync`, of which the state is enough. It asks nobody. */
export type DenoQuery = (descriptor: DenoDescriptor) => "granted" | "prompt" | "denied";

/** Something that tenon's flags give and Deno's do not. `doctor` prints `feature: reason`. */
export interface Missing {
  feature: string;
  /** How it comes, and how to start instead. */
  reason: string;
  /** The flag of Deno to add, or with `--deny-…` to leave out. */
  flag: string;
}

/**
 * What Deno has not granted, also what it would ask for, is off: hosts and variables of a plugin, which are not known yet, are looked
 * up when they are needed (`isGiven`). `programs` are those that tools start without being told
 * to (the shells): with one of them granted programs can be started although Deno does not allow every one.
 * The offered tools stay the same: what is cut is marked as denied by Deno, not by a flag.
 */
export function cutWithDeno(
  policy: Policy,
  query: DenoQuery,
  programs: readonly string[],
): { policy: Policy; missing: Missing[] } {
  const missing: Missing[] = [];

  function isGranted(descriptor: DenoDescriptor, feature: string, value: string): boolean {
    const state = query(descriptor);
    if (state !== "granted") missing.push(describe(descriptor.name, state, feature, value));
    return state === "granted";
  }

  function cut(rule: Rule, isLeft: (item: string) => boolean): Rule {
    const scope = rule.scope.filter(isLeft);
    if (scope.length === rule.scope.length) return rule;
    return { ...rule, state: scope.length > 0 ? rule.state : "deny", scope, by: "deno" };
  }

  function cutPaths(name: "read" | "write", word: string): Rule {
    return cut(policy[name], (path) => {
      // A comma in a path is doubled in Deno's flags.
      return isGranted({ name, path }, `${word} ${placeName(policy.root, path)}`, path.replaceAll(",", ",,"));
    });
  }

  function cutRun(rule: Rule<Named>): Rule<Named> {
    if (rule.state === "deny" || query({ name: "run" }) === "granted") return rule;
    // Deno holds a shell, not what it starts: names of tenon's own flag decide what is asked.
    if (programs.some((command) => query({ name: "run", command }) === "granted")) return rule;
    if (rule.scope === true) {
      const found = describe("run", query({ name: "run" }), "start of programs", programs.join(","));
      const own = rule.state === "ask"
        ? "; add --allow-run after mod.ts as well, since nothing confines programs here"
        : "";
      missing.push({ ...found, reason: `${found.reason}${own}` });
      return { ...rule, state: "deny", scope: [], by: "deno" };
    }
    const scope = rule.scope.filter((command) => isGranted({ name: "run", command }, `start of ${command}`, command));
    return scope.length > 0 ? { ...rule, scope } : { ...rule, state: "deny", scope, by: "deno" };
  }

  const read = cutPaths("read", "read of");
  const write = cutPaths("write", "write to");
  const run = cutRun(policy.run);
  const net = cutList(policy.net, (host) => isGranted(descriptorOf("net", host), `net to ${host}`, host));
  const env = cutList(policy.env, (name) => isGranted(descriptorOf("env", name), `variable ${name}`, name));
  const isGiven: Policy["isGiven"] = (kind, item) => query(descriptorOf(kind, item)) === "granted";
  return { policy: { ...policy, read, write, run, net, env, isGiven }, missing };
}

/** Other items may have been given, and are asked for. */
function cutList(rule: ListRule, isLeft: (item: string) => boolean): ListRule {
  const scope = rule.scope.filter(isLeft);
  return { ...rule, scope, state: rule.state === "allow" && scope.length === 0 ? "ask" : rule.state };
}

function descriptorOf(kind: Listed, item: string): DenoDescriptor {
  return kind === "net" ? { name: "net", host: item } : { name: "env", variable: item };
}

function describe(name: DenoDescriptor["name"], state: ReturnType<DenoQuery>, feature: string, value: string): Missing {
  const isDenied = state === "denied";
  const flag = isDenied ? `--deny-${name}` : oneLine(`--allow-${name}=${value}`, 1000);
  const reason = isDenied
    ? `Deno has a ${flag} for it; start deno run without it`
    : `Deno has no --allow-${name} for it; start with deno run ${flag}`;
  return { feature: oneLine(feature), reason, flag };
}
