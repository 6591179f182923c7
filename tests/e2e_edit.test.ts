import { describe, expect, test } from "bun:test";
import { link, mkdir, readdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Outcome, runTenon, type Way, WAYS } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";
import { filesIn } from "./support/tool_session.ts";

const deno = { write: ["."] };

/** `error`, where it is one, and the first line of each answer. */
function answersIn({ stdout }: Outcome): string[] {
  return stdout.trimEnd().split("\n").map((line) => {
    const { content, is_error } = JSON.parse(line);
    return `${is_error ? "error " : ""}${content.split("\n")[0]}`;
  });
}

const line = (...calls: [name: string, input: unknown][]): string => {
  const named = calls.map(([name, input]) => ({ name, input }));
  return JSON.stringify(named.length === 1 ? named[0] : named) + "\n";
};

describe.each([...WAYS])("tenon call --allow-write as %s", (way: Way) => {
  test("keeps in mind what was read, over hosts and lines, and stays in the workspace", async () => {
    await using temp = await tempWorkspace({ "d/a.txt": "one\r\ntwo\r\n" });
    await mkdir(join(temp.top, "outside"));
    await writeFile(join(temp.top, "outside/o.txt"), "OUT\n");
    await symlink("d/a.txt", join(temp.root, "l"));
    await symlink("../outside", join(temp.root, "out"));
    await writeFile(join(temp.root, "d/.tenon-00ff.tmp"), "left by a crash");
    await utimes(join(temp.root, "d/.tenon-00ff.tmp"), 1, 1);
    const edit = (path: string, old_string: string, new_string: string): [string, unknown] => [
      "edit_file",
      { path, old_string, new_string },
    ];
    const outcome = await runTenon(way, {
      cwd: temp.root,
      args: ["call", "--allow-write"],
      deno,
      stdin: line(edit("d/a.txt", "one", "1")) +
        line(["read_file", { path: "l" }]) +
        line(edit("d/a.txt", "one", "1"), edit("l", "two", "2"), edit("d/../d/a.txt", "1\n2", "1\n1.5\n2")) +
        line(["write_file", { path: "new/f.txt", content: "x\n" }]) +
        line(edit("new/f.txt", "x", "y")) +
        line(["write_file", { path: "out/o.txt", content: "PWN\n" }]),
    });
    expect(answersIn(outcome)).toEqual([
      'error Cannot edit "d/a.txt": it was not read in this session. Read it with read_file first',
      "     1\tone",
      'Edited "d/a.txt": 1 place, line 1',
      'Edited "l": 1 place, line 2',
      'Edited "d/../d/a.txt": 1 place, line 2',
      'Wrote "new/f.txt": 2 bytes, 1 line, a new file',
      'Edited "new/f.txt": 1 place, line 1',
      'error Cannot write "out/o.txt": it is outside the workspace. Use a path inside it',
    ]);
    expect(await filesIn(temp, ["d/a.txt", "new/f.txt", "../outside/o.txt"])).toEqual({
      "d/a.txt": "1\r\n1.5\r\n2\r\n",
      "new/f.txt": "y\n",
      "../outside/o.txt": "OUT\n",
    });
    expect(await readdir(join(temp.root, "d"))).toEqual(["a.txt"]);
    expect(outcome.code).toBe(1);
  });

  test("adds up the parts that were read, and tells that a file had another name", async () => {
    const numbers = Array.from({ length: 2310 }, (_, at) => `${at + 1}\n`).join("");
    await using temp = await tempWorkspace({ "n.txt": numbers });
    await link(join(temp.root, "n.txt"), join(temp.top, "elsewhere.txt"));
    const outcome = await runTenon(way, {
      cwd: temp.root,
      args: ["call", "--allow-write"],
      deno,
      stdin: line(["read_file", { path: "n.txt", limit: 2000 }]) +
        line(["write_file", { path: "n.txt", content: "x\n" }]) +
        line(["read_file", { path: "n.txt", offset: 2001 }]) +
        line(["write_file", { path: "n.txt", content: "x\n" }]),
    });
    const [, early, , last] = outcome.stdout.trimEnd().split("\n").map((text) => JSON.parse(text).content);
    expect(early).toStartWith(
      'Cannot write "n.txt": it exists and was not read whole: lines 2001–2310 were not shown.',
    );
    expect(last).toBe(
      'Wrote "n.txt": 2 bytes, 1 line, in place of the old content\n' +
        "[the file had 2 names (hard links): only this one has the new content]",
    );
    expect(await filesIn(temp, ["n.txt", "../elsewhere.txt"])).toEqual({ "n.txt": "x\n", "../elsewhere.txt": numbers });
  });

  test("changes nothing without the flag", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const stdin = line(["read_file", { path: "a.txt" }]) +
      line(["edit_file", { path: "a.txt", old_string: "one", new_string: "1" }]);
    const outcome = await runTenon(way, { cwd: temp.root, args: ["call"], stdin });
    expect(answersIn(outcome)[1]).toStartWith("error Not run: write needs ");
    expect(await filesIn(temp, ["a.txt"])).toEqual({ "a.txt": "one\n" });
  });
});
