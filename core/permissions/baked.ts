/** What the build wrote into this executable. */

import type { Flags } from "./permission_flags.ts";

/** Put in place of this name by `build.ts` (`--define`); from source there is no such name. */
declare const TENON_CEILING: Flags | undefined;

/** The flags that the executable was built with: the ceiling of every start. From source there is none. */
export function bakedFlags(): Flags {
  return typeof TENON_CEILING === "undefined" ? { allow: {}, deny: {}, prompt: true } : TENON_CEILING;
}
