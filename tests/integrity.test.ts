import { describe, expect, test } from "bun:test";
import { watchIntegrity } from "../core/files/integrity.ts";
import { BUILT_IN, type CallOptions, createRegistry, type Host, type Tool } from "../core/registry.ts";
import type { Permissions } from "../core/tool.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

const RUN: Permissions = { read: true, write: true, run: true };
const WRITE: Permissions = { read: true, write: true };

/** A tool that runs a command in the workspace, held by nothing, as a plugin with `permissions`. */
function shell(temp: TempWorkspace, permissions = RUN, source = BUILT_IN): Tool {
  const host: Host = {
    async call(_tool, input, _options) {
      await temp.sh((input as { command: string }).command);
      return { content: "done", is_error: false };
    },
  };
  return { definition: { name: "shell", description: "d", input_schema: {} }, permissions, source, host };
}

/** What the user is warned of. */
async function warnings(temp: TempWorkspace, command: string, tool = shell(temp)): Promise<string[]> {
  const told: string[] = [];
  const options: CallOptions = { signal: new AbortController().signal, progress() {}, warn: (text) => told.push(text) };
  const outcome = await watchIntegrity(tool, [temp.root]).host.call("shell", { command }, options);
  expect(outcome).toEqual({ content: "done", is_error: false });
  return told;
}

const said = (what: string) => [`shell changed what other programs run: ${what}`];
const GIT = "mkdir -p .git/hooks; echo '[core]' > .git/config";

describe("watchIntegrity", () => {
  const reported: [what: string, setup: string, command: string, said: string][] = [
    ["a hook of git (PLUG-13)", GIT, "echo x > .git/hooks/post-checkout", ".git/hooks/post-checkout (new)"],
    [
      "a hook that may be run now",
      `${GIT}; echo x > .git/hooks/pre-commit; chmod 644 .git/hooks/pre-commit`,
      "chmod +x .git/hooks/pre-commit",
      ".git/hooks/pre-commit",
    ],
    [
      "a large hook that may be run now",
      `${GIT}; truncate -s 2M .git/hooks/pre-commit; chmod 644 .git/hooks/pre-commit`,
      "chmod +x .git/hooks/pre-commit",
      ".git/hooks/pre-commit",
    ],
    ["git's settings", GIT, "echo '[core] fsmonitor = ./x' > .git/config", ".git/config"],
    [
      "git's folder that becomes a file",
      GIT,
      "rm -r .git; echo 'gitdir: ../x' > .git",
      ".git (new), .git/config (gone)",
    ],
    ["git's folder that becomes a link", GIT, "mv .git g; ln -s g .git", ".git (new), .git/config (gone)"],
    ["a new .envrc", "true", "echo x > .envrc", ".envrc (new)"],
    ["one that is gone", "echo x > .envrc", "rm .envrc", ".envrc (gone)"],
    ["one that leads elsewhere now", "echo x > .envrc; echo x > f", "ln -sf f .envrc", ".envrc"],
    ["one that is a pipe now", "echo x > .envrc", "rm .envrc; mkfifo .envrc", ".envrc"],
    ["a large one", "truncate -s 2M .mcp.json", "truncate -s 3M .mcp.json", ".mcp.json"],
    [
      "scripts",
      `echo '{"scripts":{"a":"b"}}' > package.json`,
      `echo '{"scripts":{"a":"c"}}' > package.json`,
      "package.json",
    ],
    ["what is no package.json", "echo '{' > package.json", "echo '{{' > package.json", "package.json"],
    [
      "each of several (TRUST-15)",
      "true",
      "mkdir .vscode .claude .cursor .husky; for f in .vscode/tasks.json .claude/settings.json .cursor/mcp.json .husky/pre-push .mcp.json; " +
      "do echo '{}' > $f; done",
      ".claude/settings.json (new), .cursor/mcp.json (new), .husky/pre-push (new), .mcp.json (new), .vscode/tasks.json (new)",
    ],
    [
      "the first of many",
      "mkdir .vscode",
      "for i in 0 1 2 3 4 5 6 7 8 9; do echo > .vscode/$i; done",
      `${[0, 1, 2, 3, 4, 5, 6, 7].map((n) => `.vscode/${n} (new)`).join(", ")} and 2 more`,
    ],
    [
      "a name without its escapes",
      "mkdir .vscode",
      "echo > .vscode/$(printf 'a\\033[2Jb')",
      ".vscode/a\\u{1b}[2Jb (new)",
    ],
  ];
  test.each(reported)("reports %s", async (_what, setup, command, what) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    expect(await warnings(temp, command)).toEqual(said(what));
  });

  const silent: [what: string, setup: string, command: string][] = [
    ["nothing changes", GIT, "true"],
    ["a file is written again as it was", "echo x > .envrc", "touch .envrc; echo x > .envrc"],
    ["git's examples come", GIT, "echo x > .git/hooks/pre-commit.sample"],
    ["commits are made", GIT, "mkdir .git/refs; echo x > .git/refs/main; echo x > .git/index"],
    [
      "a version changes",
      `echo '{"version":"1","scripts":{"a":"b"}}' > package.json`,
      `echo '{"scripts": {"a":"b"}}' > package.json`,
    ],
    ["only others may read a file now", "echo x > .envrc; chmod 600 .envrc", "chmod 644 .envrc"],
    ["other files change", "true", "mkdir src; echo x > src/.envrc; echo x > Makefile"],
    [
      "a large file behind a link changes",
      "mkdir ../g; truncate -s 2M ../g/config; ln -s ../g .git",
      "truncate -s 3M ../g/config",
    ],
    ["what lies behind a link changes", "mkdir d; ln -s d .vscode", "echo x > d/tasks.json"],
  ];
  test.each(silent)("says nothing when %s", async (_what, setup, command) => {
    await using temp = await tempWorkspace();
    await temp.sh(setup);
    expect(await warnings(temp, command)).toEqual([]);
  });

  test("looks at tools that start programs and at plugins that write, and leaves every other as it is", async () => {
    await using temp = await tempWorkspace();
    const watched = [shell(temp), shell(temp, WRITE, "/p.ts"), shell(temp, { run: true }, "/p.ts")];
    for (const [index, tool] of watched.entries()) {
      expect(await warnings(temp, `echo ${index} > .envrc`, tool)).toHaveLength(1);
    }
    for (const tool of [shell(temp, WRITE), shell(temp, { read: true }, "/p.ts")]) {
      expect(watchIntegrity(tool, [temp.root])).toBe(tool);
    }
  });

  test("reports when the call fails, too, and keeps the preview", async () => {
    await using temp = await tempWorkspace();
    const failing = shell(temp);
    const host: Host = {
      async call(...args) {
        await failing.host.call(...args);
        throw new Error("its host has a bug");
      },
      preview: () => Promise.resolve({ content: "", is_error: false, proposal: { command: "c" } }),
    };
    const told: string[] = [];
    const options = { signal: new AbortController().signal, progress() {}, warn: (text: string) => told.push(text) };
    const watched = watchIntegrity({ ...failing, host }, [temp.root]).host;
    await expect(watched.call("shell", { command: "echo > .envrc" }, options)).rejects.toThrow("its host has a bug");
    expect(told).toEqual(said(".envrc (new)"));
    expect(await watched.preview?.("shell", {}, options)).toMatchObject({ proposal: { command: "c" } });
  });

  test("takes no time for ten thousand hooks, and none for a huge file", async () => {
    await using temp = await tempWorkspace();
    await temp.sh(`${GIT}; cd .git/hooks; seq 10000 | xargs touch; truncate -s 5G ../../.envrc`);
    const started = performance.now();
    expect(await warnings(temp, "true")).toEqual([]);
    expect(performance.now() - started).toBeLessThan(2000);
  });

  test("is an event of the turn, and no word of the result", async () => {
    await using temp = await tempWorkspace();
    const registry = createRegistry([watchIntegrity(shell(temp), [temp.root])]);
    const call = { type: "tool_use" as const, id: "1", name: "shell", input: { command: "echo > .envrc" } };
    const results = new Map();
    const events = [];
    for await (const event of registry.runAll([call], results, new AbortController().signal)) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(["tool_use", "warning", "tool_result"]);
    expect(results.get("1")).toEqual({ type: "tool_result", tool_use_id: "1", content: "done" });
  });
});
