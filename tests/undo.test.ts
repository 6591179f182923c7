import { describe, expect, test } from "bun:test";
import { chmod, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createHosts, HOST_LIMITS } from "../core/hosts/hosts.ts";
import { sha256Of } from "../core/hash.ts";
import type { FileChange } from "../core/hosts/protocol.ts";
import type { ToolUseBlock } from "../core/message.ts";
import { grantFor } from "../core/permissions/permissions.ts";
import { checkPlugin, OWN_TIMEOUT_MS } from "../core/plugins/plugins.ts";
import { makePolicy } from "../core/permissions/policy.ts";
import { BUILT_IN, createRegistry, type Host, type Tool } from "../core/registry.ts";
import { openOwnWorkspace } from "../core/files/workspace.ts";
import { handler as restore } from "../core/undo/restore.ts";
import { createUndo, restorer, restoringGrant, type Undo } from "../core/undo/undo.ts";
import { openUndoStore, undoFolder } from "../core/undo/undo_store.ts";
import * as builtin from "../plugins/mod.ts";
import { flagsOf } from "./support/flags.ts";
import { connectInProcess } from "./support/host_in_process.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";
import { filesIn } from "./support/tool_session.ts";

type Call = [tool: string, input: unknown];

const write = (path: string, content: string): Call => ["write_file", { path, content }];
const edit = (path: string, old_string: string, new_string: string): Call => [
  "edit_file",
  { path, old_string, new_string },
];
const read = (path: string): Call => ["read_file", { path }];

const SCOPE = "Only what the built-in file tools changed is taken back, not what commands did";
const FORCE =
  "undo --force puts the old content back all the same: what was changed since is lost, and what can never be put back is dropped";

const KEPT = "What was there before is still kept: mend what is in the way, and undo again";

const grantOf = (root: string) => ({ root, read: [root], write: [root], denyRead: [], denyWrite: [] });

/** A built-in whose every call makes this change, watched by undo. */
function changing(undo: Undo, change: FileChange): Host {
  const host: Host = { call: () => Promise.resolve({ content: "ok", is_error: false, changes: [change] }) };
  const definition = { name: "w", description: "d", input_schema: {} };
  return undo.guard({ definition, permissions: { write: true }, source: BUILT_IN, host }).host;
}

/** The built-in tools with undo around them; what is kept lies beside the workspace, also for the next one that is opened. */
async function open({ root, top }: TempWorkspace, flags: string[] = ["--allow-write"], connect = connectInProcess) {
  const policy = makePolicy(flagsOf(flags).flags, { root, resolve: (path) => join(root, path) });
  const hosts = createHosts(connect, new Map(), { ...HOST_LIMITS, graceMs: 20 });
  const store = openUndoStore(undoFolder(join(top, "state"), root));
  const undo = createUndo(store, restorer(hosts, restoringGrant(policy, [])), () => Promise.resolve());
  const tools = Object.entries(builtin).map(async ([name, module]): Promise<Tool> => {
    const { loaded } = await checkPlugin({ ...module }, name, OWN_TIMEOUT_MS);
    const { definition, permissions } = loaded;
    const grant = grantFor(policy, permissions);
    const host = hosts.open({ plugins: { builtin: [name] }, needs: permissions, grant }, [loaded]);
    return undo.guard({ definition, permissions, source: BUILT_IN, host });
  });
  const registry = createRegistry(await Promise.all(tools));
  const { signal } = new AbortController();
  return {
    hosts,
    undo,
    async turn(...calls: Call[]) {
      undo.newTurn();
      const blocks = calls.map(([name, input], at): ToolUseBlock => ({ type: "tool_use", id: `${at}`, name, input }));
      const results = new Map();
      const told: string[] = [];
      for await (const event of registry.runAll(blocks, results, signal)) {
        if (event.type === "warning") told.push(event.text);
      }
      for (const { content, is_error } of results.values()) if (is_error) throw new Error(content);
      return told;
    },
    takeBack: async (force = false) => (await undo.takeBack({ force, forceWords: "undo --force", signal })).lines,
  };
}

describe("takeBack", () => {
  test("puts back what was changed, byte for byte, and removes what was made", async () => {
    const old = "\ufeffone\r\ntwo\r\n\u{1f600} no end";
    await using temp = await tempWorkspace({ "d/a.txt": old, "b.txt": "b\n" });
    await chmod(join(temp.root, "d/a.txt"), 0o741);
    const { turn, takeBack } = await open(temp);
    await turn(read("d/a.txt"), read("b.txt"));
    await turn(
      ...[edit("d/a.txt", "one", "1"), edit("d/a.txt", "two", "2"), write("b.txt", "")],
      ...[write("new/c.txt", "c\n"), edit("new/c.txt", "c", "d")],
    );
    const lines = ["Removed: new/c.txt", "Taken back: b.txt", "Taken back: d/a.txt", "Removed: new/", SCOPE];
    expect(await takeBack()).toEqual(lines);
    expect(await filesIn(temp, ["d/a.txt", "b.txt", "new/c.txt"])).toEqual({
      "d/a.txt": old,
      "b.txt": "b\n",
      "new/c.txt": null,
    });
    expect((await stat(join(temp.root, "d/a.txt"))).mode & 0o777).toBe(0o741);
    expect(await takeBack()).toEqual([`Nothing to take back. ${SCOPE}`]);
  });

  test("goes back a turn at a time, over turns that changed nothing, and after a new start", async () => {
    await using temp = await tempWorkspace({ "a.txt": "0\n" });
    const first = await open(temp);
    await first.turn(read("a.txt"));
    await first.turn(edit("a.txt", "0", "1"));
    await first.turn(read("a.txt"), ["bash", { command: "echo x > by_bash" }]);
    await first.turn(edit("a.txt", "1", "2"));
    first.hosts.close();
    const second = await open(temp);
    expect(await second.takeBack()).toEqual(["Taken back: a.txt", SCOPE]);
    expect(await temp.workspace.readText("a.txt")).toBe("1\n");
    expect(await second.takeBack()).toEqual(["Taken back: a.txt", SCOPE]);
    expect(await temp.workspace.readText("a.txt")).toBe("0\n");
    expect(await temp.workspace.exists("by_bash")).toBe(true);
  });

  test("knows only its own workspace", async () => {
    await using temp = await tempWorkspace({ "a.txt": "0\n" });
    await (await open(temp)).turn(write("b.txt", "b\n"));
    await mkdir(join(temp.top, "other"));
    const other = await open({ ...temp, root: join(temp.top, "other") });
    expect(await other.takeBack()).toEqual([`Nothing to take back. ${SCOPE}`]);
  });

  const changed: [what: string, change: (root: string) => Promise<unknown>, problem: string][] = [
    ["was changed", (root) => writeFile(join(root, "d/a.txt"), "mine\n"), "it was changed since"],
    ["is gone", (root) => rm(join(root, "d/a.txt")), "it is no longer there"],
    ["is a folder", async (root) => {
      await rm(join(root, "d/a.txt"));
      await mkdir(join(root, "d/a.txt"));
    }, "it is a directory. Use list_files"],
    ["is a link", async (root) => {
      await rename(join(root, "d/a.txt"), join(root, "d/real"));
      await symlink("real", join(root, "d/a.txt"));
    }, "a part of its path is a link now"],
    ["lies in a folder that is a link", async (root) => {
      await rename(join(root, "d"), join(root, "e"));
      await symlink("e", join(root, "d"));
    }, "a part of its path is a link now"],
    ["leads outside", async (root) => {
      await rename(join(root, "d"), join(root, "../outside"));
      await symlink("../outside", join(root, "d"));
    }, "it is outside the workspace. Use a path inside it"],
  ];
  test.each(changed)("leaves a file that %s since, and takes back the others", async (_what, change, problem) => {
    await using temp = await tempWorkspace({ "d/a.txt": "old\n", "b.txt": "old\n" });
    const { turn, takeBack } = await open(temp);
    await turn(read("d/a.txt"), edit("d/a.txt", "old", "new"), write("c.txt", "new\n"));
    await change(temp.root);
    expect(await takeBack()).toEqual(["Removed: c.txt", `Left as it is: d/a.txt: ${problem}`, FORCE, SCOPE]);
    expect(await takeBack()).toEqual([`Left as it is: d/a.txt: ${problem}`, FORCE, SCOPE]);
    const outside = await readFile(join(temp.top, "outside/a.txt"), "utf8").catch(() => "new\n");
    expect(outside).toBe("new\n");
  });

  test("leaves a file to which a command wrote between two changes of the turn, unless forced", async () => {
    await using temp = await tempWorkspace({ "a.txt": "old\n" });
    const { turn, takeBack } = await open(temp);
    await turn(
      ...[read("a.txt"), edit("a.txt", "old", "new"), write("b.txt", "new\n"), write("c.txt", "new\n")],
      ["bash", { command: "echo mine >> a.txt; echo mine >> b.txt; rm c.txt" }],
      ...[read("a.txt"), edit("a.txt", "new", "newer"), read("b.txt"), edit("b.txt", "new", "newer")],
      write("c.txt", "newer\n"),
    );
    const problem = "it was changed by something else between two changes of that turn";
    const left = ["b.txt", "a.txt"].map((name) => `Left as it is: ${name}: ${problem}`);
    expect(await takeBack()).toEqual(["Removed: c.txt", ...left, FORCE, SCOPE]);
    expect(await filesIn(temp, ["a.txt", "b.txt"])).toEqual({ "a.txt": "newer\nmine\n", "b.txt": "newer\nmine\n" });
    const lost = "; what was changed since is lost";
    expect(await takeBack(true)).toEqual([`Removed: b.txt${lost}`, `Taken back: a.txt${lost}`, SCOPE]);
    expect(await temp.workspace.readText("a.txt")).toBe("old\n");
  });

  test("with force takes back what was changed or removed since, and no more", async () => {
    await using temp = await tempWorkspace({ "a.txt": "old\n", "b.txt": "old\n" });
    const { turn, takeBack } = await open(temp);
    await turn(read("a.txt"), read("b.txt"));
    await turn(edit("a.txt", "old", "new"), edit("b.txt", "old", "new"), write("c.txt", "new\n"));
    await temp.sh("echo mine > a.txt; rm b.txt; echo mine > c.txt");
    const lost = "; what was changed since is lost";
    const lines = [`Removed: c.txt${lost}`, "Taken back: b.txt", `Taken back: a.txt${lost}`, SCOPE];
    expect(await takeBack(true)).toEqual(lines);
    expect(await filesIn(temp, ["a.txt", "b.txt", "c.txt"])).toEqual({
      "a.txt": "old\n",
      "b.txt": "old\n",
      "c.txt": null,
    });
  });

  test.each(changed.slice(2))("with force forgets a file that %s", async (_what, change, problem) => {
    await using temp = await tempWorkspace({ "d/a.txt": "old\n" });
    const { turn, takeBack } = await open(temp);
    await turn(read("d/a.txt"), edit("d/a.txt", "old", "new"));
    await change(temp.root);
    expect(await takeBack(true)).toEqual([`Left as it is: d/a.txt: ${problem}`, SCOPE]);
    expect(await takeBack()).toEqual([`Nothing to take back. ${SCOPE}`]);
  });

  test("with force forgets a file whose path reads like the end of one", async () => {
    await using temp = await tempWorkspace();
    const { turn, takeBack } = await open(temp);
    await turn(write('a": b', "new"));
    await temp.sh("rm 'a\": b'; mkdir 'a\": b'");
    expect(await takeBack(true)).toEqual(['Left as it is: a": b: it is a directory. Use list_files', SCOPE]);
    expect(await takeBack()).toEqual([`Nothing to take back. ${SCOPE}`]);
  });

  test("with force keeps what may be put back another time", async () => {
    await using temp = await tempWorkspace({ "a.txt": "old\n" });
    const { turn } = await open(temp);
    await turn(read("a.txt"), edit("a.txt", "old", "new"));
    const denied = await open(temp, ["--deny-write"]);
    const left = "Left as it is: a.txt: writing it was not granted by the user";
    expect(await denied.takeBack(true)).toEqual([left, KEPT, SCOPE]);
    expect(await (await open(temp)).takeBack()).toEqual(["Taken back: a.txt", SCOPE]);
    expect(await temp.workspace.readText("a.txt")).toBe("old\n");
  });

  test("with force keeps what cannot be read from the store, until it can", async () => {
    await using temp = await tempWorkspace({ "a.txt": "old\n" });
    const { turn, takeBack } = await open(temp);
    await turn(read("a.txt"), edit("a.txt", "old", "new"));
    const kept = join(undoFolder(join(temp.top, "state"), temp.root) ?? "", "contents", sha256Of("old\n"));
    await rm(kept);
    await mkdir(kept);
    expect(await takeBack(true)).toEqual(["Left as it is: a.txt: its old content cannot be read now", KEPT, SCOPE]);
    await rm(kept, { recursive: true });
    await writeFile(kept, "old\n");
    expect(await takeBack(true)).toEqual(["Taken back: a.txt", SCOPE]);
  });

  test("puts back content of every kind", async () => {
    const contents = [[], [0], [0xff, 0xfe, 0x61], [0xef, 0xbb, 0xbf], [0xc3, 0x28], [
      0x89,
      0x50,
      0x4e,
      0x47,
      0,
      0x0d,
      0x0a,
    ]];
    await using temp = await tempWorkspace({ "a.bin": "new\n" });
    const { hosts, undo, takeBack } = await open(temp);
    for (const bytes of contents) {
      await writeFile(join(temp.root, "a.bin"), "new\n");
      const change = { path: "a.bin", before: Buffer.from(bytes).toString("base64"), after: sha256Of("new\n") };
      await changing(undo, change).call("w", {}, { signal: new AbortController().signal, progress() {} });
      expect(await takeBack()).toEqual(["Taken back: a.bin", SCOPE]);
      expect([...await readFile(join(temp.root, "a.bin"))]).toEqual(bytes);
    }
    hosts.close();
  });

  const folders: [what: string, between: string, lines: string[], left: string][] = [
    ["removes folders that were made", "true", ["Removed: n/m/a.txt", "Removed: n/m/", "Removed: n/"], "d"],
    ["whose file is gone", "rm n/m/a.txt", ["Removed: n/m/a.txt", "Removed: n/m/", "Removed: n/"], "d"],
    ["that are gone", "rm -r n", ["Removed: n/m/a.txt"], "d"],
    ["leaves one that has more in it", "echo > n/b.txt", ["Removed: n/m/a.txt", "Removed: n/m/"], "d n n/b.txt"],
    ["leaves one that is a link", "rm -r n/m; mkdir k; ln -s ../k n/m", [
      "Left as it is: n/m/a.txt: a part of its path is a link now",
      FORCE,
    ], "d k n n/m"],
    ["leaves one that is a file", "rm -r n; echo > n", [
      'Left as it is: n/m/a.txt: "n" is a file, not a folder',
      FORCE,
    ], "d n"],
  ];
  test.each(folders)("%s", async (_what, between, lines, left) => {
    await using temp = await tempWorkspace();
    await temp.sh("mkdir d");
    const { turn, takeBack } = await open(temp);
    await turn(write("n/m/a.txt", "new\n"), write("d/a.txt", "new\n"));
    await temp.sh(between);
    expect(await takeBack()).toEqual(["Removed: d/a.txt", ...lines, SCOPE]);
    const find = Bun.spawnSync(["find", ".", "-mindepth", "1"], { cwd: temp.root }).stdout.toString();
    expect(find.trim().split("\n").map((path) => path.slice(2)).sort().join(" ")).toBe(left);
  });

  test("removes a folder only with the turn that made it, and only when all of it is taken back", async () => {
    await using temp = await tempWorkspace();
    const { turn, takeBack } = await open(temp);
    await turn(write("n/a.txt", "a\n"), write("n/b.txt", "b\n"));
    await turn(write("n/c.txt", "c\n"));
    expect(await takeBack()).toEqual(["Removed: n/c.txt", SCOPE]);
    await temp.sh("echo mine > n/b.txt");
    expect(await takeBack()).toEqual([
      "Left as it is: n/b.txt: it was changed since",
      "Removed: n/a.txt",
      FORCE,
      SCOPE,
    ]);
    const lost = "Removed: n/b.txt; what was changed since is lost";
    expect(await takeBack(true)).toEqual([lost, "Removed: n/", SCOPE]);
  });

  test("gives a file that is gone the mode that it had, and leaves that of one that is there", async () => {
    await using temp = await tempWorkspace({ "a.sh": "old\n", "b.sh": "old\n" });
    for (const name of ["a.sh", "b.sh"]) await chmod(join(temp.root, name), 0o741);
    const { turn, takeBack } = await open(temp);
    await turn(read("a.sh"), read("b.sh"));
    await turn(edit("a.sh", "old", "new"), edit("b.sh", "old", "new"));
    await temp.sh("rm a.sh; chmod 604 b.sh");
    await takeBack(true);
    const modes = await Promise.all(
      ["a.sh", "b.sh"].map(async (name) => (await stat(join(temp.root, name))).mode & 0o777),
    );
    expect(modes).toEqual([0o741, 0o604]);
  });

  test("leaves what comes between its look and its write, also with force", async () => {
    await using temp = await tempWorkspace({ "a.txt": "old\n" });
    const { turn } = await open(temp);
    await turn(read("a.txt"), edit("a.txt", "old", "new"));
    const context = { ...temp.context, workspace: await openOwnWorkspace(grantOf(temp.root)) };
    context.workspace.writeBytes = async (...write) => {
      await writeFile(join(temp.root, "a.txt"), "mine\n");
      await (await openOwnWorkspace(grantOf(temp.root))).writeBytes(...write);
    };
    const restored = { path: "a.txt", content: "", after: sha256Of("new\n"), mixed: false, force: true };
    expect(await restore(restored, context).catch(String)).toContain("it was changed since");
    expect(await temp.workspace.readText("a.txt")).toBe("mine\n");
  });

  test("takes the time that a large file needs", async () => {
    await using temp = await tempWorkspace({ "a.txt": "old\n" });
    const { turn } = await open(temp);
    await turn(read("a.txt"), edit("a.txt", "old", "new"));
    const { takeBack } = await open(temp, [], () => {
      const connection = connectInProcess();
      const late = (handle: (message: unknown) => void) => (message: unknown) => void setTimeout(handle, 100, message);
      return { ...connection, receive: (handle) => connection.receive(late(handle)) };
    });
    expect(await takeBack()).toEqual(["Taken back: a.txt", SCOPE]);
  });

  test("can be done again when it was cut short", async () => {
    await using temp = await tempWorkspace({ "a.txt": "old\n" });
    const { turn, takeBack } = await open(temp);
    await turn(read("a.txt"), edit("a.txt", "old", "new"), write("c.txt", "new\n"));
    await temp.sh("echo old > a.txt; rm c.txt"); // as it is after all was put back, and before that was noted
    expect(await takeBack()).toEqual(["Removed: c.txt", "Taken back: a.txt", SCOPE]);
  });

  test("works where writing is asked for, and not where it is denied", async () => {
    await using temp = await tempWorkspace();
    await (await open(temp)).turn(write("a.txt", "new\n"));
    expect(await (await open(temp, ["--deny-write"])).takeBack()).toEqual([
      "Left as it is: a.txt: writing it was not granted by the user",
      FORCE,
      SCOPE,
    ]);
    expect(await (await open(temp, ["--no-prompt"])).takeBack()).toEqual(["Removed: a.txt", SCOPE]);
  });

  test.skipIf(process.getuid?.() === 0)("leaves a file in a folder that may not be written", async () => {
    await using temp = await tempWorkspace({ "d/a.txt": "old\n" });
    const { turn, takeBack } = await open(temp);
    await turn(read("d/a.txt"), edit("d/a.txt", "old", "new"));
    await chmod(join(temp.root, "d"), 0o500);
    expect((await takeBack())[0]).toBe("Left as it is: d/a.txt: the system does not permit it");
    await chmod(join(temp.root, "d"), 0o700);
  });

  test("says of a file over 10 MB that its old content was not kept, once when it is changed, too", async () => {
    await using temp = await tempWorkspace({ "big.txt": `old${"x".repeat(10_000_000)}` });
    const { turn, takeBack } = await open(temp);
    expect(await turn(read("big.txt"), edit("big.txt", "old", "new"), edit("big.txt", "new", "newer"))).toEqual([
      "The old content of big.txt is over 10 MB and is not kept: undo will not know of it",
    ]);
    expect((await takeBack())[0]).toBe("Left as it is: big.txt: its old content was not kept");
  });
});

describe("what is kept", () => {
  test("is private, and nothing of it is left once it was taken back", async () => {
    await using temp = await tempWorkspace({ "a.txt": "old\n" });
    const { turn, takeBack } = await open(temp);
    await turn(read("a.txt"), edit("a.txt", "old", "new"));
    const modes = Bun.spawnSync(["find", join(temp.top, "state"), "-printf", "%y%m "]).stdout.toString();
    expect(modes).toMatch(/^(?:d700 |f600 )+$/);
    await takeBack();
    const files = Bun.spawnSync(["find", join(temp.top, "state"), "-type", "f"]).stdout.toString();
    expect(files.trim().split("/").at(-1)).toBe("turns.json");
  });

  test("is never what a plugin says", async () => {
    const forged: Host = {
      call: () =>
        Promise.resolve({
          content: "",
          is_error: false,
          changes: [{ path: "a", before: null, after: "0".repeat(64) }],
        }),
    };
    await using temp = await tempWorkspace();
    const { undo, takeBack } = await open(temp);
    const definition = { name: "p", description: "d", input_schema: {} };
    const tool: Tool = { definition, permissions: { write: true }, source: "/p.ts", host: forged };
    expect(undo.guard(tool)).toBe(tool);
    expect(await takeBack()).toEqual([`Nothing to take back. ${SCOPE}`]);
  });

  test("is missed once, where it cannot be kept, and the calls go on", async () => {
    await using temp = await tempWorkspace();
    await writeFile(join(temp.top, "state"), "no folder");
    const { undo } = await open(temp);
    const guarded = changing(undo, { path: "a", before: null, after: "0".repeat(64) });
    const told: string[] = [];
    const options = { signal: new AbortController().signal, progress() {}, warn: (text: string) => told.push(text) };
    for (const _ of [1, 2]) expect(await guarded.call("w", {}, options)).toMatchObject({ content: "ok" });
    expect(told).toEqual(["The old content of a could not be kept: undo will not know of it"]);
  });
});
