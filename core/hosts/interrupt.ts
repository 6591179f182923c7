/** Waiting that the user may interrupt. */

/** What a call is answered with. */
export const INTERRUPTED = "interrupted by the user";

/** Settles as the promise does; rejects at once, with those words, when the signal is aborted before. */
export async function unlessAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(new Error(INTERRUPTED));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
