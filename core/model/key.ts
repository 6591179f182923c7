/** The key of the API: from the environment only, never from a file of the workspace. */

import { denoState, readEnv } from "../runtime.ts";

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

/**
 * Why no request can be made with it, for the user, and without a character of it: no header takes it, and what the runtimes say
 * to that shows it.
 */
export function keyProblem({ credential, variable }: KeySource): string | undefined {
  const isSendable = Object.values(credential).every((value) => /^[\x21-\x7e]+$/.test(value));
  return isSendable ? undefined : `${variable} has characters that no key has. Set it again`;
}

/** What the user does when `findKey` finds none: to Deno, a variable that it hides looks as if it were not set. */
export function howToSetKey(): string {
  const isHidden = denoState({ name: "env", variable: "ANTHROPIC_API_KEY" }) !== "granted";
  return isHidden ? "Deno may not read it. Start with deno run --allow-env=ANTHROPIC_*" : "set ANTHROPIC_API_KEY";
}
