/** Runs `fenced.ts`: as which user, behind which layers, and in which folders. */

import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FenceRules, systemRules } from "../../core/fence/fence.ts";
import type { Order } from "./fenced.ts";
import type { Victim } from "./fence_victim.ts";
import { openPty } from "./pty.ts";

const support = import.meta.dir;
const repository = join(support, "..", "..");
const NOBODY = 65534;

/** A user that programs can be run as, by what goes before the command. */
export interface User {
  name: string;
  before: string[];
}

/** Root and an ordinary user where the tests run as root, else only the one that there is. */
export const USERS: User[] = process.getuid?.() === 0
  ? [
    { name: "root", before: [] },
    {
      name: "an ordinary user",
      before: ["/usr/bin/setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"],
    },
  ]
  : [{ name: "an ordinary user", before: [] }];

/** Folders for one user: `workspace` and `tmp` are to be granted, `outside` is not. Gone with the test. */
export interface Folders extends Disposable {
  workspace: string;
  outside: string;
  tmp: string;
}

export function makeFolders(): Folders {
  const base = mkdtempSync(join(tmpdir(), "tenon-fence-"));
  const folders = { workspace: join(base, "workspace"), outside: join(base, "outside"), tmp: join(base, "tmp") };
  chmodSync(base, 0o777);
  for (const folder of Object.values(folders)) {
    mkdirSync(folder);
    chmodSync(folder, 0o777);
  }
  return { ...folders, [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }) };
}

/** Rules as core gives them to a host that may write and run. */
export function rulesFor({ workspace, tmp }: Folders, changes: Partial<FenceRules> = {}): FenceRules {
  const system = systemRules();
  return {
    ...system,
    readExec: [...system.readExec, process.execPath],
    read: [...system.read, repository],
    write: [workspace, tmp],
    writeOnly: [],
    sockets: "none",
    exec: true,
    ...changes,
  };
}

/** The command of `fenced.ts` for an order. */
export function commandOf(user: User, order: Order): string[] {
  const bun = [process.execPath, "--no-env-file", "--no-install", `--config=${join(repository, "bunfig.toml")}`];
  return [...user.before, ...bun, join(support, "fenced.ts"), JSON.stringify(order)];
}

function environment(tmp: string): Record<string, string> {
  return { PATH: "/usr/bin:/bin", TMPDIR: tmp, HOME: tmp };
}

/**
 * What the act made of it. Fails with what the program printed when it did not get that far. A file given is open as
 * handle 3 when the program starts.
 */
export async function runFenced(user: User, folders: Folders, order: Order, file?: string): Promise<unknown> {
  const handle = file === undefined ? undefined : openSync(file, "r");
  const child = Bun.spawn(commandOf(user, order), {
    env: environment(folders.tmp),
    cwd: folders.workspace,
    stdio: ["ignore", "pipe", "pipe", ...(handle === undefined ? [] : [handle])],
  });
  if (handle !== undefined) closeSync(handle);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return resultIn(stdout, `exit code ${code}: ${stderr}`);
}

/** The same on a terminal that is the program's own, so that there is one to be attacked. */
export async function runOnTerminal(user: User, folders: Folders, order: Order): Promise<unknown> {
  // setsid makes the terminal the controlling one, without which the kernel takes typed input from root only.
  const command = ["/usr/bin/setsid", "--ctty", "--wait", ...commandOf(user, order)];
  await using pty = openPty(command, { env: environment(folders.tmp), cwd: folders.workspace });
  const code = await pty.exited();
  return resultIn(pty.raw(), `exit code ${code}`);
}

function resultIn(output: string, otherwise: string): unknown {
  const line = output.trimEnd().split(/\r?\n/).at(-1) ?? "";
  if (!line.startsWith("{") && !line.startsWith('"')) throw new Error(`no result, ${otherwise}\n${output}`);
  return JSON.parse(line);
}

/** A program that stays and has said a JSON line; its disposal ends its stdin, which ends it. */
export interface Running<T> extends AsyncDisposable {
  said: T;
}

/** A process of the same user outside the fence. */
export function startVictim(user: User, folders: Folders): Promise<Running<Victim>> {
  return start([...user.before, process.execPath, join(support, "fence_victim.ts"), folders.outside], folders, {});
}

/** `fenced.ts` with an act that stays. */
export function startFenced(user: User, folders: Folders, order: Order, env = {}): Promise<Running<{ pid: number }>> {
  return start(commandOf(user, order), folders, env);
}

async function start<T>(command: string[], { tmp }: Folders, more: Record<string, string>): Promise<Running<T>> {
  const env = { ...environment(tmp), ...more };
  const child = Bun.spawn(command, { env, cwd: tmp, stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  let line = "";
  for await (const chunk of child.stdout) {
    line += new TextDecoder().decode(chunk);
    if (line.includes("\n")) break;
  }
  return {
    said: JSON.parse(line),
    async [Symbol.asyncDispose]() {
      await child.stdin.end();
      await child.exited;
    },
  };
}
