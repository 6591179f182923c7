/** Asks the user before a call that the policy leaves to them. Wraps tools; the loop, the hosts and the tools know nothing of it. */

import { decide, kindsOf, namesPrograms } from "./permissions.ts";
import type { Policy } from "./policy.ts";
import { programsOf } from "./programs_of.ts";
import { BUILT_IN, type CallOptions, type Outcome, type Tool } from "../registry.ts";
import { oneLine } from "../text.ts";
import type { Proposal } from "../tool.ts";

/** What the user is asked: with the change or the command as it would really be. */
export interface Question {
  tool: string;
  /** The file of a tool that is not built in: what it proposes is its own word. */
  plugin: string | undefined;
  input: unknown;
  /** The kinds of permission that the tool needs. */
  kinds: string[];
  proposal: Proposal | undefined;
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
  /** Takes one back by its place in `grants`, from 1 on; false when there is none. */
  revoke(place: number): boolean;
  forget(): void;
  /** Who is asked from now on; with nobody, every question is answered with no. */
  ask: AskUser | undefined;
}

export function createApproval(policy: Policy): Approval {
  /** What "always" was said to, and the words for it. */
  const granted = new Map<string, string>();
  const approval: Approval = {
    guard: (tool) => ({ ...tool, host: { call: (name, input, options) => call(tool, name, input, options) } }),
    grants: () => [...granted.values()],
    revoke(place) {
      const key = Number.isSafeInteger(place) ? [...granted.keys()][place - 1] : undefined;
      return key !== undefined && granted.delete(key);
    },
    forget: () => granted.clear(),
    ask: undefined,
  };

  async function call(tool: Tool, name: string, input: unknown, options: CallOptions): Promise<Outcome> {
    const propose = async () => await tool.host.preview?.(name, input, options);
    // What a plugin says of itself is its own word: by that nothing is allowed.
    const isTold = tool.permissions.run === true && tool.source === BUILT_IN && namesPrograms(policy);
    const told = isTold ? await propose() : undefined;
    if (told?.is_error) return told;
    const { state, reason } = decide(policy, tool.permissions, isTold ? programsIn(told?.proposal) : undefined);
    if (state === "deny") return refusal(reason ?? "Not run: it was not allowed");
    if (state === "allow") return await tool.host.call(name, input, options);
    // A call that fails anyway is not worth a question.
    const preview = told ?? await propose();
    if (preview?.is_error) return preview;
    const proposal = preview?.proposal;
    const { key, words } = sessionGrant(name, proposal);
    if (!granted.has(key)) {
      if (!approval.ask) return refusal(`Not run: ${name} needs the user's word, and nobody can be asked here`);
      const plugin = tool.source === BUILT_IN ? undefined : tool.source;
      const question = { tool: name, plugin, input, kinds: kindsOf(tool.permissions), proposal };
      const answer = await approval.ask(question, options.signal);
      if (answer.verdict === "none") return refusal("Not run: the turn was interrupted");
      if (answer.verdict === "no") return refusal(wordsForNo(name, answer.word));
      // The user may have taken minutes, and only what was shown is allowed.
      const now = await propose();
      if (now?.is_error) return now;
      if (JSON.stringify(now?.proposal) !== JSON.stringify(proposal)) {
        return refusal(`Not run: what ${name} would do has changed while the user was asked. Make the call again`);
      }
      if (answer.verdict === "once") return await tool.host.call(name, input, { ...options, once: true });
      granted.set(key, words);
    }
    return await tool.host.call(name, input, options);
  }

  return approval;
}

function programsIn(proposal: Proposal | undefined): string[] {
  return proposal && "command" in proposal ? programsOf(proposal.command) : [];
}

/** A command counts to the letter, a file by its real path; of a tool that does not tell what it does, every call. */
function sessionGrant(tool: string, proposal: Proposal | undefined): { key: string; words: string } {
  // The words are cut and cleaned, so that two files can have the same ones.
  if (!proposal) return { key: JSON.stringify([tool]), words: `${tool}: every call` };
  if ("command" in proposal) {
    const { command } = proposal;
    return { key: JSON.stringify([tool, "command", command]), words: `${tool}: the command ${oneLine(command)}` };
  }
  const { path } = proposal;
  return { key: JSON.stringify([tool, "file", path]), words: `${tool}: the file ${oneLine(path)}` };
}

function wordsForNo(tool: string, word = ""): string {
  const said = word.trim();
  if (said === "") return `Not run: the user refused ${tool}. Ask what to do instead`;
  return `Not run: the user refused ${tool} and says: ${said}`;
}

function refusal(content: string): Outcome {
  return { content, is_error: true };
}
