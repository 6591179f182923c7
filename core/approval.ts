/** Asks the user before a call that the policy leaves to them. Wraps tools; the loop, the hosts and the tools know nothing of it. */

import { decide, kindsOf } from "./permissions.ts";
import type { Policy } from "./policy.ts";
import type { CallOptions, Host, Outcome, Tool } from "./registry.ts";
import { oneLine } from "./text.ts";
import type { Proposal } from "./tool.ts";

/** What the user is asked: with the change or the command as it would really be. */
export interface Question {
  tool: string;
  input: unknown;
  /** The kinds of permission that the tool needs. */
  kinds: string[];
  proposal: Proposal | undefined;
  /** What "always" would cover, in words: this command, this file, this tool. */
  scope: string;
}

export type Answer = { verdict: "once" | "always" } | { verdict: "no"; word?: string };

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
  const granted: string[] = [];
  const approval: Approval = {
    guard: (tool) => ({ ...tool, host: { call: (name, input, options) => call(tool, name, input, options) } }),
    grants: () => [...granted],
    revoke: (place) => granted.splice(place - 1, 1).length > 0 && place > 0,
    forget: () => granted.splice(0),
    ask: undefined,
  };

  async function call(tool: Tool, name: string, input: unknown, options: CallOptions): Promise<Outcome> {
    const { state, reason } = decide(policy, tool.permissions);
    if (state === "deny") return refusal(reason ?? "Not run: it was not allowed");
    if (state === "allow") return await tool.host.call(name, input, options);
    return await askFirst(tool.host, tool, name, input, options);
  }

  async function askFirst(
    host: Host,
    tool: Tool,
    name: string,
    input: unknown,
    options: CallOptions,
  ): Promise<Outcome> {
    // A call that fails anyway is not worth a question.
    const preview = await host.preview?.(name, input, options);
    if (preview?.is_error) return { content: preview.content, is_error: true };
    const scope = scopeOf(name, preview?.proposal);
    const key = `${name}: ${scope}`;
    if (!granted.includes(key)) {
      if (!approval.ask) return refusal(`Not run: ${name} needs the user's word, and nobody can be asked here`);
      const kinds = kindsOf(tool.permissions);
      const answer = await approval.ask(
        { tool: name, input, kinds, proposal: preview?.proposal, scope },
        options.signal,
      );
      if (answer.verdict === "no") {
        const word = answer.word?.trim();
        return refusal(
          word
            ? `Not run: the user refused ${name} and says: ${word}`
            : `Not run: the user refused ${name}. Ask what to do instead`,
        );
      }
      if (answer.verdict === "always") granted.push(key);
    }
    return await host.call(name, input, options);
  }

  return approval;
}

/** A command counts to the letter, a file by its real path; of a tool that does not tell what it does, every call. */
function scopeOf(tool: string, proposal: Proposal | undefined): string {
  if (!proposal) return `every call of ${tool}`;
  return "command" in proposal
    ? `the command ${JSON.stringify(proposal.command)}`
    : `the file ${oneLine(proposal.path)}`;
}

function refusal(content: string): Outcome {
  return { content, is_error: true };
}
