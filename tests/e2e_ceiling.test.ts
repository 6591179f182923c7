import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { probeFence } from "../core/fence/fence.ts";
import { removeAfterwards } from "./support/afterwards.ts";
import { onOtherKernel } from "./support/other_kernel.ts";
import { SOURCES } from "./support/program.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(30_000); // a build starts Bun twice

const { level } = await probeFence();
const FLAGS = ["--allow-read=.", "--deny-write", "--deny-run"];
const ENOSYS = 38;
/** Plugin code that asks nobody: only a fence holds it. */
const WRITER = `import { writeFileSync } from "node:fs";
export const definition = { name: "writer", description: "Writes.", input_schema: { type: "object", properties: {} } };
export function handler() { writeFileSync("made.txt", "x"); return "written"; }
`;
const PLUGIN = ["--plugins", "../plugins", "call", "writer", "{}"];

const folder = mkdtempSync(join(tmpdir(), "tenon-baked-"));
removeAfterwards(folder);
const baked = join(folder, "tenon");
beforeAll(async () => {
  const build = Bun.spawn([process.execPath, join(SOURCES, "build.ts"), "--outfile", baked, ...FLAGS], {
    stdout: "ignore",
  });
  expect(await build.exited).toBe(0);
});

async function start({ root, top }: TempWorkspace, command: readonly string[]) {
  const child = Bun.spawn([...command], {
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", HOME: join(top, "home") },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { stdout, stderr, code: await child.exited };
}

describe.skipIf(level !== "kernel")("an executable with flags built in", () => {
  test("does not start without its fence, whichever command is given", async () => {
    await using temp = await tempWorkspace({ "../plugins/writer.ts": WRITER });
    for (const args of [PLUGIN, ["doctor"], ["tools"], ["-m", "demo", "hello"]]) {
      expect(await start(temp, [baked, "--sandbox=off", ...args])).toEqual({
        stdout: "",
        stderr: `tenon: --sandbox=off is not available: this executable was built with ${FLAGS.join(" ")}\n`,
        code: 2,
      });
    }
    expect(existsSync(join(temp.root, "made.txt"))).toBe(false);
  });

  test("does not start where the kernel has no fence", async () => {
    await using temp = await tempWorkspace({ "../plugins/writer.ts": WRITER });
    const command = onOtherKernel({ call: "landlock_create_ruleset", errno: ENOSYS }, [baked, ...PLUGIN]);
    expect(await start(temp, command)).toEqual({
      stdout: "",
      stderr: `tenon: This executable was built with ${FLAGS.join(" ")} and needs a fence: no fence by the kernel: ` +
        "this kernel has no Landlock (it came with Linux 5.13)\n",
      code: 2,
    });
    expect(existsSync(join(temp.root, "made.txt"))).toBe(false);
  });

  test("holds the code of a plugin where it starts", async () => {
    await using temp = await tempWorkspace({ "../plugins/writer.ts": WRITER });
    const { stderr, code } = await start(temp, [baked, ...PLUGIN]);
    expect([stderr, code]).toEqual([expect.stringContaining("the system does not permit it"), 1]);
    expect(existsSync(join(temp.root, "made.txt"))).toBe(false);
  });
});
