import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { runTenon, startTenon, WAYS } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a run has its own limit

const SIGINT = 2n;

/** Waits until a process has a handler of its own for a signal. proc_pid_status(5). */
async function untilCaught(pid: number, signal: bigint): Promise<void> {
  for (;;) {
    const [, caught = "0"] = /^SigCgt:\s*(\w+)$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
    if ((BigInt(`0x${caught}`) >> (signal - 1n)) & 1n) return;
  }
}

describe.each([...WAYS])("tenon as %s", (way) => {
  test("is ended by the first signal, as early as one is caught", async () => {
    await using temp = await tempWorkspace();
    await using running = await startTenon(way, { cwd: temp.root, args: ["call"], stdin: "open" });
    await untilCaught(running.pid, SIGINT);
    running.signal("SIGINT");
    // Deno catches one before it has anybody to tell of it, and ends of it then.
    expect(way === "deno" ? [130, null] : [130]).toContain((await running.ended).code);
  });

  test.each(["call get_time", "tools", "--help", "-m demo --output-format json hi"])(
    "says that stdout is full: %s",
    async (args) => {
      await using temp = await tempWorkspace();
      const { code, stderr } = await runTenon(way, { cwd: temp.root, args: args.split(" "), shell: '"$@" >/dev/full' });
      expect(code).toBe(1);
      expect(stderr).toEndWith("tenon: Cannot write to stdout: no space is left. What was to be read there is lost\n");
    },
  );

  test("answers though stderr is full", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const { code, stdout } = await runTenon(way, {
      cwd: temp.root,
      args: ["-m", "demo", "hi"],
      shell: '"$@" 2>/dev/full',
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining("a.txt")]);
  });

  test("ends quietly when nobody reads its stdout any more", async () => {
    await using temp = await tempWorkspace();
    const shell = '{ "$@"; echo "code $?" >&2; } | true';
    const { stderr } = await runTenon(way, { cwd: temp.root, args: ["tools"], shell });
    expect(stderr).toBe("code 0\n");
  });

  const nothing: [args: string[], says: string][] = [
    [["-C", "", "tools"], 'Cannot work in "": no such folder'],
    [["--system", "", "-m", "demo", "hi"], 'Cannot read --system "": no such file'],
    [["trust", ""], 'No such folder: ""'],
  ];
  test.each(nothing)("takes an empty path for one that is not there: %j", async (args, says) => {
    await using temp = await tempWorkspace();
    const outcome = await runTenon(way, { cwd: temp.root, args });
    expect(outcome).toEqual({ code: 2, stdout: "", stderr: `tenon: ${says}\n` });
  });
});

describe.each(["bun", "executable"] as const)("tenon as %s", (way) => {
  test.each([101, 100, 32])("runs a tool where %d files may be open at a time", async (count) => {
    await using temp = await tempWorkspace();
    const shell = `ulimit -n ${count}; exec "$@"`;
    const { code, stdout } = await runTenon(way, { cwd: temp.root, args: ["call", "get_time"], shell });
    expect([code, stdout]).toEqual([0, expect.stringContaining("UTC")]);
  });

  test("says where there is no fence because the address space is limited", async () => {
    await using temp = await tempWorkspace();
    const shell = 'ulimit -v 1000000; exec "$@"';
    const { stderr } = await runTenon(way, { cwd: temp.root, args: ["call", "get_time"], shell });
    expect(stderr).toStartWith("Nothing holds the tools: no fence by the kernel: Bun cannot call the kernel here");
    expect(stderr).toContain(": the address space may be limited (ulimit -v)");
  });
});

// Deno, and an executable, end by themselves before the first line of tenon runs.
test("tenon says that the folder it was started in was deleted", async () => {
  await using temp = await tempWorkspace();
  const outcome = await runTenon("bun", { cwd: temp.root, args: ["tools"], shell: 'rmdir "$PWD"; "$@"' });
  const stderr = 'tenon: Cannot work in ".": it was deleted. Go to another folder\n';
  expect(outcome).toEqual({ code: 2, stdout: "", stderr });
});
