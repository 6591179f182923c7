/** The three ways to start tenon, each from a workspace with the program elsewhere, as the README has them. */

import { cp, link, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as builtin from "../../plugins/mod.ts";
import { removeAfterwards } from "./afterwards.ts";
import { openPty, type Pty, type PtyOptions } from "./pty.ts";

/** The sources. */
export const SOURCES = join(import.meta.dir, "..", "..");

/** The names of the built-in tools, sorted. */
export const TOOLS: readonly string[] = Object.keys(builtin).sort();

/** Milliseconds after which a run is killed, and the test fails, unless it names its own. */
const LIMIT_MS = 30_000;

export type Way = "bun" | "deno" | "executable";
export const WAYS: readonly Way[] = ["bun", "deno", "executable"];

/** What Deno is given. The workspace and the program may be read; the rest is as the README has it. */
export interface DenoGrants {
  /** Folders that may be read; `.` is the workspace. Default: it and the program. */
  read?: readonly string[];
  /** What may not be read in them. */
  denyRead?: readonly string[];
  /** Folders that may be written. */
  write?: readonly string[];
  /** Hosts that may be reached. */
  net?: readonly string[];
  /** Programs that may be started. */
  run?: readonly string[];
  /** Variables that may be read. Default: those of the README. */
  env?: readonly string[];
  /** Whether other variables look as if they were not set. Default: yes. */
  ignoreEnv?: boolean;
}

export interface Start {
  /** The folder that tenon is started from. */
  cwd: string;
  args?: readonly string[];
  /** Added to an environment that has nothing but PATH and a HOME that is empty. */
  env?: Readonly<Record<string, string>>;
  /** What stdin has, closed after it; `"open"` keeps it open. Default: closed at once. */
  stdin?: string | Uint8Array;
  deno?: DenoGrants;
  /** A line for `sh` that runs tenon, with its arguments, as `"$@"`. */
  shell?: string;
  /** The folder that has `mod.ts` or the executable. Default: the sources, or the executable of this test run. */
  program?: string;
  /** Milliseconds after which it is killed. */
  limitMs?: number;
}

export interface Outcome {
  /** The exit code; `null` when a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running extends AsyncDisposable {
  pid: number;
  /** Writes to stdin, which was kept open. */
  write(text: string): void;
  /** Closes stdin. */
  close(): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves with what stdout (or stderr) has so far as soon as it has these words. */
  until(words: string, stream?: "stdout" | "stderr"): Promise<string>;
  ended: Promise<Outcome>;
}

/** Starts tenon and waits for its end. */
export async function runTenon(way: Way, start: Start): Promise<Outcome> {
  await using running = await startTenon(way, start);
  return await running.ended;
}

/** Runs at the same time, at most: two processors start no more of them sooner. */
const AT_ONCE = 4;
let started = 0;
const waiting: (() => void)[] = [];

/** Waits for a place among those that run; call what it resolves with when it is free again. */
async function inTurn(): Promise<() => void> {
  while (started >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  started++;
  return () => {
    started--;
    waiting.shift()?.();
  };
}

/** Starts tenon, when it is its turn. Disposal kills what is left of it. */
export async function startTenon(way: Way, start: Start): Promise<Running> {
  const command = [...(await commandOf(way, start)), ...(start.args ?? [])];
  const bare = await bareEnv();
  const free = await inTurn();
  const child = Bun.spawn(start.shell === undefined ? command : ["sh", "-c", start.shell, "sh", ...command], {
    cwd: start.cwd,
    env: { ...bare, ...start.env },
    stdin: start.stdin === undefined ? "ignore" : "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = { stdout: "", stderr: "" };
  const listeners = new Set<() => void>();
  async function gather(stream: "stdout" | "stderr"): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of child[stream]) {
      said[stream] += decoder.decode(chunk, { stream: true });
      for (const look of listeners) look();
    }
  }
  void child.exited.then(free);
  const timer = setTimeout(() => child.kill("SIGKILL"), start.limitMs ?? LIMIT_MS);
  const ended = Promise.all([child.exited, gather("stdout"), gather("stderr")]).then(() => {
    clearTimeout(timer);
    for (const look of listeners) look();
    if (child.signalCode === "SIGKILL") throw new Error(`tenon did not end. It said: ${JSON.stringify(said)}`);
    return { code: child.exitCode, ...said };
  });
  ended.catch(() => {}); // whoever waits for it hears of it
  if (start.stdin !== undefined && start.stdin !== "open") {
    child.stdin?.write(start.stdin);
    await child.stdin?.end();
  }
  return {
    pid: child.pid,
    write(text) {
      child.stdin?.write(text);
      child.stdin?.flush();
    },
    close: () => void child.stdin?.end(),
    signal: (name) => child.kill(name),
    async until(words, stream = "stdout") {
      while (!said[stream].includes(words)) {
        if (child.exitCode !== null) throw new Error(`tenon ended without ${words}: ${JSON.stringify(said)}`);
        await new Promise<void>((resolve) => {
          const look = () => {
            listeners.delete(look);
            resolve();
          };
          listeners.add(look);
        });
      }
      return said[stream];
    },
    ended,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** The same on a pseudo-terminal, when it is its turn. Nothing ends it but its disposal. */
export async function openTenon(way: Way, start: Start, size: Pick<PtyOptions, "columns" | "rows"> = {}): Promise<Pty> {
  const command = [...(await commandOf(way, start)), ...(start.args ?? [])];
  const env = { ...(await bareEnv()), ...start.env };
  const free = await inTurn();
  const pty = openPty(command, { ...size, cwd: start.cwd, env });
  void pty.exited().then(free);
  return pty;
}

/** The words that start it, up to its own arguments. */
export async function commandOf(way: Way, { program, deno = {} }: Omit<Start, "cwd">): Promise<string[]> {
  const folder = program ?? SOURCES;
  if (way === "bun") {
    const own = (name: string) => join(folder, name);
    const flags = ["--no-env-file", `--config=${own("bunfig.toml")}`, `--tsconfig-override=${own("tsconfig.json")}`];
    return [process.execPath, ...flags, "--no-install", own("mod.ts")];
  }
  if (way === "executable") return [program === undefined ? await executable() : join(program, "tenon")];
  return [
    join(SOURCES, "node_modules", ".bin", "deno"),
    "run",
    ...denoFlags({ read: [".", folder], ...deno }),
    join(folder, "mod.ts"),
  ];
}

const ENV = ["ANTHROPIC_*", "HOME", "PATH", "XDG_*", "CI", "NO_COLOR", "TERM"];

/** The line of the README. Without `--ignore-env` the SDK's look at its variables would end the program. */
function denoFlags(
  { read = [], denyRead = [], write = [], net = [], run = [], env = ENV, ignoreEnv = true }: DenoGrants,
): string[] {
  const allow = (name: string, values: readonly string[]) =>
    values.length > 0 ? [`--allow-${name}=${values.join(",")}`] : [];
  return [
    ...["--no-prompt", "--no-remote", "--deny-import"],
    ...[
      ...allow("read", read),
      ...allow("write", write),
      ...allow("net", net),
      ...allow("run", run),
      ...allow("env", env),
    ],
    ...(denyRead.length > 0 ? [`--deny-read=${denyRead.join(",")}`] : []),
    ...(ignoreEnv ? ["--ignore-env"] : []),
  ];
}

/** What the program is made of, as the sources have it. */
const PARTS = ["mod.ts", "core", "plugins", "package.json", "deno.json", "bunfig.toml", "tsconfig.json"];
/** What only its making needs, in part large; and what only the eye of an editor reads. */
const LEFT_OUT =
  /node_modules\/(?:\.\w+|bun|deno|typescript|fast-check|@(?:oven|deno|types|typescript))$|\.(?:d\.[cm]?ts|map)$/;

/** The same program in a folder of its own, so that plugins can lie beside it. It goes away with the test. */
export async function copyOfProgram(way: Way): Promise<{ folder: string } & AsyncDisposable> {
  const folder = await temporary("tenon-program-");
  if (way === "executable") await link(await executable(), join(folder, "tenon"));
  else {
    const filter = (path: string) => !LEFT_OUT.test(path);
    const parts = [...PARTS, "node_modules"];
    await Promise.all(parts.map((part) => cp(join(SOURCES, part), join(folder, part), { recursive: true, filter })));
  }
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** Writes files (path → text) below a folder. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** Made once per test run: the test files share their modules. */
const shared: { built?: Promise<string>; home?: Promise<string> } = {};

/** The executable, built once per test run by the line of the README. */
export async function executable(): Promise<string> {
  return await (shared.built ??= build());
}

async function build(): Promise<string> {
  const outfile = join(await temporary("tenon-build-"), "tenon");
  const child = Bun.spawn([process.execPath, join(SOURCES, "build.ts"), "--outfile", outfile], {
    stdout: "ignore",
    stderr: "pipe",
  });
  if (await child.exited !== 0) throw new Error(`build.ts failed: ${await new Response(child.stderr).text()}`);
  return outfile;
}

/** Neither the key nor the home folder of whoever runs the tests; Deno keeps its cache where it always does. */
async function bareEnv(): Promise<Record<string, string>> {
  const HOME = await (shared.home ??= temporary("tenon-home-"));
  return { PATH: process.env["PATH"] ?? "", HOME, DENO_DIR: join(HOME, "deno"), DENO_NO_UPDATE_CHECK: "1" };
}

/** A folder that goes away at the end of the run, if not before. */
async function temporary(prefix: string): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  removeAfterwards(folder);
  return folder;
}
