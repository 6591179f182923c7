/** What a deny flag takes out of a granted folder: neither the kernel's fence nor a worker of Deno can hold that, only the guard. */

import { isInside } from "../path.ts";
import { placeName, type Policy } from "./policy.ts";
import { oneLine } from "../text.ts";

/**
 * A line for each kind of which something is denied inside what is granted, for the user. Landlock only adds up rights along a path
 * (Documentation/userspace-api/landlock.rst), and Deno gives a worker no list of denials. A granted path that is denied as a whole is
 * no longer granted: that holds for all.
 */
export function deniedInside(policy: Policy): string[] {
  const who = policy.run.state === "deny" ? "plugin code" : "programs and plugin code";
  return (["read", "write"] as const).flatMap((kind) => {
    const { except, scope } = policy[kind];
    const inside = except.filter((path) => scope.some((root) => isInside(root, path)));
    if (inside.length === 0) return [];
    const flag = `--deny-${kind}=${inside.map((path) => oneLine(placeName(policy.root, path))).join(",")}`;
    const [verb, what] = [kind === "read" ? "read" : "change", inside.length === 1 ? "it" : "them"];
    return [`${flag}: held for the file tools; ${who} can still ${verb} ${what}`];
  });
}
