import { describe, expect, test } from "bun:test";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Answer, createApproval, type Question } from "../core/permissions/approval.ts";
import { createHosts } from "../core/hosts/hosts.ts";
import type { ToolUseBlock } from "../core/message.ts";
import { grantFor } from "../core/permissions/permissions.ts";
import { checkPlugin, OWN_TIMEOUT_MS } from "../core/plugins/plugins.ts";
import { makePolicy, type Policy, withoutFence } from "../core/permissions/policy.ts";
import type { Loaded } from "../core/hosts/protocol.ts";
import { BUILT_IN, createRegistry } from "../core/registry.ts";
import type { SeenFile } from "../core/tool.ts";
import * as builtin from "../plugins/mod.ts";
import { flagsOf } from "./support/flags.ts";
import { connectInProcess } from "./support/host_in_process.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

type Call = [tool: string, input: unknown];
/** What the user does when asked; a function sees the question, and the world may change meanwhile. */
type Reaction = Answer | ((question: Question) => Answer | Promise<Answer>);

const yes: Answer = { verdict: "once" };
const always: Answer = { verdict: "always" };
const no: Answer = { verdict: "no" };

const PLUGINS = join(import.meta.dir, "fixtures", "plugins");
const FIXTURES = ["proposes_a_file", "writes_without_telling"];

/** The tools behind the question, as the program puts them together; the user reacts by the list. */
async function open({ root }: TempWorkspace, reactions: Reaction[], flags: string[] = [], fenced = true) {
  const asked: Question[] = [];
  const parsed = makePolicy(flagsOf(flags).flags, { root, resolve: (path) => join(root, path) });
  const policy: Policy = fenced ? parsed : withoutFence(parsed);
  const seen = new Map<string, SeenFile>();
  const hosts = createHosts(connectInProcess, seen);
  const approval = createApproval(policy);
  approval.ask = async (question) => {
    asked.push(question);
    const reaction = reactions.shift();
    if (reaction === undefined) throw new Error(`asked once too often: ${JSON.stringify(question)}`);
    return typeof reaction === "function" ? await reaction(question) : reaction;
  };
  const guarded = (loaded: Loaded, source: string, plugins: { builtin: string[] } | { file: string }) => {
    const { definition, permissions } = loaded;
    const host = hosts.open({ plugins, needs: permissions, grant: grantFor(policy, permissions) }, [loaded]);
    return approval.guard({ definition, permissions, source, host });
  };
  // A host for each tool, so that what was read has to travel.
  const own = Object.entries(builtin).map(async ([name, module]) => {
    const { loaded } = await checkPlugin({ ...module }, name, OWN_TIMEOUT_MS);
    return guarded(loaded, BUILT_IN, { builtin: [name] });
  });
  const others = FIXTURES.map(async (name) => {
    const file = join(PLUGINS, `${name}.ts`);
    const [loaded] = await hosts.load({ file });
    if (!loaded) throw new Error(`${name} did not load`);
    return guarded(loaded, file, { file });
  });
  const registry = createRegistry(await Promise.all([...own, ...others]));
  async function batch(...calls: Call[]): Promise<string[]> {
    const blocks = calls.map(([name, input], at): ToolUseBlock => ({ type: "tool_use", id: `${at}`, name, input }));
    const results = new Map();
    for await (const _ of registry.runAll(blocks, results, new AbortController().signal)); // the results are what counts
    return blocks.map(({ id }) => {
      const { content, is_error } = results.get(id);
      return `${is_error ? "error " : ""}${String(content).split("\n")[0]}`;
    });
  }
  return { approval, asked, batch, hosts, seen, call: async (...call: Call) => (await batch(call))[0] };
}

const write = (path: string, content: string): Call => ["write_file", { path, content }];
const edit = (path: string, old_string: string, new_string: string): Call => [
  "edit_file",
  { path, old_string, new_string },
];
const read = (path: string): Call => ["read_file", { path }];
const bash = (command: string): Call => ["bash", { command }];

describe("a call that is asked for", () => {
  test("runs after a yes, and the next one is asked again", async () => {
    await using temp = await tempWorkspace();
    const { asked, call } = await open(temp, [yes, no]);
    expect(await call(...bash("echo one > f; cat f"))).toBe("one");
    expect(await call(...bash("echo two > f"))).toBe("error Not run: the user refused bash. Ask what to do instead");
    expect(await temp.workspace.readText("f")).toBe("one\n");
    expect(asked.map(({ proposal }) => proposal)).toEqual([
      { command: "echo one > f; cat f" },
      { command: "echo two > f" },
    ]);
  });

  test("shows the file behind every link, and its diff", async () => {
    await using temp = await tempWorkspace({ "d/a.txt": "one\ntwo\n" });
    await symlink("d", join(temp.root, "looks_harmless"));
    const { asked, batch } = await open(temp, [yes]);
    const calls = [read("d/a.txt"), edit("looks_harmless/../looks_harmless/a.txt", "one", "1")];
    expect((await batch(...calls))[1]).toStartWith("Edited ");
    expect(asked).toMatchObject([{ tool: "edit_file", plugin: undefined, asked: { work: true, net: [], env: [] } }]);
    expect(asked[0]?.proposal).toEqual({
      path: "d/a.txt",
      diff: "--- d/a.txt\n+++ d/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n",
    });
  });

  const refusals: [Answer, string][] = [
    [no, "error Not run: the user refused bash. Ask what to do instead"],
    [{ verdict: "no", word: " \n" }, "error Not run: the user refused bash. Ask what to do instead"],
    [{ verdict: "no", word: "use npm " }, "error Not run: the user refused bash and says: use npm"],
    [{ verdict: "none" }, "error Not run: the turn was interrupted"],
  ];
  test.each(refusals)("that gets %j does nothing and says so", async (answer, content) => {
    await using temp = await tempWorkspace();
    const { call } = await open(temp, [answer]);
    expect(await call(...bash("echo > f"))).toBe(content);
    expect(await temp.workspace.exists("f")).toBe(false);
  });

  test("that would fail anyway is answered with its own error, and nobody is asked", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const { asked, batch } = await open(temp, []);
    const calls: Call[] = [
      bash(" "),
      ["bash", { cmd: "ls" }],
      edit("a.txt", "one", "two"),
      write("a.txt", "two"),
      write("../a.txt", "two"),
      ["writes_without_telling", { n: "x" }],
    ];
    expect(await batch(...calls)).toEqual([
      "error Cannot call bash: command: it is empty. Give a command",
      expect.stringMatching(/^error Cannot call bash: /),
      'error Cannot edit "a.txt": it was not read in this session. Read it with read_file first',
      expect.stringMatching(/^error Cannot write "a.txt": it exists and was not read whole\./),
      'error Cannot write "../a.txt": it is outside the workspace. Use a path inside it',
      expect.stringMatching(/^error Cannot call writes_without_telling: /),
    ]);
    expect(asked).toEqual([]);
  });

  test("is not run when what it would do changed while the user was asked", async () => {
    await using temp = await tempWorkspace({ "a/f.txt": "a\n", "b/f.txt": "b\n" });
    await symlink("a", join(temp.root, "l"));
    const swap: Reaction = async () => {
      await rm(join(temp.root, "l"));
      await symlink("b", join(temp.root, "l"));
      return always;
    };
    const { approval, batch } = await open(temp, [swap]);
    const [, , answer] = await batch(read("a/f.txt"), read("b/f.txt"), write("l/f.txt", "new\n"));
    expect(answer).toBe(
      "error Not run: what write_file would do has changed while the user was asked. Make the call again",
    );
    expect([await temp.workspace.readText("a/f.txt"), await temp.workspace.readText("b/f.txt")]).toEqual([
      "a\n",
      "b\n",
    ]);
    expect(approval.grants()).toEqual([]);
  });

  test("is answered with its own error when the file changed while the user was asked", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const change: Reaction = async () => {
      await writeFile(join(temp.root, "a.txt"), "one more\n");
      return yes;
    };
    const { batch } = await open(temp, [change]);
    const [, answer] = await batch(read("a.txt"), edit("a.txt", "one", "1"));
    expect(answer).toBe('error Cannot edit "a.txt": it was changed since it was read. Read it again with read_file');
    expect(await temp.workspace.readText("a.txt")).toBe("one more\n");
  });

  test("waits for the calls before it; a refusal stops none of the others", async () => {
    await using temp = await tempWorkspace();
    let inside = 0;
    const alone = (answer: Answer): Reaction => async () => {
      if (++inside > 1) throw new Error("two questions at the same time");
      await Bun.sleep(5);
      inside--;
      return answer;
    };
    const { asked, batch } = await open(temp, [alone(yes), alone(no), alone(yes)]);
    const answers = await batch(bash("echo 1 >> f"), bash("echo 2 >> f"), bash("echo 3 >> f; cat f"));
    expect(answers).toEqual([
      expect.stringMatching(/^\[exit code 0/),
      "error Not run: the user refused bash. Ask what to do instead",
      "1",
    ]);
    expect(asked.length).toBe(3);
    expect(await temp.workspace.readText("f")).toBe("1\n3\n");
  });
});

describe('"always"', () => {
  test("holds for the command to the letter", async () => {
    await using temp = await tempWorkspace();
    const { approval, asked, call } = await open(temp, [always, no, no]);
    for (const command of ["echo 1", "echo 1", "echo 1 ", "echo  1"]) await call(...bash(command));
    expect(asked.map(({ proposal }) => proposal)).toEqual([
      { command: "echo 1" },
      { command: "echo 1 " },
      { command: "echo  1" },
    ]);
    expect(approval.grants()).toEqual(["bash: the command echo 1"]);
  });

  test("holds for the file by its real path, and for the one tool", async () => {
    await using temp = await tempWorkspace({ "a.txt": "1\n", "b.txt": "1\n" });
    await symlink("a.txt", join(temp.root, "l"));
    const { approval, asked, batch } = await open(temp, [always, no, no]);
    await batch(read("a.txt"), read("b.txt"), edit("a.txt", "1", "2"), edit("l", "2", "3"), edit("./a.txt", "3", "4"));
    expect(await temp.workspace.readText("a.txt")).toBe("4\n");
    await batch(edit("b.txt", "1", "2"), write("a.txt", "5\n"));
    expect(asked.map(({ tool, proposal }) => [tool, proposal && "path" in proposal && proposal.path])).toEqual([
      ["edit_file", "a.txt"],
      ["edit_file", "b.txt"],
      ["write_file", "a.txt"],
    ]);
    expect(approval.grants()).toEqual(["edit_file: the file a.txt"]);
  });

  test("is not led to another file by a link that was changed since", async () => {
    await using temp = await tempWorkspace({ "a.txt": "1\n", "b.txt": "1\n" });
    await symlink("a.txt", join(temp.root, "l"));
    const { asked, batch } = await open(temp, [always, no]);
    await batch(read("a.txt"), read("b.txt"), edit("l", "1", "2"));
    await rm(join(temp.root, "l"));
    await symlink("b.txt", join(temp.root, "l"));
    await batch(edit("l", "1", "2"));
    expect(asked.length).toBe(2);
    expect(await temp.workspace.readText("b.txt")).toBe("1\n");
  });

  test("holds for every call of a tool that does not tell what it does", async () => {
    await using temp = await tempWorkspace();
    const { approval, asked, batch } = await open(temp, [always]);
    await batch(["writes_without_telling", { n: 1 }], ["writes_without_telling", { n: 2 }]);
    expect(asked).toMatchObject([{
      plugin: join(PLUGINS, "writes_without_telling.ts"),
      input: { n: 1 },
      proposal: undefined,
    }]);
    expect(approval.grants()).toEqual(["writes_without_telling: every call"]);
  });

  test("tells apart two files whose names are too long to be shown whole", async () => {
    await using temp = await tempWorkspace();
    const folder = `${"d".repeat(120)}/${"e".repeat(120)}`;
    await mkdir(join(temp.root, folder), { recursive: true });
    const { approval, asked, batch } = await open(temp, [always, no]);
    await batch(write(`${folder}/a`, "a\n"), write(`${folder}/b`, "b\n"));
    expect(asked.length).toBe(2);
    expect(approval.grants()[0]).toEndWith("…");
  });

  test("is taken back by its place, all at once, and by nothing else", async () => {
    await using temp = await tempWorkspace();
    const { approval, asked, call } = await open(temp, [always, always, always, no]);
    for (const command of ["echo 1", "echo 2"]) await call(...bash(command));
    for (const place of [0, -1, 3, NaN, 1.5, Infinity]) expect(approval.revoke(place)).toBe(false);
    expect(approval.grants()).toEqual(["bash: the command echo 1", "bash: the command echo 2"]);
    expect(approval.revoke(1)).toBe(true);
    expect(approval.grants()).toEqual(["bash: the command echo 2"]);
    await call(...bash("echo 2"));
    await call(...bash("echo 1"));
    expect(asked.length).toBe(3);
    approval.forget();
    expect(approval.grants()).toEqual([]);
    await call(...bash("echo 2"));
    expect(asked.length).toBe(4);
  });
});

describe("a call that is not asked for", () => {
  const UNTOLD =
    "it cannot be told what this call starts, and --deny-run=ls holds here. Use a command of one program with plain words";
  const rows: [flags: string[], fenced: boolean, call: Call, content: string][] = [
    [["--allow-write"], true, write("a", "a\n"), 'Wrote "a": 2 bytes, 1 line, a new file'],
    [["--allow-write", "--allow-run"], true, bash("echo 1"), "1"],
    [["--allow-write", "--allow-run"], false, bash("echo 1"), "1"],
    [["--allow-write", "--allow-run=echo"], true, bash("echo three"), "three"],
    [["--allow-write", "--allow-run", "--deny-run=ls"], true, bash("echo three"), "three"],
    [
      ["--allow-write", "--allow-run", "--deny-run=ls"],
      true,
      bash("ls"),
      "error Not run: ls is denied here by --deny-run",
    ],
    [["--allow-write", "--allow-run", "--deny-run=ls"], true, bash("echo three; ls"), `error Not run: ${UNTOLD}`],
    [
      ["--allow-write", "--allow-run=echo", "--no-prompt"],
      true,
      bash("ls"),
      "error Not run: run needs --allow-run for more than echo, and nobody can be asked here",
    ],
    [["--deny-write"], true, write("a", "a\n"), "error Not run: write is denied here by --deny-write"],
    [
      ["--no-prompt"],
      true,
      write("a", "a\n"),
      "error Not run: write needs --allow-write, and nobody can be asked here",
    ],
    [
      ["--no-prompt"],
      true,
      bash("echo 1"),
      "error Not run: write and run need --allow-write and --allow-run, and nobody can be asked here",
    ],
    [
      ["--allow-write"],
      false,
      bash("echo 1"),
      "error Not run: run needs tenon's own --allow-run (under Deno: after mod.ts), since nothing confines programs here",
    ],
    [
      [],
      false,
      bash("echo 1"),
      "error Not run: run needs tenon's own --allow-run (under Deno: after mod.ts), since nothing confines programs here",
    ],
    [[], true, read("nothing"), 'error Cannot read "nothing": no such file. See list_files "."'],
  ];
  test.each(rows)("with %j, fence %j: %j", async (flags, fenced, call, content) => {
    await using temp = await tempWorkspace();
    const { asked, batch } = await open(temp, [], flags, fenced);
    expect(await batch(call)).toEqual([content]);
    expect(asked).toEqual([]);
  });

  test("is asked for all the same when --allow-run does not name what it starts, or write was not given", async () => {
    await using temp = await tempWorkspace();
    const named = await open(temp, [no, no], ["--allow-write", "--allow-run=echo"]);
    for (const command of ["echo 1", "ls", "echo 1; ls"]) await named.call(...bash(command));
    expect(named.asked.map(({ proposal }) => proposal)).toEqual([{ command: "ls" }, { command: "echo 1; ls" }]);
    const { asked, call } = await open(temp, [no], ["--allow-run=echo"]);
    await call(...bash("echo 1"));
    expect(asked.length).toBe(1);
  });

  test("is not what a plugin says that it runs", async () => {
    await using temp = await tempWorkspace();
    const approval = createApproval(
      makePolicy(flagsOf(["--allow-run=echo"]).flags, { root: temp.root, resolve: (path) => path }),
    );
    const outcome = { content: "", is_error: false, proposal: { command: "echo 1" } };
    const host = { call: () => Promise.resolve(outcome), preview: () => Promise.resolve(outcome) };
    const definition = { name: "runs", description: "Runs.", input_schema: { type: "object" as const } };
    const tool = { definition, permissions: { run: true }, source: "/p/runs.ts", host };
    const options = { signal: new AbortController().signal, progress: () => {} };
    expect((await approval.guard(tool).host.call("runs", {}, options)).content).toBe(
      "Not run: runs needs the user's word, and nobody can be asked here",
    );
    const own = await approval.guard({ ...tool, source: BUILT_IN }).host.call("runs", {}, options);
    expect(own).toEqual(outcome);
  });

  test("is not for a plugin where a flag denies one program, whatever it says that it runs", async () => {
    const policy = makePolicy(flagsOf(["--allow-run", "--deny-run=rm"]).flags, { root: "/w", resolve: (path) => path });
    const approval = createApproval(policy);
    approval.ask = () => Promise.resolve({ verdict: "always" });
    const outcome = { content: "ran", is_error: false, proposal: { command: "echo 1" } };
    const host = { call: () => Promise.resolve(outcome), preview: () => Promise.resolve(outcome) };
    const definition = { name: "runs", description: "Runs.", input_schema: { type: "object" as const } };
    const tool = approval.guard({ definition, permissions: { run: true }, source: "/p/runs.ts", host });
    const options = { signal: new AbortController().signal, progress: () => {} };
    expect((await tool.host.call("runs", {}, options)).content).toBe(
      "Not run: it cannot be told what this call starts, and --deny-run=rm holds here. " +
        "Use a command of one program with plain words",
    );
  });

  test("is refused where nobody is there to be asked yet", async () => {
    await using temp = await tempWorkspace();
    const { approval, call } = await open(temp, []);
    approval.ask = undefined;
    expect(await call(...bash("echo 1"))).toBe(
      "error Not run: bash needs the user's word, and nobody can be asked here",
    );
  });
});

describe("what was read", () => {
  test("in one host counts in the one that writes, until it is forgotten", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const { batch, seen } = await open(temp, [], ["--allow-write"]);
    expect((await batch(read("a.txt"), edit("a.txt", "one", "two")))[1]).toStartWith("Edited");
    seen.clear();
    expect(await batch(edit("a.txt", "two", "three"))).toEqual([
      'error Cannot edit "a.txt": it was not read in this session. Read it with read_file first',
    ]);
  });

  test("is still known when the hosts were ended in between", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const { batch, hosts } = await open(temp, [], ["--allow-write"]);
    await batch(read("a.txt"));
    hosts.close();
    expect((await batch(edit("a.txt", "one", "two")))[0]).toStartWith("Edited");
    hosts.close();
    expect((await batch(edit("a.txt", "two", "three")))[0]).toStartWith("Edited");
  });

  test("is not what a preview notes", async () => {
    await using temp = await tempWorkspace();
    const { batch, seen } = await open(temp, [no]);
    await batch(["proposes_a_file", { path: "x" }]);
    expect([...seen.keys()]).toEqual([]);
  });
});
