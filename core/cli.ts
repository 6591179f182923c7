/** The command: what to do, in which order, and the exit code. The one place that prints errors. */

import { existsSync } from "node:fs";
import process from "node:process";
import type { ReadStream, WriteStream } from "node:tty";
import { isApiError } from "./model/api_error.ts";
import { type Options, parseArgv, type Task } from "./options.ts";
import { askBetween, UNCONFINED } from "./terminal/question.ts";
import type { View } from "./terminal/terminal.ts";
import { leavingLine } from "./hosts/leaving.ts";
import { dirname } from "./path.ts";
import { setAsideLine } from "./plugins/plugins.ts";
import { deniedInside } from "./permissions/denied_inside.ts";
import { openPremises, type Premises } from "./premises.ts";
import { raiseFence } from "./raise_fence.ts";
import { isTerminal, mayRead, readEnv } from "./runtime.ts";
import { askWithoutRefused } from "./model/refused_tool.ts";
import { openScreen, paint, type Screen } from "./terminal/screen.ts";
import type { Setup } from "./start.ts";
import { oneLine, visible } from "./text.ts";
import { reachNotice, untrustedLines } from "./plugins/trust_notice.ts";
import { usageError } from "./usage_error.ts";
import { EXIT, printTurn } from "./turn.ts";

interface Io {
  stdout: Screen;
  stderr: Screen;
  signal: AbortSignal;
  /** Aborts the signal, as Ctrl-C does. */
  interrupt(): void;
}

/** Runs the program and ends the process with its exit code. */
export async function main(argv: readonly string[]): Promise<never> {
  const env = { NO_COLOR: readEnv("NO_COLOR"), TERM: readEnv("TERM") };
  const abort = new AbortController();
  let lost = false;
  const closed = (reason: string) => {
    // A reader that went away (`| head`) wants no more; that is no failure.
    if (reason === "EPIPE") process.exit(EXIT.done);
    lost = true;
    stderr.write(`tenon: Cannot write to stdout: ${unwritable(reason)}. What was to be read there is lost\n`);
    void stderr.flushed().then(() => process.exit(EXIT.stopped));
  };
  const stdout = openScreen(() => process.stdout as WriteStream, { tty: isTerminal(1), env, closed });
  const stderr = openScreen(() => process.stderr as WriteStream, { tty: isTerminal(2), env });
  let code: number;
  try {
    const { task, options } = parseArgv(argv);
    code = await run(task, options, { stdout, stderr, signal: abort.signal, interrupt: () => abort.abort() });
  } catch (error) {
    code = isUsage(error) ? EXIT.unusable : EXIT.stopped;
    const message = error instanceof Error ? error.message : String(error);
    const known = isUsage(error) || isApiError(error);
    stderr.write(`tenon: ${paint(stderr, "red", known ? visible(message) : `a bug: ${oneLine(message, 500)}`)}\n`);
  }
  await stdout.flushed();
  await stderr.flushed();
  process.exit(lost ? EXIT.stopped : code);
}

function unwritable(reason: string): string {
  return reason === "ENOSPC" ? "no space is left" : `the system refuses it (${reason})`;
}

function isUsage(error: unknown): boolean {
  return error instanceof Error && error.name === "UsageError";
}

async function run(task: Task, options: Options, io: Io): Promise<number> {
  if (task.name === "show") {
    io.stdout.write(task.text);
    return EXIT.done;
  }
  if (task.name === "new") return await (await import("./plugins/author.ts")).runNew(task.plugin, options.plugins, io);
  // A chat asks on its own screen, also when stderr goes to a file.
  const canAsk = task.name !== "call" && isTerminal(0) &&
    (io.stderr.tty || (task.name === "turn" && isChat(task.words, options, io)));
  if (task.name === "trust" && task.folder !== undefined) {
    if (task.folder === "" || !mayRead(task.folder) || !existsSync(task.folder)) {
      throw usageError(`No such folder: "${oneLine(task.folder)}"`);
    }
    options.plugins.push(task.folder); // so that the fence lets it be read
  }
  const isCheck = task.name === "check";
  const premises = await openPremises(isCheck ? { ...options, ...ANYWHERE } : options, canAsk, {
    lookOnly: task.name === "doctor" || task.name === "tools",
    ...(task.name === "call" ? { asksNobody: "tenon call" } : {}),
  });
  const files = isCheck ? await (await import("./plugins/author.ts")).filesToCheck(task.files) : [];
  const fence = await raiseFence(options, premises, files.map(dirname), io.stderr);
  hearSignals(io);
  if (isCheck) return await (await import("./plugins/author.ts")).runCheck(files, premises, fence, io.stdout);
  if (task.name === "trust") return await trust(task, options, premises, { ...io, canAsk });
  // Not before: what goes behind the fence starts anew there, and would load the tools twice.
  const { setUp } = await import("./start.ts");
  const setup = await setUp(options, premises, fence);
  try {
    return await runTask(task, options, setup, io);
  } finally {
    setup.hosts.close();
  }
}

/**
 * The first signal ends what runs, the next one the program. Not before the fence is up: what is caught there is
 * forgotten when execve puts a new program in the place of this one. Until then a signal ends it as any other program.
 */
function hearSignals({ signal, interrupt }: Io): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => signal.aborted ? process.exit(EXIT.interrupted) : interrupt());
  }
}

/** A check has nothing to do with the folder that it is started in, whichever that is. */
const ANYWHERE = { allowBroadWorkspace: true, permissions: { denyRead: "", denyWrite: "", denyRun: "" } };

async function trust(
  task: Task & { name: "trust" },
  { workspace }: Options,
  premises: Premises,
  { canAsk, ...io }: Io & { canAsk: boolean },
): Promise<number> {
  const { trustPlugins } = await import("./plugins/trust_command.ts");
  const stdin = canAsk ? process.stdin as ReadStream : undefined;
  try {
    return await trustPlugins({ ...task, workspace }, premises, { ...io, stdin }) ? EXIT.done : EXIT.stopped;
  } catch (error) {
    if (isUsage(error)) throw error;
    throw usageError(`Nothing was trusted: ${error instanceof Error ? error.message : error}`);
  }
}

async function runTask(
  task: Exclude<Task, { name: "show" | "trust" | "new" | "check" }>,
  options: Options,
  setup: Setup,
  io: Io,
): Promise<number> {
  switch (task.name) {
    case "doctor": {
      const { makeReport, reportLines } = await import("./doctor.ts");
      const report = makeReport(setup);
      io.stdout.write(
        task.json ? `${JSON.stringify(report, null, 2)}\n` : `${reportLines(report).map(visible).join("\n")}\n`,
      );
      return EXIT.done;
    }
    case "tools": {
      const { toolLines, toolList } = await import("./tool_list.ts");
      const list = toolList(setup.catalog, setup.registry);
      io.stdout.write(
        task.json ? `${JSON.stringify(list, null, 2)}\n` : `${toolLines(list).map(visible).join("\n")}\n`,
      );
      return EXIT.done;
    }
    case "call": {
      const { CALL_HINT, callLines, callOnce } = await import("./call.ts");
      const { readLines } = await import("./stdin.ts");
      tellOfPlugins(setup, options, io);
      if (task.tool === undefined && isTerminal(0)) io.stderr.write(`${CALL_HINT}\n`);
      const calls = { registry: setup.registry, ...io };
      const well = task.tool === undefined
        ? await callLines(calls, readLines(io.signal))
        : await callOnce(calls, task.tool, task.input);
      if (io.signal.aborted) return EXIT.interrupted;
      return well ? EXIT.done : EXIT.stopped;
    }
    case "undo": {
      const { lines, isWhole } = await setup.undo.takeBack({
        force: task.force,
        forceWords: "tenon undo --force",
        signal: io.signal,
      });
      io.stdout.write(`${lines.map(visible).join("\n")}\n`);
      return isWhole ? EXIT.done : EXIT.stopped;
    }
    case "turn":
      return await runPrompt(task.words, options, setup, io);
  }
}

function isChat(words: readonly string[], { print, outputFormat }: Options, { stdout }: Io): boolean {
  return words.length === 0 && !print && isTerminal(0) && stdout.tty && outputFormat === "text";
}

async function runPrompt(words: readonly string[], options: Options, setup: Setup, io: Io): Promise<number> {
  const { openModel } = await import("./start.ts");
  const { readPrompt } = await import("./stdin.ts");
  const { registry, catalog } = setup;
  const model = await openModel(options, (line) => io.stderr.write(`${line}\n`));
  if (isChat(words, options, io)) {
    const { chat } = await import("./chat.ts");
    tellOfPlugins(setup, options, io, { isChat: true });
    return await chat({ setup, model, maxSteps: options.maxSteps, screen: io.stdout });
  }
  const warnings = tellOfPlugins(setup, options, io);
  const ask = askWithoutRefused({ askWith: model.askWith, definitions: registry.definitions, refuse: catalog.refuse });
  const agent = { ask, registry, maxSteps: options.maxSteps, signal: io.signal };
  const prompt = await readPrompt(words);
  if (model.note) io.stderr.write(`${paint(io.stderr, "yellow", model.note)}\n`);
  const prepare = ({ pause }: View) => {
    if (!setup.policy.prompt) return;
    const notice = setup.confined ? undefined : UNCONFINED;
    setup.approval.ask = askBetween(process.stdin as ReadStream, io.stderr, { pause, interrupt: io.interrupt, notice });
  };
  return await printTurn({
    prepare,
    warnings,
    agent,
    prompt,
    format: options.outputFormat,
    model: model.name,
    fence: setup.fence.level,
    ...io,
  });
}

/** What nothing holds, what may leave, and what is odd about the plugins: said on stderr, and returned. In a chat the user is asked about those that are not trusted. */
function tellOfPlugins(
  setup: Setup,
  { workspace, sandbox }: Options,
  { stderr }: Io,
  { isChat = false } = {},
): string[] {
  const { catalog, root } = setup;
  const notice = reachNotice(setup);
  const leaving = isChat ? undefined : leavingLine(setup.policy, setup.registry.tools);
  const { level, not_covered } = setup.fence;
  const lines = [
    // Off is said where it is read.
    ...(level === "guard" && sandbox !== "off" ? [`Nothing holds the tools: ${not_covered[0]}. See tenon doctor`] : []),
    ...(!setup.confined && setup.policy.run.state === "allow" ? [UNCONFINED] : []),
    ...(isChat ? [] : deniedInside(setup.policy)),
    ...(leaving === undefined ? [] : [leaving]),
    ...(notice === undefined ? [] : [notice]),
    ...catalog.setAside.map(setAsideLine),
    ...(isChat ? [] : untrustedLines(catalog.untrusted, root, workspace)),
  ];
  for (const line of lines) stderr.write(`${paint(stderr, "yellow", oneLine(line, 1000))}\n`);
  return lines;
}
