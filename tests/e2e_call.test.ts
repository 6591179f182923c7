import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { tempWorkspace } from "./support/temp_workspace.ts";
import { runTenon, SOURCES, startTenon, TOOLS, type Way, WAYS } from "./support/program.ts";

setDefaultTimeout(60_000); // a run has its own limit

const KNOWN = TOOLS.join(", ");

/** A line for stdin. */
function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

describe.concurrent.each([...WAYS])("tenon call as %s", (way: Way) => {
  test("answers each line as soon as it is done, while stdin stays open", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    await using running = await startTenon(way, { cwd: temp.root, args: ["call"], stdin: "open" });
    running.write(line({ name: "read_file", input: { path: "a.txt" } }));
    await running.until("one");
    running.write("{broken\n");
    await running.until("not JSON");
    running.write(line([{ name: "list_files" }, { name: "nope", input: {} }]));
    await running.until("nope");
    running.write(line({ name: "read_file", input: { path: "/etc/passwd" } }).trimEnd()); // a last line without its end
    running.close();
    const { code, stdout, stderr } = await running.ended;
    expect(stdout.trimEnd().split("\n").map((answer) => JSON.parse(answer))).toEqual([
      { name: "read_file", content: "     1\tone", is_error: false },
      { name: null, content: "Not a call: it is not JSON: {broken", is_error: true },
      { name: "list_files", content: "a.txt", is_error: false },
      { name: "nope", content: `No tool is named "nope". Use one of: ${KNOWN}`, is_error: true },
      {
        name: "read_file",
        content: 'Cannot read "/etc/passwd": it is outside the workspace. Use a path inside it',
        is_error: true,
      },
    ]);
    expect(stderr).toBe("tenon: Not a call: it is not JSON: {broken\n");
    expect(code).toBe(1);
  });

  test("exits with 0 when every line went well, and with 0 for no line at all", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const calls = line({ name: "list_files", input: {} }) + "\n" +
      line({ name: "read_file", input: { path: "./a.txt" } });
    const well = await runTenon(way, { cwd: temp.root, args: ["call"], stdin: calls });
    expect(well).toMatchObject({ code: 0, stderr: "" });
    expect(well.stdout.split("\n").length).toBe(3);
    expect(await runTenon(way, { cwd: temp.root, args: ["call"] })).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("takes absolute paths in the words of the folder that was entered by a link, and in the real ones", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const entry = join(temp.top, "entry");
    await symlink("ws", entry);
    const calls = [entry, temp.root].map((folder) => line({ name: "read_file", input: { path: `${folder}/a.txt` } }));
    const told = calls.map(() => line({ name: "read_file", content: "     1\tone", is_error: false })).join("");
    const ways = [
      { cwd: temp.top, args: ["-C", "entry", "call"] },
      // The shell's word for it is nothing that Deno could look at: `.` grants the real folder alone.
      ...(way === "deno" ? [] : [{ cwd: temp.root, env: { PWD: entry }, args: ["call"] }]),
    ];
    for (const start of ways) {
      const grants = { read: [entry, temp.root, SOURCES] };
      const { stdout } = await runTenon(way, { ...start, stdin: calls.join(""), deno: grants });
      expect(stdout).toBe(told);
    }
  });

  const once: [args: string[], code: number, stdout: string, stderr: string][] = [
    [["read_file", '{"path":"a.txt"}'], 0, "     1\tone\n", ""],
    [["list_files"], 0, "a.txt\n", ""],
    [
      ["read_file", '{"path":"../x"}'],
      1,
      "",
      'Cannot read "../x": it is outside the workspace. Use a path inside it\n',
    ],
    [["read_file", "{path"], 1, "", "tenon: the input of read_file is not JSON: {path\n"],
    [["nope", "{}"], 1, "", `No tool is named "nope". Use one of: ${KNOWN}\n`],
    [["--nope"], 2, "", "tenon: Unknown option '--nope'. See tenon call --help\n"],
  ];
  test.each(once)("answers %j with %d", async (args, code, stdout, stderr) => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    expect(await runTenon(way, { cwd: temp.root, args: ["call", ...args] })).toEqual({ code, stdout, stderr });
  });

  test("ends at SIGINT with 130 while it waits for a line", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    await using running = await startTenon(way, { cwd: temp.root, args: ["call"], stdin: "open" });
    running.write(line({ name: "list_files" }));
    await running.until("a.txt");
    running.signal("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130, stderr: "" });
  });
});

describe.concurrent.each([...WAYS])("tenon tools and tenon doctor as %s", (way: Way) => {
  test("lists the tools, as a table and as JSON", async () => {
    await using temp = await tempWorkspace();
    const table = await runTenon(way, { cwd: temp.root, args: ["tools"] });
    expect(table.stdout.split("\n").map((row) => row.split(/ {2,}/)[0])).toEqual([
      "NAME",
      ...TOOLS,
      expect.stringMatching(/^8 tools: about \d+ tokens of every request$/),
      "",
    ]);
    const { code, stdout } = await runTenon(way, { cwd: temp.root, args: ["tools", "--json"] });
    expect(JSON.parse(stdout)).toEqual({
      tools: TOOLS.map((name) => ({
        name,
        description: expect.stringMatching(/^[A-Z]/),
        input_schema: expect.objectContaining({ type: "object" }),
        strict: true,
        source: "built in",
        permissions: expect.any(String),
        bytes: expect.any(Number),
      })),
      set_aside: [],
      to_trust: [],
    });
    expect(code).toBe(0);
  });

  test("tells runtime, fence, key source and folders, and no key", async () => {
    await using temp = await tempWorkspace();
    const env = { ANTHROPIC_AUTH_TOKEN: "token-0123456789" };
    const { code, stdout } = await runTenon(way, { cwd: temp.root, args: ["doctor", "--json"], env });
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      runtime: expect.stringMatching(way === "deno" ? /^deno \d/ : /^bun \d/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      fence: { level: expect.stringMatching(/^(kernel|runtime|guard)$/), not_covered: expect.any(Array) },
      key_source: "ANTHROPIC_AUTH_TOKEN",
      folders: { workspace: temp.root },
      plugins: TOOLS.map((name) => ({ name, source: "built in" })),
    });
    expect(stdout).not.toContain("token-0123456789");
    expect(code).toBe(0);
    const words = await runTenon(way, { cwd: temp.root, args: ["doctor"] });
    expect(words.stdout).toMatch(/^key {8}none: set ANTHROPIC_API_KEY/m);
    expect(words.stdout).toContain(`workspace  ${temp.root}`);
  });
});

describe("tenon doctor under Deno", () => {
  test("names every feature that is off for want of a permission, with the flag that gives it", async () => {
    await using temp = await tempWorkspace();
    const { stdout } = await runTenon("deno", { cwd: temp.root, args: ["doctor", "--plugins", "/opt/plugins"] });
    for (const flag of ["write", "run", "net=api.anthropic.com:443", "read=/opt/plugins"]) {
      expect(stdout).toContain(`start with deno run --allow-${flag}`);
    }
  });
});
