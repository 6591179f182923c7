import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openUnderDeno } from "../core/fence/not_covered.ts";
import { checkPlugin, OWN_TIMEOUT_MS } from "../core/plugins/plugins.ts";
import * as plugin from "../plugins/bash.ts";
import { openPty } from "./support/pty.ts";
import {
  childrenOf,
  COMMAND,
  countOf,
  denoCommand,
  openShell,
  peakOf,
  processesOf,
  type Shell,
} from "./support/shell.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(30_000);

/** The last line of a result of a command that ended by itself. */
const END = (code: number) => `\\[exit code ${code} after \\d+(\\.\\d\\d)? s\\]$`;
const SILENT = (code: number) => `^\\[exit code ${code} after \\d+(\\.\\d\\d)? s, no output\\]$`;

interface Row {
  id: string;
  command: string;
  timeout?: unknown;
  /** What the whole result matches. */
  says: string;
  error?: true;
  /** Milliseconds. */
  within?: number;
}

const ROWS: Row[] = [
  { id: "says what a command printed and how it ended", command: "echo hi", says: `^hi\\n${END(0)}` },
  {
    id: "B01 background child that holds the output",
    command: "sleep 60 & echo done",
    timeout: 20,
    says: `^done\\n\\[what it had left in the background was ended 1 s after it: sleep\\]\\n${END(0)}`,
    within: 3000,
  },
  {
    id: "B03 background child that goes on printing",
    command: "(while :; do echo tick; sleep 0.05; done) & sleep 0.3; echo ready",
    timeout: 20,
    says: `ready\\n(tick\\n)+\\[what it had left .*\\]\\n${END(0)}`,
    within: 4000,
  },
  {
    id: "background child that ends within the second it has",
    command: "(sleep 0.7; echo late) & echo done",
    says: `^done\\nlate\\n${END(0)}`,
  },
  { id: "B05 cat", command: "cat", timeout: 10, says: SILENT(0), within: 3000 },
  { id: "B05 read", command: "read x; echo got=$x", timeout: 10, says: `^got=\\n${END(0)}`, within: 3000 },
  { id: "B05 input()", command: "python3 -c 'input()' || true", timeout: 10, says: `EOFError.*\\n${END(0)}` },
  { id: "B05 head", command: "head -1; echo end", timeout: 10, says: `^end\\n${END(0)}`, within: 3000 },
  {
    id: "B07 terminal",
    command: "exec 2>&1; read -p 'pw: ' x </dev/tty; echo rc=$?",
    timeout: 10,
    // Behind the fence it is not there at all; without one there is none for a session of its own.
    says: `^bash: .*/dev/tty: (Permission denied|No such device or address)\\nrc=1\\n${END(0)}`,
    within: 3000,
  },
  {
    id: "B09 timeout",
    command: "bash -c 'sleep 321 & sleep 321'; echo never",
    timeout: 2,
    says: "^Cannot run \"bash -c 'sleep 321 & sleep 321'; echo never\": no end after 2 s\\. It printed nothing\\.\\n" +
      "\\[timed out: ended after 2\\.\\d\\d s\\]$",
    error: true,
    within: 6000,
  },
  {
    id: "timeout, with what was printed so far",
    command: "echo one; echo two >&2; sleep 60",
    timeout: 0.5,
    says: '^Cannot run ".*": no end after 0\\.5 s\\. Its output so far:\\none\\ntwo\\n\\[timed out: .*\\]$',
    error: true,
  },
  {
    id: "B11 0",
    command: "echo a",
    timeout: 0,
    says: "^Cannot call bash: timeout: expected seconds from 1 to 600, got 0$",
    error: true,
  },
  { id: "B11 -1", command: "echo b", timeout: -1, says: "^Cannot call bash: timeout: .* got -1$", error: true },
  { id: "B11 a number as text", command: "echo c", timeout: "5", says: `^c\\n${END(0)}` },
  { id: "B11 1e12", command: "echo d", timeout: 1e12, says: `^d\\n${END(0)}` },
  { id: "B11 no number", command: "echo e", timeout: "soon", says: "^Cannot call bash: timeout: ", error: true },
  { id: "B11 null", command: "echo f", timeout: null, says: `^f\\n${END(0)}` },
  {
    id: "B13 head and tail",
    command: "seq 1 200000; echo 'FATAL: the real error' >&2; exit 3",
    says:
      `^1\\n2\\n[^]*\\n\\[\\d+ of 1288917 bytes left out here, in the middle\\]\\n[^]*\\n200000\\nFATAL: the real error\\n${
        END(3)
      }`,
  },
  {
    id: "B15 not UTF-8",
    command: "printf '\\304\\343\\272\\303 \\377\\376 ok\\n'",
    says: `^\ufffd+ \ufffd+ ok\\n\\[bytes that are not UTF-8 are shown as \ufffd\\]\\n${END(0)}`,
  },
  { id: "B17 NUL in the output", command: "printf 'a\\000b\\n'", says: `^a\\\\u\\{0\\}b\\n${END(0)}` },
  {
    id: "B17 NUL in the command",
    command: "echo a\0b",
    says: "^Cannot call bash: command: it holds a NUL character\\. Leave it out$",
    error: true,
  },
  { id: "B19 false", command: "false", says: SILENT(1) },
  { id: "B19 true", command: "true", says: SILENT(0) },
  { id: "B19 exit 7", command: "exit 7", says: SILENT(7) },
  { id: "B19 no such command", command: "nosuchcommand_zz", says: `^bash: .*not found\\n${END(127)}` },
  { id: "B21 cd", command: "mkdir -p sub && cd sub && pwd", says: `/ws/sub\\n${END(0)}` },
  { id: "B21 pwd after it", command: "pwd", says: `/ws\\n${END(0)}` },
  { id: "B21 export", command: "export ZED=1", says: SILENT(0) },
  { id: "B21 variable after it", command: "echo ZED=${ZED:-unset}", says: `^ZED=unset\\n${END(0)}` },
  { id: "B31 empty", command: "", says: "^Cannot call bash: command: it is empty\\. Give a command$", error: true },
  { id: "B31 blank", command: "   \n", says: "^Cannot call bash: command: it is empty\\.", error: true },
  { id: "B31 broken", command: "if true; then", says: `syntax error.*\\n${END(2)}`, within: 2000 },
  { id: "B31 quote", command: "echo 'unterminated", says: `unexpected EOF.*\\n[^]*${END(2)}`, within: 2000 },
  {
    id: "a shell that a signal ended",
    command: "echo before; kill -SEGV $$",
    says: '^Cannot run ".*": it was ended by SIGSEGV\\. Its output so far:\\nbefore\\n\\[ended after .*\\]$',
    error: true,
  },
  { id: "a program that a signal ended", command: "sh -c 'kill -9 $$'; echo $?", says: `137\\n${END(0)}` },
  {
    id: "both streams in the order in which they were written",
    command: "for i in 1 2 3 4 5 6 7 8; do echo o$i; echo e$i >&2; done",
    says: `^o1\\ne1\\no2\\ne2\\no3\\ne3\\no4\\ne4\\no5\\ne5\\no6\\ne6\\no7\\ne7\\no8\\ne8\\n${END(0)}`,
  },
  { id: "streams by name", command: "echo a > /dev/stderr; echo b > /dev/stdout", says: `^a\\nb\\n${END(0)}` },
  {
    id: "colours and a progress bar",
    command: "printf '\\033[1;32mok\\033[0m\\n 1%%\\r 50%%\\r100%%\\n'",
    says: `^ok\\n100%\\n${END(0)}`,
  },
  {
    id: "a command of several lines, with a here-document",
    command: "cat <<'E'\n$HOME `x`\nE\nfor i in 1 2\ndo echo $i\ndone",
    says: `^\\$HOME \`x\`\\n1\\n2\\n${END(0)}`,
  },
  {
    id: "a command over the limit of one argument, with wide characters at every border",
    command: `set -- "$#"; x='${"😀".repeat(100_000)}'; echo \${#x} $1 "\${x:99999}"; exit 5`,
    says: `^100000 0 😀\\n${END(5)}`,
  },
  {
    id: "a long command that is broken",
    command: `: ${"x".repeat(200_000)}\nif`,
    says: `syntax error.*\\n[^]*${END(2)}`,
  },
  {
    id: "a command over the limit of all arguments",
    command: `: ${"x".repeat(3_000_000)}`,
    says: '^Cannot run ": x+…": it is too long\\. Write it to a file and run that$',
    error: true,
  },
  {
    id: "LINK-13 no handle but 0, 1 and 2",
    command: "ls -l /proc/self/fd | sed -n 's/.* \\([0-9]*\\) -> \\(pipe\\|[^:]*\\).*/\\1 \\2/p'",
    says: `^0 /dev/null\\n1 pipe\\n2 pipe\\n3 /proc/\\d+/fd\\n${END(0)}`,
  },
  {
    id: "a session of its own",
    command: "ps -o pid=,pgid=,sid=,tty= -p $$ | awk '{print ($1==$2), ($1==$3), $4}'",
    says: `^1 1 \\?\\n${END(0)}`,
  },
];

/** What a runtime is started with for `bash`. */
const RUNTIMES: [name: string, command: readonly string[]][] = [
  ["Bun", COMMAND],
  ["Deno", denoCommand("--allow-write=.", "--allow-run")],
];

describe.each(RUNTIMES)("under %s bash answers", (_, start) => {
  let shell: Shell;
  beforeAll(async () => void (shell = await openShell({ command: start })));
  afterAll(() => shell[Symbol.asyncDispose]());

  test.each(ROWS)("$id", async ({ command, timeout, says, error, within = 10_000 }) => {
    const { content, is_error, took } = await shell.bash(command, timeout);
    expect(content).toMatch(new RegExp(says));
    expect(is_error).toBe(error ?? false);
    expect(took).toBeLessThan(within);
    expect(content.length).toBeLessThan(50_000);
  });

  test("B29 with all that was printed, each time", async () => {
    for (let turn = 0; turn < 5; turn++) {
      const { content } = await shell.bash(
        "seq 1 300000 | tail -n 5; head -c 3000000 /dev/zero | tr '\\0' y; echo; echo LAST",
      );
      expect(content).toMatch(new RegExp(`^299996\\n[^]*y\\nLAST\\n${END(0)}`));
    }
  });

  test("B23 that the workspace is gone", async () => {
    await using lost = await openShell({ command: start });
    await lost.bash("true");
    await rename(lost.temp.root, `${lost.temp.root}-moved`);
    const { content, is_error } = await lost.bash("echo x");
    expect(content).toBe(
      'Cannot run "echo x": the workspace directory was moved, replaced or removed. Start tenon again in it',
    );
    expect(is_error).toBe(true);
    await rename(`${lost.temp.root}-moved`, lost.temp.root);
    expect((await lost.bash("echo x")).content).toMatch(new RegExp(`^x\\n${END(0)}`));
  });
});

test.concurrent.each(RUNTIMES)(
  "under %s a command has the user's name for git, and the user's own programs",
  async (runtime) => {
    await using outside = await tempWorkspace();
    const home = outside.top;
    const bin = join(home, ".cargo", "bin");
    await mkdir(bin, { recursive: true });
    await writeFile(join(home, ".gitconfig"), "[user]\nname = Ada\nemail = ada@example.org\n");
    await writeFile(join(bin, "own-program"), "#!/bin/sh\necho own\n", { mode: 0o755 });
    const denoFlags = [`--allow-read=${home}`, "--allow-run", "--allow-write=."];
    await using shell = await openShell({
      home,
      env: { PATH: `/usr/bin:/bin:${bin}` },
      command: runtime === "Bun" ? COMMAND : denoCommand(...denoFlags),
    });
    const { content } = await shell.bash(
      "git init -q . && git commit -q --allow-empty -m x && git log --format='%an <%ae> %cn'; own-program",
    );
    expect(content).toMatch(new RegExp(`^Ada <ada@example.org> Ada\\nown\\n${END(0)}`));
  },
);

test.concurrent.each(RUNTIMES)(
  "under %s git has what the repository says before what the user's file says",
  async (runtime) => {
    await using outside = await tempWorkspace();
    const home = outside.top;
    await writeFile(join(home, ".gitconfig"), "[user]\nname = Ada\nemail = ada@example.org\n");
    await using shell = await openShell({
      home,
      files: { ".git/config": "[user]\nemail = ada@work.example\n" },
      command: runtime === "Bun" ? COMMAND : denoCommand(`--allow-read=${home}`, "--allow-run", "--allow-write=."),
    });
    const { content } = await shell.bash(
      "git init -q . && git commit -q --allow-empty -m x && git log --format='%an <%ae> %cn <%ce>'",
    );
    expect(content).toMatch(new RegExp(`^Ada <ada@work.example> Ada <ada@work.example>\\n${END(0)}`));
  },
);

describe("bash answers", () => {
  test("B23 that there is no shell", async () => {
    await using bare = await openShell({ env: { PATH: "/nonexistent" } });
    const { content, is_error } = await bare.bash("echo x");
    expect(content).toBe('Cannot run "echo x": there is no bash and no sh here');
    expect(is_error).toBe(true);
  });

  test("that the shell that is there cannot be started", async () => {
    await using temp = await tempWorkspace({ "bin/bash": "", "bin/sh": "" });
    await temp.sh("chmod +x bin/bash bin/sh");
    await using bare = await openShell({ env: { PATH: join(temp.root, "bin") } });
    const { content } = await bare.bash("echo x");
    expect(content).toMatch(/^Cannot run "echo x": the system (does not permit|refused) it$/);
  });

  test("that there is no shell without keeping a handle open", async () => {
    await using bare = await openShell({ env: { PATH: "/nonexistent" } });
    await bare.bash("echo x");
    const [host = 0] = await childrenOf(bare.pid);
    const handles = async () => (await readdir(`/proc/${host}/fd`)).length;
    const before = await handles();
    for (let call = 0; call < 5; call++) await bare.bash("echo x");
    expect(await handles()).toBe(before);
  });

  test("with sh where there is no bash", async () => {
    await using temp = await tempWorkspace();
    await temp.sh("mkdir bin && ln -s /bin/sh bin/sh");
    await using bare = await openShell({ env: { PATH: join(temp.root, "bin") } });
    expect((await bare.bash("echo $0")).content).toMatch(new RegExp(`^sh\\n${END(0)}`));
  });
});

describe("bash holds nothing back", () => {
  test("700 MB of output cost less than 150 MB of memory (100 MB here)", async () => {
    await using shell = await openShell();
    await shell.bash("true");
    const [host = 0] = await childrenOf(shell.pid);
    const { content } = await shell.bash("yes 123456789 | head -c 100000000");
    expect(content).toContain("of 100000000 bytes left out");
    expect(await peakOf(host)).toBeLessThan(150);
    expect(await peakOf(shell.pid)).toBeLessThan(150);
  });
});

let marks = 0;

/** Starts, beside the shell itself: a child, one with a session of its own, one that was forked twice, one that ignores signals. */
function family(mark: string): string {
  return [
    `sleep ${mark} &`,
    `setsid sleep ${mark} &`,
    `(setsid nohup sleep ${mark} >/dev/null 2>&1 &)`,
    `(trap '' TERM INT HUP; exec sleep ${mark}) &`,
  ].join("\n");
}

const FAMILY = 4;

interface Ending {
  way: string;
  /** What the shell goes on with. */
  last: string;
  timeout?: number;
  /** Ends it, once all of the family run. */
  by?: (shell: Shell) => unknown;
  says?: RegExp;
}

/** For the test, which writes the file when it has seen them all. */
const WAIT = "until [ -e go ]; do sleep 0.05; done";

/** After these tenon goes on. */
const ENDS_OF_A_COMMAND: Ending[] = [
  { way: "its own end", last: WAIT, says: /^\[what it had left .*: sleep\]\n\[exit code 0/ },
  { way: "its timeout", last: "sleep 60", timeout: 2, says: /no end after 2 s/ },
  {
    way: "its timeout, ignoring signals (RES-05)",
    last: "trap '' TERM INT HUP; while :; do sleep 0.1; done",
    timeout: 2,
  },
  { way: "a signal that it sends itself", last: `${WAIT}; kill -9 $$`, says: /it was ended by SIGKILL/ },
];

/** Where the host is a process of its own, and the fence keeps signals in. */
const ENDS_OF_A_HOST: Ending[] = [
  { way: "SIGKILL to its host", last: "sleep 60", by: killHosts, says: /^Cannot run bash: its process was ended$/ },
  { way: "the end of its host, which it killed", last: `${WAIT}; kill -9 $PPID; sleep 60`, says: /was ended$/ },
  {
    way: "a stop of its host",
    last: `${WAIT}; kill -STOP $PPID; sleep 60`,
    says: /was stopped by a signal, and was ended$/,
  },
  { way: "SIGKILL to all that it may signal", last: `${WAIT}; kill -9 -1; sleep 60`, says: /was ended$/ },
];

const ENDS_OF_TENON: Ending[] = [
  { way: "an interrupt (B25)", last: "sleep 60", by: ({ pid }) => process.kill(pid, "SIGINT"), says: /interrupt/ },
  { way: "two interrupts", last: "sleep 60", by: interruptTwice },
  { way: "SIGTERM to tenon", last: "sleep 60", by: ({ pid }) => process.kill(pid, "SIGTERM") },
  { way: "SIGHUP to tenon, as when its terminal is closed", last: "sleep 60", by: hangUpTenon },
  { way: "SIGKILL to tenon", last: "sleep 60", by: killTenon },
  { way: "SIGKILL to tenon, whose host it stopped", last: "kill -STOP $PPID; sleep 60", by: killTenon },
];

/** Where nothing keeps a command from it. */
const ENDS_BY_A_COMMAND: Ending[] = [
  { way: "SIGKILL to tenon by the command", last: `${WAIT}; kill -9 $PPID; sleep 60`, says: /tenon ended/ },
];

function hangUpTenon({ pid }: Shell): void {
  process.kill(pid, "SIGHUP");
}

function killTenon({ pid }: Shell): void {
  process.kill(pid, "SIGKILL");
}

async function interruptTwice({ pid }: Shell): Promise<void> {
  process.kill(pid, "SIGINT");
  await Bun.sleep(5);
  process.kill(pid, "SIGINT");
}

async function killHosts({ pid }: Shell): Promise<void> {
  for (const host of await childrenOf(pid)) process.kill(host, "SIGKILL");
}

async function expectNothingLeft(shell: Shell, { last, timeout, by, says }: Ending): Promise<void> {
  const mark = `9876.${process.pid}${marks++}`;
  const answer = shell.bash(`${family(mark)}\n${last}`, timeout).catch((error: Error) => ({ content: error.message }));
  expect(await countOf(`sleep ${mark}`, FAMILY)).toBe(FAMILY);
  await (by?.(shell) ?? writeFile(join(shell.temp.root, "go"), ""));
  const { content } = await answer;
  await rm(join(shell.temp.root, "go"), { force: true });
  if (says) expect(content).toMatch(says);
  expect(await countOf(`sleep ${mark}`, 0, 2000)).toBe(0);
}

describe.each(RUNTIMES)("under %s nothing of a command is left after", (runtime, command) => {
  let shell: Shell;
  beforeAll(async () => void (shell = await openShell({ command })));
  afterAll(() => shell[Symbol.asyncDispose]());

  test.each([...ENDS_OF_A_COMMAND, ...(runtime === "Bun" ? ENDS_OF_A_HOST : [])])(
    "$way",
    (ending) => expectNothingLeft(shell, ending),
  );

  test.concurrent.each([...ENDS_OF_TENON, ...(runtime === "Deno" ? ENDS_BY_A_COMMAND : [])])("$way", async (ending) => {
    await using own = await openShell({ command });
    await expectNothingLeft(own, ending);
  });

  test("a bomb of 250 processes in sessions of their own (RES-01, bounded)", async () => {
    const mark = `9876.${process.pid}${marks++}`;
    const bomb =
      `f() { [ $1 -gt 0 ] && { (f $(($1-1))) & (setsid bash -c "$(declare -f f); f $(($1-1))" &) }; sleep ${mark}; }; f 6`;
    const { content, took } = await shell.bash(bomb, 2);
    expect(content).toMatch(/no end after 2 s/);
    expect(took).toBeLessThan(8000);
    expect(await countOf(`sleep ${mark}`, 0, 2000)).toBe(0);
    expect((await shell.bash("echo still here")).content).toContain("still here");
  });
});

describe("under a terminal", () => {
  test("B07, B27: a command neither asks there nor hears Ctrl-C, and the interrupt is reported", async () => {
    await using temp = await tempWorkspace();
    const input = {
      command: "trap 'echo GOT_INT; exit 9' INT; read -p 'pw: ' x </dev/tty; sleep $((9000+877)); echo finished",
    };
    const args = ["call", "bash", JSON.stringify(input), "--allow-run", "--allow-write"];
    await using pty = openPty([...COMMAND, ...args], { cwd: temp.root, env: { HOME: temp.top } });
    await countOf("sleep 9877", 1);
    pty.type("\x03");
    expect(await pty.exited()).toBe(130);
    expect(pty.raw()).not.toMatch(/^pw: /m);
    expect(pty.raw()).not.toMatch(/^GOT_INT/m);
    expect(pty.raw()).toMatch(/interrupted by the user/);
  });
});

async function goneWithin(path: string, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (existsSync(path) && performance.now() < end) await Bun.sleep(20);
  return !existsSync(path);
}

/** Each with all that the README has for Deno, and with no more than this. */
const GRANTS: { given: string; command: string[] }[] = [
  { given: "--allow-run", command: denoCommand("--allow-write=.", "--allow-run") },
  { given: "--allow-run=bash", command: denoCommand("--allow-write=.", "--allow-run=bash") },
  {
    given: "--allow-run=bash, without --ignore-env",
    command: denoCommand("--allow-write=.", "--allow-run=bash").filter((flag) => flag !== "--ignore-env"),
  },
];

describe.concurrent("under Deno bash", () => {
  test.each(GRANTS)("runs with $given, and ends what it started", async ({ command }) => {
    const mark = `9876.${process.pid}${marks++}`;
    await using shell = await openShell({ command });
    const first = await shell.bash("echo o; echo e >&2; echo $ANTHROPIC_API_KEY-; exit 4");
    expect(first.content).toMatch(new RegExp(`^o\\ne\\n-\\n${END(4)}`));
    expect((await shell.bash(`sleep ${mark} & echo done`)).content).toMatch(/^done\n\[what it had left .*\]\n\[exit/);
    const ended = await shell.bash(`trap 'echo bye; exit' TERM; sleep ${mark} & wait`, 1);
    expect(ended.content).toMatch(/no end after 1 s\. Its output so far:\nbye\n/);
    expect(await countOf(`sleep ${mark}`, 0, 2000)).toBe(0);
  });

  test("has private folders, which go with tenon, also when it is killed", async () => {
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await using shell = await openShell({ command: GRANTS[1]!.command });
      const { content } = await shell.bash(
        "mkdir $HOME/locked; touch $HOME/locked/x $TMPDIR/x; chmod 500 $HOME/locked; stat -c '%a %u %n' $HOME $TMPDIR; id -u",
      );
      expect(content).toMatch(/^700 (\d+) (\/.*\/tenon-[-0-9a-f]{36})\/home\n700 \1 \2\/tmp\n\1\n/);
      const own = content.slice(content.indexOf("/"), content.indexOf("/home\n"));
      expect(existsSync(own)).toBe(true);
      process.kill(shell.pid, signal);
      expect(await goneWithin(own, 2000)).toBe(true);
    }
  });

  test("says of what it left only what was ended, and tenon doctor what can be left", async () => {
    const mark = `9876.${process.pid}${marks++}`;
    await using shell = await openShell({ command: GRANTS[1]!.command });
    const { content } = await shell.bash(`setsid env -i /bin/sleep ${mark} >/dev/null 2>&1 & sleep 0.3; echo done`);
    const [escaped, ...more] = await processesOf(`/bin/sleep ${mark}`);
    expect(more).toEqual([]);
    process.kill(escaped!, "SIGKILL");
    expect(openUnderDeno()).toContain(
      "processes that a command starts with an empty environment, or that write over theirs: they can go on after it",
    );
    expect(content).toMatch(new RegExp(`^done\\n${END(0)}`));
  });

  test("is answered with the reason where Deno was not given the right", async () => {
    await using shell = await openShell({ command: denoCommand("--allow-write=.") });
    expect(await shell.bash("echo x")).toMatchObject({
      content: "Not run: run needs Deno's --allow-run before mod.ts, and tenon's own after it",
      is_error: true,
    });
  });
});

test("the last line is shown to the user while the command runs, a few times a second", async () => {
  await using temp = await tempWorkspace();
  const script = join(import.meta.dir, "support", "command_progress.ts");
  const command = "for i in $(seq 1 40); do echo line $i; sleep 0.02; done";
  const child = Bun.spawn([process.execPath, script, command], { cwd: temp.root, stdout: "pipe" });
  const shown = (await new Response(child.stdout).text()).trim().split("\n");
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.length).toBeLessThan(15);
  for (const line of shown) expect(line).toMatch(/^line \d+$/);
});

test("the definition is a whole plugin whose limit is above its longest timeout", async () => {
  const { loaded } = await checkPlugin({ ...plugin }, "bash", OWN_TIMEOUT_MS);
  expect(loaded.permissions).toEqual({ read: true, write: true, run: true });
  expect(loaded.timeout_ms).toBe(610_000);
});

test("the definition tells the model what to use instead, what it cannot rely on, and how long it has", () => {
  const { description, input_schema } = plugin.definition;
  expect(description).toContain("To list, find, read or change files use the tools for that");
  expect(description).toContain("a file seen only through bash does not count as read");
  expect(description).toContain("no folder or variable carries over");
  expect(JSON.stringify(input_schema)).toContain("Seconds after which it is ended, at most 600. Default: 120");
});

test("preview shows the command to the letter, and refuses what would not be run", () => {
  const command = "ls  \x1b[2K # \u202e hidden";
  expect(plugin.preview({ command })).toEqual({ command });
  expect(() => plugin.preview({ command: " " })).toThrow("it is empty");
  expect(() => plugin.preview({ command: "a\0" })).toThrow("NUL");
  expect(() => plugin.preview({ command: "a", timeout: 0 })).toThrow("timeout");
});

test("private folders of a command go at the end, and those of a killed tenon at the next start", async () => {
  const home = (await tempWorkspace()).top;
  const left = join(home, ".local", "state", "tenon", "run");
  {
    await using shell = await openShell({ home });
    const { content } = await shell.bash(
      "mkdir $HOME/locked && chmod 500 $HOME/locked; echo x > $TMPDIR/x; ls -d $HOME",
    );
    expect(content).toContain(`${left}/${shell.pid}-0/home`);
  }
  expect(await readdir(left)).toEqual([]);
  {
    await using shell = await openShell({ home });
    await shell.bash("true");
    process.kill(shell.pid, "SIGKILL");
    await shell.exited;
  }
  expect(await readdir(left)).not.toEqual([]);
  await using shell = await openShell({ home });
  await shell.bash("true");
  expect(await readdir(left)).toEqual([`${shell.pid}-0`]);
});
