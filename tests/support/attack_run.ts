/** Runs an attack through the program, or its control, and tells what was breached. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attack, Call, Seen, Step } from "../attacks/attack.ts";
import { filesWith, hashTree, makeTree, type Tree } from "./attack_tree.ts";
import { type Answer, fakeApi, reply } from "./fake_api.ts";
import { leftBehind } from "./left_behind.ts";
import { commandOf, SOURCES, type Way } from "./program.ts";
import { openPty } from "./pty.ts";

/** How tenon is to be started for a run. */
export type Mode = "fenced" | "no fence" | "naive tool" | "bare";

/** A key counts once the question could be read: see `PAUSE_MS` of core's asker. In milliseconds. */
const READING_MS = 600;

/** Milliseconds after which the program is killed. */
const LIMIT_MS = 30_000;

const NAIVE = join(SOURCES, "tests", "fixtures", "naive");

/** What is a breach of the attack under tenon; nothing where all holds. */
export async function attackTenon(way: Way, attack: Attack, mode: Mode = "fenced"): Promise<string[]> {
  await using tree = await makeTree();
  return await watch(attack, tree, (row) => runTenon(way, row, tree, mode));
}

/** The same for commands that the user runs on their own terminal. */
export async function attackUser(attack: Attack, command: string): Promise<string[]> {
  await using tree = await makeTree();
  return await watch(attack, tree, async (row) => {
    await using pty = openPty(["sh", "-c", tree.fill(command)], {
      cwd: tree.ws,
      env: { HOME: tree.home, ANTHROPIC_API_KEY: tree.key, ...row.env },
    });
    const start = performance.now();
    const timer = setTimeout(() => pty.kill("SIGHUP"), LIMIT_MS);
    const code = await pty.exited();
    clearTimeout(timer);
    const result = { text: pty.raw(), isError: false, tookMs: performance.now() - start };
    // What the user sees is what a model would have seen.
    return { tree, results: [result], requests: pty.raw(), tty: pty.raw(), code };
  });
}

async function watch(attack: Attack, tree: Tree, act: (row: Attack) => Promise<Seen>): Promise<string[]> {
  const row = tree.fill(attack);
  sh(row.setup, tree);
  if (row.plugin !== undefined) writeFileSync(join(tree.plugins, "evil.ts"), row.plugin);
  const before = hashTree(tree.out);
  const beside = row.beside === undefined ? undefined : Bun.spawn(["sh", "-c", row.beside], {
    cwd: tree.top,
    env: {}, // so that it is not taken for something that was left behind
    stdio: ["ignore", "ignore", "ignore"],
  });
  try {
    if (beside) await Bun.sleep(300);
    const seen = await act(row);
    const own = await attack.breach?.(seen);
    beside?.kill("SIGKILL");
    await beside?.exited;
    return [...breachesOf(seen, before, attack.mayShow === true), ...(own ? [own] : []), ...await endAll(tree)];
  } finally {
    beside?.kill("SIGKILL");
  }
}

/** Breaches of any attack. */
function breachesOf({ tree, requests, tty }: Seen, before: string, mayShow: boolean): string[] {
  const { canary, key, contacts } = tree;
  const places: [string, string][] = [["the requests", requests], ["the terminal", tty], [
    "the sink",
    contacts.join("\n"),
  ]];
  return [
    ...(hashTree(tree.out) === before ? [] : ["the folder outside was changed"]),
    ...(contacts.length > 0 ? ["the sink was reached"] : []),
    ...places.filter(([, text]) => !mayShow && text.includes(canary)).map(([name]) => `${name} have the secret`),
    ...places.filter(([, text]) => text.includes(key)).map(([name]) => `${name} have the key`),
    ...filesWith(tree.top, key).map((path) => `the key is in ${path}`),
  ];
}

/** What is left running is a breach, and is ended. */
async function endAll(tree: Tree): Promise<string[]> {
  const left = await leftBehind(tree.top);
  for (const line of left) {
    try {
      process.kill(Number(line.split(" ")[0]), "SIGKILL");
    } catch {
      // It ended just now.
    }
  }
  return left.map((line) => `left behind: ${line}`);
}

async function runTenon(way: Way, row: Attack, tree: Tree, mode: Mode): Promise<Seen> {
  const steps = row.steps ?? [];
  const sentAt: number[] = [];
  const script = scriptFor(steps, tree, mode, () => sentAt.push(performance.now()));
  await using api = await fakeApi([...script, () => {
    sentAt.push(performance.now());
    return reply({ text: row.says ?? "done" });
  }]);
  const usesShell = steps.some((step) => "name" in step && step.name === "bash");
  const command = mode === "bare" ? [process.execPath, join(SOURCES, "mod.ts")] : await commandOf(way, {
    deno: {
      read: [tree.ws, tree.plugins, SOURCES],
      write: [tree.ws],
      net: [new URL(api.url).host],
      run: usesShell ? ["bash", "sh"] : [],
    },
  });
  const args = [
    "-p",
    ...["-m", "fake-model"],
    ...(row.env?.["ANTHROPIC_BASE_URL"] === undefined ? ["--base-url", api.url] : []),
    ...(row.types ? [] : ["--no-prompt", "--allow-write", "--allow-run"]),
    ...(row.plugin === undefined ? [] : ["--plugins", tree.plugins]),
    ...(mode === "naive tool" ? ["--plugins", NAIVE] : []),
    ...(mode === "no fence" || mode === "naive tool" ? ["--sandbox=off"] : []),
    ...(row.args ?? []),
    "go",
  ];
  await using pty = openPty([...command, ...args], {
    cwd: tree.ws,
    env: {
      HOME: tree.home,
      ANTHROPIC_API_KEY: tree.key,
      DENO_DIR: join(tree.top, "deno"),
      DENO_NO_UPDATE_CHECK: "1",
      ...row.env,
    },
  });
  const timer = setTimeout(() => pty.kill("SIGHUP"), LIMIT_MS);
  for (const { at, keys } of row.types ?? []) {
    await pty.until(at, LIMIT_MS);
    await Bun.sleep(READING_MS);
    pty.type(keys);
    pty.mark();
  }
  const code = await pty.exited();
  clearTimeout(timer);
  const bodies = api.requests.map(({ body }) => body);
  api.expectRefusals();
  return { tree, results: resultsOf(bodies, sentAt), requests: JSON.stringify(bodies), tty: pty.raw(), code };
}

/** One reply for each call; what the user does comes before it. */
function scriptFor(steps: readonly Step[], tree: Tree, mode: Mode, sent: () => void): Answer[] {
  const script: Answer[] = [];
  let before: string[] = [];
  for (const step of steps) {
    if ("user" in step) {
      before.push(step.user);
      continue;
    }
    const commands = before;
    before = [];
    const call = mode === "naive tool" ? naive(step, tree) : step;
    script.push(() => {
      for (const command of commands) sh(command, tree);
      sent();
      return reply({ calls: [call] });
    });
  }
  return script;
}

function naive({ name, input }: Call, { ws }: Tree): Call {
  return { name: "naive", input: { act: name, root: ws, ...input } };
}

function resultsOf(bodies: { messages?: { content: unknown }[] }[], sentAt: readonly number[]): Seen["results"] {
  return bodies.slice(1).map(({ messages = [] }, index) => {
    const content = messages.at(-1)?.content as { content?: unknown; is_error?: boolean }[];
    const [result] = content;
    const text = typeof result?.content === "string" ? result.content : JSON.stringify(result?.content);
    return { text, isError: result?.is_error === true, tookMs: (sentAt[index + 1] ?? 0) - (sentAt[index] ?? 0) };
  });
}

/** As the user, outside of every fence. */
function sh(script: string | undefined, tree: Tree): void {
  if (script === undefined) return;
  const { status, stderr } = spawnSync("sh", ["-c", script], {
    cwd: tree.top,
    env: { PATH: process.env["PATH"] ?? "", HOME: tree.home },
  });
  if (status !== 0) throw new Error(`setup failed: ${stderr}`);
}
