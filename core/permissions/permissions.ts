/** What a tool declares, held against the policy: allowed, asked or denied, offered or not, and what its host is given. */

import { parseAddress } from "./address.ts";
import { isInside } from "../path.ts";
import { includes, type Kind, KINDS, type Listed, neverGiven } from "./permission_flags.ts";
import { isExcepted, isListed, isNamed, type Policy, type State } from "./policy.ts";
import { oneLine } from "../text.ts";
import type { Permissions } from "../tool.ts";
import type { Grant } from "../files/workspace.ts";

export interface Decision {
  state: State;
  /** One for each kind that was declared. */
  kinds: Partial<Record<Kind, State>>;
  /** Of the hosts and variables those that no flag allows: for these the user is asked where their kind is in the state `ask`. */
  asked: Record<Listed, string[]>;
  /** For the model, one line: present exactly when the state is `deny`. */
  reason?: string;
}

/**
 * The answer to a call of a tool that declares `needs`. `programs` are all that the call will start, as typed; none where that
 * cannot be told, and then a rule that names programs allows nothing unasked, and one that denies some denies all. Without the list
 * no call is meant, but the tool: whether any of its calls could be allowed.
 */
export function decide(policy: Policy, needs: Permissions, programs?: readonly string[]): Decision {
  const kinds: Decision["kinds"] = {};
  const reasons: string[] = [];
  const unasked: Kind[] = [];
  for (const kind of kindsOf(needs)) {
    const reason = denial(policy, kind, needs, programs);
    const state = reason !== undefined ? "deny" : stateOf(policy, kind, needs, programs);
    if (reason !== undefined) reasons.push(reason);
    if (state === "ask" && !policy.prompt) unasked.push(kind);
    kinds[kind] = state === "ask" && !policy.prompt ? "deny" : state;
  }
  if (unasked.length > 0) reasons.push(unaskedReason(policy, unasked, needs, programs));
  const states = Object.values(kinds);
  const state = states.includes("deny") ? "deny" : states.includes("ask") ? "ask" : "allow";
  const asked = { net: unallowed(policy, needs, "net"), env: unallowed(policy, needs, "env") };
  return { state, kinds, asked, ...(reasons.length === 0 ? {} : { reason: `Not run: ${reasons.join("; ")}` }) };
}

/**
 * Whether the model is told of the tool at all. Only a deny flag or a ceiling takes a tool away, never the runtime, the
 * terminal or a missing grant: the list of tools is part of the request's prefix and must not change with those.
 */
export function isOffered(policy: Policy, needs: Permissions): boolean {
  return kindsOf(needs).every((kind) => {
    const rule = policy[kind];
    if (!isListed(kind)) return rule.by !== "flag";
    return rule.by !== "flag" && !itemsOf(needs, kind).some((item) => isExcepted(rule.except, kind, item));
  });
}

/** One text for each set, so that built-in tools with the same set share a host: `read`, `read+write`, `read+net=a.com:443`. */
export function permissionSet(needs: Permissions): string {
  const parts = kindsOf(needs).map((kind) =>
    isListed(kind) ? `${kind}=${itemsOf(needs, kind).sort().join(",")}` : kind
  );
  return parts.join("+") || "none";
}

/**
 * What a host with `needs` is started with: nothing that its tools do not declare, nothing that can never be granted. What
 * is asked for is in it, since a call, and any code of a plugin, reaches the host only after the answer; a plugin is loaded, and tells
 * what it would do, in other hosts. What it has once read of a variable nobody takes back: a host that serves a yes to one call serves
 * that call alone and ends with it, and the one that stays ends when the grant is revoked. A file that an allow
 * flag names stays in the list beside its folder: that is how the guard knows that a `.env` was meant. `guarded` are real places
 * of tenon's own (where plugins are loaded from, settings, what is trusted): nothing is written there unless an allow flag names
 * the very place.
 */
export function grantFor(policy: Policy, needs: Permissions, guarded: readonly string[] = []): Grant {
  const granted = (kind: "read" | "write") =>
    needs[kind] === true && (policy[kind].state === "allow" || policy.prompt) ? policy[kind].scope : [];
  const [net, env] = [grantableItems(policy, needs, "net"), grantableItems(policy, needs, "env")];
  const write = granted("write");
  const undeclared = (["read", "write"] as const).filter((kind) => needs[kind] !== true);
  const isMeant = (place: string) => place !== policy.root && policy.write.scope.includes(place);
  // A host may not even look at what lies outside of its own folders, so only what is inside is named to it.
  const kept = guarded.filter((place) => !isMeant(place)).flatMap((place) =>
    write.flatMap((folder) => isInside(folder, place) ? [place] : isInside(place, folder) ? [folder] : [])
  );
  return {
    root: policy.root,
    ...(policy.named === undefined ? {} : { named: policy.named }),
    read: granted("read"),
    write,
    denyRead: policy.read.except,
    denyWrite: [...new Set([...policy.write.except, ...kept])],
    ...(undeclared.length > 0 ? { undeclared } : {}),
    ...(net.length > 0 ? { net } : {}),
    ...(env.length > 0 ? { env } : {}),
  };
}

/** What a tool declares and a flag allows: addresses in their one spelling, or names of variables. */
export function grantedItems(policy: Policy, needs: Permissions, kind: Listed): string[] {
  const { scope, except } = policy[kind];
  return itemsOf(needs, kind).filter((item) => includes(scope, item) && !isExcepted(except, kind, item));
}

/** The same, with what an answer of the user can add. */
function grantableItems(policy: Policy, needs: Permissions, kind: Listed): string[] {
  const isOpen = policy.prompt && policy[kind].state !== "deny";
  const asked = isOpen ? unallowed(policy, needs, kind).filter((item) => !whyNever(policy, kind, item)) : [];
  return [
    ...grantedItems(policy, needs, kind),
    ...asked.filter((item) => !isExcepted(policy[kind].except, kind, item)),
  ];
}

function unallowed(policy: Policy, needs: Permissions, kind: Listed): string[] {
  return itemsOf(needs, kind).filter((item) => !includes(policy[kind].scope, item));
}

/** The kinds that are declared, in fixed order; an empty list declares nothing. */
export function kindsOf(needs: Permissions): Kind[] {
  return KINDS.filter((kind) => {
    const need = needs[kind];
    return Array.isArray(need) ? need.length > 0 : need === true;
  });
}

/** Each once; addresses in their one spelling: one that has none stays as it is, and is never granted. */
export function itemsOf(needs: Permissions, kind: Listed): string[] {
  const items = needs[kind] ?? [];
  const spelt = kind === "env" ? items : items.map((item) => {
    const parsed = parseAddress(item);
    return parsed.ok ? parsed.address : item;
  });
  return [...new Set(spelt)];
}

/** Whether the answer to a call depends on the programs that it starts. */
export function namesPrograms({ run }: Policy): boolean {
  return run.state !== "deny" && (run.scope !== true || run.except.length > 0);
}

function stateOf(policy: Policy, kind: Kind, needs: Permissions, programs?: readonly string[]): State {
  if (kind === "run") return runState(policy, programs);
  if (isListed(kind)) return unallowed(policy, needs, kind).length > 0 ? "ask" : "allow";
  return policy[kind].state;
}

function runState(policy: Policy, programs: readonly string[] = []): State {
  const { run } = policy;
  if (run.state !== "allow" || !namesPrograms(policy)) return run.state;
  return programs.length > 0 && programs.every((program) => includes(run.scope, program)) ? "allow" : "ask";
}

/** Why the kind is denied, whoever could be asked; undefined when it is not. */
function denial(policy: Policy, kind: Kind, needs: Permissions, programs?: readonly string[]): string | undefined {
  const { state, by, except } = policy[kind];
  const deno = by === "deno" ? "Deno's " : "";
  if (by === "flag") return `${kind} is denied here by --deny-${kind}`;
  if (isListed(kind)) {
    const denied = itemsOf(needs, kind).find((item) => isExcepted(except, kind, item));
    if (denied !== undefined) return `${kind} is denied here by --deny-${kind}=${oneLine(denied)}`;
    return unallowed(policy, needs, kind).map((item) => whyNever(policy, kind, item)).find((why) => why !== undefined);
  }
  if (by === "no fence") {
    return `${kind} needs tenon's own --allow-${kind} (under Deno: after mod.ts), since nothing confines programs here`;
  }
  if (by === "deno" && kind === "run") return "run needs Deno's --allow-run before mod.ts, and tenon's own after it";
  if (state === "deny") return `${kind} needs ${deno}--allow-${kind}`;
  if (kind !== "run" || programs === undefined || except.length === 0) return undefined;
  if (programs.length === 0) return `${UNTOLD}, and --deny-run=${oneLine(except.join(","))} holds here. ${PLAIN}`;
  const denied = programs.find((program) => isNamed(except, program));
  return denied === undefined ? undefined : `${oneLine(denied)} is denied here by --deny-run`;
}

/** Why nobody is asked for this host or variable, which no flag allows; undefined where somebody may be. */
function whyNever(policy: Policy, kind: Listed, item: string): string | undefined {
  const shown = oneLine(item);
  const problem = neverGiven(kind, item);
  if (problem !== undefined) return `${kind} of "${shown}" is never granted: ${problem}`;
  const { most } = policy[kind];
  if (most && !most.includes(item)) {
    return `${kind} needs --allow-${kind}=${shown}, and this executable was built without it`;
  }
  // Deno takes no question about what is no address.
  return policy.isGiven?.(kind, item) === false ? `${kind} needs Deno's --allow-${kind}=${shown}` : undefined;
}

const UNTOLD = "it cannot be told what this call starts";
const PLAIN = "Use a command of one program with plain words";

function unaskedReason(
  policy: Policy,
  kinds: readonly Kind[],
  needs: Permissions,
  programs?: readonly string[],
): string {
  const { run, asksNobody } = policy;
  const more = run.state === "allow" && run.scope !== true ? ` for more than ${run.scope.join(", ")}` : "";
  const less = run.except.length > 0 ? ` without --deny-run=${run.except.join(",")}` : "";
  const flags = kinds.map((kind) =>
    isListed(kind)
      ? `--allow-${kind}=${unallowed(policy, needs, kind).join(",")}`
      : kind === "run"
      ? `--allow-run${more}${less}`
      : `--allow-${kind}`
  );
  const need = kinds.length > 1 ? "need" : "needs";
  const untold = kinds.includes("run") && more !== "" && programs?.length === 0 ? ` (${UNTOLD}. ${PLAIN})` : "";
  const why = asksNobody === undefined ? "and nobody can be asked here" : `since ${asksNobody} asks nobody`;
  return oneLine(`${kinds.join(" and ")} ${need} ${flags.join(" and ")}, ${why}${untold}`, 1000);
}
