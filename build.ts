/** Makes the executable: `bun build.ts [--outfile PATH] [--runtime bun|deno] [permission flags]`. */

import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import process from "node:process";
import { parseArgs } from "node:util";
import { dirname, join, resolve } from "./core/path.ts";
import {
  type Flags,
  normaliseArgv,
  parseFlags,
  PERMISSION_FLAGS,
  printFlags,
  type RawFlags,
} from "./core/permissions/permission_flags.ts";

const USAGE = "usage: bun build.ts [--outfile PATH] [--runtime bun|deno] [permission flags, as tenon --help has them]";

export interface Build {
  entry: string;
  outfile: string;
  /** The ceiling: what the executable can never go beyond. */
  flags: Flags;
}

/**
 * The arguments of `bun build`. The current folder of whoever runs the executable must not reach into it: no `.env`, no
 * `bunfig.toml`, no `tsconfig.json`. A `package.json` is read only to resolve what a plugin imports from beside itself.
 * Without splitting every lazy import would be loaded at start.
 */
export function bunArguments({ entry, outfile, flags }: Build): string[] {
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
    ...(printFlags(flags).length > 0 ? ["--define", `TENON_CEILING=${JSON.stringify(flags)}`] : []),
    entry,
    "--outfile",
    outfile,
  ];
}

/** Deno embeds the whole of node_modules: without these, which no tool needs, 190 MB less. */
const DEVELOPMENT = [
  ".bin",
  "@deno",
  "@oven",
  "@types",
  "@typescript",
  "bun",
  "bun-types",
  "deno",
  "fast-check",
  "typescript",
];

/**
 * The arguments of `deno compile`. The permission flags are Deno's own there: they are baked in, and nothing at run time widens
 * them. What tenon itself needs beside them is the key's variables and the way to the API.
 */
export function denoArguments({ entry, outfile, flags }: Build): string[] {
  const read = flags.allow.read ?? ["."];
  const net = ["api.anthropic.com", ...(Array.isArray(flags.allow.net) ? flags.allow.net : [])];
  const env = ["ANTHROPIC_*", "HOME", "PATH", "XDG_*", "CI", "NO_COLOR", "TERM"];
  const given = {
    ...flags,
    allow: {
      ...flags.allow,
      read,
      net: net.filter((host) => host !== "shell"),
      env: [...env, ...(Array.isArray(flags.allow.env) ? flags.allow.env : [])],
    },
    prompt: false,
  };
  return [
    "compile",
    "--no-remote",
    "--deny-import",
    "--ignore-env",
    ...DEVELOPMENT.flatMap((name) => ["--exclude", join(dirname(entry), "node_modules", name)]),
    "--include",
    join(dirname(entry), "core", "hosts", "host_worker_main.ts"),
    ...printFlags(given),
    "--output",
    outfile,
    entry,
  ];
}

/** Throws an error with words for whoever builds. */
export function readArguments(argv: readonly string[], here: string): Build & { runtime: "bun" | "deno" } {
  const { values } = parseArgs({
    args: normaliseArgv(argv),
    options: {
      outfile: { type: "string", default: join(here, "dist", "tenon") },
      runtime: { type: "string", default: "bun" },
      ...Object.fromEntries(PERMISSION_FLAGS.map(({ name, value }) => [
        name,
        value === undefined ? { type: "boolean" as const } : { type: "string" as const, multiple: true },
      ])),
    },
  });
  const { outfile, runtime, ...rest } = values as { outfile: string; runtime: string };
  if (runtime !== "bun" && runtime !== "deno") throw new Error(`--runtime is bun or deno, not "${runtime}"`);
  const raw = Object.fromEntries(Object.entries(rest).map(([name, value]) => [camelCase(name), value]));
  const flags = parseFlags({ ...raw, prompt: !("no-prompt" in rest) } as RawFlags);
  return { entry: join(here, "mod.ts"), outfile: resolve(outfile), flags, runtime };
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

async function main(argv: readonly string[]): Promise<number> {
  const here = import.meta.dirname ?? ".";
  let build: ReturnType<typeof readArguments>;
  try {
    build = readArguments(argv, here);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    return 2;
  }
  await mkdir(dirname(build.outfile), { recursive: true });
  const bin = (name: string) => join(here, "node_modules", ".bin", name);
  const [program, args] = build.runtime === "bun"
    ? [bin("bun"), bunArguments(build)]
    : [bin("deno"), denoArguments(build)];
  const { status, error } = spawnSync(program, args, { stdio: ["ignore", "ignore", "inherit"], cwd: here });
  if (status === 0) console.log(build.outfile);
  else console.error(`${build.runtime} did not make it${error ? ` (${error.message})` : ""}`);
  return status ?? 1;
}

if (import.meta.main) process.exit(await main(process.argv.slice(2)));
