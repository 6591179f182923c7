import { describe, expect, test } from "bun:test";
import { type CallIo, callLines, callOnce } from "../core/call.ts";
import type { Screen } from "../core/terminal/screen.ts";
import { fixtureRegistry } from "./support/agent.ts";
import { recorder } from "./support/recorder.ts";

const registry = await fixtureRegistry("reads", "shows_a_picture", "throws", "writes");
const TOOLS = "reads, shows_a_picture, throws, writes";
const SHAPE = 'it needs {"name": …, "input": …} or an array of them';

function makeIo(signal = new AbortController().signal, screen: Partial<Screen> = {}) {
  const stdout = recorder(screen);
  const stderr = recorder(screen);
  const io: CallIo = { registry, signal, stdout, stderr };
  return { io, stdout, stderr };
}

async function* each(...lines: string[]): AsyncGenerator<string> {
  yield* lines;
}

/** `name: content`, marked where it is an error. */
function answersIn(written: string): string[] {
  return written.split("\n").filter((line) => line !== "").map((line) => {
    const { name, content, is_error } = JSON.parse(line);
    return `${is_error ? "error " : ""}${name}: ${typeof content === "string" ? content : JSON.stringify(content)}`;
  });
}

const lines: [what: string, lines: string[], answers: string[], isWell: boolean][] = [
  ["a call", ['{"name":"reads","input":{"word":"one"}}'], ["reads: one"], true],
  ["a call without input", ['{"name":"writes"}'], ["writes: (no output)"], true],
  ["blank lines, with none", ["", "  ", '{"name":"writes"}', "\t"], ["writes: (no output)"], true],
  ["a batch, in its order", ['[{"name":"writes"},{"name":"reads","input":{"word":"b"}},{"name":"throws"}]'], [
    "writes: (no output)",
    "reads: b",
    "error throws: Cannot do it: it never works. Try something else",
  ], false],
  ["an empty batch, with none", ["[]"], [], true],
  ["a tool that is not there", ['{"name":"nope","input":{}}'], [
    `error nope: No tool is named "nope". Use one of: ${TOOLS}`,
  ], false],
  [
    "bad input",
    ['{"name":"reads","input":{}}'],
    ["error reads: Cannot call reads: word: expected string, got nothing"],
    false,
  ],
  ["broken JSON", ['{"name":', '{"name":"writes"}'], [
    'error null: Not a call: it is not JSON: {"name":',
    "writes: (no output)",
  ], false],
  ["a line of another shape", ['{"tool":"reads"}'], [`error null: Not a call: ${SHAPE}: {"tool":"reads"}`], false],
  ["a key that is not known", ['{"name":"reads","args":{}}'], [
    `error null: Not a call: ${SHAPE}: {"name":"reads","args":{}}`,
  ], false],
  ["a name that is no text", ['{"name":7}'], [`error null: Not a call: ${SHAPE}: {"name":7}`], false],
  ["a bare value", ["null"], [`error null: Not a call: ${SHAPE}: null`], false],
  [
    "a long line, cut",
    [`[${"1,".repeat(500)}`],
    [`error null: Not a call: it is not JSON: [${"1,".repeat(39)}…`],
    false,
  ],
];

describe("callLines", () => {
  test.each(lines)("answers %s", async (_, given, answers, isWell) => {
    const { io, stdout, stderr } = makeIo();
    expect(await callLines(io, each(...given))).toBe(isWell);
    expect(answersIn(stdout.written())).toEqual(answers);
    const refused = answers.filter((answer) => answer.startsWith("error null: "));
    expect(stderr.written()).toBe(refused.map((answer) => `tenon: ${answer.slice("error null: ".length)}\n`).join(""));
  });

  test("hands on content blocks as they are", async () => {
    const { io, stdout } = makeIo();
    await callLines(io, each('{"name":"shows_a_picture"}'));
    expect(JSON.parse(stdout.written()).content).toMatchObject([{ type: "text" }, { type: "image" }]);
  });

  test("answers each line, and flushes it, before it reads the next", async () => {
    const happened: string[] = [];
    const { io } = makeIo(undefined, {
      write: (text) => void happened.push(`wrote ${JSON.parse(text).name}`),
      flushed: () => Promise.resolve(void happened.push("flushed")),
    });
    async function* watched(): AsyncGenerator<string> {
      for (const line of ['{"name":"writes"}', "{", '{"name":"nope"}']) {
        happened.push("asked");
        yield line;
      }
    }
    await callLines({ ...io, stderr: recorder() }, watched());
    expect(happened).toEqual([
      ...["asked", "wrote writes", "flushed"],
      ...["asked", "wrote null", "flushed"],
      ...["asked", "wrote nope", "flushed"],
    ]);
  });

  test("runs nothing after an interrupt", async () => {
    const abort = new AbortController();
    const { io, stdout } = makeIo(abort.signal);
    async function* interrupted(): AsyncGenerator<string> {
      yield '{"name":"reads","input":{"word":"one"}}';
      abort.abort();
      yield '{"name":"reads","input":{"word":"two"}}';
    }
    expect(await callLines(io, interrupted())).toBe(false);
    expect(answersIn(stdout.written())).toEqual(["reads: one"]);
  });
});

const once: [what: string, tool: string, input: string | undefined, stdout: string, stderr: string][] = [
  ["the content alone", "reads", '{"word":"one"}', "one\n", ""],
  ["one newline at the end", "reads", '{"word":"one\\n"}', "one\n", ""],
  ["that there was no output", "writes", undefined, "(no output)\n", ""],
  ["why it failed", "throws", "{}", "", "Cannot do it: it never works. Try something else\n"],
  ["which tools there are", "nope", "{}", "", `No tool is named "nope". Use one of: ${TOOLS}\n`],
  ["a string", "reads", '"{}"', "", 'tenon: the input of reads is a string, not an object: "{}"\n'],
  ["what is no JSON", "reads", "{word: 1}", "", "tenon: the input of reads is not JSON: {word: 1}\n"],
  ["what is missing", "reads", "null", "", "Cannot call reads: word: expected string, got nothing\n"],
];

describe("callOnce", () => {
  test.each(once)("writes %s", async (_, tool, input, out, err) => {
    const { io, stdout, stderr } = makeIo();
    expect(await callOnce(io, tool, input)).toBe(err === "");
    expect([stdout.written(), stderr.written()]).toEqual([out, err]);
  });

  test("shows hidden characters on a terminal, and leaves them to a pipe", async () => {
    const input = JSON.stringify({ word: "a\x1b[2Jb" });
    const terminal = makeIo(undefined, { tty: true });
    await callOnce(terminal.io, "reads", input);
    expect(terminal.stdout.written()).toBe("a\\u{1b}[2Jb\n");
    const pipe = makeIo();
    await callOnce(pipe.io, "reads", input);
    expect(pipe.stdout.written()).toBe("a\x1b[2Jb\n");
  });
});
