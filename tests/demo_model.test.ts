import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Event, runTurn } from "../core/agent.ts";
import { demoModel } from "../core/model/demo_model.ts";
import type { Block, Message, Reply, ToolUseBlock } from "../core/message.ts";
import { createRegistry } from "../core/registry.ts";

const DEFINITIONS = [{ name: "list_files" }, { name: "read_file" }];

const OUTSIDE = "it is outside the workspace. Use a path inside it";

/** What each call is answered with, by `name path`; `!` in front makes it an error. */
type Results = Record<string, string>;

interface Turn {
  /** The calls of each step, as `name path`. */
  calls: string[][];
  answer: string;
  messages: Message[];
}

/** Plays a turn: answers each call from `results`, and fails on a call that the case does not expect. */
async function play(
  question: string,
  results: Results,
  definitions = DEFINITIONS,
  before: Message[] = [],
): Promise<Turn> {
  const messages: Message[] = [...before, { role: "user", content: [{ type: "text", text: question }] }];
  const calls: string[][] = [];
  for (let step = 0; step < 5; step++) {
    const { reply } = await ask(messages, definitions);
    messages.push({ role: "assistant", content: reply.content });
    const made = callsIn(reply.content);
    if (made.length === 0) return { calls, answer: textIn(reply.content), messages };
    calls.push(made.map(keyOf));
    messages.push({
      role: "user",
      content: made.map((call) => {
        const result = results[keyOf(call)];
        if (result === undefined) throw new Error(`no result for ${keyOf(call)}`);
        const isError = result.startsWith("!");
        return {
          type: "tool_result",
          tool_use_id: call.id,
          content: isError ? result.slice(1) : result,
          ...isError ? { is_error: true } : {},
        };
      }),
    });
  }
  throw new Error(`no end: ${JSON.stringify(calls)}`);
}

async function ask(messages: Message[], definitions = DEFINITIONS, signal = new AbortController().signal) {
  const events: Event[] = [];
  const run = demoModel(definitions)(messages, signal);
  for (;;) {
    const next = await run.next();
    if (next.done) return { reply: next.value as Reply, events };
    events.push(next.value);
  }
}

function callsIn(content: Block[]): ToolUseBlock[] {
  return content.filter((block) => block.type === "tool_use");
}

function textIn(content: Block[]): string {
  return content.map((block) => block.type === "text" ? block.text : "").join("");
}

function keyOf({ name, input }: ToolUseBlock): string {
  const { path, recursive } = input as { path: string; recursive?: boolean };
  return `${name} ${path}${recursive ? " recursive" : ""}`;
}

/** Lines as `read_file` prints them. */
function numbered(...lines: string[]): string {
  return lines.map((line, index) => `${String(index + 1).padStart(6)}\t${line}`).join("\n");
}

interface Case {
  question: string;
  results: Results;
  calls: string[][];
  has: string[];
  lacks?: string[];
}

const ROOT = "AGENTS.md\nREADME.md\nexamples/\nkesi.py\npackage.json";
const README = numbered("# kesi", "", "Learns words.", "", "## 使用", "", "python kesi.py");

const CASES: Case[] = [
  {
    question: "kesi.py 這個檔案在做什麼？",
    results: {
      "list_files .": ROOT,
      "read_file kesi.py": numbered("#!/usr/bin/env python", "", "def learn():", "    pass"),
    },
    calls: [["list_files ."], ["read_file kesi.py"]],
    has: ["kesi.py:3: def learn():", "示範模型", "ANTHROPIC_API_KEY"],
    lacks: ["kesi.py:2:", "demo model", "README"],
  },
  {
    question: "在 examples 目錄裡的 a.txt 跟 b.txt 的內容有什麼關聯？",
    results: {
      "list_files examples": "examples/a.txt\nexamples/b.txt",
      "read_file examples/a.txt": numbered("see b.txt"),
      "read_file examples/b.txt": numbered("the answer"),
    },
    calls: [["list_files examples"], ["read_file examples/a.txt", "read_file examples/b.txt"]],
    has: ["examples/a.txt:1: see b.txt", "examples/b.txt:1: the answer"],
  },
  {
    question: "幫我讀 /etc/passwd 這個檔案",
    results: { "list_files .": ROOT, "read_file /etc/passwd": `!Cannot read "/etc/passwd": ${OUTSIDE}` },
    calls: [["list_files ."], ["read_file /etc/passwd"]],
    has: [`Cannot read "/etc/passwd": ${OUTSIDE}`, "沒有做到"],
    lacks: ["root:", "README"],
  },
  {
    question: "讀一下 ../ 目錄下有什麼",
    results: { "list_files ../": `!Cannot list "../": ${OUTSIDE}` },
    calls: [["list_files ../"]],
    has: [`Cannot list "../": ${OUTSIDE}`],
    lacks: ["資料夾裡有"],
  },
  {
    question: "這個項目是幹什麼的？怎麼運行它？",
    results: { "list_files .": ROOT, "read_file README.md": README },
    calls: [["list_files ."], ["read_file README.md"]],
    has: ["README.md:3: Learns words.", "README.md:7: python kesi.py"],
  },
  {
    question: "幫我看看資料夾裡有什麼，整理出所有待辦事項",
    results: {
      "list_files .": "notes.txt",
      "read_file notes.txt": numbered("週一", "TODO: 買菜", "- [ ] 寫信", "- [x] 睡覺", "待辦：繳費"),
    },
    calls: [["list_files ."], ["read_file notes.txt"]],
    has: ["- notes.txt", "notes.txt:2: TODO: 買菜", "notes.txt:3: - [ ] 寫信", "notes.txt:5: 待辦：繳費"],
    lacks: ["睡覺", "週一"],
  },
  {
    question: "What does this project do?",
    results: { "list_files .": ROOT, "read_file README.md": README },
    calls: [["list_files ."], ["read_file README.md"]],
    has: ["README.md:1: # kesi", "README.md:3: Learns words.", "offline demo model", "ANTHROPIC_API_KEY"],
    lacks: ["README.md:2", "示範"],
  },
  {
    question: "Summarize README.md and package.json",
    results: {
      "list_files .": ROOT,
      "read_file README.md": README,
      "read_file package.json": numbered("{", '  "name": "kesi"', "}"),
    },
    calls: [["list_files ."], ["read_file README.md", "read_file package.json"]],
    has: ["README.md:1: # kesi", 'package.json:2: "name": "kesi"'],
    lacks: ["package.json:1:"],
  },
  {
    question: "比較b.txt跟a.txt的差別",
    results: { "list_files .": "a.txt\nb.txt", "read_file a.txt": numbered("one"), "read_file b.txt": numbered("two") },
    calls: [["list_files ."], ["read_file b.txt", "read_file a.txt"]],
    has: ["a.txt:1: one", "b.txt:1: two"],
  },
  {
    question: "Read `my notes.txt`, please.",
    results: { "list_files .": "my notes.txt\nnotes.txt", "read_file my notes.txt": numbered("mine") },
    calls: [["list_files ."], ["read_file my notes.txt"]],
    has: ["my notes.txt:1: mine"],
  },
  {
    question: "幫我讀舊筆記.txt",
    results: { "list_files .": "筆記.txt\n舊筆記.txt", "read_file 舊筆記.txt": numbered("old") },
    calls: [["list_files ."], ["read_file 舊筆記.txt"]],
    has: ["舊筆記.txt:1: old"],
  },
  {
    question: "What is in Makefile?",
    results: { "list_files .": "Makefile\nREADME.md", "read_file Makefile": numbered("all:") },
    calls: [["list_files ."], ["read_file Makefile"]],
    has: ["Makefile:1: all:"],
    lacks: ["- README.md"],
  },
  {
    question: "what does deep.ts do",
    results: {
      "list_files .": "README.md\nsrc/",
      "list_files . recursive": "README.md\nsrc/\nsrc/a/\nsrc/a/deep.ts",
      "read_file src/a/deep.ts": numbered("export {};"),
    },
    calls: [["list_files ."], ["list_files . recursive"], ["read_file src/a/deep.ts"]],
    has: ["src/a/deep.ts:1: export {};"],
  },
  {
    question: "summarize gone.txt",
    results: {
      "list_files .": "README.md",
      "read_file gone.txt": '!Cannot read "gone.txt": no such file. See list_files "."',
    },
    calls: [["list_files ."], ["read_file gone.txt"]],
    has: ['Cannot read "gone.txt": no such file'],
    lacks: ["README.md:"],
  },
  {
    question: "compare /etc/hosts with a.txt",
    results: {
      "list_files .": "a.txt",
      "read_file /etc/hosts": `!Cannot read "/etc/hosts": ${OUTSIDE}`,
      "read_file a.txt": numbered("hello"),
    },
    calls: [["list_files ."], ["read_file /etc/hosts", "read_file a.txt"]],
    has: ["outside the workspace", "a.txt:1: hello"],
  },
  {
    question: "list the files in /etc folder",
    results: { "list_files /etc": `!Cannot list "/etc": ${OUTSIDE}` },
    calls: [["list_files /etc"]],
    has: [`Cannot list "/etc": ${OUTSIDE}`],
  },
  {
    question: "what files are in the docs folder?",
    results: { "list_files docs": "docs/a.md\ndocs/img/\n[3 more entries left out]" },
    calls: [["list_files docs"]],
    has: ["- docs/a.md", "- docs/img/", "[3 more entries left out]"],
  },
  {
    question: "what is in the attic folder?",
    results: { "list_files attic": '!Cannot list "attic": no such folder', "list_files .": "README.md" },
    calls: [["list_files attic"], ["list_files ."]],
    has: ["no such folder", "- README.md"],
  },
  {
    question: "What is this about?",
    results: {
      "list_files .": ".hidden\na.png\nb.js\nc.py\nd.txt\ne.txt",
      "read_file b.js": numbered("b"),
      "read_file c.py": numbered("c"),
      "read_file d.txt": numbered("d"),
    },
    calls: [["list_files ."], ["read_file b.js", "read_file c.py", "read_file d.txt"]],
    has: ["b.js:1: b", "d.txt:1: d"],
    lacks: ["e.txt"],
  },
  {
    question: "What is this about?",
    results: { "list_files .": "(empty folder)" },
    calls: [["list_files ."]],
    has: ["(empty folder)"],
  },
  {
    question: "Read long.txt",
    results: {
      "list_files .": "long.txt",
      "read_file long.txt": `${
        numbered(...Array.from({ length: 30 }, (_, i) => `row ${i + 1}`))
      }\n[lines 1–30 of 90; go on with offset: 31]`,
    },
    calls: [["list_files ."], ["read_file long.txt"]],
    has: ["long.txt:12: row 12", "(18 more lines with text were read)", "[lines 1–30 of 90; go on with offset: 31]"],
    lacks: ["row 13"],
  },
  {
    question: "整理待辦",
    results: {
      "list_files .": "a.md\nnotes/\nz.png",
      "read_file a.md": numbered("# 待辦事項", "", "- 買菜", "- [x] 睡覺", "* 寫信", "說明", "- 別的"),
    },
    calls: [["list_files ."], ["read_file a.md"]],
    has: ["a.md:3: - 買菜", "a.md:5: * 寫信", "另有 1 個檔案沒有讀"],
    lacks: ["睡覺", "別的"],
  },
  {
    question: "what is in the readme?",
    results: { "list_files .": "README.md\nREADME.zh.md", "read_file README.md": numbered("hi") },
    calls: [["list_files ."], ["read_file README.md"]],
    has: ["README.md:1: hi"],
    lacks: ["README.zh.md"],
  },
  {
    question: "How do I run this?",
    results: {
      "list_files .": "LICENSE\nREADME.md",
      "read_file README.md": numbered(...Array.from({ length: 20 }, (_, i) => `about ${i}`), "## Usage", "npm start"),
    },
    calls: [["list_files ."], ["read_file README.md"]],
    has: ["README.md:1: about 0", "README.md:21: ## Usage", "README.md:22: npm start"],
    lacks: ["about 6"],
  },
  {
    question: "What is this about?",
    results: {
      "list_files .": "README\nREADME.md",
      "read_file README.md": numbered(...Array.from({ length: 20 }, (_, i) => `about ${i}`), "## Usage", "npm start"),
    },
    calls: [["list_files ."], ["read_file README.md"]],
    has: ["README.md:12: about 11"],
    lacks: ["Usage"],
  },
  {
    question: "examples 目錄裡的 gone.txt 跟 /etc/passwd",
    results: {
      "list_files examples": "examples/a.txt",
      "read_file examples/gone.txt": '!Cannot read "examples/gone.txt": no such file. Did you mean "examples/a.txt"?',
      "read_file /etc/passwd": `!Cannot read "/etc/passwd": ${OUTSIDE}`,
    },
    calls: [["list_files examples"], ["read_file examples/gone.txt", "read_file /etc/passwd"]],
    has: ['Did you mean "examples/a.txt"?', 'Cannot read "/etc/passwd"'],
  },
  {
    question: "list the files",
    results: { "list_files .": Array.from({ length: 70 }, (_, i) => `f${i}.txt`).join("\n") },
    calls: [["list_files ."]],
    has: ["- f0.txt", "- f59.txt", "(10 more entries)"],
    lacks: ["f60.txt"],
  },
  {
    question: "todos in a.txt",
    results: { "list_files .": "a.txt\nb.txt", "read_file a.txt": numbered("TODO: one") },
    calls: [["list_files ."], ["read_file a.txt"]],
    has: ["a.txt:1: TODO: one"],
    lacks: ["not read"],
  },
  {
    question: "show all todos",
    results: {
      "list_files .": "README.md\nTODO.md",
      "read_file TODO.md": numbered("nothing"),
      "read_file README.md": numbered("hi"),
    },
    calls: [["list_files ."], ["read_file TODO.md", "read_file README.md"]],
    has: ["No line is marked", "TODO.md:1: nothing", "README.md:1: hi"],
  },
];

describe("demoModel", () => {
  test.each(CASES.map((row) => [row.question, row] as const))("answers %p from what it read", async (question, row) => {
    const turn = await play(question, row.results);
    expect(turn.calls).toEqual(row.calls);
    for (const part of row.has) expect(turn.answer).toContain(part);
    for (const part of row.lacks ?? []) expect(turn.answer).not.toContain(part);
  });

  test.each([
    ["What does this do?", "list_files, read_file"],
    ["這是什麼？", "list_files、read_file"],
    ["Summarize a.txt", "read_file"],
  ])("asks for no tool and says what it lacks for %p when none is offered", async (question, names) => {
    const turn = await play(question, {}, []);
    expect(turn.calls).toEqual([]);
    expect(turn.answer).toContain(names);
  });

  test("goes through the loop: a registry without tools ends the turn after one step", async () => {
    const registry = createRegistry([]);
    const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "What is this?" }] }];
    const agent = { ask: demoModel(registry.definitions), registry, maxSteps: 5, signal: new AbortController().signal };
    const events = await Array.fromAsync(runTurn(agent, messages));
    expect(events.at(-1)).toEqual({ type: "end", stop_reason: "end_turn", steps: 1 });
    expect(textIn(messages.at(-1)?.content ?? [])).toContain("without list_files, read_file");
  });

  test("goes through the loop: a tool that is gone is answered, and what the registry says is reported", async () => {
    const registry = createRegistry([]);
    const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "Read a.txt" }] }];
    const agent = { ask: demoModel(DEFINITIONS), registry, maxSteps: 5, signal: new AbortController().signal };
    const events = await Array.fromAsync(runTurn(agent, messages));
    expect(events.at(-1)).toEqual({ type: "end", stop_reason: "end_turn", steps: 3 });
    expect(textIn(messages.at(-1)?.content ?? [])).toContain("- list_files .: No tool is named");
  });

  test("reads what is named when only read_file is offered", async () => {
    const turn = await play("Read a.txt", { "read_file a.txt": numbered("one") }, DEFINITIONS.slice(1));
    expect(turn.answer).toContain("a.txt:1: one");
    expect(turn.answer).not.toContain("could not");
  });

  test("lists what there is when only list_files is offered, and says that it could not read", async () => {
    const turn = await play("What does this do?", { "list_files .": ROOT }, DEFINITIONS.slice(0, 1));
    expect(turn.calls).toEqual([["list_files ."]]);
    expect(turn.answer).toContain("without read_file");
    expect(turn.answer).toContain("- kesi.py");
  });

  test("answers the last question of a chat, and no id comes twice", async () => {
    const listing = { "list_files .": "a.txt\nb.txt\nc.txt" };
    const reads = {
      "read_file a.txt": numbered("one"),
      "read_file b.txt": numbered("two"),
      "read_file c.txt": numbered("three"),
    };
    const first = await play("Read a.txt, b.txt and c.txt", { ...listing, ...reads });
    const second = await play("現在讀 b.txt", { ...listing, ...reads }, DEFINITIONS, first.messages);
    expect(second.calls).toEqual([["list_files ."], ["read_file b.txt"]]);
    expect(second.answer).toContain("b.txt:1: two");
    expect(second.answer).not.toContain("one");
    expectUniqueIds(second.messages);
  });

  test("takes text that follows results as the next question", async () => {
    const { messages } = await play("Read a.txt", { "list_files .": "a.txt", "read_file a.txt": numbered("one") });
    const results = messages.slice(0, 4);
    results.push({
      role: "assistant",
      content: [{ type: "tool_use", id: "toolu_x", name: "read_file", input: { path: "a.txt" } }],
    });
    results.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_x", content: "late" }, { type: "text", text: "list files" }],
    });
    const { reply } = await ask(results);
    expect(callsIn(reply.content).map(keyOf)).toEqual(["list_files ."]);
  });

  test("quotes the words of a tool that answers with blocks, and no image", async () => {
    const question: Message = { role: "user", content: [{ type: "text", text: "read a.png" }] };
    const call: Message = {
      role: "assistant",
      content: [{ type: "tool_use", id: "t", name: "read_file", input: { path: "a.png" } }],
    };
    const { reply } = await ask([question, call, {
      role: "user",
      content: [{
        type: "tool_result",
        tool_use_id: "t",
        content: [{ type: "text", text: "an image, 2 × 2" }, {
          type: "image",
          source: { type: "base64", media_type: "image/png", data: "QUJD" },
        }],
      }],
    }]);
    expect(textIn(reply.content)).toContain("a.png: an image, 2 × 2");
    expect(textIn(reply.content)).not.toContain("QUJD");
  });

  test("gives the same reply for the same messages, in pieces that make up its text, with its usage", async () => {
    const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "What is this about?" }] }];
    const one = await ask(messages);
    expect(await ask(messages)).toEqual(one);
    const pieces = one.events.flatMap((event) => event.type === "text" ? [event.text] : []);
    expect(pieces.join("")).toBe(textIn(one.reply.content));
    expect(one.events.at(-1)).toEqual({ type: "usage", usage: one.reply.usage, model: "demo" });
    expect(one.reply.stop_reason).toBe("tool_use");
    expect(one.reply.usage).toEqual({
      input_tokens: Math.ceil(JSON.stringify(messages).length / 4),
      output_tokens: Math.ceil(JSON.stringify(one.reply.content).length / 4),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    });
  });

  test("speaks the answer in several pieces", async () => {
    const { messages } = await play("What is this?", { "list_files .": ROOT, "read_file README.md": README });
    const { events } = await ask(messages.slice(0, -1));
    expect(events.filter((event) => event.type === "text").length).toBeGreaterThan(3);
  });

  test.each([[0], [1], [3]])(
    "stops when it is interrupted after %p pieces, and keeps what was shown",
    async (pieces) => {
      const { messages } = await play("What is this?", { "list_files .": ROOT, "read_file README.md": README });
      const stop = new AbortController();
      const run = demoModel(DEFINITIONS)(messages.slice(0, -1), stop.signal);
      let shown = "";
      for (let count = 0; count < pieces; count++) {
        const { value } = await run.next();
        shown += (value as { text: string }).text;
      }
      stop.abort();
      let next = await run.next();
      while (!next.done) next = await run.next();
      expect(next.value.stop_reason).toBe("interrupted");
      expect(next.value.content).toEqual(shown === "" ? [] : [{ type: "text", text: shown }]);
    },
  );

  test("makes no call when it is interrupted", async () => {
    const { reply } = await ask(
      [{ role: "user", content: [{ type: "text", text: "hi" }] }],
      DEFINITIONS,
      AbortSignal.abort(),
    );
    expect(reply).toMatchObject({ content: [], stop_reason: "interrupted" });
  });

  test("reaches an end within four steps, with blocks that the API accepts, whatever is asked and answered", async () => {
    const word = fc.constantFrom(
      ..."a.txt ../ /etc/passwd src/ 目錄 folder `x y.md` 「筆記.txt」 待辦 有什麼 README.md . / .. \\ ' \" list files"
        .split(" "),
    );
    const anyText = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(word, { maxLength: 6 }).map((words) => words.join(" ")),
    );
    const result = fc.oneof(
      anyText,
      fc.constantFrom("a.txt\nsrc/\nREADME.md", numbered("one", "TODO two"), "", "\ud800\n"),
    );
    await fc.assert(
      fc.asyncProperty(
        anyText,
        fc.array(fc.tuple(result, fc.boolean()), { minLength: 1, maxLength: 5 }),
        async (question, results) => {
          const messages: Message[] = [{ role: "user", content: [{ type: "text", text: question }] }];
          let answered = 0;
          for (let step = 1;; step++) {
            const { reply } = await ask(messages);
            expectAccepted(reply);
            messages.push({ role: "assistant", content: reply.content });
            const calls = callsIn(reply.content);
            if (calls.length === 0) break;
            expect(step).toBeLessThan(4);
            messages.push({
              role: "user",
              content: calls.map(({ id }) => {
                const [content, is_error] = results[answered++ % results.length] ?? ["", false];
                return { type: "tool_result", tool_use_id: id, content, is_error };
              }),
            });
          }
          expectUniqueIds(messages);
        },
      ),
      { numRuns: 300 },
    );
  });
});

function expectAccepted(reply: Reply) {
  expect(reply.content.length).toBeGreaterThan(0);
  expect(JSON.stringify(reply.content)).not.toMatch(/\\ud[89a-f]/); // JSON writes a lone surrogate as an escape
  for (const block of reply.content) {
    if (block.type === "text") expect(block.text.trim()).not.toBe("");
    else if (block.type === "tool_use") {
      expect(block.id).toMatch(/^[a-zA-Z0-9_-]+$/);
      expect(block.input).toEqual(expect.objectContaining({ path: expect.stringMatching(/[^]/) }));
    } else throw new Error(`a block of type ${block.type}`);
  }
  expect(reply.stop_reason).toBe(callsIn(reply.content).length > 0 ? "tool_use" : "end_turn");
}

function expectUniqueIds(messages: Message[]) {
  const ids = messages.flatMap((message) => callsIn(message.content)).map((call) => call.id);
  expect(new Set(ids).size).toBe(ids.length);
}
