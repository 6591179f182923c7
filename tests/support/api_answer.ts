/** How the fake API puts an answer on the wire: plain, as a refusal, or as a stream that is cut in odd places. */

import type { ServerResponse } from "node:http";
import { setImmediate as nextTick, setTimeout as sleep } from "node:timers/promises";
import type { StreamEvent } from "./api_reply.ts";
import type { Refusal } from "./api_refusal.ts";

/** A plain answer. An object is sent as JSON; text as text, or as HTML when it looks like that. */
export interface PlainAnswer {
  status?: number;
  /** A value `<HTTP-date N s ahead>` is filled in when it is sent. */
  headers?: Record<string, string>;
  body: unknown;
}

/** Answers with a refusal in the API's shape. The SDK obeys `x-should-retry`: a test need not wait for its retries. */
export function answerRefusal(response: ServerResponse, { status, type, message, details }: Refusal): void {
  const error = { type, message, ...(details && { details }) };
  response.writeHead(status, { "content-type": "application/json", "x-should-retry": "false" });
  response.end(JSON.stringify({ type: "error", error, request_id: response.getHeader("request-id") }));
}

/** Answers all at once. */
export function answerPlainly(response: ServerResponse, { status = 200, headers = {}, body }: PlainAnswer): void {
  const isText = typeof body === "string";
  const type = !isText ? "application/json" : body.startsWith("<") ? "text/html" : "text/plain";
  response.writeHead(status, { "content-type": type, ...fillIn(headers) });
  response.end(isText ? body : JSON.stringify(body));
}

function fillIn(headers: Record<string, string>): Record<string, string> {
  const later = (_: string, seconds: string) => new Date(Date.now() + 1000 * Number(seconds)).toUTCString();
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace(/^<HTTP-date (\d+) s ahead>$/, later)]),
  );
}

/** Sends events as bytes that are cut anywhere: in a line, in a character. Stops when the client has gone. */
export async function answerStream(
  response: ServerResponse,
  events: readonly StreamEvent[],
  random: () => number,
  delayMs = 0,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  for (const event of events) {
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false });
    const bytes = Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    for (const piece of cutBytes(bytes, random)) {
      if (response.destroyed) return;
      response.write(piece);
      await nextTick();
    }
  }
}

/** In three pieces; the first border is within a character of more than one byte, where there is one. */
function cutBytes(bytes: Buffer, random: () => number): Buffer[] {
  const inside = bytes.findIndex((byte) => byte >= 0x80);
  const first = inside >= 0 ? inside + 1 : 1 + Math.floor(random() * (bytes.length - 1));
  const second = first + Math.floor(random() * (bytes.length - first));
  return [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)].filter((piece) =>
    piece.length > 0
  );
}
