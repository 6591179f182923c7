/** What a definition costs: it goes with every request. */

import type { WireDefinition } from "../registry.ts";

/** UTF-8 bytes of a definition in a request. */
export function bytesOf(definition: WireDefinition): number {
  return new TextEncoder().encode(JSON.stringify(definition)).length;
}

/** An estimate: the API counts only what it is sent. English in JSON has about 3.5 bytes to a token. */
export function tokensOf(bytes: number): number {
  return Math.ceil(bytes / 3.5);
}
