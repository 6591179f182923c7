/** One session of the built-in tools in a folder: the real registry and hosts, which run in the process of the test. */

import { readFile } from "node:fs/promises";
import { createHosts } from "../../core/hosts/hosts.ts";
import type { ToolUseBlock } from "../../core/message.ts";
import { join } from "../../core/path.ts";
import { checkPlugin, OWN_TIMEOUT_MS } from "../../core/plugins/plugins.ts";
import { createRegistry } from "../../core/registry.ts";
import type { Proposal, SeenFile } from "../../core/tool.ts";
import * as builtin from "../../plugins/mod.ts";
import { connectInProcess } from "./host_in_process.ts";
import type { TempWorkspace } from "./temp_workspace.ts";

/** A call: the tool and its input. */
export type Call = [tool: string, input: unknown];

/** One call; several of one reply; or a command that is run in the folder from outside. */
export type Step = Call | { batch: Call[] } | { sh: string };

export interface Answered {
  tool: string;
  /** What the model reads. */
  text: string;
  /** Of a call on its own, by a tool that has a preview: what that told before, or why it refused. */
  preview?: Proposal | string;
}

export interface ToolSession {
  call(...call: Call): Promise<string>;
  batch(calls: readonly Call[]): Promise<string[]>;
  /** What a call would do, or why it would be refused. Nothing where the tool has no preview. */
  preview(...call: Call): Promise<Proposal | string | undefined>;
}

/** Answers that are errors begin with `Cannot`, and no others do: what breaks that is thrown. */
export async function openToolSession(root: string): Promise<ToolSession> {
  const seen = new Map<string, SeenFile>();
  const hosts = createHosts(connectInProcess, seen);
  const grant = { root, read: [root], write: [root], denyRead: [], denyWrite: [] };
  const tools = await Promise.all(
    Object.entries(builtin).map(async ([name, module]) => {
      const { loaded } = await checkPlugin({ ...module }, name, OWN_TIMEOUT_MS);
      const { definition, permissions } = loaded;
      const host = hosts.open({ plugins: { builtin: [name] }, needs: permissions, grant }, [loaded]);
      return { definition, permissions, source: "built in", host };
    }),
  );
  const registry = createRegistry(tools);
  const batch = async (calls: readonly Call[]): Promise<string[]> => {
    const blocks = calls.map(([name, input], at): ToolUseBlock => ({ type: "tool_use", id: `${at}`, name, input }));
    const results = new Map();
    for await (const _ of registry.runAll(blocks, results, new AbortController().signal)); // the results are what counts
    return blocks.map(({ id }) => {
      const { content, is_error } = results.get(id);
      const text = typeof content === "string" ? content : JSON.stringify(content);
      if ((is_error === true) !== text.startsWith("Cannot ")) throw new Error(`is_error is ${is_error}: ${text}`);
      return text;
    });
  };
  const preview = async (...[name, input]: Call): Promise<Proposal | string | undefined> => {
    const noted = JSON.stringify([...seen]);
    const host = tools.find(({ definition }) => definition.name === name)?.host;
    const outcome = await host?.preview?.(name, input, { signal: new AbortController().signal, progress: () => {} });
    if (JSON.stringify([...seen]) !== noted) throw new Error(`the preview of ${name} counts as seeing`);
    return outcome?.is_error ? String(outcome.content) : outcome?.proposal;
  };
  return { batch, preview, call: async (...call) => (await batch([call]))[0] ?? "" };
}

/** Runs the steps in one session; asks for a preview before each call that has one. */
export async function runSteps(temp: TempWorkspace, steps: readonly Step[]): Promise<Answered[]> {
  const session = await openToolSession(temp.root);
  const answers: Answered[] = [];
  for (const step of steps) {
    if ("sh" in step) {
      await temp.sh(step.sh);
    } else if ("batch" in step) {
      const texts = await session.batch(step.batch);
      answers.push(...step.batch.map(([tool], at) => ({ tool, text: texts[at] ?? "" })));
    } else {
      const preview = await session.preview(...step);
      const text = await session.call(...step);
      answers.push({ tool: step[0], text, ...(preview === undefined ? {} : { preview }) });
    }
  }
  return answers;
}

/** What files hold, by path; null where there is none. */
export async function filesIn(
  { root }: TempWorkspace,
  paths: readonly string[],
): Promise<Record<string, string | null>> {
  const texts = paths.map(async (path) => [path, await readFile(join(root, path), "utf8").catch(() => null)] as const);
  return Object.fromEntries(await Promise.all(texts));
}
