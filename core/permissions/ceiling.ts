/** The ceiling: the flags that an executable was built with, which the flags of its start can narrow and never widen. */

import { type Flags, type Kind, KINDS, type Listed, type Named, printFlag, SHELL_NET } from "./permission_flags.ts";
import { isInside } from "../path.ts";
import { isExcepted, isNamed, type Place } from "./policy.ts";
import { oneLine } from "../text.ts";
import { usageError } from "../usage_error.ts";

/** What is allowed, rather than asked for, where no flag says more. */
const DEFAULTS: Record<Kind, string[]> = { read: ["."], write: [], run: [], net: [], env: [] };

/**
 * The flags that hold for this start. An executable that was built with any permission flag is held to its flags and, for
 * the kinds they do not name, to the defaults; one that was built with none holds nothing back. Relative paths of
 * the ceiling belong to the workspace of the start. Throws a usage error for a flag that would widen it. What no flag could
 * give of hosts and variables, no answer gives either.
 */
export function narrow(ceiling: Flags, flags: Flags, place: Place): Flags {
  const prompt = ceiling.prompt && flags.prompt;
  if (Object.keys(ceiling.allow).length + Object.keys(ceiling.deny).length === 0) return { ...flags, prompt };
  const narrowed: Flags = {
    allow: {},
    deny: {},
    prompt,
    most: { net: listed(ceiling, "net"), env: listed(ceiling, "env") },
  };
  for (const kind of KINDS) {
    const asked = flags.allow[kind];
    if (asked !== undefined) checkAllow(ceiling, kind, asked, place);
    const allow = asked ?? ceiling.allow[kind];
    const deny = union(ceiling.deny[kind], flags.deny[kind]);
    if (allow !== undefined) narrowed.allow[kind] = allow;
    if (deny !== undefined) narrowed.deny[kind] = deny;
  }
  return narrowed;
}

function listed({ allow }: Flags, kind: Listed): string[] {
  const named = allow[kind];
  return Array.isArray(named) ? named.filter((item) => kind === "env" || item !== SHELL_NET) : [];
}

function checkAllow(ceiling: Flags, kind: Kind, asked: Named, place: Place): void {
  const allow = ceiling.allow[kind];
  const deny = ceiling.deny[kind];
  if (deny === true) throw tooWide(`--allow-${kind}`, `with --deny-${kind}`);
  const limit = allow === undefined ? `without --allow-${kind}` : `with ${printFlag("allow", kind, allow)}`;
  if (asked === true) {
    if (allow !== true) throw tooWide(`--allow-${kind}`, limit);
    return;
  }
  for (const item of asked) {
    const flag = item === "." ? `--allow-${kind}` : `--allow-${kind}=${item}`;
    if (deny !== undefined && isCovered(kind, deny, item, place)) {
      throw tooWide(flag, `with ${printFlag("deny", kind, deny)}`);
    }
    const isWithin = allow === true || isGiven(kind, allow ?? DEFAULTS[kind], item, place);
    if (!isWithin) throw tooWide(flag, limit);
  }
}

function isGiven(kind: Kind, given: readonly string[], item: string, place: Place): boolean {
  return isPath(kind) ? isBelow(given, item, place) : given.includes(item);
}

function isCovered(kind: Kind, denied: readonly string[], item: string, place: Place): boolean {
  if (kind === "run") return isNamed(denied, item);
  return isPath(kind) ? isBelow(denied, item, place) : isExcepted(denied, kind, item);
}

function isBelow(folders: readonly string[], path: string, place: Place): boolean {
  const real = place.resolve(path);
  return folders.some((folder) => isInside(place.resolve(folder), real));
}

function isPath(kind: Kind): kind is "read" | "write" {
  return kind === "read" || kind === "write";
}

function union(one: Named | undefined, other: Named | undefined): Named | undefined {
  if (one === true || other === true) return true;
  return one && other ? [...new Set([...one, ...other])] : one ?? other;
}

function tooWide(flag: string, built: string): Error {
  return usageError(`${oneLine(flag)} is not available: this executable was built ${oneLine(built)}`);
}
