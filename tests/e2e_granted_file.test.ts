import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, lstat, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { probeFence } from "../core/fence/fence.ts";
import { type Running, runTenon, startTenon, type Way } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a run has its own limit

const { level } = await probeFence();
const FILE = "granted.txt";
const ALONE = ["--allow-write=granted.txt", "call"];
const KEPT =
  "it is read-only, or another file since tenon was started: a file that is granted alone has to stay the same. " +
  "The user can grant its folder instead";

async function ask(running: Running, name: string, input: unknown): Promise<string> {
  const before = (await running.until("")).split("\n").length;
  running.write(`${JSON.stringify({ name, input })}\n`);
  for (const end = Date.now() + 20_000; Date.now() < end; await Bun.sleep(5)) {
    const answers = (await running.until("")).split("\n");
    if (answers.length > before) return JSON.parse(answers[before - 1] ?? "").content;
  }
  throw new Error(`no answer to ${name}: ${await running.until("", "stderr")}`);
}

describe.concurrent.each<Way>(["bun", "deno"])("a file that is granted alone, as %s,", (way) => {
  test("is written and edited in place, and nothing beside it", async () => {
    await using temp = await tempWorkspace({ [FILE]: "one\n", "other.txt": "two\n" });
    await chmod(join(temp.root, FILE), 0o640);
    const before = await lstat(join(temp.root, FILE));
    await using running = await startTenon(way, {
      cwd: temp.root,
      args: ALONE,
      stdin: "open",
      deno: { write: [FILE] },
    });
    await ask(running, "read_file", { path: FILE });
    expect(await ask(running, "edit_file", { path: FILE, old_string: "one", new_string: "a longer line" })).toStartWith(
      "Edited ",
    );
    expect(await readFile(join(temp.root, FILE), "utf8")).toBe("a longer line\n");
    expect(await ask(running, "write_file", { path: FILE, content: "short\n" })).toStartWith("Wrote ");
    expect(await readFile(join(temp.root, FILE), "utf8")).toBe("short\n");
    const { ino, mode } = await lstat(join(temp.root, FILE));
    expect([ino, mode]).toEqual([before.ino, before.mode]);
    await ask(running, "read_file", { path: "other.txt" });
    expect(await ask(running, "write_file", { path: "other.txt", content: "x" })).toBe(
      'Cannot write "other.txt": writing it was not granted by the user',
    );
    await writeFile(join(temp.root, FILE), "theirs\n");
    expect(await ask(running, "edit_file", { path: FILE, old_string: "short", new_string: "s" })).toContain(
      "it was changed since it was read",
    );
    expect(await readFile(join(temp.root, FILE), "utf8")).toBe("theirs\n");
    expect((await readdir(temp.root)).sort()).toEqual([FILE, "other.txt"]);
    running.close();
    await running.ended;
  });

  const paths: [flag: string, shown: string][] = [
    ["--allow-write=new.txt", "--allow-write=new.txt"],
    ["--allow-write=granted.txt,out/new", "--allow-write=out/new"],
    ["--allow-read=nothing", "--allow-read=nothing"],
  ];
  test.each(paths)("has to be there at start: %s is exit code 2", async (flag, shown) => {
    await using temp = await tempWorkspace({ [FILE]: "one\n" });
    const { code, stderr } = await runTenon(way, { cwd: temp.root, args: [flag, "call"], deno: { write: ["."] } });
    expect(stderr).toBe(
      `tenon: ${shown}: nothing is there yet. Make it first, or name the folder that it will be in\n`,
    );
    expect(code).toBe(2);
  });

  test("need not be there when its folder is granted as well", async () => {
    await using temp = await tempWorkspace();
    const args = ["--allow-write=.,new.txt", "call", "write_file", '{"path":"new.txt","content":"x\\n"}'];
    const { code } = await runTenon(way, { cwd: temp.root, args, deno: { write: ["."] } });
    expect([code, await readFile(join(temp.root, "new.txt"), "utf8")]).toEqual([0, "x\n"]);
  });
});

const changes: [what: string, change: (file: string) => Promise<void>][] = [
  ["was replaced", async (file) => {
    await writeFile(`${file}.new`, "one\n");
    await rename(`${file}.new`, file);
  }],
  ["may not be written", (file) => chmod(file, 0o444)],
];
test.skipIf(level !== "kernel").each(changes)(
  "a file that is granted alone and %s meanwhile is refused with the way out",
  async (what, change) => {
    await using temp = await tempWorkspace({ [FILE]: "one\n" });
    await using running = await startTenon("bun", { cwd: temp.root, args: ALONE, stdin: "open" });
    await ask(running, "read_file", { path: FILE });
    await change(join(temp.root, FILE));
    // Behind the fence root is an ordinary user, and the fence itself knows the file that was there.
    const answer = await ask(running, "write_file", { path: FILE, content: "two\n" });
    expect([what, answer]).toEqual([what, `Cannot write "${FILE}": ${KEPT}`]);
    expect(await readFile(join(temp.root, FILE), "utf8")).toBe("one\n");
    running.close();
    await running.ended;
  },
);
