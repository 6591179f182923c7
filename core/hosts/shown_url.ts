/** An address as errors tell it: to the model, and through it to the provider. */

import { oneLine } from "../text.ts";

/** One line, without what follows a `?` or `#`, and without a password: a plugin sends a key there that only it was given. */
export function shownUrl(url: string): string {
  return oneLine(url.replace(/[?#][^]*$/, "?…").replace(/:\/\/[^/\\]*@/, "://…@"));
}
