import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { tempWorkspace } from "./support/temp_workspace.ts";
import { runTenon, SOURCES, type Way, WAYS } from "./support/program.ts";

setDefaultTimeout(60_000); // a run has its own limit

const PROJECT = {
  "README.md": "# kesi\n\nkesi greets people in Taiwanese.\n\n## Usage\n\n    python3 kesi.py NAME\n",
  "kesi.py": '"""Prints a greeting."""\nimport sys\n\nprint(f"Lí hó, {sys.argv[1]}!")\n',
  "examples/a.txt": "apples: 3\n",
  "examples/b.txt": "apples cost 5\n",
};
const NOTES = { "notes.txt": "會議\n- [ ] 寫信給小林\n- [x] 訂會議室\n待辦：買牛奶\n下週放假\n" };

const OUTSIDE = "it is outside the workspace. Use a path inside it";

interface Row {
  question: string;
  files: Record<string, string>;
  /** What is called, in order. */
  calls: string[];
  /** Lines of the answer, in order. */
  says: string[];
  /** What the answer must not have. */
  not?: string[];
}

const rows: Row[] = [
  {
    question: "What does this project do?",
    files: PROJECT,
    calls: ['list_files {"path":"."}', 'read_file {"path":"README.md"}'],
    says: ["I read README.md. Some lines:", "README.md:3: kesi greets people in Taiwanese."],
  },
  {
    question: "kesi.py 這個檔案在做什麼？",
    files: PROJECT,
    calls: ['list_files {"path":"."}', 'read_file {"path":"kesi.py"}'],
    says: ["我讀了 kesi.py，其中幾行是：", 'kesi.py:1: """Prints a greeting."""', "kesi.py:2: import sys"],
    not: ["README"],
  },
  {
    question: "在 examples 目錄裡的 a.txt 跟 b.txt 的內容有什麼關聯？",
    files: PROJECT,
    calls: [
      'list_files {"path":"examples"}',
      'read_file {"path":"examples/a.txt"}',
      'read_file {"path":"examples/b.txt"}',
    ],
    says: ["examples/a.txt:1: apples: 3", "examples/b.txt:1: apples cost 5"],
  },
  {
    question: "幫我讀 /etc/passwd 這個檔案",
    files: PROJECT,
    calls: ['list_files {"path":"."}', 'read_file {"path":"/etc/passwd"}'],
    says: ["這些沒有做到，工具的說明是：", `- read_file /etc/passwd: Cannot read "/etc/passwd": ${OUTSIDE}`],
    not: ["root:"],
  },
  {
    question: "讀一下 ../ 目錄下有什麼",
    files: PROJECT,
    calls: ['list_files {"path":"../"}'],
    says: [`- list_files ../: Cannot list "../": ${OUTSIDE}`],
    not: ["ws"],
  },
  {
    question: "這個項目是幹什麼的？怎麼運行它？",
    files: PROJECT,
    calls: ['list_files {"path":"."}', 'read_file {"path":"README.md"}'],
    says: [
      "README.md:3: kesi greets people in Taiwanese.",
      "README.md:5: ## Usage",
      "README.md:7: python3 kesi.py NAME",
    ],
  },
  {
    question: "幫我看看資料夾裡有什麼，整理出所有待辦事項",
    files: NOTES,
    calls: ['list_files {"path":"."}', 'read_file {"path":"notes.txt"}'],
    says: ["- notes.txt", "notes.txt 裡標為待辦的有：", "notes.txt:2: - [ ] 寫信給小林", "notes.txt:4: 待辦：買牛奶"],
    not: ["訂會議室", "下週放假"],
  },
];

/** The lines of `told`, in their order, each whole. */
function expectLines(text: string, told: readonly string[]): void {
  const lines = text.split("\n");
  expect(lines.filter((line) => told.includes(line))).toEqual([...told]);
}

describe.concurrent.each([...WAYS])("the demo model in tenon as %s", (way: Way) => {
  test.each(rows)("answers $question", async ({ question, files, calls, says, not = [] }) => {
    await using temp = await tempWorkspace(files);
    const { code, stdout, stderr } = await runTenon(way, { cwd: temp.root, args: [question] });
    expect(stderr).toStartWith("No ANTHROPIC_API_KEY is set: this is the offline demo model\n");
    expect(stderr.split("\n").filter((line) => line.startsWith("⏺ "))).toEqual(calls.map((call) => `⏺ ${call}`));
    expectLines(stdout, says);
    for (const words of not) expect(stdout).not.toContain(words);
    expect(code).toBe(0);
  });

  test("says what this repository is, and how to start it", async () => {
    const { code, stdout } = await runTenon(way, { cwd: SOURCES, args: ["What does this project do?"] });
    expect(stdout).toMatch(/^README\.md:1: # tenon$/m);
    expect(code).toBe(0);
    const start = await runTenon(way, { cwd: SOURCES, args: ["這個項目是幹什麼的？怎麼運行它？"] });
    expect(start.stdout).toContain("npm start");
  });

  test("asks for a key where nobody reads a note, unless the demo model was asked for", async () => {
    await using temp = await tempWorkspace(NOTES);
    const cases: [args: string[], env: Record<string, string>, code: number][] = [
      [["--output-format", "json", "hi"], {}, 2],
      [["hi"], { CI: "true" }, 2],
      [["-m", "demo", "hi"], { CI: "true" }, 0],
      [["-m", "demo", "hi"], { ANTHROPIC_API_KEY: "sk-never-used" }, 0],
    ];
    for (const [args, env, code] of cases) {
      const outcome = await runTenon(way, { cwd: temp.root, args, env });
      expect([args, outcome.code]).toEqual([args, code]);
      if (code === 2) {
        expect(outcome.stderr).toBe("tenon: No key: set ANTHROPIC_API_KEY, or use -m demo for the offline model\n");
      } else expect(outcome.stderr).not.toContain("ANTHROPIC_API_KEY");
    }
  });
});
