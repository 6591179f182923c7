/** The three ways to start tenon, made from the sources at hand, in a workspace and a home that go away with it. */

import { mkdir, mkdtemp, realpath, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SOURCES = join(import.meta.dir, "..", "..");

export type Way = "executable" | "bun" | "deno";

export interface Started {
  cwd: string;
  args: readonly string[];
  way?: Way;
  /** Added to an environment that has nothing but PATH and a home. */
  env?: Readonly<Record<string, string>>;
}

export interface Program extends AsyncDisposable {
  /** Empty: for what a group makes. */
  folder: string;
  /** A small workspace. */
  root: string;
  /** The folder that `HOME` names. */
  home: string;
  /** The words that start tenon in this way; `host` is what Deno may reach. */
  command(way: Way, host?: string): string[];
  /** Starts tenon. stdin is closed, and what it says is thrown away. */
  start(started: Started): ReturnType<typeof startQuietly>;
  /** The environment of a start. */
  env: Readonly<Record<string, string>>;
}

/** Builds the executable. */
export async function openProgram(): Promise<Program> {
  const top = await temporary(tmpdir());
  const folder = await temporary(await isRoomy(MEMORY) ? MEMORY : tmpdir());
  const [executable, home, root] = [join(top, "tenon"), join(top, "home"), join(top, "workspace")];
  await Promise.all([home, root].map((name) => mkdir(name)));
  await Bun.write(join(root, "a.txt"), "one\ntwo\nthree\n");
  const build = Bun.spawnSync([process.execPath, join(SOURCES, "build.ts"), "--outfile", executable]);
  if (build.exitCode !== 0) throw new Error(`build.ts failed: ${build.stderr}`);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, DENO_DIR: join(top, "deno"), DENO_NO_UPDATE_CHECK: "1" };
  const command = (way: Way, host?: string) => way === "executable" ? [executable] : fromSource(way, host);
  return {
    ...{ folder, root, home, env, command },
    start: ({ cwd, args, way = "executable", env: more = {} }) => {
      const host = more["ANTHROPIC_BASE_URL"]?.replace("http://", "");
      return startQuietly([...command(way, host), ...args], cwd, { ...env, ...more });
    },
    async [Symbol.asyncDispose]() {
      for (const made of [top, folder]) await rm(made, { recursive: true, force: true });
    },
  };
}

/**
 * Where there is room, what groups make lies here: with 100,000 files on a disk the disk would be measured. Deno has a
 * rule of its own for this place, so no workspace of it does.
 */
const MEMORY = "/dev/shm";

async function isRoomy(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize > 2_000_000_000;
}

async function temporary(parent: string): Promise<string> {
  return await realpath(await mkdtemp(join(parent, "tenon-bench-")));
}

/** The lines of the README. */
function fromSource(way: "bun" | "deno", host: string | undefined): string[] {
  const own = (name: string) => join(SOURCES, name);
  if (way === "bun") {
    const files = [`--config=${own("bunfig.toml")}`, `--tsconfig-override=${own("tsconfig.json")}`];
    return [process.execPath, "--no-env-file", ...files, "--no-install", own("mod.ts")];
  }
  return [
    ...[own("node_modules/.bin/deno"), "run", "--no-prompt", "--no-remote", "--deny-import"],
    ...[`--allow-read=.,${SOURCES}`, ...(host === undefined ? [] : [`--allow-net=${host}`])],
    ...["--allow-env=ANTHROPIC_*,HOME,PATH,XDG_*,CI,NO_COLOR,TERM", "--ignore-env", own("mod.ts")],
  ];
}

function startQuietly(command: string[], cwd: string, env: Record<string, string>) {
  return Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
}

/** How many milliseconds a program takes, from its start to its end. Throws when it fails; 1 may mean that nothing was found. */
export async function timeOfCommand(command: string[], cwd = "/"): Promise<number> {
  const start = performance.now();
  const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  await new Response(child.stdout).bytes();
  if (await child.exited > 1) throw new Error(`${command.join(" ")} ended with ${child.exitCode}`);
  return performance.now() - start;
}

/** How many milliseconds of a processor a program has taken, once it has ended; what it started itself is left out. */
export async function processorTime(child: Bun.Subprocess): Promise<number> {
  await child.exited;
  return Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000;
}

/** The yardstick of every start: a runtime that does nothing. */
export const NOTHING = { what: "bun -e 0", figure: () => timeOfCommand([process.execPath, "-e", "0"]) };
