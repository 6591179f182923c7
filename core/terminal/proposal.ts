/** What a call would do, as lines for the user: the exact command, or the diff in colours; nothing hidden in either stays hidden. */

import type { Question } from "../permissions/approval.ts";
import { paint, type Screen, type Style } from "./screen.ts";
import { headOf, tailOf, visible } from "../text.ts";

/** How much is shown: what fits a look, or the whole of it. */
export type Amount = "first" | "all";

/** Lines, and characters of a line, that are shown at first; what is left out is counted. */
const FIRST = { lines: 200, characters: 2000 };

/** Longer runs of blanks, and of blank lines, are counted: nothing must hide behind a screenful of them. A diff has indented lines. */
const COMMAND_BLANKS = /[\p{Zs}\t\u2800]{20,}/gu;
const DIFF_BLANKS = /[\p{Zs}\t\u2800]{120,}/gu;
const BLANK_LINES = 3;

const COLOURS: { [sign: string]: Style } = { "+": "green", "-": "red", "@": "cyan" };

/** The lines of a question, and whether something was left out. They are safe for a terminal. */
export function proposalLines(
  { tool, input, proposal }: Pick<Question, "tool" | "input" | "proposal">,
  amount: Amount,
  screen: Pick<Screen, "colour">,
): { lines: string[]; isCut: boolean } {
  if (proposal && "diff" in proposal) {
    const { lines, isCut } = cut(proposal.diff.replace(/\n$/, "").split("\n"), amount, DIFF_BLANKS);
    const headers = lines.findIndex((line) => line.startsWith("@@"));
    return { lines: lines.map((line, index) => paintDiff(line, index < headers, screen)), isCut };
  }
  const text = proposal ? proposal.command : `${tool} ${JSON.stringify(input ?? {})}`;
  const { lines, isCut } = cut(withoutBlankLines(text.split("\n")), amount, COMMAND_BLANKS);
  return { lines: proposal ? lines.map((line, index) => `${index === 0 ? "$ " : "  "}${line}`) : lines, isCut };
}

function cut(all: readonly string[], amount: Amount, blanks: RegExp): { lines: string[]; isCut: boolean } {
  const most = amount === "all" ? { lines: Infinity, characters: Infinity } : FIRST;
  const whole = all.slice(0, most.lines).map((line) => visible(line).replace(blanks, countBlanks));
  const lines = whole.map((line) => cutLine(line, most.characters));
  const left = all.length - whole.length;
  if (left > 0) lines.push(`[${left} more of ${all.length} lines]`);
  return { lines, isCut: left > 0 || whole.some((line, index) => line !== lines[index]) };
}

/** The end of a line is as good a place to hide something as any: it is shown as well. */
function cutLine(line: string, limit: number): string {
  if (line.length <= limit) return line;
  const [head, tail] = [headOf(line, limit * 0.75), tailOf(line, limit * 0.2)];
  return `${head} [${line.length - head.length - tail.length} characters left out] ${tail}`;
}

function countBlanks(blanks: string): string {
  return ` [${blanks.length} blanks] `;
}

function withoutBlankLines(lines: readonly string[]): string[] {
  const shown: string[] = [];
  let blank = 0;
  for (const line of [...lines, undefined]) {
    if (line?.trim() === "") {
      blank++;
      continue;
    }
    if (blank >= BLANK_LINES) shown.push(`[${blank} blank lines]`);
    else shown.push(...Array<string>(blank).fill(""));
    blank = 0;
    if (line !== undefined) shown.push(line);
  }
  return shown;
}

function paintDiff(line: string, isHeader: boolean, screen: Pick<Screen, "colour">): string {
  if (isHeader) return paint(screen, "bold", line);
  const style = COLOURS[line[0] ?? ""];
  return style === undefined ? line : paint(screen, style, line);
}
