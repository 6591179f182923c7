import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { access } from "node:fs/promises";
import { basename, join } from "node:path";
import { bunArguments } from "../build.ts";
import { findPlugins } from "../core/plugins/plugins.ts";
import { flagsOf } from "./support/flags.ts";
import { commandOf, executable, runTenon, SOURCES, TOOLS } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a build starts Bun twice

async function build(cwd: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = Bun.spawn([process.execPath, join(SOURCES, "build.ts"), ...args], {
    cwd,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, stdout, stderr };
}

describe("build.ts", () => {
  test("makes an executable that runs where neither sources nor node_modules are", async () => {
    await using temp = await tempWorkspace();
    await access(await executable());
    const { code, stdout } = await runTenon("executable", { cwd: temp.root, args: ["--version"] });
    const { version } = await Bun.file(join(SOURCES, "package.json")).json();
    expect([code, stdout]).toEqual([0, `${version}\n`]);
  });

  test("takes --outfile from the folder that it is called in, and makes the folders above it", async () => {
    await using temp = await tempWorkspace();
    const outfile = join(temp.root, "made", "here", "tenon");
    expect(await build(temp.root, "--outfile", "made/here/tenon")).toEqual({
      code: 0,
      stdout: `${outfile}\n`,
      stderr: "",
    });
    await access(outfile);
  });

  test("refuses other words with a usage line", async () => {
    await using temp = await tempWorkspace();
    for (const args of [["--outfile"], ["tenon"], ["--outfile", "a", "b"]]) {
      expect(await build(temp.root, ...args)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/^usage: bun build\.ts /m),
      });
    }
  });
});

test("plugins/mod.ts names every plugin of its folder, so that the executable has it", async () => {
  const { files } = await findPlugins(join(SOURCES, "plugins"));
  expect(files.map((file) => basename(file, ".ts"))).toEqual([...TOOLS]);
});

test("README.md has the lines that these tests start the program with", async () => {
  const readme = (await Bun.file(join(SOURCES, "README.md")).text()).replace(/ \\\n +/g, " ").replaceAll('"', "");
  const [, ...bun] = await commandOf("bun", { program: "SRC" });
  const [, ...deno] = await commandOf("deno", { program: "SRC", deno: { net: ["api.anthropic.com"] } });
  expect(readme).toContain(`\nbun ${bun.join(" ")} `);
  expect(readme).toContain(`\ndeno ${deno.join(" ")} `);
});

describe("bunArguments", () => {
  test("lets nothing of the current folder into the executable but package.json", () => {
    const args = bunArguments({ entry: "mod.ts", outfile: "out", flags: flagsOf([]).flags });
    for (const name of ["dotenv", "bunfig", "tsconfig"]) expect(args).toContain(`--no-compile-autoload-${name}`);
    expect(args).not.toContain("--no-compile-autoload-package-json");
  });
});
