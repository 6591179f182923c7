/** A request that failed: whether and when it is worth another try, and what it was in words. */

import { APIError } from "@anthropic-ai/sdk";
import type { ApiError } from "./api_error.ts";
import { hostOf } from "./endpoint.ts";
import { oneLine } from "../text.ts";

export interface ModelLimits {
  /** How often a failed request is sent again. */
  retries: number;
  /** A longer wait than this, in milliseconds, ends the turn instead. */
  longestWaitMs: number;
  /** A stream with no byte for this long, in milliseconds, is given up. */
  silenceMs: number;
}

/** Milliseconds until the next try, or `undefined` when another one cannot help. */
export function waitBefore(error: unknown, attempt: number, limits: ModelLimits): number | undefined {
  if (attempt >= limits.retries || !canHelp(error)) return undefined;
  const asked = error instanceof APIError ? retryAfterMs(error.headers?.get("retry-after")) : undefined;
  if (asked !== undefined) return asked > limits.longestWaitMs ? undefined : asked;
  return Math.min(limits.longestWaitMs, 500 * 2 ** attempt) * (0.75 + Math.random() / 4);
}

/** Source: "Errors", API documentation. An error inside a stream has a type and no status. */
function canHelp(error: unknown): boolean {
  if (isRedirect(error) || isNotCapable(error) || otherAnswer(error) !== undefined) return false;
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

/** To be thrown for an answer that is no stream of events, as a page of a proxy. `type` is its `content-type`. */
export function notTheApi(type: string | null): Error {
  return Object.assign(new Error("not the Messages API"), {
    answered: oneLine(type?.split(";")[0] || "no media type", 80),
  });
}

/** The media type of an answer that came from something else than the API. */
function otherAnswer(error: unknown): string | undefined {
  return error instanceof Error && "answered" in error ? String(error.answered) : undefined;
}

function isRedirect(error: unknown): boolean {
  return causes(error).some((text) => /redirect/i.test(text));
}

/** Whether Deno refuses what was not granted at start: asking again changes nothing. */
export function isNotCapable(error: unknown): boolean {
  return chain(error).some((cause) => cause.name === "NotCapable");
}

function causes(error: unknown): string[] {
  return chain(error).map((cause) => cause.message);
}

/** The error, what caused it, and so on. */
function chain(error: unknown): Error[] {
  const errors: Error[] = [];
  for (let at = error; at instanceof Error && errors.length < 5; at = at.cause) errors.push(at);
  return errors;
}

function errorType(error: APIError): string | undefined {
  const body = error.error as { error?: { type?: unknown } } | undefined;
  return typeof body?.error?.type === "string" ? body.error.type : undefined;
}

export function gistOf(error: unknown): string {
  if (error instanceof APIError && error.status !== undefined) {
    return `${error.status} ${errorType(error) ?? ""}`.trim();
  }
  if (error instanceof APIError && errorType(error)) return String(errorType(error));
  const said = chain(error).map((cause) => `${(cause as { code?: unknown }).code ?? ""} ${cause.message}`).join("\n");
  const known = FAILURES.find(([pattern]) => pattern.test(said))?.[1];
  return known ?? oneLine(causes(error).at(-1) ?? "the connection failed");
}

/** What the runtimes have codes of their own for, or only words of their library. */
const FAILURES: [pattern: RegExp, words: string][] = [
  [/ECONNREFUSED|ConnectionRefused|connection refused/i, "nothing listens there (the connection was refused)"],
  [/ENOTFOUND|EAI_AGAIN|dns error|failed to lookup address/i, "no address is known for this name"],
  [/ETIMEDOUT|ConnectionTimeout|timed out|deadline has elapsed/i, "it did not answer in time"],
  [/ECONNRESET|ConnectionClosed|connection reset|socket connection was closed/i, "the connection was cut"],
  [/EHOSTUNREACH|ENETUNREACH|unreachable|no route to host/i, "no way leads there"],
  [/CERT|SELF_SIGNED|certificate/i, "its certificate is not one that is trusted here"],
];

/** Why it failed for good, for the user, with what to do about it. `where` is the address. */
export function apiError(error: unknown, where: string, limits: ModelLimits): ApiError {
  const words = error instanceof APIError ? messageOf(error) : undefined;
  return Object.assign(new Error(wordsFor(error, where, limits)), {
    name: "ApiError" as const,
    ...(error instanceof APIError && error.status !== undefined ? { status: error.status } : {}),
    ...(words === undefined ? {} : { words }),
  });
}

function wordsFor(error: unknown, where: string, limits: ModelLimits): string {
  if (isRedirect(error)) {
    return `${where} redirects elsewhere, where the key must not go. Set --base-url to the final address`;
  }
  if (isNotCapable(error)) {
    return `Cannot reach ${where}: Deno has no --allow-net for it. Start with deno run --allow-net=${hostOf(where)}`;
  }
  const other = otherAnswer(error);
  if (other !== undefined) {
    return `${where} answered with something that is not the Messages API (${other}). Check --base-url`;
  }
  if (!(error instanceof APIError) || (error.status === undefined && !errorType(error))) {
    return `Cannot reach ${where}: ${gistOf(error).replace(/[.?!]+$/, "")}. Check the network, or --base-url`;
  }
  const message = messageOf(error) ?? "no reason given";
  const request = error.requestID ? ` (request ${error.requestID})` : "";
  const wait = retryAfterMs(error.headers?.get("retry-after"));
  const hint = error.status === 401
    ? ". Check ANTHROPIC_API_KEY"
    : wait !== undefined && wait > limits.longestWaitMs
    ? `. It asks to wait ${Math.ceil(wait / 1000)} s; try again later`
    : canHelp(error)
    ? ". Try again later"
    : "";
  return `The API answered ${gistOf(error)}: ${message}${request}${hint}`;
}

function messageOf(error: APIError): string | undefined {
  const body = error.error as { error?: { message?: unknown } } | undefined;
  return typeof body?.error?.message === "string" ? oneLine(body.error.message, 500) : undefined;
}

/** Waits, or ends at once when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
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
