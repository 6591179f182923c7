/** Asks the user before a call that the policy leaves to them. Wraps tools; the loop, the hosts and the tools know nothing of it. */

import type { Listed } from "./permission_flags.ts";
import { decide, type Decision, namesPrograms } from "./permissions.ts";
import type { Policy } from "./policy.ts";
import { programsOf } from "./programs_of.ts";
import { createQueue } from "../hosts/queue.ts";
import { BUILT_IN, type CallOptions, type Host, type Outcome, type Tool } from "../registry.ts";
import { oneLine } from "../text.ts";
import type { Permissions, Proposal } from "../tool.ts";

/** What the user is asked: with the change or the command as it would really be. */
export interface Question {
  tool: string;
  /** The file of a tool that is not built in: what it proposes is its own word. */
  plugin: string | undefined;
  input: unknown;
  /** All that the tool needs. */
  needs: Permissions;
  /** What of it the question is about: neither a flag nor an earlier answer has granted it. */
  asked: Asked;
  proposal: Proposal | undefined;
}

/** Hosts in their one spelling, and variables; `work`: to change files or start programs as well. */
export interface Asked extends Record<Listed, string[]> {
  work: boolean;
}

/** `none`: the user was asked and gave no answer, which also ends the turn. */
export type Answer = { verdict: "once" | "always" | "none" } | { verdict: "no"; word?: string };

/** Puts a question to the user. Never called when nobody can answer. */
export type AskUser = (question: Question, signal: AbortSignal) => Promise<Answer>;

export interface Approval {
  /** The same tool, behind the question. */
  guard(tool: Tool): Tool;
  /** What was granted for the session, a line each. */
  grants(): string[];
  /** Takes one back by its place in `grants`, from 1 on; false when there is none. The plugin's host ends with it. */
  revoke(place: number): boolean;
  /** Takes back all of them. */
  forget(): void;
  /** Who is asked from now on; with nobody, every question is answered with no. */
  ask: AskUser | undefined;
}

export function createApproval(policy: Policy): Approval {
  /** What "always" was said to, by its key. */
  const granted = new Map<string, SessionGrant>();
  /** Where each plugin runs, as it was loaded last. */
  const hosts = new Map<string, Host>();
  /** Calls that only read and fetch come together: each waits for the answer to the one before, which may be for it too. */
  const inTurn = createQueue(1);

  function takeBack({ key, owner }: SessionGrant): void {
    granted.delete(key);
    hosts.get(owner)?.end?.();
  }

  const approval: Approval = {
    guard(tool) {
      if (tool.source !== BUILT_IN) hosts.set(ownerOf(tool), tool.host);
      return { ...tool, host: { call: (name, input, options) => call(tool, name, input, options) } };
    },
    grants: () => [...granted.values()].map(({ words }) => words),
    revoke(place) {
      const grant = Number.isSafeInteger(place) ? [...granted.values()][place - 1] : undefined;
      if (grant) takeBack(grant);
      return grant !== undefined;
    },
    forget: () => [...granted.values()].forEach(takeBack),
    ask: undefined,
  };

  async function call(tool: Tool, name: string, input: unknown, options: CallOptions): Promise<Outcome> {
    const propose = async () => await tool.host.preview?.(name, input, options);
    const byProgram = tool.permissions.run === true && namesPrograms(policy);
    // What a plugin says of itself is its own word: nobody can tell what it starts.
    const told = byProgram && tool.source === BUILT_IN ? await propose() : undefined;
    if (told?.is_error) return told;
    const decision = decide(policy, tool.permissions, byProgram ? programsIn(told?.proposal) : undefined);
    if (decision.state === "deny") return refusal(decision.reason ?? "Not run: it was not allowed");
    if (decision.state === "allow") return await tool.host.call(name, input, options);
    // A call that fails anyway is not worth a question.
    const preview = told ?? await propose();
    if (preview?.is_error) return preview;
    const proposal = preview?.proposal;
    const needed = neededGrants(tool, decision, proposal);

    /** Whether it was granted for the session or for this call; else why it is not run. */
    async function ask(): Promise<"always" | "once" | Outcome> {
      const missing = needed.filter(({ key }) => !granted.has(key));
      if (missing.length === 0) return "always";
      if (options.signal.aborted) return refusal("Not run: the turn was interrupted");
      if (!approval.ask) return refusal(`Not run: ${name} needs the user's word, and nobody can be asked here`);
      const { source, permissions: needs } = tool;
      const asked = askedIn(missing);
      const plugin = source === BUILT_IN ? undefined : source;
      const answer = await approval.ask({ tool: name, plugin, input, needs, asked, proposal }, options.signal);
      if (answer.verdict === "none") return refusal("Not run: the turn was interrupted");
      if (answer.verdict === "no") return refusal(wordsForNo(name, answer.word));
      // The user may have taken minutes, and only what was shown is allowed.
      const now = await propose();
      if (now?.is_error) return now;
      if (JSON.stringify(now?.proposal) !== JSON.stringify(proposal)) {
        return refusal(`Not run: what ${name} would do has changed while the user was asked. Make the call again`);
      }
      if (answer.verdict === "always") { for (const grant of missing) granted.set(grant.key, grant); }
      return answer.verdict;
    }

    const answer = await inTurn(ask);
    if (answer === "always") return await tool.host.call(name, input, options);
    if (answer === "once") return await tool.host.call(name, input, { ...options, once: true });
    return answer;
  }

  return approval;
}

function programsIn(proposal: Proposal | undefined): string[] {
  return proposal && "command" in proposal ? programsOf(proposal.command) : [];
}

const WORK = ["read", "write", "run"] as const;

/** What "always" can be said to. */
interface SessionGrant {
  key: string;
  /** The tool and where it comes from: another plugin of the same name is another tool. */
  owner: string;
  kind: "work" | Listed;
  item: string;
  /** Cut and cleaned, so that two files can have the same ones. */
  words: string;
}

function ownerOf({ source, definition: { name } }: Tool): string {
  return JSON.stringify([source, name]);
}

/**
 * All that is asked for in this call: what a plugin proposes is about its work, and tells nothing of hosts and variables. A plugin
 * that is loaded anew and would do more by the same words, start programs too or send what it reads, is asked for again.
 */
function neededGrants(tool: Tool, { kinds, asked }: Decision, proposal: Proposal | undefined): SessionGrant[] {
  const owner = ownerOf(tool);
  const grant = (kind: SessionGrant["kind"], reach: string, what: string, item: string): SessionGrant => ({
    key: JSON.stringify([owner, kind, reach, what, item]),
    owner,
    kind,
    item,
    words: `${tool.definition.name}: ${what}${item === "" ? "" : ` ${oneLine(item)}`}`,
  });
  const work = WORK.filter((kind) => kinds[kind] === "ask").join("+");
  const sent = tool.permissions.read ? "read" : "";
  return [
    ...(work === "" ? [] : [grant("work", work, ...workIn(proposal))]),
    ...asked.net.map((host) => grant("net", sent, "the host", host)),
    ...asked.env.map((variable) => grant("env", "", "the variable", variable)),
  ];
}

/** A command counts to the letter, a file by its real path; of a tool that does not tell what it does, every call. */
function workIn(proposal: Proposal | undefined): [what: string, item: string] {
  if (!proposal) return ["every call", ""];
  return "command" in proposal ? ["the command", proposal.command] : ["the file", proposal.path];
}

function askedIn(grants: readonly SessionGrant[]): Asked {
  const itemsOf = (kind: Listed) => grants.filter((grant) => grant.kind === kind).map(({ item }) => item);
  return { work: grants.some(({ kind }) => kind === "work"), net: itemsOf("net"), env: itemsOf("env") };
}

function wordsForNo(tool: string, word = ""): string {
  const said = word.trim();
  if (said === "") return `Not run: the user refused ${tool}. Ask what to do instead`;
  return `Not run: the user refused ${tool} and says: ${said}`;
}

function refusal(content: string): Outcome {
  return { content, is_error: true };
}
