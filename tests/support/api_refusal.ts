/** How the API says no: a status, an error type, and words. */

/** One refusal. Clients branch on `status` and `type`; the words are for people. */
export interface Refusal {
  status: number;
  type: string;
  message: string;
  details?: Record<string, unknown>;
}

/** Throws a refusal; without `kind` it is the API's plain 400. */
export function refuse(message: string, kind: Partial<Refusal> = {}): never {
  const refusal: Refusal = { status: 400, type: "invalid_request_error", ...kind, message };
  throw new Error(message, { cause: refusal });
}

/** Refuses unless the condition holds. The rule is the condition, the words say how it was broken. */
export function must(condition: unknown, message: string, kind?: Partial<Refusal>): asserts condition {
  if (!condition) refuse(message, kind);
}

/** What a check refused, or undefined. Any other error passes through: it is a fault of the check itself. */
export function refusalOf(check: () => void): Refusal | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (typeof cause === "object" && cause !== null && "status" in cause && "type" in cause) return cause as Refusal;
    throw error;
  }
}
