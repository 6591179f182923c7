/** The API, or the way to it, says no for good: an ending of the turn, not a bug. Its message is one line for the user. */

export interface ApiError extends Error {
  name: "ApiError";
  /** The HTTP status, where there was an answer. */
  status?: number;
  /** What the API itself said, on one line. */
  words?: string;
}

export function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && error.name === "ApiError";
}
