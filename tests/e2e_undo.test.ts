import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { fakeApi, reply } from "./support/fake_api.ts";
import { openTenon, runTenon, SOURCES, type Way, WAYS } from "./support/program.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";
import { filesIn } from "./support/tool_session.ts";

setDefaultTimeout(60_000); // a run has its own limit

const SCOPE = "Only what the built-in file tools changed is taken back, not what commands did";
const PROMPT = "› \x1b[0m\r\x1b[2C";

/** tenon in this workspace, with a state folder beside it that Deno lets it use. */
function runner(way: Way, { root, top }: TempWorkspace) {
  const state = join(top, "state");
  return (args: string[], stdin = "") =>
    runTenon(way, {
      cwd: root,
      args,
      stdin,
      env: { XDG_STATE_HOME: state },
      deno: { read: [".", state, SOURCES], write: [".", state], run: ["bash", "sh"] },
    });
}

const line = (...calls: [name: string, input: unknown][]) =>
  `${JSON.stringify(calls.map(([name, input]) => ({ name, input })))}\n`;

describe.concurrent.each([...WAYS])("tenon undo as %s", (way: Way) => {
  test("takes back what an earlier run changed, and says what it does not", async () => {
    await using temp = await tempWorkspace({ "a.txt": "old\n", "b.txt": "old\n" });
    const run = runner(way, temp);
    const changes = line(
      ["read_file", { path: "a.txt" }],
      ["read_file", { path: "b.txt" }],
      ["edit_file", { path: "a.txt", old_string: "old", new_string: "new" }],
      ["edit_file", { path: "b.txt", old_string: "old", new_string: "new" }],
      ["write_file", { path: "d/c.txt", content: "new\n" }],
      ["bash", { command: "echo > by_bash" }],
    );
    expect(await run(["call", "--allow-write", "--allow-run"], changes)).toMatchObject({ code: 0 });
    await temp.sh("echo mine > b.txt");
    expect(await run(["undo"])).toEqual({
      code: 1,
      stdout: "Removed: d/c.txt\nLeft as it is: b.txt: it was changed since\nTaken back: a.txt\nRemoved: d/\n" +
        `tenon undo --force puts the old content back all the same: what was changed since is lost, and what can never be put back is dropped\n${SCOPE}\n`,
      stderr: "",
    });
    expect(await run(["undo", "--force"])).toEqual({
      code: 0,
      stdout: `Taken back: b.txt; what was changed since is lost\n${SCOPE}\n`,
      stderr: "",
    });
    expect(await filesIn(temp, ["a.txt", "b.txt", "d/c.txt", "by_bash"])).toEqual({
      "a.txt": "old\n",
      "b.txt": "old\n",
      "d/c.txt": null,
      by_bash: "\n",
    });
    expect(await run(["undo"])).toEqual({ code: 1, stdout: `Nothing to take back. ${SCOPE}\n`, stderr: "" });
  });
});

test("/undo in a chat takes back one turn at a time", async () => {
  await using temp = await tempWorkspace({ "a.txt": "0\n" });
  const write = (content: string) => reply({ calls: [{ name: "write_file", input: { path: "b.txt", content } }] });
  const done = reply({ text: "All is done." });
  await using api = await fakeApi([write("1\n"), done, write("2\n"), done]);
  await using pty = await openTenon("bun", {
    cwd: temp.root,
    args: ["--base-url", api.url, "-m", "fake-model", "--allow-write"],
    env: { ANTHROPIC_API_KEY: "sk-test", XDG_STATE_HOME: join(temp.top, "state") },
  });
  async function say(words: string, answer: string) {
    await pty.until(PROMPT);
    pty.mark();
    pty.type(words);
    await Bun.sleep(5);
    pty.type("\r");
    await pty.until(answer);
  }
  await say("go", "All is done.");
  await say("go on", "All is done.");
  await say("/undo everything", "There is no /undo everything");
  await say("/undo", "Taken back: b.txt");
  expect(await temp.workspace.readText("b.txt")).toBe("1\n");
  await say("/undo", "Removed: b.txt");
  await say("/undo", "Nothing to take back");
  expect(await temp.workspace.exists("b.txt")).toBe(false);
});
