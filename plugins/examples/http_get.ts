/** Example: a tool with a network. It reaches the hosts that it names here, when the user says yes or gave `--allow-net=example.com:443`. */

import type { Definition, Handler } from "tenon";

export const definition: Definition = {
  name: "http_get",
  description:
    "Fetches a text over https from example.com and returns its status, its type and the text. Use it when the user asks what a " +
    "page or an API there says now. It sends nothing but the address.",
  input_schema: {
    type: "object",
    properties: { url: { type: "string", description: "The whole address, with https://" } },
    required: ["url"],
    additionalProperties: false,
  },
  permissions: { net: ["example.com:443"] },
  timeout_ms: 30_000,
  input_examples: [{ url: "https://example.com/" }],
};

export const handler: Handler<{ url: string }> = async ({ url }, { fetch, signal }) => {
  if (!fetch) throw new Error("Cannot fetch anything: no host was granted. Ask the user for --allow-net");
  const response = await fetch(url, { headers: { accept: "text/*, application/json" }, signal });
  const type = response.headers.get("content-type") ?? "unknown type";
  if (!/^text\/|json|xml/.test(type)) return `${response.status}, ${type}, not shown: it is no text`;
  return `${response.status}, ${type}\n\n${await response.text()}`;
};
