/** The Messages API for tests, over real HTTP: scripted answers, and a strict look at every request. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { answerPlainly, answerRefusal, answerStream, type PlainAnswer } from "./api_answer.ts";
import { createCache, type InputUsage } from "./api_cache.ts";
import { eventsOf, messageFrom, messageOf, newId, type Reply, seededRandom, signatureOf } from "./api_reply.ts";
import type { ReplyBlock, StreamEvent } from "./api_reply.ts";
import { checkRequest, type Headers, type ModelRules, type Refusal } from "./api_rules.ts";

export { reply } from "./api_reply.ts";

/** A request as it came. `body` is the parsed JSON, or undefined when it was none. */
export interface ApiRequest {
  headers: Headers;
  // deno-lint-ignore no-explicit-any -- tests look into it freely: `api.requests[1].body.messages[0]`
  body: any;
  /** What of its prompt came from the cache; undefined when it was refused. */
  usage?: InputUsage;
}

interface Timing {
  /** Wait before the answer. */
  delay_ms?: number;
  /** Wait before each stream event, so that a test can interrupt in the middle. */
  delta_delay_ms?: number;
}

/** Stream events as they are, whatever they tell. */
interface RawStream extends Timing {
  sse: StreamEvent[];
  /** Cut the connection after the last event. */
  close?: boolean;
  /** Any words here: keep the connection open after the last event and say nothing more. */
  then?: string;
}

/** Accept the request and never answer it. */
type Hang = "hang" | "HANG";
type Told = (Reply & Timing) | RawStream | (PlainAnswer & Timing) | Hang;

/** One answer of the script. */
export type Answer = Told | ((request: ApiRequest) => Told | Promise<Told>);

export interface FakeApiOptions extends Timing {
  /** Where pieces are cut; the same seed cuts at the same places. */
  seed?: number;
  /** Further models; see `api_models.ts`. */
  models?: Readonly<Record<string, ModelRules>>;
  /** The one key that is accepted; without it any is. */
  key?: string;
}

export interface FakeApi extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, to be used as base URL. */
  readonly url: string;
  /** Every request to `/v1/messages` in order, the refused ones too. */
  readonly requests: ApiRequest[];
  /** What was refused, in words. Disposal throws when there is any that `expectRefusals` did not take. */
  readonly refusals: string[];
  /** How many clients went away before their answer was whole. */
  readonly disconnects: number;
  /** How many answers of the script were not asked for. */
  readonly left: number;
  /** Takes the refusals so far, so that the test may break rules on purpose. */
  expectRefusals(): string[];
  /** Resolves once the condition holds; it is looked at after each request and disconnect. Rejects after 10 s. */
  until(condition: () => boolean, limitMs?: number): Promise<void>;
}

/**
 * Starts the fake on a free port of the loopback interface. Each valid request takes the next answer of the script; a
 * request that breaks a rule gets the API's own kind of refusal, takes none, and fails the test at disposal.
 */
export async function fakeApi(script: readonly Answer[], options: FakeApiOptions = {}): Promise<FakeApi> {
  const answers = [...script];
  const refusals: string[] = [];
  const expected = new Set<number>();
  const requests: ApiRequest[] = [];
  const waiting = new Set<() => void>();
  const sent = new Set<string>();
  /** Connections that the script cut: not the client's doing. */
  const cut = new Set<ServerResponse>();
  const cache = createCache();
  const random = seededRandom(options.seed ?? 1);
  let disconnects = 0;

  const changed = () => waiting.forEach((look) => look());
  const isOurs = (block: unknown) => sent.has(nameOf(block)) || isSigned(block);

  /** Notes a request, and gives the answer that is its turn, or why it gets none. */
  function admit(request: IncomingMessage, body: Buffer): { refusal: Refusal } | { seen: ApiRequest; next: Answer } {
    if (request.method !== "POST" || request.url?.split("?")[0] !== "/v1/messages") {
      refusals.push(`${request.method} ${request.url}: Not found`);
      return { refusal: { status: 404, type: "not_found_error", message: "Not found" } };
    }
    const seen: ApiRequest = { headers: request.headers, body: parsed(body) };
    requests.push(seen);
    const refusal = checkRequest(request.headers, body, { ...options, isOurs });
    if (refusal) {
      refusals.push(refusal.message);
      return { refusal };
    }
    seen.usage = cache(seen.body);
    const next = answers.shift();
    if (next) return { seen, next };
    const message = `request ${requests.length}: the script has no answer left`;
    refusals.push(message);
    return { refusal: { status: 500, type: "api_error", message } };
  }

  async function answer(told: Told, seen: ApiRequest, response: ServerResponse): Promise<void> {
    if (told === "hang" || told === "HANG") return;
    await sleep(told.delay_ms ?? options.delay_ms ?? 0, undefined, { ref: false });
    if ("body" in told) return answerPlainly(response, told);
    const message = "sse" in told ? messageFrom(told.sse) : messageOf(told, seen.body.model, { ...seen.usage });
    for (const block of message.content) if (needsMemory(block)) sent.add(nameOf(block));
    if (!seen.body.stream) return answerPlainly(response, { body: message });
    const events = "sse" in told ? told.sse : eventsOf(message, random);
    await answerStream(response, events, random, told.delta_delay_ms ?? options.delta_delay_ms);
    if ("then" in told && told.then) return;
    if ("close" in told && told.close) {
      cut.add(response);
      // Bun's fetch drops what it has not handed on when the connection is cut: let the client hear the events first.
      await sleep(50, undefined, { ref: false });
      response.destroy();
    } else response.end();
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("close", () => {
      if (response.writableFinished || cut.has(response)) return;
      disconnects++;
      changed();
    });
    const admitted = admit(request, await bytesOf(request));
    changed();
    response.setHeader("request-id", newId("req"));
    if ("refusal" in admitted) return answerRefusal(response, admitted.refusal);
    const { seen, next } = admitted;
    await answer(typeof next === "function" ? await next(seen) : next, seen, response);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error) => {
      if (!request.complete) return; // the client went away while it was still asking
      refusals.push(`the fake failed: ${error instanceof Error ? error.stack : error}`);
      response.destroy();
    });
  });
  const url = await listen(server);

  return {
    url,
    requests,
    refusals,
    get disconnects() {
      return disconnects;
    },
    get left() {
      return answers.length;
    },
    expectRefusals() {
      refusals.forEach((_, at) => expected.add(at));
      return [...refusals];
    },
    async until(condition, limitMs = 10_000) {
      const deadline = AbortSignal.timeout(limitMs);
      while (!condition()) {
        if (deadline.aborted) throw new Error(`the fake API waited for nothing: ${condition}`);
        await new Promise<void>((resolve) => {
          const look = () => {
            waiting.delete(look);
            resolve();
          };
          waiting.add(look);
          deadline.addEventListener("abort", look, { once: true });
        });
      }
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      const surprises = refusals.filter((_, at) => !expected.has(at));
      if (surprises.length > 0) throw new Error(`The fake API refused:\n${surprises.join("\n")}`);
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("The fake API has no port");
  return `http://127.0.0.1:${address.port}`;
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** Blocks that the rules cannot judge alone come back as they were sent, or are refused. */
function needsMemory({ type }: ReplyBlock): boolean {
  return !["text", "tool_use", "server_tool_use"].includes(type) && !type.endsWith("_tool_result");
}

/** The same words for the same block, whatever the order of its fields. */
function nameOf(block: unknown): string {
  return JSON.stringify(
    block,
    (_, value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
  );
}

function isSigned(block: unknown): boolean {
  const { type, thinking, signature } = (block ?? {}) as Record<string, unknown>;
  return type === "thinking" && typeof thinking === "string" && signature === signatureOf(thinking);
}
