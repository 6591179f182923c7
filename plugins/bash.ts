/** bash: one command in a shell of its own. */

import { type CommandEnd, runCommand } from "../core/commands/command.ts";
import { cannot, codeOf, quoted, refused } from "../core/files/refusal.ts";
import type { Definition, Handler, Proposal } from "../core/tool.ts";

/** Seconds. */
const DEFAULT_TIMEOUT = 120;
const LONGEST_TIMEOUT = 600;

export const definition: Definition = {
  name: "bash",
  description:
    "Runs a command with bash, for tests, builds, git and other programs. To list, find, read or change files use the tools for that: " +
    "a file seen only through bash does not count as read. Every command starts in the workspace root with a fresh shell, so no folder " +
    "or variable carries over, and what it leaves in the background is ended; there is no terminal, no input, and no network unless " +
    "the user gave it.",
  input_schema: {
    type: "object",
    properties: {
      command: { type: "string", description: "Command line or script for bash" },
      timeout: {
        type: "number",
        description: `Seconds after which it is ended, at most ${LONGEST_TIMEOUT}. Default: ${DEFAULT_TIMEOUT}`,
      },
    },
    required: ["command"],
    additionalProperties: false,
  },
  permissions: { read: true, write: true, run: true },
  // Above the longest timeout: the output so far is only in the answer of this tool.
  timeout_ms: (LONGEST_TIMEOUT + 10) * 1000,
  strict: true,
};

interface Input {
  command: string;
  timeout?: number | null;
}

/** Refuses what the handler would refuse before it starts anything. */
export function preview({ command, timeout }: Input): Proposal {
  checkCommand(command);
  secondsOf(timeout);
  return { command };
}

/** A command that ends with another exit code than 0 was run as it was meant to; one that a signal ended was not. */
export const handler: Handler<Input> = async ({ command, timeout }, { run, workspace, signal, progress }) => {
  checkCommand(command);
  const seconds = secondsOf(timeout);
  if (run === undefined) throw new Error("Cannot call bash: its host has no permission to run programs");
  await workspace.stat(".").catch((error) => {
    // That it may not be read (--allow-read=src) is no reason: the fence holds the command.
    if (!String(error).includes("moved or replaced")) return;
    throw new Error(
      `Cannot run ${quoted(command)}: the workspace directory was moved, replaced or removed. Start tenon again in it`,
    );
  });
  let end: CommandEnd;
  try {
    end = await runCommand({
      ...run,
      command,
      timeoutMs: seconds * 1000,
      signal,
      progress: (output) => progress(output.lastLine()),
    });
  } catch (error) {
    const how = REASONS[codeOf(error) ?? ""];
    throw cannot("run", command, how === undefined ? error : refused(how));
  }
  const { text, damaged } = end.output.show();
  const said = text + (damaged ? `${text ? "\n" : ""}[bytes that are not UTF-8 are shown as \ufffd]` : "");
  const failure = failureOf(end, seconds);
  if (failure === undefined) return [...(said ? [said] : []), ...lastLines(end, said === "")].join("\n");
  const so = said === "" ? "It printed nothing." : `Its output so far:\n${said}`;
  throw new Error(`Cannot run ${quoted(command)}: ${failure}. ${so}\n${lastLine(end)}`);
};

function checkCommand(command: string): void {
  if (command.trim() === "") throw new Error("Cannot call bash: command: it is empty. Give a command");
  if (command.includes("\0")) throw new Error("Cannot call bash: command: it holds a NUL character. Leave it out");
}

/** More than the longest is the longest: the model wants it to go on, and reads in the result how long it did. */
function secondsOf(timeout: number | null | undefined): number {
  const seconds = timeout ?? DEFAULT_TIMEOUT;
  if (seconds > 0) return Math.min(seconds, LONGEST_TIMEOUT);
  throw new Error(`Cannot call bash: timeout: expected seconds from 1 to ${LONGEST_TIMEOUT}, got ${seconds}`);
}

function failureOf({ stopped, signal }: CommandEnd, seconds: number): string | undefined {
  if (stopped === "timeout") return `no end after ${seconds} s`;
  if (stopped === "interrupt") return "interrupted by the user";
  return signal === null ? undefined : `it was ended by ${signal}`;
}

function lastLines(end: CommandEnd, silent: boolean): string[] {
  return [...leftLine(end), `[exit code ${end.code} after ${duration(end)}${silent ? ", no output" : ""}]`];
}

function lastLine(end: CommandEnd): string {
  return `[${end.stopped === "timeout" ? "timed out: " : ""}ended after ${duration(end)}]`;
}

function leftLine({ left }: CommandEnd): string[] {
  if (left.length === 0) return [];
  const names = [...new Set(left.filter((name) => name !== undefined))].slice(0, 5);
  const what = names.length > 0 ? `: ${names.join(", ")}` : "";
  return [`[what it had left in the background was ended 1 s after it${what}]`];
}

function duration({ durationMs }: CommandEnd): string {
  return `${(durationMs / 1000).toFixed(durationMs < 10_000 ? 2 : 0)} s`;
}

const REASONS: { [code: string]: string } = {
  ENOENT: "there is no bash and no sh here",
  E2BIG: "it is too long. Write it to a file and run that",
  NOT_GRANTED: "Deno was not given the right to start bash",
};
