/** The Messages API as fast as it can be: each request is answered at once, with the next reply, whole and unchecked. */

import { eventsOf, messageOf, type Reply, seededRandom, type StreamEvent } from "../support/api_reply.ts";

export interface SwiftApi extends Disposable {
  url: string;
  /** When each request was there, by `performance.now()`, and its body. */
  requests: { at: number; body: string }[];
  /** Every reply is given once more, from the first one on. */
  rewind(): void;
}

/** After the last reply comes the first again. */
export function swiftApi(replies: readonly Reply[]): SwiftApi {
  const random = seededRandom(1);
  const usage = { input_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  return serve(replies.map((reply) => textOf(eventsOf(messageOf(reply, "claude-sonnet-5-5", usage), random))));
}

/** Answers every request with these events. */
export function streamApi(events: readonly StreamEvent[]): SwiftApi {
  return serve([textOf(events)]);
}

function textOf(events: readonly StreamEvent[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function serve(answers: readonly string[]): SwiftApi {
  const requests: SwiftApi["requests"] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const at = performance.now();
      const answer = answers[requests.length % answers.length];
      requests.push({ at, body: await request.text() });
      return new Response(answer, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    rewind: () => void (requests.length = 0),
    [Symbol.dispose]: () => void server.stop(true),
  };
}
