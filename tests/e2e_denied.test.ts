import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { probeFence } from "../core/fence/fence.ts";
import { openTenon, runTenon, type Way } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a run has its own limit

const { level } = await probeFence();
const TOLD = "--deny-read=kesi.py: held for the file tools; programs and plugin code can still read it";
const FILES = { "kesi.py": "KESI\n", "a/f": "INSIDE\n", "b/f": "DENIED\n" };
const FREE = ["--allow-write", "--allow-run"];
const bash = (command: string) => ["call", "bash", JSON.stringify({ command })];

describe.concurrent.each<Way>(["bun", "deno"])("a path that is denied inside a granted folder, as %s,", (way) => {
  test("is refused by the file tools, and said at start to be held by nothing else", async () => {
    await using temp = await tempWorkspace(FILES);
    const args = ["--deny-read=kesi.py", "--no-prompt", "--allow-run", "call", "read_file", '{"path":"kesi.py"}'];
    const { stderr, code } = await runTenon(way, { cwd: temp.root, args, deno: { run: ["bash"] } });
    expect(stderr.split("\n").filter((line) => line.includes("kesi.py"))).toEqual([
      TOLD,
      'Cannot read "kesi.py": reading it is denied. Only the user can lift this',
    ]);
    expect(code).toBe(1);
  });

  test("is not covered, in the words of tenon doctor", async () => {
    await using temp = await tempWorkspace(FILES);
    const deno = { run: ["bash"] };
    const args = ["--deny-read=kesi.py", "--allow-run", "doctor", "--json"];
    const report = JSON.parse((await runTenon(way, { cwd: temp.root, args, deno })).stdout);
    expect(report.fence.not_covered).toContain(TOLD);
    const whole = await runTenon(way, { cwd: temp.root, args: ["--allow-read=a,b", "--deny-read=b", "doctor"], deno });
    expect(whole.stdout).not.toContain("held for the file tools");
  });
});

test("a chat says in its header what a deny flag does not hold", async () => {
  await using temp = await tempWorkspace(FILES);
  await using pty = await openTenon("bun", { cwd: temp.root, args: ["-m", "demo", "--deny-read=kesi.py"] }, {
    columns: 120,
  });
  await pty.until(TOLD);
});

describe.skipIf(level !== "kernel").concurrent("behind the kernel's fence", () => {
  /** What a command prints: each row is run as it is, and again with all of the workspace to be read. */
  const rows: [what: string, flags: string[]][] = [
    ["a granted folder that is denied as a whole", ["--allow-read=a,b", "--deny-read=b"]],
    ["what is not granted to be read", ["--allow-read=a"]],
  ];
  test.each(rows)("a command reads nothing of %s, also where it may write", async (_, flags) => {
    await using temp = await tempWorkspace(FILES);
    const command = "cat a/f b/f; echo new > b/g && echo written; cat b/g; mv b/f a/moved; cat a/moved";
    const held = await runTenon("bun", { cwd: temp.root, args: [...FREE, ...flags, ...bash(command)] });
    expect(held.stdout).toContain("INSIDE\n");
    expect(held.stdout).toContain("written\n");
    expect(held.stdout).not.toMatch(/^(DENIED|new)$/m);
    const control = await runTenon("bun", { cwd: temp.root, args: [...FREE, ...bash("cat a/f b/f b/g a/moved")] });
    expect(control.stdout).toMatch(/^(DENIED)$/m);
  });

  test("the file tools write where nothing may be read", async () => {
    await using temp = await tempWorkspace(FILES);
    const args = [...FREE, "--allow-read=a", "call", "write_file", '{"path":"b/new/g","content":"x\\n"}'];
    const { stdout, stderr } = await runTenon("bun", { cwd: temp.root, args });
    expect([stdout, stderr]).toEqual(['Wrote "b/new/g": 2 bytes, 1 line, a new file\n', ""]);
  });
});
