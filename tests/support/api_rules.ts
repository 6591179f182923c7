/** What the Messages API refuses: one function that looks at a request as strictly as the API does. */

import { checkMarks } from "./api_cache.ts";
import { checkImages, type PlacedImage } from "./api_image_rules.ts";
import { blocksOf, checkMessages, type Memory } from "./api_message_rules.ts";
import { type ModelRules, MODELS } from "./api_models.ts";
import { must, type Refusal, refusalOf, refuse } from "./api_refusal.ts";
import { checkTools } from "./api_schema_rules.ts";
import { parseRequest, type Request } from "./api_shape.ts";

export type { Refusal } from "./api_refusal.ts";
export type { ModelRules } from "./api_models.ts";

const VERSIONS = new Set(["2023-01-01", "2023-06-01", "2026-10-21"]);
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Header names in lower case, as node:http gives them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface RuleOptions extends Memory {
  /** Models beside, or in place of, those of `api_models.ts`. */
  models?: Readonly<Record<string, ModelRules>>;
  /** The one key (or bearer token) that is accepted; without it any is. */
  key?: string;
}

/**
 * The refusal that the API would answer this request with, or undefined. The first broken rule counts, in the order
 * headers, bytes, shape, model, the rest. `body` is the raw text or bytes: what JSON cannot carry is refused, too.
 */
export function checkRequest(
  headers: Headers,
  body: string | Uint8Array,
  options: RuleOptions = {},
): Refusal | undefined {
  return refusalOf(() => {
    const version = checkHeaders(headers, options);
    const betas = headerOf(headers, "anthropic-beta").split(",").map((beta) => beta.trim());
    const json = parseJson(body);
    const request = parseRequest(json, { version, betas, isOurs: options.isOurs ?? (() => false) });
    const model = checkModel(request, { ...MODELS, ...options.models });
    checkVersion(request, version);
    checkMarks(request);
    checkMessages(request, model, options);
    checkTools(request);
    checkImages(imagesOf(request));
    checkThinking(request, model);
    const tokens = countTokens(json);
    must(
      tokens <= model.contextTokens,
      `prompt is too long: ${tokens} tokens > ${model.contextTokens} maximum`,
    );
  });
}

/** About how many tokens a request is, at four characters each; an image counts 1,600 (docs: vision). */
function countTokens(json: unknown): number {
  let images = 0;
  const text = JSON.stringify(json, (key, value) => {
    if (key !== "source" || typeof value !== "object") return value;
    images++;
    return undefined;
  });
  return Math.ceil(text.length / 4) + 1600 * images;
}

function headerOf(headers: Headers, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value.join(",") : value) ?? "";
}

function checkHeaders(headers: Headers, { key }: RuleOptions): string {
  const unauthenticated = { status: 401, type: "authentication_error" };
  const bearer = /^Bearer (\S+)$/i.exec(headerOf(headers, "authorization"))?.[1];
  const given = headerOf(headers, "x-api-key") || bearer;
  must(given, "x-api-key header is required", unauthenticated);
  must(key === undefined || given === key, "invalid x-api-key", unauthenticated);
  const version = headerOf(headers, "anthropic-version");
  must(VERSIONS.has(version), `anthropic-version: "${version}" is not a valid version`);
  must(/^application\/json\b/i.test(headerOf(headers, "content-type")), "content-type: must be application/json");
  return version;
}

function parseJson(body: string | Uint8Array): unknown {
  const size = Buffer.byteLength(body);
  must(size <= MAX_BODY_BYTES, "Request exceeds the maximum size", { status: 413, type: "request_too_large" });
  let json: unknown;
  try {
    const text = typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body);
    json = JSON.parse(text);
  } catch (error) {
    return refuse(`The request body is not valid JSON: ${error instanceof Error ? error.message : error}`);
  }
  checkUnicode(json);
  return json;
}

/** A lone surrogate is no Unicode text; it comes as an escape (`\ud800`), since UTF-8 cannot carry it. */
function checkUnicode(json: unknown): void {
  if (typeof json === "string") {
    must(json.isWellFormed(), "The request body is not valid JSON: no low surrogate in string");
  } else if (typeof json === "object" && json !== null) {
    for (const [key, value] of Object.entries(json)) {
      checkUnicode(key);
      checkUnicode(value);
    }
  }
}

function checkModel(request: Request, models: Readonly<Record<string, ModelRules>>): ModelRules {
  const model = Object.hasOwn(models, request.model) ? models[request.model] : undefined;
  must(model, `model: ${request.model}`, { status: 404, type: "not_found_error" });
  must(
    request.max_tokens <= model.maxTokens,
    `max_tokens: ${request.max_tokens} > ${model.maxTokens}, which is the maximum allowed number of output tokens for ` +
      request.model,
  );
  for (const [at, text] of (request.stop_sequences ?? []).entries()) {
    must(text.trim() !== "", `stop_sequences.${at}: each stop sequence must contain non-whitespace`);
  }
  return model;
}

/** What version 2026-10-21 took away, beside fields (those are the shape's). */
function checkVersion(request: Request, version: string): void {
  if (version !== "2026-10-21") return;
  request.messages.forEach(({ role, content }, index) => {
    if (typeof content === "string") return;
    content.forEach((block, at) => {
      const path = `messages.${index}.content.${at}`;
      must(
        role !== "assistant" || block.type !== "document",
        `${path}: documents are not permitted in assistant messages`,
      );
      must(
        role !== "user" || block.type !== "text" || !block.citations,
        `${path}.citations: Extra inputs are not permitted`,
      );
    });
  });
}

function imagesOf(request: Request): PlacedImage[] {
  return blocksOf(request).flatMap(({ path, block }) => {
    const parts = block.type === "tool_result" && typeof block.content === "object"
      ? block.content.map((part, at) => ({ path: `${path}.content.${at}`, part }))
      : [{ path, part: block }];
    return parts.flatMap(({ path, part }) =>
      part.type === "image" && part.source.type === "base64" ? [{ path: `${path}.image`, ...part.source }] : []
    );
  });
}

function checkThinking(request: Request, model: ModelRules): void {
  const { thinking, tool_choice, max_tokens, output_config } = request;
  must(model.effort || !output_config?.effort, "output_config.effort: this model does not support effort");
  const sampling = (["temperature", "top_p", "top_k"] as const).filter((field) => request[field] !== undefined);
  must(model.sampling || sampling.length === 0, `${sampling[0]}: not supported by this model`);
  if (!thinking) return;
  must(
    model.thinking.includes(thinking.type),
    `thinking.type: "${thinking.type}" is not supported by this model. Use one of: ${model.thinking.join(", ")}`,
  );
  if (thinking.type === "enabled") {
    must(
      thinking.budget_tokens >= 1024,
      "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    );
    must(thinking.budget_tokens < max_tokens, "max_tokens: must be greater than `thinking.budget_tokens`");
  }
  if (thinking.type === "disabled") return;
  must((request.temperature ?? 1) === 1, "temperature: may only be set to 1 when thinking is enabled");
  must(request.top_k === undefined, "top_k: must be unset when thinking is enabled");
  must((request.top_p ?? 1) >= 0.95, "top_p: must be at least 0.95 when thinking is enabled");
  must(
    tool_choice?.type !== "any" && tool_choice?.type !== "tool",
    "tool_choice: Thinking may not be enabled when tool_choice forces tool use.",
  );
}
