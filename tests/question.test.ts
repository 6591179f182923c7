import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Answer, Question } from "../core/permissions/approval.ts";
import { unifiedDiff } from "../core/files/diff.ts";
import type { Choice } from "../core/terminal/ask.ts";
import { proposalLines } from "../core/terminal/proposal.ts";
import { askAt, UNCONFINED } from "../core/terminal/question.ts";
import { visible } from "../core/text.ts";
import { recorder } from "./support/recorder.ts";

const plain = { colour: false };

function about(proposal: Question["proposal"], more: Partial<Question> = {}): Question {
  const needs = { read: true, write: true, run: true };
  const asked = { work: true, net: [], env: [] };
  return { tool: "bash", plugin: undefined, input: {}, needs, asked, proposal, ...more };
}

const LONG = `api.example.com.${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(40)}.evil.example:443`;

const command = (text: string) => about({ command: text });
const diff = (text: string) => about({ path: "a.txt", diff: text });

/** Asks with a user who gives these answers, and tells all that was shown. */
async function ask(question: Question, keys: (string | undefined)[], word?: string, notice?: string) {
  const shown: { words: string; labels: string[]; above: string }[] = [];
  const questioner = {
    askKey(words: string, choices: readonly Choice[], above: string) {
      shown.push({ words, labels: choices.map(({ key, label }) => `${key} ${label}`), above });
      const key = keys.shift();
      if (key !== undefined && !choices.some((choice) => choice.key === key)) throw new Error(`no key ${key}`);
      return Promise.resolve(key);
    },
    askLine: () => Promise.resolve(word),
  };
  const answer = await askAt(recorder({ colour: false }), questioner, notice)(question, new AbortController().signal);
  return { answer, shown };
}

describe("askAt", () => {
  const rows: [keys: (string | undefined)[], word: string | undefined, answer: Answer][] = [
    [["y"], undefined, { verdict: "once" }],
    [["a"], undefined, { verdict: "always" }],
    [["n"], undefined, { verdict: "no" }],
    [["w"], "use npm", { verdict: "no", word: "use npm" }],
    [["w"], "", { verdict: "no", word: "" }],
    [["w"], undefined, { verdict: "none" }],
    [[undefined], undefined, { verdict: "none" }],
  ];
  test.each(rows)("takes %j and the word %j for %j", async (keys, word, answer) => {
    expect((await ask(command("ls"), keys, word)).answer).toEqual(answer);
  });

  test("shows the command, what is asked, and what always would cover", async () => {
    const { shown } = await ask(command("npm test\n  --watch"), ["n"]);
    expect(shown).toEqual([{
      words: "Run this command?",
      labels: ["y yes", "a always (this command to the letter)", "n no", "w no, with a word"],
      above: "$ npm test\n    --watch",
    }]);
  });

  test("names the file that is changed", async () => {
    const { shown } = await ask(about({ path: "d/\u202ea.txt", diff: "@@\n+one" }, { tool: "edit_file" }), ["y"]);
    expect(shown[0]).toMatchObject({ words: "Change d/\\u{202e}a.txt?", above: "@@\n+one" });
    expect(shown[0]?.labels[1]).toBe("a always (this file)");
  });

  test("says of a file that is not there yet that it is created", async () => {
    const fresh = await unifiedDiff("d/a.txt", undefined, "one\n");
    const { shown } = await ask(about({ path: "d/a.txt", diff: fresh }, { tool: "write_file" }), ["y"]);
    expect(shown[0]?.words).toBe("Create d/a.txt?");
    const changed = await unifiedDiff("d/a.txt", "", "one\n");
    const other = await ask(about({ path: "d/a.txt", diff: changed }, { tool: "write_file" }), ["y"]);
    expect(other.shown[0]?.words).toBe("Change d/a.txt?");
  });

  test("says of a plugin that nobody holds it to what it says", async () => {
    const plugin = { tool: "deploy", plugin: "/p/deploy.ts" };
    const { shown } = await ask({ ...command("ls"), ...plugin }, ["y"]);
    expect(shown[0]?.words).toBe(
      "Let deploy (/p/deploy.ts) read, write, run? It says that it will run this command.",
    );
    const silent = await ask({ ...about(undefined), ...plugin, input: { to: "pro\x1b[2Jd" } }, ["y"]);
    expect(silent.shown).toEqual([{
      words: "Let deploy (/p/deploy.ts) read, write, run?",
      labels: ["y yes", "a always (each call of deploy)", "n no", "w no, with a word"],
      above: 'deploy {"to":"pro\\u001b[2Jd"}',
    }]);
  });

  const leaving: [what: string, more: Partial<Question>, words: string, always: string][] = [
    [
      "a host of a tool that reads",
      { needs: { read: true, net: ["A.com"] }, asked: { work: false, net: ["a.com:443"], env: [] } },
      "Let sends (/p/sends.ts) read, reach a.com:443? What it reads of the workspace can be sent there.",
      "this host",
    ],
    [
      "a host of a tool that reads nothing",
      { needs: { net: ["a.com"] }, asked: { work: false, net: ["a.com:443"], env: [] } },
      "Let sends (/p/sends.ts) reach a.com:443? What the model gives it can be sent there.",
      "this host",
    ],
    [
      "hosts and variables",
      {
        needs: { read: true, net: ["a.com", "b.com:80"], env: ["TOKEN", "CI"] },
        asked: { work: false, net: ["a.com:443", "b.com:80"], env: ["TOKEN", "CI"] },
      },
      "Let sends (/p/sends.ts) read, reach a.com:443 and b.com:80, see TOKEN and CI? " +
      "What it reads of the workspace, and TOKEN and CI, can be sent there.",
      "these hosts and these variables",
    ],
    [
      "a variable that can be sent to a host that was granted before",
      { needs: { net: ["a.com"], env: ["TOKEN"] }, asked: { work: false, net: [], env: ["TOKEN"] } },
      "Let sends (/p/sends.ts) see TOKEN? TOKEN can be sent to a.com:443.",
      "this variable",
    ],
    [
      "one more host, beside one that was granted before",
      { needs: { net: ["a.com", "b.com"] }, asked: { work: false, net: ["b.com:443"], env: [] } },
      "Let sends (/p/sends.ts) reach b.com:443? What the model gives it can be sent to a.com:443 and b.com:443.",
      "this host",
    ],
    [
      "a variable that cannot leave",
      { needs: { env: ["TOKEN"] }, asked: { work: false, net: [], env: ["TOKEN"] } },
      "Let sends (/p/sends.ts) see TOKEN?",
      "this variable",
    ],
    [
      "a file and a host together",
      {
        needs: { read: true, write: true, net: ["a.com"] },
        asked: { work: true, net: ["a.com:443"], env: [] },
        proposal: { path: "a.txt", diff: "@@" },
      },
      "Let sends (/p/sends.ts) read, write, reach a.com:443? What it reads of the workspace can be sent there. " +
      "It says that it will change a.txt.",
      "this file and this host",
    ],
    [
      "a file alone where the host was granted before",
      { needs: { write: true, net: ["a.com"] }, asked: { work: true, net: [], env: [] } },
      "Let sends (/p/sends.ts) write?",
      "each call of sends",
    ],
    [
      "a host whose long name tells at its end whose it is",
      { needs: { net: [LONG] }, asked: { work: false, net: [LONG], env: [] } },
      `Let sends (/p/sends.ts) reach ${LONG}? What the model gives it can be sent there.`,
      "this host",
    ],
  ];
  test.each(leaving)("asks of a plugin for %s", async (_what, more, words, always) => {
    const question = about(undefined, { tool: "sends", plugin: "/p/sends.ts", input: { x: 1 }, ...more });
    const { shown } = await ask(question, ["n"]);
    expect([shown[0]?.words, shown[0]?.labels[1]]).toEqual([words, `a always (${always})`]);
    if (!question.proposal) expect(shown[0]?.above).toBe('sends {"x":1}');
  });

  test("says with each program, and with no file, that nothing confines it", async () => {
    const run = await ask(command("ls"), ["y"], undefined, UNCONFINED);
    expect(run.shown[0]?.above).toBe(`$ ls\n${UNCONFINED}`);
    const write = await ask({ ...diff("+one"), needs: { read: true, write: true } }, ["y"], undefined, UNCONFINED);
    expect(write.shown[0]?.above).toBe("+one");
  });

  test("shows all of a long diff when it is asked to, and asks again", async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `+line ${index}`);
    const { answer, shown } = await ask(diff(lines.join("\n")), ["s", "y"]);
    expect(answer).toEqual({ verdict: "once" });
    expect(shown.map(({ labels }) => labels.at(-1))).toEqual(["s show all", "w no, with a word"]);
    expect(shown[0]?.above).toEndWith("+line 199\n[4800 more of 5000 lines]");
    expect(shown[1]?.above).toBe(lines.join("\n"));
  });
});

describe("proposalLines", () => {
  const rows: [what: string, question: Question, lines: string[]][] = [
    ["a command in its lines", command("a\nb"), ["$ a", "  b"]],
    [
      "controls and bidi characters written out (SHELL-13)",
      command("ls ; cat x \x1b[2K\x1b[1A # \u202e hidden\r"),
      ["$ ls ; cat x \\u{1b}[2K\\u{1b}[1A # \\u{202e} hidden\\u{d}"],
    ],
    [
      "long blanks of every kind counted (SHELL-13)",
      command(`ls${" ".repeat(4000)}; cat x${"\t\u00a0\u3000\u2003\u2800".repeat(5)}; rm`),
      ["$ ls [4000 blanks] ; cat x [25 blanks] ; rm"],
    ],
    ["short blanks as they are", command(`ls${" ".repeat(19)}x`), [`$ ls${" ".repeat(19)}x`]],
    ["blank lines counted", command(`ls\n${" \n".repeat(99)}rm`), ["$ ls", "  [99 blank lines]", "  rm"]],
    ["few blank lines as they are", command("ls\n\n\nrm"), ["$ ls", "  ", "  ", "  rm"]],
    ["blank lines at the end counted", command("ls\n\n\n\n"), ["$ ls", "  [4 blank lines]"]],
    [
      "invisible characters of a diff written out (TERM-07)",
      diff('-access = "user\u202e \u2066// admin\u2069"\n+\u{e0069}\u{e0067}hidden\u200b'),
      ['-access = "user\\u{202e} \\u{2066}// admin\\u{2069}"', "+\\u{e0069}\\u{e0067}hidden\\u{200b}"],
    ],
    ["indentation of a diff as it is", diff(`+${" ".repeat(60)}x`), [`+${" ".repeat(60)}x`]],
    ["a diff's screenful of blanks counted", diff(`+a${" ".repeat(500)}x`), ["+a [500 blanks] x"]],
    ["a blank line that is added", diff("@@\n+\n+\n+\n+"), ["@@", "+", "+", "+", "+"]],
  ];
  test.each(rows)("shows %s", (_what, question, lines) => {
    expect(proposalLines(question, "first", plain).lines).toEqual(lines);
  });

  test("shows the begin and the end of a line that is too long, and all of it when it is asked to", () => {
    const long = `begin${"x".repeat(100_000)}end`;
    const first = proposalLines(command(long), "first", plain);
    expect(first.lines[0]).toMatch(/^\$ beginx+ \[98108 characters left out\] x+end$/);
    expect(first.isCut).toBe(true);
    expect(proposalLines(command(long), "all", plain)).toEqual({ lines: [`$ ${long}`], isCut: false });
  });

  test("colours what comes and goes, and tells names from lines that look like names", () => {
    const text = "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n---- old\n+++ new\n same";
    expect(proposalLines(diff(text), "first", { colour: true }).lines).toEqual([
      "\x1b[1m--- a.txt\x1b[0m",
      "\x1b[1m+++ a.txt\x1b[0m",
      "\x1b[36m@@ -1,2 +1,2 @@\x1b[0m",
      "\x1b[31m---- old\x1b[0m",
      "\x1b[32m+++ new\x1b[0m",
      " same",
    ]);
  });

  test("lets nothing through that a terminal hides or obeys, whatever the proposal (bounded)", () => {
    const text = fc.string({ unit: "binary", maxLength: 300 });
    fc.assert(
      fc.property(text, fc.constantFrom("first" as const, "all" as const), (hostile, amount) => {
        for (const question of [command(hostile), diff(hostile), about(undefined, { input: { hostile } })]) {
          for (const line of proposalLines(question, amount, plain).lines) {
            expect(line).toBe(visible(line));
            expect(line).not.toContain("\n");
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
