/** What a tool declares, held against the policy: allowed, asked or denied, offered or not, and what its host is given. */

import { parseAddress } from "./address.ts";
import { isInside } from "../path.ts";
import { includes, type Kind, KINDS } from "./permission_flags.ts";
import { isExcepted, isNamed, type Policy, type State } from "./policy.ts";
import { oneLine } from "../text.ts";
import type { Permissions } from "../tool.ts";
import type { Grant } from "../files/workspace.ts";

export interface Decision {
  state: State;
  /** One for each kind that was declared. */
  kinds: Partial<Record<Kind, State>>;
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
    const state = reason !== undefined ? "deny" : kind === "run" ? runState(policy, programs) : policy[kind].state;
    if (reason !== undefined) reasons.push(reason);
    if (state === "ask" && !policy.prompt) unasked.push(kind);
    kinds[kind] = state === "ask" && !policy.prompt ? "deny" : state;
  }
  if (unasked.length > 0) reasons.push(unaskedReason(policy, unasked, programs));
  const states = Object.values(kinds);
  const state = states.includes("deny") ? "deny" : states.includes("ask") ? "ask" : "allow";
  return reasons.length === 0 ? { state, kinds } : { state, kinds, reason: `Not run: ${reasons.join("; ")}` };
}

/**
 * Whether the model is told of the tool at all. Only a deny flag or a ceiling takes a tool away, never the runtime, the
 * terminal or a missing grant: the list of tools is part of the request's prefix and must not change with those.
 */
export function isOffered(policy: Policy, needs: Permissions): boolean {
  return kindsOf(needs).every((kind) => {
    const rule = policy[kind];
    if (kind !== "net" && kind !== "env") return rule.by !== "flag";
    return rule.by !== "flag" && !itemsOf(needs, kind).some((item) => isExcepted(rule.except, kind, item));
  });
}

/** One text for each set, so that built-in tools with the same set share a host: `read`, `read+write`, `read+net=a.com:443`. */
export function permissionSet(needs: Permissions): string {
  const parts = kindsOf(needs).map((kind) =>
    kind === "net" || kind === "env" ? `${kind}=${[...new Set(itemsOf(needs, kind))].sort().join(",")}` : kind
  );
  return parts.join("+") || "none";
}

/**
 * What a host with `needs` is started with: nothing that its tools do not declare, nothing that can never be granted. What
 * is asked for is in it, since a call, and any code of a plugin, reaches the host only after the answer. A file that an allow
 * flag names stays in the list beside its folder: that is how the guard knows that a `.env` was meant. `guarded` are real places
 * of tenon's own (where plugins are loaded from, settings, what is trusted): nothing is written there unless an allow flag names
 * the very place.
 */
export function grantFor(policy: Policy, needs: Permissions, guarded: readonly string[] = []): Grant {
  const granted = (kind: "read" | "write") =>
    needs[kind] === true && (policy[kind].state === "allow" || policy.prompt) ? policy[kind].scope : [];
  const net = grantedItems(policy, needs, "net");
  const write = granted("write");
  const isNamed = (place: string) => place !== policy.root && policy.write.scope.includes(place);
  // A host may not even look at what lies outside of its own folders, so only what is inside is named to it.
  const kept = guarded.filter((place) => !isNamed(place)).flatMap((place) =>
    write.flatMap((folder) => isInside(folder, place) ? [place] : isInside(place, folder) ? [folder] : [])
  );
  return {
    root: policy.root,
    ...(policy.named === undefined ? {} : { named: policy.named }),
    read: granted("read"),
    write,
    denyRead: policy.read.except,
    denyWrite: [...new Set([...policy.write.except, ...kept])],
    ...(net.length > 0 ? { net } : {}),
  };
}

/** What a tool declares and the user granted: addresses in their one spelling, or names of variables. */
export function grantedItems({ net, env }: Policy, needs: Permissions, kind: "net" | "env"): string[] {
  const { scope, except } = kind === "net" ? net : env;
  return itemsOf(needs, kind).filter((item) => includes(scope, item) && !isExcepted(except, kind, item));
}

/** The kinds that are declared, in fixed order; an empty list declares nothing. */
export function kindsOf(needs: Permissions): Kind[] {
  return KINDS.filter((kind) => {
    const need = needs[kind];
    return Array.isArray(need) ? need.length > 0 : need === true;
  });
}

/** Addresses in their one spelling; one that has none stays as it is and is met by no grant. */
function itemsOf(needs: Permissions, kind: "net" | "env"): string[] {
  const items = needs[kind] ?? [];
  if (kind === "env") return items;
  return items.map((item) => {
    const parsed = parseAddress(item);
    return parsed.ok ? parsed.address : item;
  });
}

/** Whether the answer to a call depends on the programs that it starts. */
export function namesPrograms({ run }: Policy): boolean {
  return run.state !== "deny" && (run.scope !== true || run.except.length > 0);
}

function runState(policy: Policy, programs: readonly string[] = []): State {
  const { run } = policy;
  if (run.state !== "allow" || !namesPrograms(policy)) return run.state;
  return programs.length > 0 && programs.every((program) => includes(run.scope, program)) ? "allow" : "ask";
}

/** Why the kind is denied, whoever could be asked; undefined when it is not. */
function denial(policy: Policy, kind: Kind, needs: Permissions, programs?: readonly string[]): string | undefined {
  const { state, by, except, scope } = policy[kind];
  const deno = by === "deno" ? "Deno's " : "";
  if (by === "flag") return `${kind} is denied here by --deny-${kind}`;
  if (kind === "net" || kind === "env") {
    const items = itemsOf(needs, kind);
    const denied = items.find((item) => isExcepted(except, kind, item));
    if (denied !== undefined) return `${kind} is denied here by --deny-${kind}=${oneLine(denied)}`;
    const missing = items.find((item) => !includes(scope, item));
    return missing === undefined ? undefined : `${kind} needs ${deno}--allow-${kind}=${oneLine(missing)}`;
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

const UNTOLD = "it cannot be told what this command starts";
const PLAIN = "Use one program with plain words";

function unaskedReason({ run, asksNobody }: Policy, kinds: readonly Kind[], programs?: readonly string[]): string {
  const more = run.state === "allow" && run.scope !== true ? ` for more than ${run.scope.join(", ")}` : "";
  const less = run.except.length > 0 ? ` without --deny-run=${run.except.join(",")}` : "";
  const flags = kinds.map((kind) => kind === "run" ? `--allow-run${more}${less}` : `--allow-${kind}`);
  const need = kinds.length > 1 ? "need" : "needs";
  const untold = kinds.includes("run") && more !== "" && programs?.length === 0 ? ` (${UNTOLD}. ${PLAIN})` : "";
  const why = asksNobody === undefined ? "and nobody can be asked here" : `since ${asksNobody} asks nobody`;
  return oneLine(`${kinds.join(" and ")} ${need} ${flags.join(" and ")}, ${why}${untold}`);
}
