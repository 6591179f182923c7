/** The Messages API through the SDK: one request, streamed, tried again where that can help. */

import Anthropic, { APIError } from "@anthropic-ai/sdk";
import type { Ask, Event } from "./agent.ts";
import { markForCache } from "./history.ts";
import type { Message, Reply } from "./message.ts";
import type { WireDefinition } from "./registry.ts";
import { type Draft, finishReply, interruptedReply, newDraft, readEvent } from "./reply.ts";
import { oneLine } from "./text.ts";

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

export interface ModelLimits {
  /** How often a failed request is sent again. */
  retries: number;
  /** A longer wait than this, in milliseconds, ends the turn instead. */
  longestWaitMs: number;
  /** A stream with no byte for this long, in milliseconds, is given up. */
  silenceMs: number;
}

export const MODEL_LIMITS: ModelLimits = { retries: 4, longestWaitMs: 60_000, silenceMs: 90_000 };

/** Says no for good: its message is one line for the user. */
export interface ApiError extends Error {
  name: "ApiError";
}

export function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && error.name === "ApiError";
}

/** Throws an `ApiError` when the address is not one to send a key to. (A redirect is never followed: fence.md would be void.) */
export function checkBaseUrl(baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw apiError(`--base-url "${oneLine(baseUrl)}" is no http address`);
  const here = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && !here) {
    throw apiError(`--base-url "${oneLine(baseUrl)}" would send the key unencrypted. Use https`);
  }
  if (url.username || url.password) throw apiError("--base-url holds a name or password. Use ANTHROPIC_AUTH_TOKEN");
}

export function apiModel(options: ModelOptions): Ask {
  const { limits, compat } = options;
  const client = new Anthropic({
    ...options.credential,
    ...(options.baseUrl === undefined ? {} : { baseURL: options.baseUrl }),
    ...(compat ? { defaultHeaders: { "anthropic-version": "2023-06-01" } } : {}),
    maxRetries: 0, // the SDK sees no failure inside a stream; one rule for both is here
    logLevel: "off",
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
    for await (const event of await client.messages.create(params, { signal })) {
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
          if (wait === undefined) throw apiError(wordsFor(error, options));
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

/**
 * `fetch` that follows no redirect (Bun would send the key to the new address) and gives up on silence. Pings count as
 * life, so the watch is on the bytes.
 */
function watchedFetch(silenceMs: number): typeof fetch {
  const watched = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const silence = new AbortController();
    const seconds = Math.round(silenceMs / 100) / 10;
    const giveUp = () => silence.abort(new Error(`the server was silent for ${seconds} s`));
    let timer = setTimeout(giveUp, silenceMs);
    const signal = init?.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal;
    try {
      const response = await fetch(url, { ...init, signal, redirect: "error" });
      if (!response.body) {
        clearTimeout(timer);
        return response;
      }
      const body = response.body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            clearTimeout(timer);
            timer = setTimeout(giveUp, silenceMs);
            controller.enqueue(chunk);
          },
          flush: () => clearTimeout(timer),
        }),
        { signal },
      );
      signal.addEventListener("abort", () => clearTimeout(timer));
      return new Response(body, response);
    } catch (error) {
      clearTimeout(timer);
      throw silence.signal.aborted ? silence.signal.reason : error;
    }
  };
  return watched as typeof fetch;
}

/** Milliseconds until the next try, or `undefined` when another one cannot help. */
function waitBefore(error: unknown, attempt: number, limits: ModelLimits): number | undefined {
  if (attempt >= limits.retries || !canHelp(error)) return undefined;
  const asked = error instanceof APIError ? retryAfterMs(error.headers?.get("retry-after")) : undefined;
  if (asked !== undefined) return asked > limits.longestWaitMs ? undefined : asked;
  return Math.min(limits.longestWaitMs, 500 * 2 ** attempt) * (0.75 + Math.random() / 4);
}

/** Source: "Errors", API documentation. An error inside a stream has a type and no status. */
function canHelp(error: unknown): boolean {
  if (isRedirect(error)) return false;
  if (!(error instanceof APIError)) return true; // the network, or a stream that makes no sense
  if (error.status !== undefined) return [408, 409, 429].includes(error.status) || error.status >= 500;
  const type = errorType(error);
  return type === undefined || ["overloaded_error", "rate_limit_error", "api_error", "timeout_error"].includes(type);
}

/** `retry-after` in seconds or as a date; anything else is as good as none. */
function retryAfterMs(value: string | null | undefined): number | undefined {
  if (!value) return undefined;
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function isRedirect(error: unknown): boolean {
  return causes(error).some((text) => /redirect/i.test(text));
}

function causes(error: unknown): string[] {
  const texts: string[] = [];
  for (let at = error; at instanceof Error && texts.length < 5; at = at.cause) texts.push(at.message);
  return texts;
}

function errorType(error: APIError): string | undefined {
  const body = error.error as { error?: { type?: unknown } } | undefined;
  return typeof body?.error?.type === "string" ? body.error.type : undefined;
}

function gistOf(error: unknown): string {
  if (error instanceof APIError && error.status !== undefined) {
    return `${error.status} ${errorType(error) ?? ""}`.trim();
  }
  if (error instanceof APIError && errorType(error)) return String(errorType(error));
  return oneLine(causes(error).at(-1) ?? "the connection failed");
}

function wordsFor(error: unknown, options: ModelOptions): string {
  const where = options.baseUrl ?? "https://api.anthropic.com";
  if (isRedirect(error)) {
    return `${where} redirects elsewhere, where the key must not go. Set --base-url to the final address`;
  }
  if (!(error instanceof APIError) || (error.status === undefined && !errorType(error))) {
    return `Cannot reach ${where}: ${gistOf(error)}. Check the network, or --base-url`;
  }
  const body = error.error as { error?: { message?: unknown } } | undefined;
  const message = typeof body?.error?.message === "string" ? body.error.message : "no reason given";
  const request = error.requestID ? ` (request ${error.requestID})` : "";
  const wait = retryAfterMs(error.headers?.get("retry-after"));
  const hint = error.status === 401
    ? ". Check ANTHROPIC_API_KEY"
    : wait !== undefined && wait > options.limits.longestWaitMs
    ? `. It asks to wait ${Math.ceil(wait / 1000)} s; try again later`
    : "";
  return `The API answered ${gistOf(error)}: ${oneLine(message, 500)}${request}${hint}`;
}

function apiError(message: string): ApiError {
  return Object.assign(new Error(message), { name: "ApiError" as const });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}
