/** Outside a host: makes the requests of one call that its host asks for, and answers in messages. */

import type { Broker, Fetched } from "./broker.ts";
import type { FromHost, ToHost } from "./protocol.ts";
import { shownUrl } from "./shown_url.ts";

export interface Fetching {
  /** A message of the host that belongs to this call. */
  take(message: FromHost & { type: "fetch" | "abandon" }): void;
  /** The call is over: what is under way is given up, and nothing more is asked or answered. */
  end(): void;
}

/** Requests of one call under way at the same time, at most. */
export const FETCHES_AT_ONCE = 8;

/** `net` are the addresses that the user granted of those that the plugin declares. What a host asks beyond them is refused. */
export function openFetching(net: readonly string[], id: number, send: (message: ToHost) => void): Fetching {
  const underWay = new Map<number, AbortController>();
  let over = false;
  let broker: Promise<Broker> | undefined;

  async function request(wanted: (FromHost & { type: "fetch" })["wanted"], signal: AbortSignal): Promise<Fetched> {
    if (underWay.size > FETCHES_AT_ONCE) {
      throw new Error(
        `Cannot fetch "${shownUrl(wanted.url)}": ${FETCHES_AT_ONCE} requests are under way. Wait for one`,
      );
    }
    broker ??= import("./broker.ts").then(({ createBroker }) => createBroker(net));
    const body = wanted.body === undefined ? undefined : new Uint8Array(Buffer.from(wanted.body, "base64"));
    return await (await broker)({ ...wanted, body }, signal);
  }

  async function start(message: FromHost & { type: "fetch" }): Promise<void> {
    const abort = new AbortController();
    const { fetch, wanted } = message;
    underWay.set(fetch, abort);
    const answer = await request(wanted, abort.signal).then(
      ({ status, headers, body }) => ({ response: { status, headers, body: Buffer.from(body).toString("base64") } }),
      (error) => ({ problem: error instanceof Error ? error.message : "Cannot fetch: the connection failed" }),
    );
    underWay.delete(fetch);
    if (!over) send({ type: "fetched", id, fetch, ...answer });
  }

  return {
    take(message) {
      if (message.type === "abandon") underWay.get(message.fetch)?.abort();
      else if (!over && net.length > 0 && !underWay.has(message.fetch)) void start(message);
    },
    end() {
      over = true;
      for (const abort of underWay.values()) abort.abort();
    },
  };
}
