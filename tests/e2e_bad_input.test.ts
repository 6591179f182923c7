import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fakeApi, reply } from "./support/fake_api.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";
import { type DenoGrants, runTenon, SOURCES, type Start, TOOLS, type Way, WAYS } from "./support/program.ts";

setDefaultTimeout(60_000); // a run has its own limit

interface Row {
  args: string[];
  /** The one line on stderr; `HOME` and `WS` stand for those folders. */
  stderr: string;
  env?: Record<string, string>;
  deno?: DenoGrants;
}

const WHOLE = "It needs a whole number from 1 on. See tenon --help";
const BROAD = "Go to the folder of one project, or give --allow-broad-workspace";
const EXAMPLE = 'a prompt, as in tenon "What does this project do?"';
const NO_KEY = "No key: set ANTHROPIC_API_KEY, or use -m demo for the offline model";
const NO_GRANT =
  /^tenon: No key: Deno may not read it\. Start with deno run --allow-env=ANTHROPIC_\*, or use -m demo .*\n$/;
const NO_TEXT = "What came on stdin is binary, or is not UTF-8. Put it in a file of the workspace and name the file";
const ALL = { read: ["/"] };

const rows: Row[] = [
  { args: ["-C", "nowhere", "hi"], stderr: 'Cannot work in "nowhere": no such folder' },
  { args: ["-C", "a.txt", "hi"], stderr: 'Cannot work in "a.txt": it is not a folder' },
  {
    args: ["-C", "/", "hi"],
    stderr: `Cannot work in "/": it is the root of the file system. ${BROAD}`,
    deno: ALL,
  },
  { args: ["-C", "WS", "hi"], stderr: `Cannot work in "WS": it is your home folder. ${BROAD}`, env: { HOME: "WS" } },
  {
    args: ["-C", "..", "hi"],
    stderr: `Cannot work in "TOP": it holds your home folder. ${BROAD}`,
    env: { HOME: "WS" },
    deno: ALL,
  },
  { args: ["--nope", "hi"], stderr: "Unknown option '--nope'. See tenon --help" },
  { args: ["tools", "--nope"], stderr: "Unknown option '--nope'. See tenon tools --help" },
  {
    args: ["tools", "more"],
    stderr: "Too many arguments for 'tools'. Expected 0 arguments but got 1. See tenon tools --help",
  },
  ...["0", "1.5", "x"].flatMap((value) => [
    {
      args: [`--max-steps=${value}`, "hi"],
      stderr: `Option '--max-steps <n>' argument '${value}' is invalid. ${WHOLE}`,
    },
  ]),
  { args: ["--max-tokens", "no", "hi"], stderr: `Option '--max-tokens <n>' argument 'no' is invalid. ${WHOLE}` },
  {
    args: ["--output-format", "xml", "hi"],
    stderr:
      "Option '--output-format <format>' argument 'xml' is invalid. It needs text, json or stream-json. See tenon --help",
  },
  {
    args: ["--tools", "nope", "hi"],
    stderr: `No tool is named "nope". Use --tools with some of: ${TOOLS.join(", ")}`,
  },
  { args: ["--system", "nowhere.md", "hi"], stderr: 'Cannot read --system "nowhere.md": no such file' },
  { args: ["--system", "d", "hi"], stderr: 'Cannot read --system "d": it is a directory' },
  { args: ["-m"], stderr: "Option '-m, --model <id>' argument missing. See tenon --help" },
  { args: [], stderr: `Nothing came on stdin. Give ${EXAMPLE}` },
  { args: [" "], stderr: `Nothing to do: give ${EXAMPLE}` },
  { args: ["-m", "claude-sonnet-5-5", "hi"], stderr: NO_KEY },
  { args: ["--base-url", "http://127.0.0.1:9", "hi"], stderr: NO_KEY },
  ...["sk-caf\u00e9", "sk-a\nb"].map((key) => ({
    args: ["hi"],
    stderr: "ANTHROPIC_API_KEY has characters that no key has. Set it again",
    env: { ANTHROPIC_API_KEY: key },
  })),
  {
    args: ["--base-url", "http://example.com", "hi"],
    stderr: '--base-url "http://example.com" would send the key unencrypted. Use https',
    env: { ANTHROPIC_API_KEY: "sk-never-sent" },
  },
];

describe.concurrent.each([...WAYS])("tenon as %s", (way: Way) => {
  test.each(rows)("refuses $args with one line and exit code 2", async ({ args, stderr, env = {}, deno = {} }) => {
    await using temp = await tempWorkspace({ "a.txt": "one\n", "d/b.txt": "two\n" });
    const filled = (text: string) => text.replaceAll("WS", () => temp.root).replaceAll("TOP", () => temp.top);
    const start: Start = {
      cwd: temp.root,
      args: args.map(filled),
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)])),
      deno,
    };
    expect(await runTenon(way, start)).toEqual({ code: 2, stdout: "", stderr: `tenon: ${filled(stderr)}\n` });
  });

  test("works in the home folder when --allow-broad-workspace says so", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const start = { cwd: temp.root, env: { HOME: temp.root }, args: ["--allow-broad-workspace", "call", "list_files"] };
    const { code, stdout } = await runTenon(way, start);
    expect([code, stdout.split("\n")]).toEqual([0, expect.arrayContaining(["a.txt"])]); // Bun has its cache there
  });

  const broad: [what: string, where: (root: string) => string, why: string][] = [
    ["the home folder", (root) => root, "it is your home folder"],
    ["the root", () => "/", "it is the root of the file system"],
  ];
  test.each(broad)("lists its tools in %s, where doctor tells why it is no workspace", async (_, where, why) => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const run = (...args: string[]) =>
      runTenon(way, { cwd: where(temp.root), env: { HOME: temp.root }, args, deno: { read: ["/"] } });
    const tools = await run("tools", "--json");
    expect([tools.code, JSON.parse(tools.stdout).tools.map(({ name }: { name: string }) => name)]).toEqual([0, TOOLS]);
    const doctor = await run("doctor", "--json");
    expect([doctor.code, JSON.parse(doctor.stdout)]).toMatchObject([
      0,
      {
        permissions: "nothing in this folder",
        problems: expect.arrayContaining([`this folder is no workspace: ${why}. ${BROAD}`]),
      },
    ]);
  });

  // Bun from source makes one itself, for what it has compiled.
  test.skipIf(way === "bun")("does not make a home that is not there", async () => {
    await using temp = await tempWorkspace();
    const [home, state] = [join(temp.top, "no_home"), join(temp.top, "no_state")];
    for (const env of [{ HOME: home }, { HOME: home, XDG_STATE_HOME: state }]) {
      const { code } = await runTenon(way, { cwd: temp.root, env, args: ["call", "list_files"] });
      const made = [home, state].filter(existsSync);
      expect([code, made]).toEqual([0, []]);
    }
    if (way !== "executable") return;
    const { code, stderr } = await runTenon(way, { cwd: temp.root, env: { HOME: home }, args: ["new", "a_tool"] });
    expect([code, stderr]).toEqual([
      2,
      "tenon: There is no folder of your own to write it to. Name one with --plugins DIR\n",
    ]);
  });

  test("takes the prompt from stdin, and what stdin has in place of a dash", async () => {
    await using temp = await tempWorkspace();
    await using api = await fakeApi([reply({ text: "1" }), reply({ text: "2" }), reply({ text: "3" })]);
    const ask = (args: string[], stdin: string) =>
      runTenon(way, {
        cwd: temp.root,
        args: ["--base-url", api.url, "-m", "fake-model", ...args],
        env: { ANTHROPIC_API_KEY: "sk-test" },
        deno: { net: [new URL(api.url).host] },
        stdin,
      });
    expect((await ask([], "What is é?\n")).code).toBe(0);
    expect((await ask(["review", "this:", "-"], "+ a line\n")).code).toBe(0);
    expect((await ask(["a prompt alone"], "never read")).code).toBe(0);
    const prompts = api.requests.map(({ body }) => body.messages[0].content[0].text);
    expect(prompts).toEqual(["What is é?\n", "review this: \n\n+ a line", "a prompt alone"]);
  });

  const unusable: [what: string, args: string[], stdin: string | Uint8Array, stderr: string][] = [
    ["blank and the prompt", [], " \n", `Nothing came on stdin. Give ${EXAMPLE}`],
    [
      "empty and a part of the prompt",
      ["review", "-"],
      "",
      'Nothing came on stdin. Look at what comes before the pipe, or leave "-" out',
    ],
    ["binary", ["review", "-"], "a\0b", NO_TEXT],
    ["not UTF-8", ["review", "-"], new Uint8Array([0x63, 0xe9, 0x0a]), NO_TEXT],
    ["cut in a character", [], new Uint8Array([0x63, 0xc3]), NO_TEXT],
    [
      "too long",
      ["review", "-"],
      "x".repeat(2_000_001),
      "Too much came on stdin: 2,000,001 characters, at most 2,000,000. " +
      "Put it in a file of the workspace and name the file",
    ],
  ];
  test.each(unusable)("refuses a stdin that is %s", async (_, args, stdin, stderr) => {
    await using temp = await tempWorkspace();
    const outcome = await runTenon(way, { cwd: temp.root, args: ["-m", "demo", ...args], stdin });
    expect(outcome).toEqual({ code: 2, stdout: "", stderr: `tenon: ${stderr}\n` });
  });

  test("offers only what --tools names, and adds --system to its own prompt", async () => {
    await using temp = await tempWorkspace({ "rules.md": "Speak like a sailor.\n" });
    await using api = await fakeApi([reply({ text: "1" }), reply({ text: "2" })]);
    for (const tools of ["read_file,get_time", "none"]) {
      await runTenon(way, {
        cwd: temp.root,
        args: [
          "--base-url",
          api.url,
          "-m",
          "fake-model",
          "--tools",
          tools,
          "--system",
          "rules.md",
          "--max-tokens",
          "77",
          "hi",
        ],
        env: { ANTHROPIC_API_KEY: "sk-test" },
        deno: { net: [new URL(api.url).host] },
      });
    }
    expect(api.requests.map(({ body }) => body.tools?.map(({ name }: { name: string }) => name))).toEqual([
      ["get_time", "read_file"],
      undefined,
    ]);
    expect(api.requests[0]?.body.system[0].text).toEndWith("\n\nSpeak like a sailor.\n");
    expect(api.requests[0]?.body.max_tokens).toBe(77);
  });

  test("prints help and version on stdout, also with no folder to work in", async () => {
    await using temp = await tempWorkspace();
    const help = await runTenon(way, { cwd: temp.root, args: ["-C", "nowhere", "--help"] });
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("Usage: tenon [options] [prompt…]");
    const { version } = await Bun.file(`${SOURCES}/package.json`).json();
    expect(await runTenon(way, { cwd: temp.root, args: ["--version"] })).toEqual({
      code: 0,
      stdout: `${version}\n`,
      stderr: "",
    });
  });
});

describe.concurrent("tenon under Deno", () => {
  const program = SOURCES;

  test("is not to be let read all of / or of a home folder, in which it would not work", async () => {
    await using temp = await tempWorkspace();
    const places: [cwd: string, what: string][] = [
      ["/", "it is the root of the file system"],
      [temp.root, "it is your home folder"],
      [temp.top, "it holds your home folder"],
    ];
    for (const [cwd, what] of places) {
      const start = { cwd, env: { HOME: temp.root }, deno: { read: [program] }, args: ["call", "list_files"] };
      expect(await runTenon("deno", start)).toEqual({
        code: 2,
        stdout: "",
        stderr:
          `tenon: Cannot work in ".": ${what}. Go to the folder of one project, or give --allow-broad-workspace\n`,
      });
    }
  });

  const grants: [what: string, deno: DenoGrants, code: number, stderr: RegExp][] = [
    [
      "the workspace may not be read",
      { read: [program] },
      2,
      /^tenon: Cannot work in ".": Deno may not read it. Start with deno run --allow-read="."\n$/,
    ],
    [
      "nothing may be read",
      { read: [] },
      2,
      /^tenon: Cannot work in ".": Deno may not read it. Start with deno run --allow-read="."\n$/,
    ],
    [
      "a part of the workspace may not be read",
      { denyRead: ["a.txt"] },
      2,
      /^tenon: Cannot work in ".": Deno has a --deny-read for it or for a part of it\. Start deno run without it, and give tenon --deny-read after mod\.ts\n$/,
    ],
    [
      "the API may not be reached",
      {},
      1,
      /^tenon: Cannot reach http:.* Deno has no --allow-net for it. Start with deno run --allow-net=127\.0\.0\.1:\d+\n$/,
    ],
    [
      "other variables may not be read",
      { env: ["ANTHROPIC_API_KEY"], ignoreEnv: false },
      2,
      /^tenon: Cannot use the key: .* --ignore-env\n$/,
    ],
    ["the key may not be read", { env: ["HOME"] }, 2, NO_GRANT],
    ["no variable may be read", { env: [], ignoreEnv: false }, 2, NO_GRANT],
  ];
  test.each(grants)("names the flag, in one line, where %s", async (_, deno, code, stderr) => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const args = ["--base-url", "http://127.0.0.1:2", "What is in a.txt?"];
    const outcome = await runTenon("deno", { cwd: temp.root, args, env: { ANTHROPIC_API_KEY: "sk-test" }, deno });
    expect(outcome.stderr).toMatch(stderr);
    expect(outcome.code).toBe(code);
  });
});

test.concurrent("says in one line that there is no network, after it has tried again", async () => {
  await using temp = await tempWorkspace();
  await Promise.all(WAYS.map(async (way) => {
    const outcome = await runTenon(way, {
      cwd: temp.root,
      args: ["--base-url", "http://127.0.0.1:2", "hi"],
      env: { ANTHROPIC_API_KEY: "sk-test" },
      deno: { net: ["127.0.0.1:2"] },
    });
    const lines = outcome.stderr.trimEnd().split("\n");
    expect(lines.slice(0, -1).every((line) => line.startsWith("Trying again in "))).toBe(true);
    expect(lines.length).toBe(5);
    expect(lines.slice(0, -1).some((line) => line.includes("in 0 s"))).toBe(false);
    expect(lines.at(-1)).toBe(
      "tenon: Cannot reach http://127.0.0.1:2: nothing listens there (the connection was refused). " +
        "Check the network, or --base-url",
    );
    expect(outcome).toMatchObject({ code: 1, stdout: "" });
  }));
});
