/** Makes the executable: `bun build.ts [--outfile PATH]`. Run by Bun; needs nothing but what `npm ci` installs. */

import { mkdir } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { dirname, join, resolve } from "./core/path.ts";

/**
 * The arguments of `bun build`. The current folder of whoever runs the executable must not reach into it: no `.env`, no
 * `bunfig.toml`, no `tsconfig.json`. A `package.json` is read only to resolve what a plugin imports from beside itself.
 * Without splitting every lazy import would be loaded at start.
 */
export function bunArguments(entry: string, outfile: string): string[] {
  return [
    "build",
    "--compile",
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    "--no-compile-autoload-tsconfig",
    "--compile-autoload-package-json",
    "--bytecode",
    "--format=esm",
    "--splitting",
    "--minify-syntax",
    "--minify-whitespace",
    entry,
    "--outfile",
    outfile,
  ];
}

async function main(argv: readonly string[]): Promise<number> {
  const [option, value, ...rest] = argv;
  if ((option !== undefined && (option !== "--outfile" || value === undefined)) || rest.length > 0) {
    console.error("usage: bun build.ts [--outfile PATH]");
    return 2;
  }
  const here = import.meta.dirname ?? ".";
  const outfile = resolve(value ?? join(here, "dist", "tenon"));
  await mkdir(dirname(outfile), { recursive: true });
  const { status } = spawnSync(process.execPath, bunArguments(join(here, "mod.ts"), outfile), {
    stdio: ["ignore", "ignore", "inherit"],
    cwd: here,
  });
  if (status === 0) console.log(outfile);
  return status ?? 1;
}

if (import.meta.main) process.exit(await main(process.argv.slice(2)));
