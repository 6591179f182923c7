/** Which part of tenon this process plays: told by one variable, which only tenon itself sets. */

/**
 * Unset: the user's start. `core`: behind the outer fence. `host …`, `tools …`: about to enter, and behind, the fence of a
 * host. To set it by hand opens nothing: a part that should be behind a fence tries the fence first, and ends when it is not there.
 */
export const ROLE = "TENON_ROLE";
