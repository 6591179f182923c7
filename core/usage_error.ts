/** A mistake in how the program was started: its message is one line for the user, its exit code is 2. */

export interface UsageError extends Error {
  readonly exitCode: 2;
}

/** To be thrown. The message says what to do instead; `cli.ts` prints it as it is, without a stack. */
export function usageError(message: string): UsageError {
  return Object.assign(new Error(message), { name: "UsageError", exitCode: 2 as const });
}
