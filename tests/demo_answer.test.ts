import { describe, expect, test } from "bun:test";
import { answer } from "../core/model/demo_answer.ts";
import { readQuestion } from "../core/model/demo_question.ts";

/** The answer's quotes of a file that was read, without their place. */
function quotesOf(question: string, path: string, text: string): string[] {
  const numbered = text.split("\n").map((line, index) => `${String(index + 1).padStart(6)}\t${line}`).join("\n");
  const said = answer(readQuestion(question), [{ name: "read_file", path, text: numbered, isError: false }], []);
  return said.split("\n").flatMap((line) => line.startsWith(`${path}:`) ? [line.replace(/^[^ ]+ /, "")] : []);
}

const README = ["# shop", "```console", "$ shop --help", "run: it", "```", "A till.", "## License", "MIT"];
const INSTALL = ["Install: have Node, then", "```sh", "npm ci", "```", "That is all."];

const rows: [what: string, question: string, path: string, text: string[], quotes: string[]][] = [
  ["prose before code", "What is this?", "README.md", README, ["# shop", "A till.", "## License", "MIT"]],
  ["code where there is nothing else", "What is this?", "README.md", ["```", "a = 1", "```"], ["a = 1"]],
  ["all lines of a file that is not Markdown", "What is this?", "a.txt", ["```x", "one"], ["```x", "one"]],
  ["the way to run it with its commands", "How do I run it?", "README.md", [...README, ...INSTALL], [
    ...["# shop", "A till.", "## License", "MIT"],
    ...["Install: have Node, then", "```sh", "npm ci", "That is all."],
  ]],
  ["the way to run it, far below", "怎麼運行它？", "README.md", ["# a", ...Array(40).fill("b"), "## Usage", "go"], [
    ...["# a", "b", "b", "b", "b", "b"],
    ...["## Usage", "go"],
  ]],
];

describe("answer", () => {
  test.each(rows)("quotes %s", (_, question, path, text, quotes) => {
    expect(quotesOf(question, path, text.join("\n"))).toEqual(quotes);
  });

  const listings: [question: string, text: string, said: string][] = [
    ["What is here?", "[the folder is empty]", "There is nothing to list in the workspace: the folder is empty."],
    ["這裡有什麼？", "[the folder is empty]", "資料夾裡沒有可列的項目：the folder is empty。"],
  ];
  test.each(listings)("to %j tells why nothing is listed", (question, text, said) => {
    const done = [{ name: "list_files", path: ".", text, isError: false }];
    expect(answer(readQuestion(question), done, [])).toStartWith(`${said}\n`);
  });

  test("counts one thing as one", () => {
    const done = [
      { name: "list_files", path: ".", text: "a.md\nb.md", isError: false },
      { name: "read_file", path: "a.md", text: "     1\tx", isError: false },
    ];
    const said = answer(readQuestion("What are the TODOs?"), done, []);
    expect(said).toContain("(1 other file of this listing was not read.)");
  });
});
