/** The address that the key goes to: which ones are taken, and a `fetch` that goes nowhere else. */

import { oneLine } from "../text.ts";
import { usageError } from "../usage_error.ts";

/** The API's own address. */
export const API_URL = "https://api.anthropic.com";

/** `host:port`, as the flag that grants it has it; of the API's own address where the other is none. */
export function hostOf(baseUrl = API_URL): string {
  const { protocol, hostname, port } = new URL(URL.canParse(baseUrl) ? baseUrl : API_URL);
  return `${hostname}:${port || (protocol === "http:" ? 80 : 443)}`;
}

/** Throws a usage error when the address is not one to send a key to. */
export function checkBaseUrl(baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw usageError(`--base-url "${oneLine(baseUrl)}" is no http address`);
  const here = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && !here) {
    throw usageError(`--base-url "${oneLine(baseUrl)}" would send the key unencrypted. Use https`);
  }
  if (url.username || url.password) throw usageError("--base-url holds a name or password. Use ANTHROPIC_AUTH_TOKEN");
}

/**
 * `fetch` that follows no redirect (Bun would send the key to the new address) and gives up on silence. Pings count as
 * life, so the watch is on the bytes.
 */
export function watchedFetch(silenceMs: number): typeof fetch {
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
