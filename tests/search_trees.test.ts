import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { lstat, mkdir, symlink, writeFile } from "node:fs/promises";
import process from "node:process";
import fc from "fast-check";
import { dirname, join } from "../core/path.ts";
import { handler as glob } from "../plugins/glob.ts";
import { handler as search } from "../plugins/search_code.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

/** Files with a line `needle`, links, and .gitignore files, by path. */
interface Tree {
  files: string[];
  links: string[];
  rules: { folder: string; lines: string[] }[];
}

const name = fc.constantFrom("a", "a", "b", "b", ".d", "x.log", "x.log", "y.txt", "z z", "[q]", "#h", "!i");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const folder = fc.array(fc.constantFrom("a", "b", ".d"), { maxLength: 2 }).map((names) => names.join("/"));
const part = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "b", "b", "x.log", "*.log") },
  { weight: 1, arbitrary: fc.constantFrom(".d", "?", "[ab]", "*", "**", "\\[q\\]", "z z") },
);
const rule = fc.tuple(
  fc.constantFrom("", "!"),
  fc.constantFrom("", "", "", "/"),
  fc.array(part, { minLength: 1, maxLength: 2, size: "xsmall" }).map((parts) => parts.join("/")),
  fc.constantFrom("", "", "", "/"),
).map((pieces) => pieces.join(""));
const line = fc.oneof(
  { weight: 9, arbitrary: rule },
  fc.constantFrom("", "# a", "\\#h", "\\!i", "a ", "a\\ ", "x.log\r"),
);
const tree: fc.Arbitrary<Tree> = fc.record({
  files: fc.array(path, { minLength: 8, maxLength: 20 }),
  links: fc.array(path, { maxLength: 2 }),
  rules: fc.array(fc.record({ folder, lines: fc.array(line, { minLength: 1, maxLength: 4 }) }), {
    minLength: 3,
    maxLength: 5,
  }),
});

/** Writes what of the tree can be written: a path below a file cannot. */
async function plant(temp: TempWorkspace, { files, links, rules }: Tree): Promise<void> {
  const write = async (path: string, act: (path: string) => Promise<void>): Promise<void> => {
    await mkdir(dirname(join(temp.root, path)), { recursive: true }).then(() => act(join(temp.root, path))).catch(
      () => {},
    );
  };
  for (const { folder, lines } of rules) {
    await write(`${folder}/.gitignore`, (path) => writeFile(path, `${lines.join("\n")}\n`));
  }
  for (const file of files) await write(file, (path) => writeFile(path, "needle\n", { flag: "wx" }));
  for (const link of links) await write(link, (path) => symlink("a", path));
}

async function globbed(temp: TempWorkspace): Promise<string[]> {
  const text = String(await glob({ pattern: "**" }, temp.context));
  return text.split("\n").filter((line) => !/^\[.*\]$|^no file matches/.test(line) || line.startsWith("[q]"));
}

async function searched(temp: TempWorkspace): Promise<string[]> {
  const text = String(await search({ pattern: "needle" }, temp.context));
  return text.split("\n").filter((line) => line.endsWith(": needle")).map((line) => line.replace(/:1: needle$/, ""));
}

const ENV = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  XDG_CONFIG_HOME: "/nonexistent",
};

function lines(command: string, args: string[], cwd: string): string[] {
  try {
    const out = execFileSync(command, args, { cwd, env: ENV, stdio: ["ignore", "pipe", "ignore"] }).toString();
    return out.split("\0").slice(0, -1);
  } catch (error) {
    if ((error as { status?: number }).status === 1) return []; // rg: nothing was found
    throw error;
  }
}

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const isRegular = async (temp: TempWorkspace, path: string) => (await lstat(join(temp.root, path))).isFile();

describe("in a tree with any .gitignore files", () => {
  test("glob finds the files that git would add, and search the regular ones of them", async () => {
    await fc.assert(
      fc.asyncProperty(tree, async (tree) => {
        await using temp = await tempWorkspace();
        await plant(temp, tree);
        lines("git", ["init", "-q", "--template="], temp.root);
        const added = lines("git", ["ls-files", "-co", "-z", "--exclude-standard"], temp.root).sort();
        expect((await globbed(temp)).sort()).toEqual(added);
        const regular = [];
        for (const path of added) if (await isRegular(temp, path)) regular.push(path);
        const hits = regular.filter((path) => !path.endsWith(".gitignore"));
        expect((await searched(temp)).sort()).toEqual(hits);
      }),
      { numRuns: 50 },
    );
  }, 30_000);

  // Where rg is not installed this says so: it is counted as skipped.
  test.skipIf(!isInstalled("rg"))("search finds what rg finds", async () => {
    const flags = ["--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-parent", "--no-messages"];
    await fc.assert(
      fc.asyncProperty(tree, async (tree) => {
        await using temp = await tempWorkspace();
        await plant(temp, tree);
        const found = lines("rg", [...flags, "-l", "--null", "needle", "."], temp.root);
        expect((await searched(temp)).sort()).toEqual(found.map((path) => path.replace(/^\.\//, "")).sort());
      }),
      { numRuns: 50 },
    );
  }, 30_000);
});
