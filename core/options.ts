/** The command line: words to options, and the text of `--help`. */

import { Command, CommanderError, type CommandUnknownOpts, InvalidArgumentError } from "@commander-js/extra-typings";
import { nearNames } from "./files/name.ts";
import { normaliseArgv, PERMISSION_FLAGS, type RawFlags } from "./permissions/permission_flags.ts";
import { shellWord } from "./plugins/shell_word.ts";
import { oneLine } from "./text.ts";
import { usageError } from "./usage_error.ts";
import packageJson from "../package.json" with { type: "json" };

/** What is to be done. */
export type Task =
  | { name: "turn"; words: string[] }
  | { name: "tools"; json: boolean }
  | { name: "call"; tool: string | undefined; input: string | undefined }
  | { name: "trust"; folder: string | undefined; yes: boolean; revoke: boolean }
  | { name: "new"; plugin: string }
  | { name: "check"; files: string[] }
  | { name: "undo"; force: boolean }
  | { name: "doctor"; json: boolean }
  | { name: "show"; text: string };

export type OutputFormat = "text" | "json" | "stream-json";

/** `auto`: the best fence there is; `require`: none is an error; `off`: none is wanted. */
export type Sandbox = "auto" | "require" | "off";

export interface Options {
  print: boolean;
  model: string | undefined;
  baseUrl: string | undefined;
  compat: boolean;
  maxSteps: number;
  maxTokens: number;
  /** Names of the tools to offer; `undefined` is all. */
  tools: string[] | undefined;
  systemFile: string | undefined;
  workspace: string;
  /** Further plugin folders. */
  plugins: string[];
  outputFormat: OutputFormat;
  allowBroadWorkspace: boolean;
  trace: boolean;
  sandbox: Sandbox;
  permissions: RawFlags;
}

export const VERSION: string = packageJson.version;

/** Throws a usage error for words that make no sense. */
export function parseArgv(argv: readonly string[]): { task: Task; options: Options } {
  const words = normaliseArgv(argv);
  const printed: string[] = [];
  let task: Task = { name: "turn", words: [] };
  const choose = (chosen: Task) => task = chosen;
  const program = buildProgram(choose, isPrint(words)).configureOutput({
    writeOut: (text) => printed.push(text),
    writeErr: () => {}, // the message travels with the error
    outputError: () => {},
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
  // A value that may be left out is taken only after "=": that is how it is shown.
  program.configureHelp({ optionTerm: ({ flags }) => flags.replace(" [", "[=") });
  let used = "tenon";
  for (const command of program.commands) {
    command.copyInheritedSettings(program).exitOverride((error) => {
      used = `tenon ${command.name()}`;
      throw error;
    });
  }
  try {
    program.parse(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw usageError(`${wordsOf(error)} See ${used} --help`);
    task = { name: "show", text: printed.join("") };
  }
  if (task.name === "turn" && !isPrint(words) && !words.includes("--")) checkMeant(program, task.words);
  return { task, options: readOptions(program.opts()) };
}

function wordsOf(error: CommanderError): string {
  const message = error.message.replace(/^error: /, "").replace(/\n\(?/g, ". ").replace(/[).]*$/, "");
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${message.endsWith("?") ? "" : "."}`;
}

/** `-p` makes every word a word of the prompt, also the name of a command. */
function isPrint(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end < 0 ? undefined : end).some((word) => word === "-p" || word === "--print");
}

function buildProgram(choose: (task: Task) => void, print: boolean) {
  const program = new Command("tenon")
    .description("Puts a model to work in one folder, with tools that cannot leave it.")
    .usage("[options] [prompt…]")
    .argument("[prompt...]", 'what to ask; "-" stands for what comes on stdin. Without one on a terminal: a chat')
    .option("-p, --print", "one turn, also when the prompt begins with the name of a command")
    .option("-m, --model <id>", 'the model, or "demo" for the offline one (default: claude-sonnet-5-5)')
    .option("--base-url <url>", "another endpoint that speaks the Messages API")
    .option("--compat", "leave out what such endpoints refuse (strict, cache marks)")
    .option("--max-steps <n>", "requests in one turn, at most", count, 50)
    .option("--max-tokens <n>", "tokens of one reply, at most; calls count in it", count, 16_000)
    .option("--tools <names>", 'offer only these tools, or "none"')
    .option("--system <file>", "a file to add to the built-in system prompt")
    .option("-C, --workspace <dir>", "the folder to work in", ".")
    .option("--plugins <dir>", "a further folder of plugins; may be given more than once", collect)
    .option("--output-format <format>", "text, json (one object) or stream-json (one per line)", format, "text")
    .option("--sandbox <mode>", "auto, require (no start without a fence) or off", sandbox, "auto")
    .option("--trace", "tell on stderr what each request holds")
    .option("--allow-broad-workspace", "work in / or in the home folder all the same");
  for (const { name, value, help } of PERMISSION_FLAGS) {
    if (value === undefined) program.option(`--${name}`, help);
    else program.option(`--${name} [${value}]`, help, collect);
  }
  program
    .version(VERSION, "--version", "print the version")
    .helpOption("--help", "print this")
    .exitOverride()
    .action((words) => choose((print ? undefined : helpOf(program, words)) ?? { name: "turn", words }));
  if (print) return program;
  program.helpCommand(false);
  program.command("tools").description("list the tools: name, source, permissions, and what was set aside")
    .option("--json", "as JSON")
    .action(({ json = false }) => choose({ name: "tools", json }));
  program.command("call").description("run a tool without a model; without arguments one JSON call per line of stdin")
    .argument("[tool]", 'its name; without it stdin has lines of {"name": …, "input": …}, or of lists of them')
    .argument(
      "[input]",
      "its input as JSON. A file is edited after it was read: send both calls as lines of one stdin",
    )
    .action((tool, input) => choose({ name: "call", tool, input }));
  program.command("trust").description("list the plugins that lie in the workspace, and trust them as they are now")
    .argument("[dir]", "one folder of them")
    .option("--yes", "without a question")
    .option("--revoke", "take it back")
    .action((folder, { yes = false, revoke = false }) => choose({ name: "trust", folder, yes, revoke }));
  program.command("new").description("write a plugin to start from, and a test for it")
    .argument("<name>", "its name, and that of its file")
    .action((plugin) => choose({ name: "new", plugin }));
  program.command("check").description("load plugin files and say what is wrong; exit code 1 if one is bad")
    .argument("<files...>", "the files")
    .action((files) => choose({ name: "check", files }));
  program.command("undo").description("take back what the last turn changed in files, not what commands did")
    .option("--force", "also where a file was changed since; those changes are lost")
    .action(({ force = false }) => choose({ name: "undo", force }));
  program.command("doctor").description("show runtime, fence, key source and folders, and what is wrong")
    .option("--json", "as JSON")
    .action(({ json = false }) => choose({ name: "doctor", json }));
  return program;
}

/** A word alone that is nearly the name of a command was not meant for the model, who would be paid for it. */
function checkMeant(program: CommandUnknownOpts, [word, ...more]: readonly string[]): void {
  if (word === undefined || more.length > 0 || word.length < 4) return; // three letters are near to too much
  const [near] = nearNames(word, program.commands.map((command) => command.name()));
  if (near === undefined) return;
  const said = oneLine(word);
  throw usageError(
    `No command is named "${said}". Did you mean "${near}"? To ask the model: tenon -p ${shellWord(said)}`,
  );
}

/** `help` alone, or before the name of a command; more words are a prompt. */
function helpOf(program: CommandUnknownOpts, [first, name, ...more]: readonly string[]): Task | undefined {
  if (first !== "help" || more.length > 0) return undefined;
  const command = name === undefined ? program : program.commands.find((one) => one.name() === name);
  return command && { name: "show", text: command.helpInformation() };
}

function readOptions(raw: ReturnType<ReturnType<typeof buildProgram>["opts"]>): Options {
  const names = raw.tools?.split(",").map((name) => name.trim()).filter((name) => name !== "");
  return {
    print: raw.print ?? false,
    model: raw.model,
    baseUrl: raw.baseUrl,
    compat: raw.compat ?? false,
    maxSteps: raw.maxSteps,
    maxTokens: raw.maxTokens,
    tools: names?.length === 1 && names[0] === "none" ? [] : names,
    systemFile: raw.system,
    workspace: raw.workspace,
    plugins: raw.plugins ?? [],
    outputFormat: raw.outputFormat,
    sandbox: raw.sandbox,
    trace: raw.trace ?? false,
    allowBroadWorkspace: raw.allowBroadWorkspace ?? false,
    permissions: raw as RawFlags,
  };
}

function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("It needs a whole number from 1 on");
  return Number(text);
}

function format(text: string): OutputFormat {
  if (text === "text" || text === "json" || text === "stream-json") return text;
  throw new InvalidArgumentError("It needs text, json or stream-json");
}

function sandbox(text: string): Sandbox {
  if (text === "auto" || text === "require" || text === "off") return text;
  throw new InvalidArgumentError("It needs auto, require or off");
}

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
