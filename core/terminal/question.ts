/** How a question before a call looks at the terminal, and what the user's keys mean. */

import type { Answer, AskUser, Question } from "../permissions/approval.ts";
import type { ReadStream } from "node:tty";
import { type Choice, createAsker } from "./ask.ts";
import { type Keyboard, openKeyboard } from "./keyboard.ts";
import { itemsOf, kindsOf } from "../permissions/permissions.ts";
import { isListed } from "../permissions/policy.ts";
import { type Amount, proposalLines } from "./proposal.ts";
import { paint, type Screen } from "./screen.ts";
import type { View } from "./terminal.ts";
import { listed, oneLine } from "../text.ts";

/** Said at start, and with every question about a program, where no fence holds it. */
export const UNCONFINED =
  "Nothing confines the programs that tools start: they reach every file and host that you reach";

/** The part of an asker that a question needs; no answer is `undefined`. */
export interface Questioner {
  askKey(question: string, choices: readonly Choice[], above: string): Promise<string | undefined>;
  askLine(question: string): Promise<string | undefined>;
}

/** Puts questions to the user of this screen. `notice` is said with every question about a program, where nothing confines it. */
export function askAt(screen: Screen, questioner: Questioner, notice: string | undefined): AskUser {
  return async (question): Promise<Answer> => {
    let key: string | undefined = "s";
    for (let amount: Amount = "first"; key === "s"; amount = "all") {
      const { lines, isCut } = proposalLines(question, amount, screen);
      if (notice !== undefined && question.needs.run) lines.push(paint(screen, "red", notice));
      key = await questioner.askKey(wordsFor(question), choicesFor(question, isCut), lines.join("\n"));
    }
    if (key === "y") return { verdict: "once" };
    if (key === "a") return { verdict: "always" };
    if (key === "n") return { verdict: "no" };
    const word = key === "w" ? await questioner.askLine("What should the model know?") : undefined;
    return word === undefined ? { verdict: "none" } : { verdict: "no", word };
  };
}

/** How long the keyboard is held after an answer: a second key, or an Enter behind it, is not to be echoed into the output. */
const LINGER_MS = 1000;

/**
 * The same outside of a chat: the keyboard is taken for one question at a time, and a moment longer, so that Ctrl-C stays what it is
 * else. A question without an answer calls `interrupt`.
 */
export function askBetween(
  stdin: ReadStream,
  screen: Screen,
  { pause, interrupt, notice }: { pause: View["pause"]; interrupt(): void; notice: string | undefined },
): AskUser {
  let letGo = () => {};

  /** Swallows what is still typed. */
  function linger(keyboard: Keyboard) {
    keyboard.listen((key) => {
      if (key.name === "interrupt") interrupt();
    });
    const timer = setTimeout(() => keyboard.close(), LINGER_MS);
    letGo = () => {
      clearTimeout(timer);
      keyboard.close();
    };
  }

  return async (question, signal) => {
    letGo();
    const keyboard = openKeyboard(stdin, screen);
    try {
      const asker = createAsker(keyboard, screen);
      keyboard.listen(asker.keep);
      const options = { signal, pause };
      const answer = await askAt(screen, {
        askKey: (words, choices, above) => asker.askKey(words, choices, { ...options, above }),
        askLine: (words) => asker.askLine(words, options),
      }, notice)(question, signal);
      if (answer.verdict === "none") interrupt();
      return answer;
    } finally {
      linger(keyboard);
    }
  };
}

function wordsFor({ tool, plugin, needs, asked, proposal }: Question): string {
  const what = !proposal
    ? undefined
    : "command" in proposal
    ? "run this command"
    : `${isNew(proposal.diff) ? "create" : "change"} ${oneLine(proposal.path, 300)}`;
  if (plugin === undefined && what !== undefined) return `${what[0]?.toUpperCase()}${what.slice(1)}?`;
  const from = plugin === undefined ? "" : ` (${oneLine(plugin, 100)})`;
  // Never cut: the end of a host's name tells whose it is.
  const acts = [
    ...kindsOf(needs).filter((kind) => !isListed(kind)),
    ...(asked.net.length > 0 ? [`reach ${listed(asked.net)}`] : []),
    ...(asked.env.length > 0 ? [`see ${listed(asked.env)}`] : []),
  ];
  const leaving = leavingWords({ needs, asked });
  // Nobody holds a plugin to what it says that it will do.
  const says = what === undefined ? "" : ` It says that it will ${what}.`;
  return `Let ${tool}${from} ${acts.join(", ")}?${leaving}${says}`;
}

/** What a yes lets out of this machine, as far as this question decides it. */
function leavingWords({ needs, asked }: Pick<Question, "needs" | "asked">): string {
  const [hosts, variables] = [itemsOf(needs, "net"), itemsOf(needs, "env")];
  if (hosts.length === 0 || asked.net.length + asked.env.length === 0) return "";
  const where = asked.net.length === hosts.length ? "there" : `to ${listed(hosts)}`;
  const names = listed(variables);
  if (needs.read) {
    return ` What it reads of the workspace${names && `, and ${names},`} can be sent ${where}.`;
  }
  return ` ${names || "What the model gives it"} can be sent ${where}.`;
}

/** A diff of what is not there yet: `unifiedDiff` names it so. */
function isNew(diff: string): boolean {
  return diff.startsWith("--- /dev/null\n");
}

function choicesFor({ tool, asked, proposal }: Question, isCut: boolean): Choice[] {
  const work = !proposal ? `each call of ${tool}` : "command" in proposal ? "this command to the letter" : "this file";
  const scope = [
    ...(asked.work ? [work] : []),
    ...(asked.net.length > 0 ? [asked.net.length === 1 ? "this host" : "these hosts"] : []),
    ...(asked.env.length > 0 ? [asked.env.length === 1 ? "this variable" : "these variables"] : []),
  ];
  return [
    { key: "y", label: "yes" },
    { key: "a", label: `always (${listed(scope)})` },
    { key: "n", label: "no" },
    { key: "w", label: "no, with a word" },
    ...(isCut ? [{ key: "s", label: "show all" }] : []),
  ];
}
