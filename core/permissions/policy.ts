/** The policy: what the flags come to in one workspace, kind by kind. */

import { isInside, relative } from "../path.ts";
import { type Flags, includes, type Kind, KINDS, type Listed, type Named, SHELL_NET } from "./permission_flags.ts";
import { oneLine } from "../text.ts";

/** Allow: without asking; ask: each call is shown to the user first; deny: never. */
export type State = "allow" | "ask" | "deny";

/** The answer for one kind. An item is granted when the scope holds it and no exception does. */
export interface Rule<Scope = string[]> {
  state: State;
  /** Absolute real paths, each with all below it; programs as typed; `host:port`; variables. Empty when denied. */
  scope: Scope;
  /** What a deny flag named; beats the scope. */
  except: string[];
  /**
   * Who denies: a flag (then a tool that needs the kind is not offered), the flags of the build, Deno, which was given less, or that
   * no fence would hold what is started.
   */
  by?: "flag" | "ceiling" | "deno" | "no fence";
}

/** The rule for hosts or variables: what the scope does not hold is asked for, whatever the state, unless it is `deny`. */
export interface ListRule extends Rule {
  /** Beyond these nothing is asked for. Absent: anything may be. */
  most?: string[];
}

/** All that the rest of the program knows of the flags: plain JSON, but for the question to Deno. */
export interface Policy {
  /** The workspace: absolute and real. */
  root: string;
  /** The same as the user named it, where that is another path. */
  named?: string;
  read: Rule;
  /** The scope says where, also while it is asked for. */
  write: Rule;
  /** A list in state `allow` decides what is asked, not what a kernel lets run: what it does not name is asked for. */
  run: Rule<Named>;
  net: ListRule;
  env: ListRule;
  /** Under Deno: whether Deno lets tenon have the host or the variable. What it does not is not asked for. */
  isGiven?(kind: Listed, item: string): boolean;
  /** Commands have a network, to any host. */
  shellNet: boolean;
  /** Somebody can be asked. Without, `ask` is answered like `deny`. */
  prompt: boolean;
  /** The command that asks nobody, whoever is there: it is named as the reason. */
  asksNobody?: string;
}

/** Where paths belong. `resolve` takes one relative to `root` to its absolute real place, links followed as far as it exists. */
export interface Place {
  root: string;
  named?: string;
  resolve(path: string): string;
}

/**
 * Read: the workspace. Everything else is asked for. The value of an allow flag replaces the default, and what a deny flag
 * covers is taken out of it; when nothing is left of paths the kind is denied.
 */
export function makePolicy(flags: Flags, place: Place): Policy {
  return {
    root: place.root,
    ...(place.named === undefined ? {} : { named: place.named }),
    read: pathRule(flags, "read", place),
    write: pathRule(flags, "write", place),
    run: runRule(flags),
    net: listRule(flags, "net"),
    env: listRule(flags, "env"),
    // The network of a command cannot leave a host out, so a denied one takes all of it.
    shellNet: includes(flags.allow.net, SHELL_NET) && flags.deny.net === undefined,
    prompt: flags.prompt,
  };
}

/** The same where nothing would confine a program: none is started unless a flag says so. The offered tools stay the same. */
export function withoutFence(policy: Policy): Policy {
  if (policy.run.state !== "ask") return policy;
  return { ...policy, run: { ...policy.run, state: "deny", scope: [], by: "no fence" } };
}

/** For the start line and `doctor`: `read: the workspace · write: asks · run: asks · net: asks · env: asks`. */
export function describePolicy(policy: Policy): string {
  const { state } = policy.env;
  const shown = KINDS.filter((kind) => kind !== "env" || state === "allow" || state === "ask" && policy.prompt);
  return shown.map((kind) => `${kind}: ${describeRule(policy, kind)}`).join(" · ");
}

/** Whether the program is one of the names. A denied name is met in any folder: `/bin/rm` is `rm`. */
export function isNamed(names: readonly string[], program: string): boolean {
  const name = program.replace(/^.*[/\\]/s, "");
  return names.includes(program) || names.includes(name);
}

/** Variables are compared without case where they are denied: on Windows `Path` and `PATH` are one. */
export function isExcepted(except: readonly string[], kind: Listed, item: string): boolean {
  if (kind === "net") return except.includes(item);
  return except.some((name) => name.toUpperCase() === item.toUpperCase());
}

function pathRule({ allow, deny }: Flags, kind: "read" | "write", place: Place): Rule {
  const except = pathsOf(deny[kind], place);
  const named = deny[kind] === true ? [] : pathsOf(allow[kind] ?? ["."], place);
  const scope = named.filter((path) => !except.some((folder) => isInside(folder, path)));
  if (scope.length === 0) return { state: "deny", scope, except, by: "flag" };
  return { state: kind === "read" || allow[kind] !== undefined ? "allow" : "ask", scope, except };
}

function pathsOf(named: Named | undefined, place: Place): string[] {
  return Array.isArray(named) ? [...new Set(named.map((path) => place.resolve(path)))] : [];
}

function runRule({ allow, deny }: Flags): Rule<Named> {
  if (deny.run === true) return { state: "deny", scope: [], except: [], by: "flag" };
  const except = deny.run ?? [];
  if (allow.run === true) return { state: "allow", scope: true, except };
  const scope = (allow.run ?? []).filter((name) => !isNamed(except, name));
  return scope.length > 0 ? { state: "allow", scope, except } : { state: "ask", scope: true, except };
}

function listRule({ allow, deny, most }: Flags, kind: Listed): ListRule {
  if (deny[kind] === true) return { state: "deny", scope: [], except: [], by: "flag" };
  const items = (named: Named | undefined) =>
    Array.isArray(named) ? named.filter((item) => kind === "env" || item !== SHELL_NET) : [];
  const except = items(deny[kind]);
  const scope = items(allow[kind]).filter((item) => !isExcepted(except, kind, item));
  const limit = most?.[kind].filter((item) => !isExcepted(except, kind, item));
  const rule = { scope, except, ...(limit === undefined ? {} : { most: limit }) };
  if (scope.length > 0) return { state: "allow", ...rule };
  return limit?.length === 0 ? { state: "deny", ...rule, by: "ceiling" } : { state: "ask", ...rule };
}

const WHY = {
  flag: "",
  ceiling: " (this executable was built without it)",
  deno: " (Deno was not given it)",
  "no fence": " (nothing would confine it; give tenon's own --allow-run)",
};

function describeRule(policy: Policy, kind: Kind): string {
  const { state, scope, except, by } = policy[kind];
  const but = except.length > 0 && state !== "deny" ? `, not ${list(policy, kind, except)}` : "";
  const net = kind === "net" && policy.shellNet ? "commands reach any host" : undefined;
  if (state === "deny") return net ?? `none${WHY[by ?? "flag"]}`;
  const more = net === undefined ? "" : `, ${net}`;
  if (state === "ask" && !policy.prompt) return net ?? "none (nobody can be asked)";
  if (state === "ask") return `asks${askedFor(policy, kind)}${but}${more}`;
  const what = scope === true ? "every program" : list(policy, kind, scope);
  const rest = policy.prompt ? othersAsked(policy, kind) : "";
  return `${what}${rest}${but}${more}`;
}

/** For what, where that is not just anything or the workspace. */
function askedFor(policy: Policy, kind: Kind): string {
  if (isListed(kind)) {
    const { most } = policy[kind];
    return most ? ` for ${list(policy, kind, most)}` : policy.isGiven ? " for what Deno was given" : "";
  }
  const { scope } = policy[kind];
  return scope === true || scope.length === 1 && scope[0] === policy.root ? "" : ` for ${list(policy, kind, scope)}`;
}

/** Beside what is allowed. */
function othersAsked(policy: Policy, kind: Kind): string {
  if (kind === "run") return policy.run.scope === true ? "" : ", asks for others";
  if (!isListed(kind)) return "";
  const { most, scope } = policy[kind];
  if (most) {
    const left = most.filter((item) => !scope.includes(item));
    return left.length > 0 ? `, asks for ${list(policy, kind, left)}` : "";
  }
  return policy.isGiven ? ", asks for others that Deno was given" : ", asks for others";
}

/** Whether its items are named by the tool, and asked for one by one. */
export function isListed(kind: Kind): kind is Listed {
  return kind === "net" || kind === "env";
}

function list(policy: Policy, kind: Kind, items: readonly string[]): string {
  const isPath = kind === "read" || kind === "write";
  return items.map((item) => oneLine(isPath ? placeName(policy.root, item) : item)).join(", ");
}

/** As the user thinks of it: relative inside the workspace, absolute outside. */
export function placeName(root: string, path: string): string {
  if (path === root) return "the workspace";
  return isInside(root, path) ? relative(root, path) : path;
}
