/** The key of the API: from the environment only, never from a file of the workspace. */

import { readEnv } from "../runtime.ts";

export interface KeySource {
  credential: { apiKey: string } | { authToken: string };
  /** The variable that it comes from. */
  variable: string;
}

/** A blank variable counts as not set. With both set the key is taken. */
export function findKey(): KeySource | undefined {
  const apiKey = readEnv("ANTHROPIC_API_KEY");
  if (apiKey !== undefined) return { credential: { apiKey }, variable: "ANTHROPIC_API_KEY" };
  const authToken = readEnv("ANTHROPIC_AUTH_TOKEN");
  return authToken === undefined ? undefined : { credential: { authToken }, variable: "ANTHROPIC_AUTH_TOKEN" };
}
