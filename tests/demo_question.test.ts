import { describe, expect, test } from "bun:test";
import { matchEntries, readQuestion } from "../core/model/demo_question.ts";

/** The question, the folders, the files. */
const NAMES: [string, string[], string[]][] = [
  ["kesi.py這個檔案", [], ["kesi.py"]],
  ["a.txt跟b.txt的差別", [], ["a.txt", "b.txt"]],
  ["a.txt,b.txt、c.txt（d.txt）", [], ["a.txt", "b.txt", "c.txt", "d.txt"]],
  ["Summarize README.md and package.json.", [], ["README.md", "package.json"]],
  ["see src/a.ts:12, ./b.ts", [], ["src/a.ts", "b.ts"]],
  ["Read `my notes.txt`, \"b c.md\" and 'd.e'", [], ["my notes.txt", "b c.md", "d.e"]],
  ["讀「我的 筆記.txt」", [], ["我的 筆記.txt"]],
  ["讀筆記.txt跟a.txt", [], ["筆記.txt", "a.txt"]],
  ["a.txt 跟筆記.txt", [], ["a.txt", "筆記.txt"]],
  ["讀.env 和 .gitignore", [], [".env", ".gitignore"]],
  ["lis résumé.txt", [], ["résumé.txt"]],
  ["讀/etc/passwd吧", [], ["/etc/passwd"]],
  ["read ~/x and C:\\a\\b.ini", [], ["~/x", "C:\\a\\b.ini"]],
  ["read ../x.txt and a/../../y", [], ["../x.txt"]],
  ["讀一下 ../ 目錄下有什麼", ["../"], []],
  ["go to .. and see", [".."], []],
  ["/etc 資料夾", ["/etc"], []],
  ["讀 / 目錄", ["/"], []],
  ["在 examples 目錄裡的 a.txt", ["examples"], ["a.txt"]],
  ["what is in src/?", ["src/"], []],
  ["the src folder, and folder `my stuff`", ["src", "my stuff"], []],
  ["what is in the folder, this directory, 資料夾裡", [], []],
  ["TCP/IP, 讀/寫, and/or, 1/2, / and ...", [], []],
  ["version 1.2, e.g. Node.js, 3.14", [], []],
  ["see https://example.com/b.txt and <div></div>", [], []],
  ["", [], []],
];

describe("readQuestion", () => {
  test.each(NAMES)("finds what %p names", (text, folders, files) => {
    const question = readQuestion(text);
    expect({ folders: question.folders, files: question.files.map((file) => file.path) }).toEqual({ folders, files });
  });

  test.each(
    [
      ["What files are in here?", "wantsListing"],
      ["what's in the folder", "wantsListing"],
      ["資料夾裡有什麼", "wantsListing"],
      ["有哪些檔案", "wantsListing"],
      ["find my to-dos", "wantsTodos"],
      ["整理待辦事項", "wantsTodos"],
      ["how do I start it", "wantsRun"],
      ["怎麼運行它", "wantsRun"],
    ] as const,
  )("understands of %p that it %s", (text, wish) => {
    expect(readQuestion(text)[wish]).toBe(true);
  });

  test.each([["What does this project do?"], ["這個項目是幹什麼的？"], ["這個專案有什麼功能"]])(
    "reads no wish into %p",
    (text) => {
      expect(readQuestion(text)).toMatchObject({ wantsListing: false, wantsTodos: false, wantsRun: false });
    },
  );

  test.each([["哪個檔案", true], ["which file, ¿qué?", false], ["ひらがな", false]])(
    "takes %p for Chinese: %p",
    (text, chinese) => {
      expect(readQuestion(text).chinese).toBe(chinese);
    },
  );

  test("looks at the beginning of a very long text only, in a short time", () => {
    const start = performance.now();
    const { files } = readQuestion(`a.txt ${"讀list 目錄 `/../".repeat(100_000)} b.txt`);
    expect(files.map((file) => file.path)).toEqual(["a.txt"]);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe("matchEntries", () => {
  test.each<[string, string[], string[]]>([
    ["看Makefile跟舊筆記.txt", ["Makefile", "筆記.txt", "舊筆記.txt"], ["Makefile", "舊筆記.txt"]],
    ["my notes.txt then notes.txt", ["notes.txt", "my notes.txt"], ["my notes.txt", "notes.txt"]],
    ["read x.ts", ["a/b/x.ts", "a/x.ts"], ["a/x.ts"]],
    ["read a/x.ts", ["x.ts", "a/x.ts"], ["a/x.ts"]],
    ["read b/x.ts or x.tsx or max.ts", ["x.ts"], []],
    ["run it", ["run"], []],
    ["the readme", ["README.md", "README.rst", "README.zh.md"], ["README.md"]],
  ])("finds in %p, of %p, %p", (text, entries, paths) => {
    expect(matchEntries(text, entries).map((mention) => mention.path)).toEqual(paths);
  });
});
