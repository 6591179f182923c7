/** A whole agent for tests: the real loop, registry, hosts and model adapter; tools from fixtures; the API is the fake. */

import { join } from "node:path";
import { type Agent, type Event, runTurn } from "../../core/agent.ts";
import { appendText } from "../../core/history.ts";
import { createHosts } from "../../core/hosts/hosts.ts";
import type { Message } from "../../core/message.ts";
import { apiModel, MODEL_LIMITS } from "../../core/model/model.ts";
import { createRegistry, type Registry } from "../../core/registry.ts";
import type { ModelLimits } from "../../core/model/retry.ts";
import type { FakeApi } from "./fake_api.ts";
import { connectInProcess } from "./host_in_process.ts";

const FOLDER = join(import.meta.dir, "..", "fixtures", "tools");

/** The fixture tools by name, each in a host of its own. */
export async function fixtureRegistry(...names: string[]): Promise<Registry> {
  const hosts = createHosts(connectInProcess, new Map());
  const grant = { root: FOLDER, read: [FOLDER], write: [], denyRead: [], denyWrite: [] };
  const tools = await Promise.all(names.map(async (name) => {
    const plugins = { file: join(FOLDER, `${name}.ts`) };
    const loaded = await hosts.load(plugins);
    const [tool] = loaded;
    if (!tool) throw new Error(`${name} did not load`);
    const { definition, permissions } = tool;
    return {
      definition,
      permissions,
      source: plugins.file,
      host: hosts.open({ plugins, grant, needs: permissions }, loaded),
    };
  }));
  return createRegistry(tools);
}

export interface AgentOptions {
  registry: Registry;
  signal?: AbortSignal;
  maxSteps?: number;
  compat?: boolean;
  limits?: Partial<ModelLimits>;
}

/** An agent that asks the fake. Waits between retries are short unless `limits` says otherwise. */
export function agentFor(api: Pick<FakeApi, "url">, options: AgentOptions): Agent {
  const { registry, signal = new AbortController().signal, maxSteps = 50, compat = false } = options;
  const ask = apiModel({
    model: "fake-model",
    credential: { apiKey: "test-key" },
    baseUrl: api.url,
    compat,
    maxTokens: 1000,
    system: "You are under test.",
    definitions: registry.definitions,
    limits: { ...MODEL_LIMITS, ...options.limits },
  });
  return { ask, registry, maxSteps, signal };
}

export interface Turn {
  events: Event[];
  /** The stop reason, or nothing when the turn threw. */
  stop: string | undefined;
  error: unknown;
}

/** Says something and runs the turn to its end. `watch` sees each event as it comes. */
export async function say(
  agent: Agent,
  messages: Message[],
  text: string,
  watch?: (event: Event) => void,
): Promise<Turn> {
  appendText(messages, text);
  const events: Event[] = [];
  try {
    for await (const event of runTurn(agent, messages)) {
      events.push(event);
      watch?.(event);
    }
  } catch (error) {
    return { events, stop: undefined, error };
  }
  const last = events.at(-1);
  return { events, stop: last?.type === "end" ? last.stop_reason : undefined, error: undefined };
}
