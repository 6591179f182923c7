/** How a question before a call looks at the terminal, and what the user's keys mean. */

import type { Answer, AskUser, Question } from "./approval.ts";
import type { ReadStream } from "node:tty";
import { type Choice, createAsker } from "./ask.ts";
import { openKeyboard } from "./keyboard.ts";
import { paint, type Screen } from "./screen.ts";
import type { View } from "./terminal.ts";
import { oneLine, visible } from "./text.ts";

/** Said before a program is started that no fence holds. */
export const UNCONFINED = "Nothing confines this program: it reaches every file and host that you reach";

/** The part of an asker that a question needs; no answer is `undefined`. */
export interface Questioner {
  askKey(question: string, choices: readonly Choice[]): Promise<string | undefined>;
  askLine(question: string): Promise<string | undefined>;
}

/** Lines of a diff that are shown around the question; what is left out is counted. */
const DIFF_LINES = 200;

const CHOICES: readonly Choice[] = [
  { key: "y", label: "yes" },
  { key: "a", label: "always" },
  { key: "n", label: "no" },
  { key: "w", label: "no, with a word" },
];

/** Puts questions to the user of this screen. `notice` is said with every question about a program, where nothing confines it. */
export function askAt(screen: Screen, questioner: Questioner, notice: string | undefined): AskUser {
  return async (question): Promise<Answer> => {
    for (const line of proposalLines(question, screen)) screen.write(`${line}\n`);
    if (notice !== undefined && question.kinds.includes("run")) screen.write(`${paint(screen, "red", notice)}\n`);
    const key = await questioner.askKey(`${wordsFor(question)} ("always" is ${question.scope})`, CHOICES);
    if (key === "y") return { verdict: "once" };
    if (key === "a") return { verdict: "always" };
    const word = key === "w" ? await questioner.askLine("What should the model know?") : undefined;
    return word === undefined ? { verdict: "no" } : { verdict: "no", word };
  };
}

/** The same outside of a chat: the keyboard is taken for one question at a time, so that Ctrl-C stays what it is else. */
export function askBetween(
  stdin: ReadStream,
  screen: Screen,
  pause: View["pause"],
  notice: string | undefined,
): AskUser {
  return async (question, signal) => {
    const keyboard = openKeyboard(stdin, screen);
    try {
      const asker = createAsker(keyboard, screen);
      keyboard.listen(asker.keep);
      const options = { signal, pause };
      return await askAt(screen, {
        askKey: (words, choices) => asker.askKey(words, choices, options),
        askLine: (words) => asker.askLine(words, options),
      }, notice)(question, signal);
    } finally {
      keyboard.close();
    }
  };
}

function wordsFor({ tool, kinds, proposal }: Question): string {
  if (!proposal) return `Run ${tool}, which may ${kinds.join(", ")}?`;
  return "command" in proposal ? "Run this command?" : `Change ${oneLine(proposal.path, 300)}?`;
}

/** The exact command, or the diff in colours; nothing hidden in either stays hidden. */
export function proposalLines({ tool, input, proposal }: Question, screen: Pick<Screen, "colour">): string[] {
  if (!proposal) return [`${tool} ${oneLine(JSON.stringify(input ?? {}), 2000)}`];
  if ("command" in proposal) {
    return proposal.command.split("\n").map((line, index) =>
      `${index === 0 ? "$ " : "  "}${shownBlanks(visible(line))}`
    );
  }
  const lines = proposal.diff.trimEnd().split("\n");
  const shown = lines.slice(0, DIFF_LINES).map((line) => colourOf(line, visible(line), screen));
  const left = lines.length - shown.length;
  return left > 0 ? [...shown, `[${left} more lines of ${lines.length}]`] : shown;
}

/** A command must not hide its end behind a screenful of blanks. */
function shownBlanks(line: string): string {
  return line.replace(/[ \t]{20,}/g, (blanks) => ` [${blanks.length} blanks] `);
}

function colourOf(line: string, shown: string, screen: Pick<Screen, "colour">): string {
  if (/^(\+\+\+|---) /.test(line)) return paint(screen, "bold", shown);
  if (line.startsWith("+")) return paint(screen, "green", shown);
  if (line.startsWith("-")) return paint(screen, "red", shown);
  return line.startsWith("@@") ? paint(screen, "cyan", shown) : shown;
}
