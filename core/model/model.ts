/** The Messages API through the SDK: one request, streamed, tried again where that can help. */

import Anthropic, { type ClientOptions } from "@anthropic-ai/sdk";
import type { Ask, Event } from "../agent.ts";
import { API_URL, watchedFetch } from "./endpoint.ts";
import { markForCache } from "../history.ts";
import type { Message, Reply } from "../message.ts";
import type { WireDefinition } from "../registry.ts";
import { type Draft, finishReply, interruptedReply, newDraft, readEvent } from "./reply.ts";
import { apiError, gistOf, isNotCapable, type ModelLimits, notTheApi, pause, waitBefore } from "./retry.ts";
import { usageError } from "../usage_error.ts";

export interface ModelOptions {
  model: string;
  credential: { apiKey: string } | { authToken: string };
  /** Default: the API's own address. https, or http on this machine. */
  baseUrl: string | undefined;
  /** For other Anthropic-compatible endpoints: without `strict` and cache marks, and in the API version that they know. */
  compat: boolean;
  maxTokens: number;
  system: string;
  definitions: readonly WireDefinition[];
  limits: ModelLimits;
}

export const MODEL_LIMITS: ModelLimits = { retries: 4, longestWaitMs: 60_000, silenceMs: 90_000 };

export function apiModel(options: ModelOptions): Ask {
  const { limits, compat } = options;
  const where = options.baseUrl ?? API_URL;
  const client = connect({
    ...options.credential,
    baseURL: where,
    ...(compat ? { defaultHeaders: { "anthropic-version": "2023-06-01" } } : {}),
    maxRetries: 0, // the SDK sees no failure inside a stream; one rule for both is here
    logLevel: "off",
    openTelemetry: false,
    timeout: 600_000,
    fetch: watchedFetch(limits.silenceMs),
  });
  const tools = options.definitions.map(({ strict, ...tool }) => strict && !compat ? { ...tool, strict } : tool);
  const mark = compat ? {} : { cache_control: { type: "ephemeral" } };

  async function* stream(messages: readonly Message[], signal: AbortSignal, draft: Draft): AsyncGenerator<Event, void> {
    const body = {
      model: options.model,
      max_tokens: options.maxTokens,
      ...(tools.length > 0 ? { tools } : {}),
      system: [{ type: "text", text: options.system, ...mark }],
      messages: compat ? messages : markForCache(messages),
      stream: true,
    };
    // Blocks of kinds that the SDK's types do not know pass through us untouched.
    const params = body as unknown as Anthropic.MessageCreateParamsStreaming;
    const { data, response } = await client.messages.create(params, { signal }).withResponse();
    const type = response.headers.get("content-type");
    if (!type?.startsWith("text/event-stream")) {
      data.controller.abort();
      throw notTheApi(type);
    }
    for await (const event of data) {
      const text = readEvent(draft, event as unknown as { [key: string]: unknown });
      if (text !== "") yield { type: "text", text };
    }
  }

  return async function* ask(messages, signal): AsyncGenerator<Event, Reply> {
    for (let attempt = 0;; attempt++) {
      const draft = newDraft();
      try {
        yield* stream(messages, signal, draft);
        if (!draft.whole && !signal.aborted) throw new Error("the stream ended in the middle");
      } catch (error) {
        if (!signal.aborted) {
          const wait = waitBefore(error, attempt, limits);
          if (wait === undefined) throw apiError(error, where, limits);
          if (draft.blocks.length > 0) yield { type: "discard", reason: "the reply broke off" };
          yield { type: "retry", reason: gistOf(error), wait_ms: wait };
          await pause(wait, signal);
          if (!signal.aborted) continue;
        }
      }
      if (signal.aborted && !draft.whole) return interruptedReply(draft);
      yield { type: "usage", usage: draft.usage, model: draft.model || options.model };
      return finishReply(draft);
    }
  };
}

/** The SDK looks for more variables than it is told not to (`ANTHROPIC_CUSTOM_HEADERS`); Deno may refuse that. */
function connect(options: ClientOptions): Anthropic {
  try {
    return new Anthropic(options);
  } catch (error) {
    if (!isNotCapable(error)) throw error;
    throw usageError("Cannot use the key: Deno hides other ANTHROPIC_ variables. Start with deno run --ignore-env");
  }
}
