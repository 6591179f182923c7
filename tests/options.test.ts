import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Options, parseArgv, type Task, VERSION } from "../core/options.ts";
import { PERMISSION_FLAGS } from "../core/permissions/permission_flags.ts";
import packageJson from "../package.json" with { type: "json" };

const taskOf = (...argv: string[]) => parseArgv(argv).task;
const optionsOf = (...argv: string[]) => parseArgv(argv).options;

function problemOf(...argv: string[]): { message: string; exitCode: number } {
  try {
    parseArgv(argv);
  } catch (error) {
    return { message: (error as Error).message, exitCode: (error as { exitCode: number }).exitCode };
  }
  throw new Error("it was understood");
}

function helpOf(...argv: string[]): string {
  const task = taskOf(...argv);
  return task.name === "show" ? task.text : `not shown: ${task.name}`;
}

describe("the task", () => {
  const turn = (...words: string[]): Task => ({ name: "turn", words });
  const cases: [argv: string[], task: Task][] = [
    [["now"], turn("now")],
    [[], turn()],
    [["what", "is this?"], turn("what", "is this?")],
    [["-"], turn("-")],
    [["say", "tools"], turn("say", "tools")],
    [["help", "me"], turn("help", "me")],
    [["--", "--bogus"], turn("--bogus")],
    [["-p", "tools"], turn("tools")],
    [["tools", "-p"], turn("tools")],
    [["--print", "doctor", "what", "is", "wrong"], turn("doctor", "what", "is", "wrong")],
    [["-p", "--", "-x"], turn("-x")],
    [["-m", "demo", "hello"], turn("hello")],
    [["hello", "-m", "demo"], turn("hello")],
    [["--allow-read", "hello"], turn("hello")],
    [["--deny-run", "--allow-write", "hello"], turn("hello")],
    [["tools"], { name: "tools", json: false }],
    [["tools", "--json"], { name: "tools", json: true }],
    [["-m", "demo", "tools"], { name: "tools", json: false }],
    [["tools", "--allow-write"], { name: "tools", json: false }],
    [["call"], { name: "call", tool: undefined, input: undefined }],
    [["call", "read_file"], { name: "call", tool: "read_file", input: undefined }],
    [["call", "read_file", '{"path":"a"}'], { name: "call", tool: "read_file", input: '{"path":"a"}' }],
    [["new", "my_tool"], { name: "new", plugin: "my_tool" }],
    [["check", "a.ts", "b.ts"], { name: "check", files: ["a.ts", "b.ts"] }],
    [["doctor"], { name: "doctor", json: false }],
    [["doctor", "--json"], { name: "doctor", json: true }],
    [["--version"], { name: "show", text: `${VERSION}\n` }],
  ];
  for (const [argv, task] of cases) {
    test(`of "tenon ${argv.join(" ")}" is ${task.name}`, () => expect(taskOf(...argv)).toEqual(task));
  }

  test("after -- is a turn with those very words", () => {
    fc.assert(fc.property(fc.array(fc.string(), { minLength: 1 }), (words) => {
      expect(taskOf("--", "hello", ...words)).toEqual(turn("hello", ...words));
    }));
  });
});

describe("the options", () => {
  test("are these without any word", () => {
    expect(optionsOf()).toMatchObject({
      print: false,
      model: undefined,
      baseUrl: undefined,
      compat: false,
      maxSteps: 50,
      maxTokens: 16_000,
      tools: undefined,
      systemFile: undefined,
      workspace: ".",
      plugins: [],
      outputFormat: "text",
      allowBroadWorkspace: false,
      sandbox: "auto",
    });
  });

  const cases: [argv: string[], options: Partial<Options>][] = [
    [["-p", "hi"], { print: true }],
    [["--model=x"], { model: "x" }],
    [["-mx"], { model: "x" }],
    [["--base-url", "http://localhost:1"], { baseUrl: "http://localhost:1" }],
    [["--compat"], { compat: true }],
    [["--max-steps", "5"], { maxSteps: 5 }],
    [["--max-steps", "5", "--max-steps=6"], { maxSteps: 6 }],
    [["--max-tokens", "999999999"], { maxTokens: 999_999_999 }],
    [["--tools", " read_file, glob,"], { tools: ["read_file", "glob"] }],
    [["--tools", "none"], { tools: [] }],
    [["--system", "s.md"], { systemFile: "s.md" }],
    [["-C", "sub"], { workspace: "sub" }],
    [["--workspace", "sub"], { workspace: "sub" }],
    [["--plugins", "a", "--plugins", "b"], { plugins: ["a", "b"] }],
    [["--output-format", "json"], { outputFormat: "json" }],
    [["--output-format=stream-json"], { outputFormat: "stream-json" }],
    [["--sandbox", "require"], { sandbox: "require" }],
    [["--allow-broad-workspace"], { allowBroadWorkspace: true }],
    [["doctor", "-C", "sub"], { workspace: "sub" }],
  ];
  for (const [argv, options] of cases) {
    test(`of "${argv.join(" ")}" are ${JSON.stringify(options)}`, () =>
      expect(optionsOf(...argv)).toMatchObject(options));
  }

  test("hand the permission flags on as they came", () => {
    const argv = ["--allow-read", "hello", "--allow-write=a,b", "--allow-write=c", "--deny-net=a.com:1", "--no-prompt"];
    expect(optionsOf(...argv).permissions).toMatchObject({
      allowRead: [""],
      allowWrite: ["a,b", "c"],
      denyNet: ["a.com:1"],
      prompt: false,
    });
    expect(optionsOf().permissions.prompt).toBe(true);
  });
});

describe("a usage error", () => {
  const number = "It needs a whole number from 1 on";
  const cases: [argv: string[], message: string][] = [
    [["--bogus"], "Unknown option '--bogus'. See tenon --help"],
    [["--modle", "x"], "Unknown option '--modle'. Did you mean --model? See tenon --help"],
    [["docter"], 'No command is named "docter". Did you mean "doctor"? To ask the model: tenon -p docter'],
    [["new?"], `No command is named "new?". Did you mean "new"? To ask the model: tenon -p 'new?'`],
    [["-m", "demo", "Tools"], 'No command is named "Tools". Did you mean "tools"? To ask the model: tenon -p Tools'],
    [["tools", "--bogus"], "Unknown option '--bogus'. See tenon tools --help"],
    [["tools", "x"], "Too many arguments for 'tools'. Expected 0 arguments but got 1. See tenon tools --help"],
    [["call", "a", "b", "c"], "Too many arguments for 'call'. Expected 2 arguments but got 3. See tenon call --help"],
    [["check"], "Missing required argument 'files'. See tenon check --help"],
    [["-m"], "Option '-m, --model <id>' argument missing. See tenon --help"],
    ...["0", "-1", "1.5", "1e3", "0x10", "many", "", "9999999999"].map((count): [string[], string] => [
      ["--max-steps", count],
      `Option '--max-steps <n>' argument '${count}' is invalid. ${number}. See tenon --help`,
    ]),
    [
      ["--output-format", "xml"],
      "Option '--output-format <format>' argument 'xml' is invalid. It needs text, json or stream-json. See tenon --help",
    ],
    [
      ["--sandbox", "on"],
      "Option '--sandbox <mode>' argument 'on' is invalid. It needs auto, require or off. See tenon --help",
    ],
    [["--allow-read=", "x"], 'Cannot use --allow-read=: its value is empty. Leave out the "=", or name something'],
  ];
  for (const [argv, message] of cases) {
    test(`of "${argv.join(" ")}" says what is wrong in one line, with exit code 2`, () => {
      expect(problemOf(...argv)).toEqual({ message, exitCode: 2 });
    });
  }

  test("or an answer comes of any words", () => {
    const word = fc.oneof(
      fc.constantFrom("-p", "--print", "tools", "call", "doctor", "--json", "-m", "--max-steps", "--help", "--version"),
      fc.constantFrom("--", "-", "--tools", "--allow-read", "--allow-net=a:1", "--no-prompt", "-C", "--max-steps=5"),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(fc.property(fc.array(word, { maxLength: 6 }), (argv) => {
      try {
        expect(parseArgv(argv).task.name).toBeOneOf(["turn", "tools", "call", "doctor", "show"]);
      } catch (error) {
        expect(error).toMatchObject({ name: "UsageError", exitCode: 2 });
      }
    }));
  });
});

describe("--help", () => {
  test("names every option and command, a permission's value after =", () => {
    const help = helpOf("--help");
    for (const { name, value } of PERMISSION_FLAGS) expect(help).toContain(`--${name}${value ? `[=${value}]` : ""} `);
    for (const word of ["--model <id>", "--max-steps <n>", "--sandbox <mode>", "tools ", "call ", "doctor "]) {
      expect(help).toContain(word);
    }
  });

  test("of a command is that command's", () => {
    expect(helpOf("tools", "--help")).toStartWith("Usage: tenon tools [options]\n");
  });

  test("is what help prints too, alone or before a command, and as no word of a prompt", () => {
    expect(helpOf("help")).toBe(helpOf("--help"));
    expect(helpOf("help", "call")).toBe(helpOf("call", "--help"));
    for (const words of [["help", "me"], ["help", "call", "me"], ["what", "help"]]) {
      expect(parseArgv(words).task).toEqual({ name: "turn", words });
    }
    expect(parseArgv(["-p", "help"]).task).toEqual({ name: "turn", words: ["help"] });
  });

  test("has no colour, whatever the terminal", () => {
    // deno-lint-ignore no-control-regex -- the start of a colour
    expect(helpOf("--help")).not.toMatch(/\u001b/);
  });
});

test("VERSION is that of the package", () => expect(VERSION).toBe(packageJson.version));
