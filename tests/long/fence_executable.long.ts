import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { probeFence } from "../../core/fence/fence.ts";
import { makeFolders, rulesFor, USERS } from "../support/fence_runs.ts";

const status = await probeFence();
const folder = mkdtempSync(join(tmpdir(), "tenon-executable-"));
const executable = join(folder, "fenced");

beforeAll(async () => {
  chmodSync(folder, 0o755);
  const flags = [
    "--compile",
    "--bytecode",
    "--format=esm",
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
  ];
  const program = join(import.meta.dir, "..", "support", "fenced.ts");
  const build = Bun.spawn([process.execPath, "build", ...flags, program, `--outfile=${executable}`], {
    stdout: "ignore",
  });
  expect(await build.exited).toBe(0);
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(status.level !== "kernel").each(USERS)("an executable as $name", (user) => {
  test("enters the fence, and again within it, with nothing but itself to read", async () => {
    using folders = makeFolders();
    const { readExec, read, ...rest } = rulesFor(folders);
    // Neither the runtime nor the sources: the executable is all that there is.
    const own = {
      ...rest,
      readExec: [...readExec.filter((path) => path !== process.execPath), executable],
      read: read.slice(0, -1),
    };
    const order = {
      layers: [{ ...own, sockets: "inet" }, own],
      act: "sh",
      input: { command: "echo in; cat ../outside/x /etc/shadow", cwd: folders.workspace },
    };
    const child = Bun.spawn([...user.before, executable, JSON.stringify(order)], {
      cwd: folders.workspace,
      env: { PATH: "/usr/bin:/bin", HOME: folders.tmp, TMPDIR: folders.tmp },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect([stderr, await child.exited]).toEqual(["", 0]);
    expect(JSON.parse(stdout)).toMatchObject({
      stdout: "in\n",
      stderr: expect.stringContaining("/etc/shadow: Permission denied"),
    });
  });
});
