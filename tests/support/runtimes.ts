/** The runtimes that a fixture is run under, and how. */

import { join } from "node:path";

const bin = join(import.meta.dir, "..", "..", "node_modules", ".bin");

/** The command that runs a TypeScript file with arguments. */
export type Run = (file: string, ...args: string[]) => string[];

/** A row per runtime, for `describe.each`. Under Deno a fixture may use files, and nothing else. */
export const RUNTIMES: [name: string, run: Run][] = [
  ["bun", (file, ...args) => [process.execPath, "--no-env-file", "--no-install", file, ...args]],
  ["deno", (file, ...args) => [
    join(bin, "deno"),
    "run",
    "--no-prompt",
    "--no-check",
    "--quiet",
    "--allow-read",
    "--allow-write",
    file,
    ...args,
  ]],
];
