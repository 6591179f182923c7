import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Canary,
  enterFence,
  type FenceCheck,
  type FenceRules,
  ownCommand,
  probeFence,
  selfTest,
} from "../core/fence/fence.ts";
import { prepare } from "./support/fence_probes.ts";
import {
  commandOf,
  type Folders,
  makeFolders,
  rulesFor,
  runFenced,
  runOnTerminal,
  startFenced,
  startVictim,
  type User,
  USERS,
} from "./support/fence_runs.ts";

const status = await probeFence();
const held = process.platform === "linux" && status.level === "kernel";
const unproven: string[] = [];
let skipped = 0;

/** A test that needs the kernel's fence: where there is none it is skipped, counted, and named at the end. */
function kernelTest(name: string, body: () => Promise<void>): void {
  if (!held) skipped++;
  test.skipIf(!held)(name, body);
}

afterAll(() => {
  if (skipped > 0) console.warn(`NOT TESTED: ${skipped} tests of the kernel's fence. ${status.not_covered[0]}`);
  for (const line of unproven) console.warn(`NOT PROVED HERE: ${line}`);
});

/** Codes of a refusal; EXDEV is Landlock's answer to a link or a move that would gain rights. */
const REFUSED = ["EACCES", "EPERM", "EXDEV"];

/** What people do, by the program that it needs; each ends with 0 and says nothing on stderr. */
const WORK: Record<string, string> = {
  "/bin/sh": "cat <<END | tr a-z A-Z\nhere\nEND",
  "/usr/bin/git": "git init -q r && cd r && echo a > a && git add a && " +
    "git -c user.name=n -c user.email=e commit -qm m && git mv a b && git status --short",
  "/usr/bin/gcc": "printf '#include <stdio.h>\\nint main(){puts(\"made\");}' > h.c && gcc h.c -o h && ./h",
  "/usr/bin/python3": "/usr/bin/python3 -c 'import subprocess, tempfile, socket; tempfile.TemporaryFile(); " +
    'socket.socketpair(); subprocess.check_output(["echo", "py"])\'',
  "/usr/bin/node": 'node -e \'require("child_process").execSync("node -e 0")\'',
  "/usr/bin/make": "mkdir m && cd m && printf 'all:\\n\\t@echo made\\n' > Makefile && make",
};

type Outcomes = Record<string, string>;

async function probe(user: User, folders: Folders, layers: FenceRules[]): Promise<Outcomes> {
  prepare(folders);
  await using victim = await startVictim(user, folders);
  const { workspace, outside } = folders;
  const input = { workspace, outside, victim: victim.said };
  return await runOnTerminal(user, folders, { layers, act: "probe", input }) as Outcomes;
}

/** What holds by name of the set: `true` refused, `false` possible. */
type Expected = Record<string, boolean>;
const HOST: Expected = {
  allowed: false,
  files: true,
  processes: true,
  signals: true,
  kernel: true,
  "other sockets": true,
  internet: true,
};
const CORE: Expected = { ...HOST, internet: false };
/** What an older kernel leaves open: signals, and nothing else. */
const CORE_BELOW_6: Expected = { ...CORE, signals: false };

/** Compares with the run outside the fence, where each probe has to succeed, or it proves nothing. */
function compare(user: User, outside: Outcomes, inside: Outcomes, expected: Expected): void {
  const rows: Record<string, string> = {};
  const wanted: Record<string, string> = {};
  for (const [name, outcome] of Object.entries(inside)) {
    const set = name.split(":")[0]!;
    const control = outside[name];
    // Only what needs root, or what a machine may have switched off, may fail outside too; and then it is said.
    if (set === "kernel" && control !== "done") {
      const line = `${name}, as ${user.name}: outside the fence it gives ${control}`;
      if (!unproven.includes(line)) unproven.push(line);
      continue;
    }
    rows[name] = `outside ${control}, inside ${REFUSED.includes(outcome) ? "refused" : outcome}`;
    wanted[name] = `outside done, inside ${expected[set] ? "refused" : "done"}`;
  }
  expect(rows).toEqual(wanted);
}

describe.each(USERS)("enterFence as $name", (user) => {
  let control: Promise<Outcomes> | undefined;
  const outside = () =>
    control ??= (async () => {
      using folders = makeFolders();
      return await probe(user, folders, []);
    })();

  kernelTest("refuses to core what it does not need, and leaves it TCP and UDP", async () => {
    using folders = makeFolders();
    const inside = await probe(user, folders, [rulesFor(folders, { sockets: "inet" })]);
    compare(user, await outside(), inside, CORE);
  });

  kernelTest("refuses every socket to a host within core's fence", async () => {
    using folders = makeFolders();
    const inside = await probe(user, folders, [rulesFor(folders, { sockets: "inet" }), rulesFor(folders)]);
    compare(user, await outside(), inside, HOST);
  });

  kernelTest("at Landlock ABI 1 and 2 refuses the same but signals: a path is not cut, by seccomp", async () => {
    using folders = makeFolders();
    const inside = await probe(user, folders, [rulesFor(folders, { sockets: "inet", maxAbi: 2 })]);
    compare(user, await outside(), inside, CORE_BELOW_6);
    // Without REFER a move from one folder to another is refused, in the workspace too.
    const first = await probe(user, folders, [rulesFor(folders, { sockets: "inet", maxAbi: 1 })]);
    const moved = "allowed: read and write in the workspace";
    expect(first[moved]).toBe("EXDEV");
    compare(user, await outside(), { ...first, [moved]: "done" }, CORE_BELOW_6);
  });

  kernelTest("lets an inner layer only narrow: what an outer one refuses stays refused", async () => {
    using folders = makeFolders();
    const narrow = rulesFor(folders, { write: [folders.tmp] });
    const wide = rulesFor(folders, { sockets: "inet", write: [folders.workspace, folders.tmp, folders.outside] });
    const inside = await probe(user, folders, [narrow, wide]);
    expect(REFUSED).toContain(inside["allowed: read and write in the workspace"]!);
    expect(REFUSED).toContain(inside["files: create a file outside"]!);
    expect(REFUSED).toContain(inside["internet: send over UDP"]!);
  });

  kernelTest("gives a folder to be read without a way to write it", async () => {
    using folders = makeFolders();
    const rules = rulesFor(folders, { write: [folders.tmp] });
    const inside = await probe(user, folders, [{ ...rules, read: [...rules.read, folders.outside] }]);
    expect(inside["files: read a file outside"]).toBe("done");
    expect(inside["files: list a folder outside"]).toBe("done");
    for (const name of ["write a file", "create a file", "remove a file"]) {
      expect([name, inside[`files: ${name} outside`]]).toEqual([name, "EACCES"]);
    }
  });

  kernelTest("keeps who writes nothing from changing modes and times, and leaves both to who writes", async () => {
    using folders = makeFolders();
    const file = join(folders.outside, "mode");
    const rows: [write: string[], outcome: string][] = [[[], "EPERM"], [[folders.tmp], "done"]];
    for (const [write, outcome] of rows) {
      prepare(folders);
      if (user.before.length > 0) chownSync(file, 65534, 65534);
      const rules = rulesFor(folders, { write, exec: false });
      const layers = [{ ...rules, read: [...rules.read, file] }];
      expect(await runFenced(user, folders, { layers, act: "changeKind", input: file })).toEqual({
        mode: outcome,
        times: outcome,
        handle: outcome,
      });
    }
  });

  kernelTest("leaves no capability and no way to gain one", async () => {
    using folders = makeFolders();
    const { stdout } = await shell(user, folders, "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
    expect(stdout).toMatch(/CapInh:\t0+\nCapPrm:\t0+\nCapEff:\t0+\n/);
    expect(stdout).toMatch(/CapAmb:\t0+\nNoNewPrivs:\t1\nSeccomp:\t2\n/);
    if (user.name === "root") expect(stdout).toMatch(/CapBnd:\t0+\n/);
  });

  kernelTest("closes handles that were open before, but for 0, 1 and 2", async () => {
    using folders = makeFolders();
    const file = join(folders.outside, "open before");
    writeFileSync(file, "canary");
    const order = { act: "readHandle", input: 3 };
    expect(await runFenced(user, folders, { ...order, layers: [] }, file)).toBe("canary");
    expect(await runFenced(user, folders, { ...order, layers: [rulesFor(folders)] }, file)).not.toBe("canary");
  });

  kernelTest("lets ordinary work be done: a shell, git, a compiler, python, node", async () => {
    using folders = makeFolders();
    const present = Object.entries(WORK).filter(([program]) => {
      if (!existsSync(program)) unproven.push(`${program} inside the fence: it is not on this machine`);
      return existsSync(program);
    });
    const done = await Promise.all(present.map(([, command]) => shell(user, folders, command)));
    const expected = present.map(([program]) => [program, 0, ""]);
    expect(present.map(([program], i) => [program, done[i]!.code, done[i]!.stderr])).toEqual(expected);
  });

  kernelTest("answers clone3 with ENOSYS, so that libc uses clone", async () => {
    using folders = makeFolders();
    const order = { act: "clone3", input: null };
    expect(await runFenced(user, folders, { ...order, layers: [] })).not.toBe("ENOSYS");
    expect(await runFenced(user, folders, { ...order, layers: [rulesFor(folders)] })).toBe("ENOSYS");
  });

  kernelTest("limitMemory holds back what is over it", async () => {
    using folders = makeFolders();
    const ask = (input: { limit?: number; bytes: number }) =>
      runFenced(user, folders, { layers: [rulesFor(folders)], act: "memory", input });
    expect(await ask({ bytes: 2_500_000_000 })).toBe("done");
    expect(await ask({ bytes: 2_500_000_000, limit: 1_000_000_000 })).toBe("Out of memory");
    expect(await ask({ bytes: 500_000_000, limit: 1_000_000_000 })).toBe("done");
  });

  kernelTest("hands on the environment that it was given and nothing else", async () => {
    using folders = makeFolders();
    const seen = await runFenced(user, folders, { layers: [rulesFor(folders)], act: "environment", input: null });
    expect(Object.keys(seen as object).sort()).toEqual(["HOME", "PATH", "TMPDIR"]);
  });

  kernelTest("leaves core able to kill a host that is fenced further", async () => {
    using folders = makeFolders();
    const host = { layers: [rulesFor(folders)], act: "wait", input: { hard: false } };
    const layers = [rulesFor(folders, { sockets: "inet" })];
    const order = { layers, act: "killHost", input: commandOf({ name: "core", before: [] }, host) };
    expect(await runFenced(user, folders, order)).toEqual({ signal: "SIGKILL" });
  });

  kernelTest("denyExec refuses programs to every thread, from before and from after", async () => {
    using folders = makeFolders();
    expect(await runFenced(user, folders, { layers: [rulesFor(folders)], act: "exec", input: null })).toEqual({
      before: { main: "exit 7", worker: "exit 7" },
      after: { main: "EPERM", earlyWorker: "EPERM", lateWorker: "EPERM" },
    });
  });

  kernelTest("hardenCore closes the environment to an unfenced process of the same user", async () => {
    using folders = makeFolders();
    for (const hard of [false, true]) {
      const order = { layers: [], act: "wait", input: { hard } };
      await using core = await startFenced(user, folders, order, { KEY: "canary" });
      const read = Bun.spawnSync([...user.before, "/bin/cat", `/proc/${core.said.pid}/environ`]);
      // Root outside the fence has every power: only the fence keeps it out.
      expect(String(read.stdout).includes("KEY=canary")).toBe(!hard || user.name === "root");
    }
  });

  kernelTest("selfTest finds nothing in a whole fence, and each hole outside it", async () => {
    using folders = makeFolders();
    const canary = join(folders.outside, "canary");
    writeFileSync(canary, "canary");
    const layers = [rulesFor(folders, { sockets: "inet" })];
    await using core = await startFenced(user, folders, { layers, act: "wait", input: { hard: false } });
    const checks: FenceCheck = {
      canary: { path: canary, access: "read" },
      ...{ corePid: core.said.pid, sockets: "none", noExec: true },
    };
    const whole = { layers: [rulesFor(folders, { sockets: "inet" }), rulesFor(folders)], act: "selfTest" };
    expect(await runFenced(user, folders, { ...whole, input: { checks, deny: true } })).toMatchObject({ failures: [] });
    expect(await runFenced(user, folders, { ...whole, input: { checks, deny: false } })).toMatchObject({
      failures: ["a program can be started"],
    });
    const none = { layers: [], act: "selfTest", input: { checks, deny: false } };
    expect(await runFenced(user, folders, none)).toMatchObject({
      failures: [
        "a file outside can be read",
        "a file outside can be read by another thread of this process",
        "the environment of tenon's core can be read",
        "a socket can be made",
        "a program can be started",
      ],
    });
  });
});

/** A command behind core's and a host's fence. */
async function shell(user: User, folders: Folders, command: string) {
  const layers = [rulesFor(folders, { sockets: "inet" }), rulesFor(folders)];
  const order = { layers, act: "sh", input: { command, cwd: folders.workspace } };
  return await runFenced(user, folders, order) as { stdout: string; stderr: string; code: number };
}

describe("enterFence refuses to begin, with a plain reason,", () => {
  const user = { name: "this user", before: [] };
  const rows: [when: string, changes: Partial<FenceRules>, reason: RegExp][] = [
    [
      "when a writable folder is missing",
      { write: ["/no-such-place"] },
      /cannot open "\/no-such-place" for the fence \(ENOENT\)/,
    ],
    ["when the kernel has no Landlock", { maxAbi: 0 }, /this kernel does not offer Landlock/],
  ];
  for (const [when, changes, reason] of rows) {
    kernelTest(when, async () => {
      using folders = makeFolders();
      const order = { layers: [rulesFor(folders, changes)], act: "environment", input: null };
      await expect(runFenced(user, folders, order)).rejects.toThrow(reason);
    });
  }

  kernelTest("when root may open a writable folder only by its powers", async () => {
    using folders = makeFolders();
    const closed = join(folders.outside, "closed");
    mkdirSync(join(closed, "inner"), { recursive: true });
    chmodSync(closed, 0o700);
    if (process.getuid?.() !== 0) {
      return void unproven.push("a folder that root may not open: these tests do not run as root");
    }
    chownSync(closed, 65534, 65534);
    const order = { layers: [rulesFor(folders, { write: [join(closed, "inner")] })], act: "environment", input: null };
    await expect(runFenced(user, folders, order)).rejects.toThrow(
      /\(EACCES: behind the fence root is an ordinary user\)/,
    );
  });

  kernelTest("when a 17th layer is asked for", async () => {
    using folders = makeFolders();
    const order = { layers: Array(17).fill(rulesFor(folders)), act: "environment", input: null };
    await expect(runFenced(user, folders, order)).rejects.toThrow(
      /the kernel refused landlock_restrict_self \(E2BIG\)/,
    );
  });

  kernelTest("selfTest tries what is left where everything may be read, or changed too", async () => {
    using folders = makeFolders();
    const canary: Canary = { path: "/dev/urandom", access: "write" };
    const order = (given: Partial<FenceRules>, checks: FenceCheck) => {
      const rules = rulesFor(folders, { sockets: "inet", ...given });
      return { layers: [rules], act: "selfTest", input: { checks, deny: false } };
    };
    const inet: FenceCheck = { sockets: "inet" };
    const held = [order({ read: ["/"] }, { ...inet, canary }), order({ write: ["/"] }, inet)];
    for (const whole of held) expect(await runFenced(user, folders, whole)).toMatchObject({ failures: [] });
    expect(await runFenced(user, folders, { ...order({}, { ...inet, canary }), layers: [] })).toMatchObject({
      failures: [
        "a file outside can be changed",
        "a file outside can be changed by another thread of this process",
        "a local socket can be made",
      ],
    });
  });

  test("when the program is not named by an absolute path", async () => {
    using folders = makeFolders();
    await expect(enterFence(rulesFor(folders), ["bun"], {})).rejects.toThrow(/absolute path/);
  });
});

test("selfTest says that a missing canary proves nothing", async () => {
  expect(await selfTest({ canary: { path: "/no-such-place", access: "read" }, sockets: "inet" })).toContain(
    "the file that tests the fence is missing, so that nothing is proved",
  );
});

test("ownCommand starts this program again, and no file of the current folder with it", () => {
  using folders = makeFolders();
  writeFileSync(join(folders.workspace, "bunfig.toml"), 'preload = ["./preload.ts"]\n');
  writeFileSync(join(folders.workspace, ".env"), "FROM_FILE=1\n");
  writeFileSync(join(folders.workspace, "preload.ts"), 'console.log("preloaded");');
  const program = join(folders.workspace, "program.ts");
  writeFileSync(program, "console.log(process.argv.slice(2).join(), process.env.FROM_FILE);");
  const [bun, ...rest] = ownCommand(["a b", "c"]);
  const start = (flags: string[]) => {
    const { stdout } = Bun.spawnSync([bun!, ...flags, program, "a b", "c"], { cwd: folders.workspace, env: {} });
    return String(stdout);
  };
  expect(rest.slice(-3)).toEqual([process.argv[1]!, "a b", "c"]);
  expect(start([])).toBe("preloaded\na b,c 1\n");
  expect(start(rest.slice(0, -3))).toBe("a b,c undefined\n");
});
