/** tenon with its tool bash in a workspace, behind the fence, one call at a time; and what runs on this machine. */

import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SOURCES } from "./program.ts";
import { type TempWorkspace, tempWorkspace } from "./temp_workspace.ts";

export interface Answer {
  content: string;
  is_error: boolean;
  /** Milliseconds until it was there. */
  took: number;
}

export interface Shell extends AsyncDisposable {
  temp: TempWorkspace;
  /** Its home folder. */
  home: string;
  /** Of core. */
  pid: number;
  bash(command: string, timeout?: unknown): Promise<Answer>;
  /** The same command, started by the test itself: what holds it there is not the fence. */
  outside(command: string): Promise<string>;
  /** Waits for the end. */
  exited: Promise<number>;
}

export interface ShellOptions {
  files?: { [path: string]: string };
  flags?: readonly string[];
  env?: { [name: string]: string };
  /** Starts tenon. Default: Bun, from the sources. */
  command?: readonly string[];
  /** Default: a new empty folder. */
  home?: string;
}

export const COMMAND = [
  process.execPath,
  "--no-env-file",
  `--config=${join(SOURCES, "bunfig.toml")}`,
  "--no-install",
  join(SOURCES, "mod.ts"),
];

/** Deno with what the README gives it, and these flags. */
export function denoCommand(...flags: string[]): string[] {
  return [
    join(SOURCES, "node_modules", ".bin", "deno"),
    "run",
    "--no-prompt",
    "--no-remote",
    "--deny-import",
    `--allow-read=.,${SOURCES}`,
    "--allow-env=ANTHROPIC_*,HOME,PATH,XDG_*,CI,NO_COLOR,TERM",
    "--ignore-env",
    ...flags,
    join(SOURCES, "mod.ts"),
  ];
}

export async function openShell(options: ShellOptions = {}): Promise<Shell> {
  const { files = {}, flags = [], env = {}, command: start = COMMAND, home } = options;
  const temp = await tempWorkspace(files);
  const ownHome = home ?? await realpath(await mkdtemp(join(tmpdir(), "tenon-shell-home-")));
  const outer = { PATH: "/usr/bin:/bin", HOME: ownHome, LANG: "C.UTF-8", ...env };
  const child = Bun.spawn([...start, "call", "--allow-run", "--allow-write", ...flags], {
    cwd: temp.root,
    env: outer,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const lines = linesOf(child.stdout);
  const stderr = new Response(child.stderr).text();
  return {
    temp,
    home: ownHome,
    pid: child.pid,
    exited: child.exited,
    async bash(command, timeout) {
      const start = performance.now();
      child.stdin.write(
        `${JSON.stringify({ name: "bash", input: { command, ...(timeout === undefined ? {} : { timeout }) } })}\n`,
      );
      child.stdin.flush();
      const { value } = await lines.next();
      if (value === undefined) throw new Error(`tenon ended: ${await stderr}`);
      return { ...JSON.parse(value), took: performance.now() - start };
    },
    async outside(command) {
      const run = Bun.spawn(["bash", "-c", command], {
        cwd: temp.root,
        env: outer,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
      return out + err;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
      await child.exited;
      clearTimeout(timer);
      await temp[Symbol.asyncDispose]();
      if (home === undefined) await rm(ownHome, { recursive: true, force: true });
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  return undefined;
}

/** The running processes whose command line begins with these words. */
export async function processesOf(words: string): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const line = await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "");
    if (line.replaceAll("\0", " ").startsWith(words)) found.push(Number(entry));
  }
  return found;
}

/** Waits, at most `ms`, until there are so many of them, and tells how many there are. */
export async function countOf(words: string, wanted: number, ms = 10_000): Promise<number> {
  const end = performance.now() + ms;
  let count = (await processesOf(words)).length;
  while (count !== wanted && performance.now() < end) {
    await Bun.sleep(20);
    count = (await processesOf(words)).length;
  }
  return count;
}

/** The children of a process. */
export async function childrenOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, "utf8").catch(() => "")),
  );
  return lists.flatMap((list) => list.trim().split(" ").filter(Boolean).map(Number));
}

/** The most memory that a process has had, in MB. */
export async function peakOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1000;
}
