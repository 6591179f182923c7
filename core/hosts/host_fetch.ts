/** Inside a host: `context.fetch`, which asks core to make the request and waits for its answer. */

import { BODY_LIMIT, type FromHost, METHODS, type ToHost } from "./protocol.ts";
import { shownUrl } from "./shown_url.ts";
import type { Context } from "../tool.ts";

type Answer = ToHost & { type: "fetched" };
type Wanted = (FromHost & { type: "fetch" })["wanted"];

/** The fetch of one call, and where core's answers to it go. */
export interface HostFetch {
  fetch: NonNullable<Context["fetch"]>;
  take(answer: Answer): void;
  /** The call is over, and core answers no more: whoever still waits, or asks later, is told. */
  end(): void;
}

/** As many as the Fetch standard follows. */
const REDIRECTS = 20;
/** Statuses that the Fetch standard gives no body. */
const NO_BODY = [204, 205, 304];

const OVER = "the call that this fetch was for is over. Use the context of the call at hand";

/** `signal` is that of the call: with it every request ends. */
export function openHostFetch(id: number, send: (message: FromHost) => void, signal: AbortSignal): HostFetch {
  const over = new AbortController();
  const waiting = new Map<number, (answer: Answer) => void>();
  let next = 1;

  async function once(wanted: Wanted, stop: AbortSignal): Promise<NonNullable<Answer["response"]>> {
    stop.throwIfAborted();
    const fetch = next++;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const abandon = () => {
      send({ type: "abandon", id, fetch });
      reject(stop.reason);
    };
    stop.addEventListener("abort", abandon, { once: true });
    waiting.set(fetch, resolve);
    try {
      send({ type: "fetch", id, fetch, wanted });
      const { response, problem } = await promise;
      if (!response) throw new Error(problem);
      return response;
    } finally {
      waiting.delete(fetch);
      stop.removeEventListener("abort", abandon);
    }
  }

  return {
    async fetch(input, init) {
      const request = readRequest(input, init);
      if (over.signal.aborted) throw failure(request.url, OVER);
      const stop = AbortSignal.any([signal, over.signal, request.signal]);
      let wanted = await wantedOf(request);
      for (let hops = 0;; hops++) {
        const response = await once(wanted, stop);
        const target = targetOf(response, wanted.url);
        if (target === undefined || request.redirect === "manual") return responseOf(response, wanted.url);
        if (request.redirect === "error") throw failure(wanted.url, "it redirects, which was not wanted");
        if (hops === REDIRECTS) throw failure(request.url, "it redirects without end");
        wanted = redirected(wanted, response.status, target);
      }
    },
    take(answer) {
      waiting.get(answer.fetch)?.(answer);
    },
    end: () => over.abort(),
  };
}

/** The runtimes have words of their own for what is no request. */
function readRequest(input: string | URL | Request, init: RequestInit | undefined): Request {
  const url = input instanceof Request ? input.url : String(input);
  if (!URL.canParse(url)) throw failure(url, "it is no https address");
  const { username, password } = new URL(url);
  if (username || password) throw failure(url, "it holds a name or password. Send them in a header");
  // Bun makes GET of a method that it does not know.
  if (init?.method && !isMethod(init.method.toUpperCase())) {
    throw failure(url, `its method is none of ${METHODS.join(", ")}`);
  }
  try {
    return new Request(input, init);
  } catch (error) {
    throw failure(url, `its options are not valid (${error instanceof Error ? error.message : error})`);
  }
}

async function wantedOf(request: Request): Promise<Wanted> {
  const { url, headers } = request;
  const method = request.method.toUpperCase(); // the standard leaves "patch" as it is
  if (!isMethod(method)) throw failure(url, `its method is none of ${METHODS.join(", ")}`);
  const bytes = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
  if (bytes && bytes.length > BODY_LIMIT) throw failure(url, `its body is over ${BODY_LIMIT / 1_000_000} MB`);
  return { url, method, headers: [...headers], ...(bytes ? { body: bytes.toString("base64") } : {}) };
}

function isMethod(method: string): method is Wanted["method"] {
  return (METHODS as readonly string[]).includes(method);
}

/** Where a redirect leads. */
function targetOf({ status, headers }: NonNullable<Answer["response"]>, url: string): string | undefined {
  const location = headers.find(([name]) => name.toLowerCase() === "location")?.[1];
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  if (!URL.canParse(location, url)) throw failure(url, "it redirects to what is no address");
  return new URL(location, url).href;
}

/** Only to the same host and port: what was meant for one host (a token in a header) is not carried to another. */
function redirected({ body, ...wanted }: Wanted, status: number, url: string): Wanted {
  if (new URL(url).origin !== new URL(wanted.url).origin) {
    throw failure(wanted.url, `it redirects to "${shownUrl(url)}". Fetch that address itself, if the user granted it`);
  }
  const keeps = status >= 307 || wanted.method === "GET" || wanted.method === "HEAD";
  if (keeps) return { ...wanted, url, ...(body === undefined ? {} : { body }) };
  const headers = wanted.headers.filter(([name]) => !/^content-/i.test(name));
  return { url, method: "GET", headers };
}

function responseOf({ status, headers, body }: NonNullable<Answer["response"]>, url: string): Response {
  if (status < 200 || status > 599) throw failure(url, `it answered with the status ${status}`);
  const response = new Response(NO_BODY.includes(status) ? null : Buffer.from(body, "base64"), { status, headers });
  Object.defineProperty(response, "url", { value: url });
  return response;
}

function failure(url: string, how: string): Error {
  return new Error(`Cannot fetch "${shownUrl(url)}": ${how}`);
}
