import { expect, test } from "bun:test";
import fc from "fast-check";
import { normaliseArgv, parseFlags, PERMISSION_FLAGS, printFlags } from "../core/permissions/permission_flags.ts";
import { anyFlags, flagsOf } from "./support/flags.ts";

test("normaliseArgv keeps a bare flag from taking the prompt for its value", () => {
  expect(flagsOf(["--allow-read", "hello", "--deny-run", "you"])).toEqual({
    flags: { allow: { read: ["."] }, deny: { run: true }, prompt: true },
    words: ["hello", "you"],
  });
});

test("normaliseArgv leaves alone what follows -- and what only looks like a flag", () => {
  const argv = ["--allow-ready", "-allow-read", "--allow-read=a", "allow-read", "--", "--allow-read", "--deny-net="];
  expect(normaliseArgv(argv)).toEqual(argv);
});

const meant: [string, string[], { allow?: object; deny?: object }][] = [
  ["no flag at all", [], {}],
  ["a bare read or write as the workspace", ["--allow-read", "--allow-write"], {
    allow: { read: ["."], write: ["."] },
  }],
  ["a bare run as every program", ["--allow-run"], { allow: { run: true } }],
  ["bare deny flags as everything of their kind", ["--deny-read", "--deny-net"], { deny: { read: true, net: true } }],
  ["several items", ["--allow-write=out,/tmp/x"], { allow: { write: ["out", "/tmp/x"] } }],
  ["repeated flags as their union", ["--allow-run=a,b", "--allow-run=b,c"], { allow: { run: ["a", "b", "c"] } }],
  ["a bare flag beside a list as their union", ["--allow-read=/o", "--allow-read"], { allow: { read: ["/o", "."] } }],
  ["a bare run beside a list as every program", ["--allow-run=git", "--allow-run"], { allow: { run: true } }],
  ["a bare deny beside a list as everything", ["--deny-write", "--deny-write=x"], { deny: { write: true } }],
  ["hosts in their one spelling", ["--allow-net=EXAMPLE.com,example.com:443"], { allow: { net: ["example.com:443"] } }],
  ["shell beside hosts", ["--allow-net=shell,a.com:80"], { allow: { net: ["shell", "a.com:80"] } }],
  ["a private variable, to be denied", ["--deny-env=NODE_OPTIONS"], { deny: { env: ["NODE_OPTIONS"] } }],
  ["names of folders that are odd but harmless", ["--allow-read=[id],..x,a b"], {
    allow: { read: ["[id]", "..x", "a b"] },
  }],
];
test.each(meant)("parseFlags reads %s", (_, argv, { allow = {}, deny = {} }) => {
  expect(flagsOf(argv).flags).toEqual({ allow, deny, prompt: true });
});

test("parseFlags reads --no-prompt", () => {
  expect(flagsOf(["--no-prompt"]).flags.prompt).toBe(false);
});

test("parseFlags takes each shape in which a value can be handed over", () => {
  expect(parseFlags({ allowRead: true, allowWrite: "", allowRun: "git", denyRead: ["a", "b"], denyRun: undefined }))
    .toEqual({
      allow: { read: ["."], write: ["."], run: ["git"] },
      deny: { read: ["a", "b"] },
      prompt: true,
    });
});

const wrong: [string, string][] = [
  ["--allow-run=", `Cannot use --allow-run=: its value is empty. Leave out the "=", or name something`],
  ["--allow-read=a,,b", "Cannot use --allow-read=a,,b: an item is empty. Put one comma between two items"],
  ["--deny-write=,", "Cannot use --deny-write=,: an item is empty. Put one comma between two items"],
  [
    "--allow-read=a, b",
    "Cannot use --allow-read=a, b: an item begins or ends with a space. Put only a comma between two items",
  ],
  ["--allow-read=a\0b", "Cannot use --allow-read=a\\u{0}b: a path holds a control character. Leave it out"],
  [
    "--allow-write=src/*",
    "Cannot use --allow-write=src/*: a path is a file or a folder with all in it, not a pattern. Name the folder",
  ],
  ["--allow-read=~/x", 'Cannot use --allow-read=~/x: nothing replaces "~" here. Write the folder out'],
  ["--allow-run=g\x1b[31mit", "Cannot use --allow-run=g\\u{1b}[31mit: a name holds a control character. Leave it out"],
  ["--allow-run=git*", "Cannot use --allow-run=git*: a program is named in full, not by a pattern. Name each one"],
  [
    "--allow-run=git status",
    "Cannot use --allow-run=git status: a program is named without its arguments. Give the name alone",
  ],
  ["--allow-net", "Cannot use --allow-net without a value. Write --allow-net=host:port"],
  ["--allow-env", "Cannot use --allow-env without a value. Write --allow-env=NAME"],
  ["--allow-net=http://x", 'Cannot use --allow-net=http://x: it is a URL. Give "host:port", as in example.com:443'],
  ["--allow-env=GIT_*", "Cannot use --allow-env=GIT_*: a variable is named in full, not by a pattern. Name each one"],
  ["--allow-env=A=b", "Cannot use --allow-env=A=b: it is not the name of a variable. Give the name alone"],
  ["--allow-env=A\0", "Cannot use --allow-env=A\\u{0}: it is not the name of a variable. Give the name alone"],
  [
    "--allow-env=ANTHROPIC_API_KEY",
    "Cannot use --allow-env=ANTHROPIC_API_KEY: no tool ever gets this variable. Leave it out",
  ],
  ["--allow-env=node_options", "Cannot use --allow-env=node_options: no tool ever gets this variable. Leave it out"],
  [
    "--allow-net=shell --deny-net=a.com",
    "Cannot use --allow-net=shell with --deny-net=a.com:443: a command with a network reaches any host. Leave one of them out",
  ],
];
test.each(wrong)("parseFlags refuses %j", (text, words) => {
  const argv = text.includes(" --") ? text.split(" ") : [text];
  expect(() => flagsOf(argv)).toThrow(expect.objectContaining({ message: words, exitCode: 2 }));
  expect(words).not.toMatch(/\n/);
});

test("parseFlags reads what printFlags wrote", () => {
  fc.assert(
    fc.property(anyFlags, (flags) => {
      const { flags: again, words } = flagsOf([...printFlags(flags), "hello"]);
      expect(again).toEqual(flags);
      expect(words).toEqual(["hello"]);
    }),
    { numRuns: 200 },
  );
});

test("PERMISSION_FLAGS has a row with a help line for each flag", () => {
  const kinds = ["read", "write", "run", "net", "env"];
  const names = kinds.flatMap((kind) => [`allow-${kind}`, `deny-${kind}`]);
  expect(PERMISSION_FLAGS.map(({ name }) => name)).toEqual([...names, "no-prompt"]);
  for (const { name, value, help } of PERMISSION_FLAGS) {
    expect(help).not.toBe("");
    expect(value === undefined).toBe(name === "no-prompt");
  }
});
