/** Permission flags for tests: random ones, and a place to resolve paths in. */

import fc from "fast-check";
import { posix } from "node:path";
import { parseArgv } from "../../core/options.ts";
import { type Flags, parseFlags } from "../../core/permissions/permission_flags.ts";
import type { Place } from "../../core/permissions/policy.ts";

/** A workspace where no path is a link. */
export const PLACE: Place = { root: "/ws", resolve: (path) => posix.resolve("/ws", path) };

/** The flags as the program reads them, and the words that are left. */
export function flagsOf(argv: readonly string[]): { flags: Flags; words: string[] } {
  const { task, options } = parseArgv(argv);
  return { flags: parseFlags(options.permissions), words: task.name === "turn" ? task.words : [] };
}

/** Few names, so that allow and deny, ceiling and flags, meet often; twins share a prefix. */
const PATHS = [
  ".",
  "a",
  "a/b",
  "ab",
  "a/b/c",
  "/ws",
  "/ws-secret",
  "/ws/a",
  "/",
  "/out",
  "/out/x",
  "../ws-secret",
  "..",
  "a/../ab",
];
const HOSTS = ["a.com:443", "a.com:80", "b.a.com:443", "aa.com:443", "[::1]:443", "127.0.0.1:80"];
const NAMES = ["GIT", "GIT_DIR", "gi", "npm", "git"];

const some = (items: string[]) => fc.uniqueArray(fc.constantFrom(...items), { minLength: 1, maxLength: 3 });
const orAll = (items: string[]) => fc.oneof({ weight: 3, arbitrary: some(items) }, fc.constant(true as const));

/** Every shape that the command line can yield, each kind of flag given or not. */
export const anyFlags: fc.Arbitrary<Flags> = fc.record({
  allow: fc.record(
    { read: some(PATHS), write: some(PATHS), run: orAll(NAMES), net: some([...HOSTS]), env: some(NAMES) },
    { requiredKeys: [] },
  ),
  deny: fc.record(
    { read: orAll(PATHS), write: orAll(PATHS), run: orAll(NAMES), net: orAll(HOSTS), env: orAll(NAMES) },
    { requiredKeys: [] },
  ),
  prompt: fc.boolean(),
});

export const PATH_PROBES = [
  "/ws",
  "/ws/a",
  "/ws/a/b",
  "/ws/ab",
  "/ws/a/b/c",
  "/ws-secret",
  "/ws-secret/s",
  "/",
  "/out",
  "/out/x/y",
  "/etc",
];
export const HOST_PROBES = [...HOSTS, "evil.com:443"];
export const NAME_PROBES = [...NAMES, "rm"];
