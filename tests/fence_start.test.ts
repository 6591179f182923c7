import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { probeFence } from "../core/fence/fence.ts";
import { probeLinuxFence } from "../core/fence/fence_linux.ts";
import type { Refusal } from "../core/fence/bpf.ts";
import { refusals } from "../core/fence/seccomp.ts";
import { onOtherKernel } from "./support/other_kernel.ts";
import { commandOf, type Outcome, type Way } from "./support/program.ts";
import { openPty } from "./support/pty.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const { level, not_covered } = await probeFence();
if (level !== "kernel") console.error(`SKIPPED: the tests of a start behind the fence, since ${not_covered[0]}`);
const fenced = test.skipIf(level !== "kernel");

const ENOSYS = 38;
const EOPNOTSUPP = 95;
const BUN: readonly Way[] = ["bun", "executable"];

interface Told {
  /** What the kernel is to answer otherwise. */
  kernel?: Refusal;
  env?: Record<string, string>;
}

/** Starts tenon in a fresh workspace. */
async function start(way: Way, args: readonly string[], { kernel, env }: Told = {}): Promise<Outcome> {
  await using temp = await tempWorkspace({ "f.txt": "hello\n" });
  const command = [...await commandOf(way, {}), ...args];
  const child = Bun.spawn(kernel ? onOtherKernel(kernel, command) : command, {
    cwd: temp.root,
    env: { PATH: process.env["PATH"] ?? "", HOME: join(temp.top, "home"), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, code };
}

describe.each([...BUN])("tenon as %s", (way: Way) => {
  fenced("does not start when the fence claims to be there and does not hold", async () => {
    const claimed: Told = { kernel: { call: "landlock_restrict_self", errno: 0 } };
    const { stdout, stderr, code } = await start(way, ["-m", "demo", "hello"], claimed);
    expect(stderr).toBe(
      "tenon: The fence does not hold: a file outside can be read; a file outside can be read by another thread of this process. " +
        "Nothing was started\n",
    );
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  fenced("does not start when a step of the fence is refused", async () => {
    const { stderr, code } = await start(way, ["doctor"], {
      kernel: { call: "landlock_restrict_self", errno: ENOSYS },
    });
    expect(stderr).toMatch(/^tenon: The fence does not hold: the kernel refused .*\(ENOSYS\)\. Nothing was started\n$/);
    expect(code).toBe(2);
  });

  fenced("does not start when the filter of calls claims to be there and is not", async () => {
    // The probe for filters names none: it goes through.
    const claimed: Told = { kernel: { call: "seccomp", when: [{ arg: 2, noneOf: [0] }], errno: 0 } };
    const { stderr, code } = await start(way, ["-m", "demo", "hello"], claimed);
    expect(stderr).toBe("tenon: The fence does not hold: a local socket can be made. Nothing was started\n");
    expect(code).toBe(2);
  });

  fenced("runs no tool whose host is not held", async () => {
    // Only a host has a filter for all of its threads.
    const claimed: Told = {
      kernel: { call: "seccomp", when: [{ arg: 1, bits: 1 }], errno: 0 },
    };
    const { stdout, stderr, code } = await start(way, ["call", "read_file", '{"path":"f.txt"}'], claimed);
    expect(stderr).toBe(
      "Cannot run read_file: the fence does not hold: a program can be started\n",
    );
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });

  /** As a user or a script might set it, to get past the fence. */
  const byHand: [role: string, words: RegExp][] = [
    ["core", /^tenon: The fence does not hold: a file outside can be read/],
    ["host", /^tenon host: TENON_ROLE is set, but tenon did not set it\n$/],
    ["host {}", /did not set it\n$/],
    [`host {"rules":null,"corePid":1}`, /did not set it\n$/],
    ["tools {broken}", /^tenon host: /],
    ["anything", /did not set it\n$/],
  ];
  fenced.each(byHand)("ends with exit code 2 when TENON_ROLE is set by hand to %s", async (role, words) => {
    const { stdout, stderr, code } = await start(way, ["call", "read_file", '{"path":"f.txt"}'], {
      env: { TENON_ROLE: role },
    });
    expect(stderr).toMatch(words);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  fenced("ends with exit code 2 as a host that says it is behind the fence and is not", async () => {
    const rules = { readExec: [], read: [], devices: [], write: [], writeOnly: [], sockets: "none", exec: true };
    const setup = { rules, canary: { path: "/etc/passwd", access: "read" }, corePid: process.pid, memoryBytes: 1e9 };
    const { stderr, code } = await start(way, [], { env: { TENON_ROLE: `tools ${JSON.stringify(setup)}` } });
    expect(stderr).toMatch(
      /^tenon host: the fence does not hold: a file outside can be read; .*a socket can be made\n$/,
    );
    expect(code).toBe(2);
  });

  const wide: [flags: string[], open: RegExp[]][] = [
    [["--allow-read=/etc"], []],
    [["--allow-read=/"], [/^reading: \/ was granted/]],
    [["-C", "/", "--allow-broad-workspace"], [/^reading: \/ was granted/, /^changing files: \/ was granted/]],
    [["-C", "/", "--allow-broad-workspace", "--deny-write"], [/^reading: \/ was granted/]],
  ];
  fenced.each(wide)("starts behind the fence with %j, and says what nothing is outside of", async (flags, open) => {
    const { stdout, code } = await start(way, [...flags, "doctor", "--json"]);
    expect(code).toBe(0);
    const { level, not_covered } = JSON.parse(stdout).fence;
    expect(level).toBe("kernel");
    const told = not_covered.filter((line: string) => line.includes("/ was granted"));
    expect(told.length).toBe(open.length);
    for (const [index, words] of open.entries()) expect(told[index]).toMatch(words);
    const call = await start(way, [...flags, "call", "list_files", '{"path":"/etc"}']);
    expect(call.stdout).toContain("passwd\n");
    expect(call.code).toBe(0);
  });

  fenced("starts where a toolchain's folder takes in the file that the fence is tried on first", async () => {
    const { stdout, code } = await start(way, ["call", "read_file", '{"path":"f.txt"}'], {
      env: { UV_TOOL_DIR: "/etc" },
    });
    expect(stdout).toContain("hello");
    expect(code).toBe(0);
  });

  const kernels: [errno: number, reason: string][] = [
    [ENOSYS, "this kernel has no Landlock (it came with Linux 5.13)"],
    [EOPNOTSUPP, "Landlock was not switched on when this kernel started"],
  ];
  fenced.each(kernels)(
    "on a kernel that answers Landlock's probe with %d says so, and --sandbox=require refuses",
    async (errno, reason) => {
      const other: Told = { kernel: { call: "landlock_create_ruleset", errno } };
      const told = `no fence by the kernel: ${reason}`;

      const report = JSON.parse((await start(way, ["doctor", "--json"], other)).stdout);
      expect(report.fence).toMatchObject({ level: "guard", landlock_abi: 0, seccomp: false });
      expect(report.fence.not_covered[0]).toBe(told);

      const turn = await start(way, ["-m", "demo", "hello"], other);
      expect(turn.stderr).toStartWith(`Nothing holds the tools: ${told}. See tenon doctor\n`);
      expect(turn.code).toBe(0);

      const required = await start(way, ["--sandbox=require", "-m", "demo", "hello"], other);
      expect(required.stderr).toBe(`tenon: --sandbox=require: ${told}\n`);
      expect(required.stdout).toBe("");
      expect(required.code).toBe(2);
    },
  );
});

test("--sandbox=off is said in red on a terminal, and every time", async () => {
  await using temp = await tempWorkspace({ "f.txt": "hello\n" });
  const args = ["--sandbox=off", "call", "read_file", '{"path":"f.txt"}'];
  await using pty = openPty([...await commandOf("executable", {}), ...args], { cwd: temp.root });
  await pty.exited();
  expect(pty.raw()).toStartWith(
    "\u001b[31m--sandbox=off: no fence; only the paths that tools open through tenon are checked\u001b[",
  );
  const { stderr } = await start("executable", args);
  expect(stderr).toBe("--sandbox=off: no fence; only the paths that tools open through tenon are checked\n");
});

fenced(
  "SHELL-17: an older Landlock is told by its number, with what it does not hold; its missing truncate is the filter's",
  async () => {
    const { level, landlock_abi, not_covered } = await probeLinuxFence(2);
    expect({ level, landlock_abi }).toEqual({ level: "kernel", landlock_abi: 2 });
    expect(not_covered.at(-1)).toBe(
      "other processes of yours: signals reach them (Landlock ABI 2; held from ABI 6 on)",
    );
    expect(refusals("none", 2).map(({ call }) => call)).toContain("truncate");
    expect(refusals("none", 3).map(({ call }) => call)).not.toContain("truncate");
  },
);
