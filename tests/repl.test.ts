// deno-lint-ignore-file no-control-regex -- control characters are what this is about
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PAUSE_MS } from "../core/terminal/ask.ts";
import { QUIET_MS } from "../core/terminal/keys.ts";
import { openPty, type Pty } from "./support/pty.ts";
import { type Run, RUNTIMES } from "./support/runtimes.ts";

setDefaultTimeout(30_000); // each wait has its own limit
const PROGRAM = join(import.meta.dir, "fixtures", "chats.ts");
const folder = mkdtempSync(join(tmpdir(), "tenon-chat-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A chat whose prompt is there. */
async function openChat(run: Run, options: { historyFile?: string; columns?: number } = {}): Promise<Pty> {
  const pty = openPty(run(PROGRAM, ...(options.historyFile ? [options.historyFile] : [])), options);
  await pty.until(PROMPT);
  return pty;
}

const PROMPT = /› \x1b\[0m\r\x1b\[2C$/; // an empty line, and nothing after it

/** Types a line as a person does: the Enter is a key of its own. */
async function say(pty: Pty, line: string) {
  pty.mark();
  pty.type(line);
  await Bun.sleep(5);
  pty.type("\r");
}

/** Says something and waits for the prompt behind the answer. */
async function ask(pty: Pty, line: string): Promise<string> {
  await say(pty, line);
  await pty.until(/\r\r\n[\s\S]*› \x1b\[0m\r\x1b\[2C$/);
  return pty.since();
}

/** Types a key again and again, with a pause before it, until it has worked: a busy machine may have made the pause short. */
async function insist(pty: Pty, key: string, seen: string, pauseMs: number) {
  for (let tries = 0; tries < 8 && !pty.since().includes(seen); tries++) {
    await Bun.sleep(pauseMs * (tries + 1));
    pty.type(key);
    await pty.until(seen, 500).catch(() => {});
  }
  await pty.until(seen);
}

/** Our own sequences: colours, cursor up and right, clear to the end, marked pastes, cursor on. */
function withoutOurs(raw: string): string {
  return raw.replace(/\x1b\[(?:0|1|31|33|36|90)m|\x1b\[\d+[AC]|\x1b\[J|\x1b\[\?2004[hl]|\x1b\[\?25h|[\r\n]/g, "");
}

async function leave(pty: Pty, key = "\x04") {
  pty.type(key);
  await pty.until("left");
  expectSane(pty);
  expect(await pty.exited()).toBe(0);
}

/** What a shell expects after any program: TERM-11. */
function expectSane(pty: Pty) {
  expect(pty.isCooked()).toBe(true);
  expect(pty.raw().lastIndexOf("\x1b[?2004l")).toBeGreaterThan(pty.raw().lastIndexOf("\x1b[?2004h"));
  expect(pty.raw().lastIndexOf("\x1b[?25h")).toBeGreaterThan(pty.raw().lastIndexOf("\x1b[?25l"));
  expect(pty.raw()).not.toMatch(/\x1b\[\?(?:1049|1000|1002|1003|1006)h/);
}

describe.concurrent.each(RUNTIMES)("a chat under %s", (_runtime, run) => {
  test("opens with model, folder, fence and the commands, answers, and leaves with Ctrl-D", async () => {
    await using pty = await openChat(run);
    expect(withoutOurs(pty.raw())).toStartWith(
      "tenon · fake-model · ~/pro\\u{1b}ject · fence: kernel/help /tools /reset /exit · Esc stops a turn",
    );
    expect(pty.isCooked()).toBe(false);
    expect(await ask(pty, "hello")).toContain('turn 1 said "hello"');
    expect(await ask(pty, "and again")).toContain('turn 2 said "and again"');
    await leave(pty);
  });

  test("is stopped by Esc or Ctrl-C in each phase of a turn, and takes the next question", async () => {
    await using pty = await openChat(run);
    for (
      const [question, seen] of [
        ["wait for the model", "thinking"],
        ["wait in the text", "the first half"],
        ["wait in a tool", "half of it"],
      ] as const
    ) {
      for (const key of ["\x1b", "\x03"]) {
        await say(pty, question);
        await pty.until(seen);
        pty.mark();
        pty.type(key);
        await pty.until(/Stopped: interrupted[\s\S]*› \x1b\[0m\r\x1b\[2C$/);
      }
    }
    expect(await ask(pty, "hello")).toContain('turn 7 said "hello"');
    await leave(pty, "\x03");
  });

  test("is left by a second Ctrl-C when a turn does not stop", async () => {
    await using pty = await openChat(run);
    await say(pty, "never stop");
    await pty.until("thinking");
    pty.type("\x03");
    pty.type("\x03"); // at once: a nervous finger
    await Bun.sleep(200);
    expect(pty.raw()).not.toContain("left");
    await insist(pty, "\x03", "left", 1100);
    pty.kill("SIGTERM");
    await pty.exited();
    expectSane(pty);
  });

  test("Ctrl-C clears a line, and leaves only on an empty one", async () => {
    await using pty = await openChat(run);
    pty.type("half a thou");
    await pty.until("thou");
    pty.mark();
    pty.type("\x03");
    await pty.until(PROMPT);
    expect(await ask(pty, "whole")).toContain('said "whole"');
    await leave(pty, "\x03");
  });

  test("a paste of three lines waits for Enter and is one message", async () => {
    await using pty = await openChat(run);
    pty.type("\x1b[200~one\rtwo\rthree\x1b[201~");
    await pty.until("three");
    await Bun.sleep(2 * QUIET_MS);
    expect(pty.raw()).not.toContain("said");
    expect(await ask(pty, "!")).toContain('said "one\\ntwo\\nthree!"');
    await leave(pty);
  });

  test("TERM-09: pasted text cannot end the paste and submit itself", async () => {
    await using pty = await openChat(run);
    pty.type("\x1b[200~safe\x1b[201~\nrun evil\n\x1b[201~");
    await pty.until("run evil");
    await Bun.sleep(2 * QUIET_MS);
    expect(pty.raw()).not.toContain("said");
    pty.type("\x03");
    await leave(pty);
  });

  test("a backslash at the end goes on in the next row", async () => {
    await using pty = await openChat(run);
    pty.type("one\\");
    await pty.until("one");
    pty.type("\r");
    await pty.until(/one[\r\n]+ {2}\r\x1b\[2C$/);
    expect(await ask(pty, "two")).toContain('said "one\\ntwo"');
    await leave(pty);
  });

  test("wide characters are typed and deleted as one each", async () => {
    await using pty = await openChat(run);
    pty.type("看看資料夾🦊👍🏽e\u0301");
    await pty.until("🦊");
    pty.type("\x7f\x7f\x7f\x7f");
    await pty.until("看看資料\r\x1b[10C");
    expect(await ask(pty, "")).toContain('said "看看資料"');
    await leave(pty);
  });

  test("a resize draws the line again in the new width", async () => {
    await using pty = await openChat(run, { columns: 60 });
    pty.type("中".repeat(20));
    await pty.until("\x1b[42C");
    pty.mark();
    pty.resize(30);
    // The terminal has wrapped the row; it begins one row up.
    await pty.until("\r\x1b[1A\x1b[J");
    await pty.until(new RegExp(`${"中".repeat(13)}[\r\n]+  ${"中".repeat(7)}`));
    expect(await ask(pty, "")).toContain(`said "${"中".repeat(20)}"`);
    await leave(pty);
  });

  test("what is typed while a turn runs is in the next line, unsent", async () => {
    await using pty = await openChat(run);
    await say(pty, "take a moment");
    await pty.until("thinking");
    pty.type("next");
    await Bun.sleep(20);
    pty.type("\r");
    await pty.until("done waiting");
    await pty.until("next\r\x1b[6C");
    await Bun.sleep(2 * QUIET_MS);
    expect(pty.raw()).not.toContain("said");
    expect(await ask(pty, "!")).toContain('said "next!"');
    await leave(pty);
  });

  test("escape sequences from the model, a tool, a name, an error or a question never reach the terminal", async () => {
    await using pty = await openChat(run);
    await say(pty, "hostile");
    await pty.until("[y] yes");
    pty.type("\x03");
    await pty.until(PROMPT);
    await ask(pty, "fail");
    await ask(pty, "/tools");
    await ask(pty, "a\u202eb\u200bc");
    await leave(pty);
    expect(withoutOurs(pty.raw())).not.toMatch(/[\x00-\x1f\x7f-\x9f\u200b\u202e\u{e0000}-\u{e007f}]/u);
    expect(pty.raw()).toContain("401 \\u{1b}[2Jinvalid key");
  });

  test("the slash commands do what /help says of them", async () => {
    await using pty = await openChat(run);
    for (const name of ["/help", "/tools", "/show", "/reset", "/permissions", "/exit", "/quit"]) {
      expect(await ask(pty, "/help")).toContain(name);
    }
    expect(await ask(pty, "/tools")).toContain("read_file\r\nlist_\\u{1b}files");
    const help = (await ask(pty, "/help")).matchAll(/^ {2}\/\w+ {2,}/gm);
    expect(new Set(Array.from(help, ([start]) => start.length)).size).toBe(1);
    expect(await ask(pty, "/show")).toContain("No tool has been called yet");
    expect(await ask(pty, "list")).toContain("3 lines");
    expect(await ask(pty, "/show")).toContain("one\r\n\\u{1b}[2Jtwo\r\nthree");
    expect(await ask(pty, "/undo the last")).toContain("undone: the last");
    await ask(pty, "hello");
    expect(await ask(pty, "/reset")).toContain("Forgotten: this conversation, what was read and what was granted");
    expect(await ask(pty, "hello")).toContain("turn 1 said");
    expect(await ask(pty, "/frobnicate")).toContain('No command is named "/frobnicate"');
    expect(await ask(pty, "/etc/hosts, what is it?")).toContain('said "/etc/hosts, what is it?"');
    await say(pty, "/quit");
    expect(await pty.exited()).toBe(0);
    expectSane(pty);
  });

  test("a question takes one of its keys, after a pause and alone, and drops what else is typed at it", async () => {
    await using pty = await openChat(run);
    await say(pty, "ask a key");
    await pty.until('Run "npm test"?\x1b[0m [y] once  [n] no ');
    await Bun.sleep(50); // what is sent before that was typed ahead
    pty.type("wh");
    await Bun.sleep(40);
    pty.type("y"); // part of a word, and too soon to have been read
    await pty.until("\x07");
    await Bun.sleep(PAUSE_MS + 50);
    pty.mark();
    pty.type("y\rn\r"); // a paste that the terminal did not mark
    await pty.until("\x07");
    await Bun.sleep(PAUSE_MS + 50);
    expect(pty.since()).not.toMatch(/got|once|no\r/);
    await insist(pty, "y", "once\r\n", PAUSE_MS + 50);
    pty.type("\r"); // out of habit
    await pty.until("got y");
    await Bun.sleep(50);
    await pty.until(PROMPT);
    expect(await ask(pty, "next")).toContain('said "next"');
    await leave(pty);
  });

  test("a question names its keys after the second key that does not count", async () => {
    await using pty = await openChat(run);
    await say(pty, "ask a key");
    await pty.until("[n] no ");
    await Bun.sleep(PAUSE_MS + 50);
    pty.type("q");
    await Bun.sleep(PAUSE_MS + 50);
    expect(pty.since()).not.toContain("Press");
    pty.type("q");
    await pty.until("Press one key: y or n.");
    await insist(pty, "y", "once\r\n", PAUSE_MS + 50);
    await pty.until("got y");
    expect(pty.since().split("Press").length).toBe(2);
    await pty.until(PROMPT);
    await leave(pty);
  });

  test("a question without an answer stops the turn", async () => {
    await using pty = await openChat(run);
    for (const key of ["\x1b", "\x03"]) {
      await say(pty, "ask a key");
      await pty.until("[n] no ");
      pty.type(key);
      await pty.until("got undefined");
      await pty.until("Stopped: interrupted");
      await pty.until(PROMPT);
    }
    await leave(pty);
  });

  test("a question can be answered by a line, which is begun at once or later", async () => {
    await using pty = await openChat(run);
    await say(pty, "ask a line");
    await pty.until("Why?");
    await pty.until(PROMPT);
    await Bun.sleep(50); // what is sent before that was typed ahead
    pty.type("因");
    await pty.until("› \x1b[0m因");
    pty.type("為");
    await pty.until("因為");
    pty.type("\r");
    await pty.until('got "因為"');
    await pty.until(PROMPT);
    await leave(pty);
  });

  test("lines are kept from one chat to the next, for the user's eyes only", async () => {
    const historyFile = join(folder, `${_runtime}`, "state", "history");
    {
      await using pty = await openChat(run, { historyFile });
      await ask(pty, "first");
      await ask(pty, " a secret");
      await ask(pty, "二");
      await leave(pty);
    }
    expect(readFileSync(historyFile, "utf8")).toBe('"first"\n"二"\n');
    expect(statSync(historyFile).mode & 0o777).toBe(0o600);
    await using pty = await openChat(run, { historyFile });
    pty.type("\x1b[A");
    await pty.until("二");
    pty.type("\x1b[A");
    await pty.until("first");
    expect(await ask(pty, "")).toContain('said "first"');
    await leave(pty);
  });

  test("a history that is no history is no reason to stop", async () => {
    const historyFile = join(folder, `${_runtime}.broken`);
    writeFileSync(historyFile, 'not json\n{"a":1}\n"good"\n');
    await using pty = await openChat(run, { historyFile });
    pty.type("\x1b[A");
    await pty.until("good");
    pty.type("\x03");
    await leave(pty);
  });

  const ENDS: [how: string, end: (pty: Pty) => unknown, code: number][] = [
    ["SIGTERM at the prompt", (pty) => pty.kill("SIGTERM"), 143],
    ["SIGHUP at the prompt", (pty) => pty.kill("SIGHUP"), 129],
    ["SIGTERM in a turn", async (pty) => {
      await say(pty, "wait in a tool");
      await pty.until("half of it");
      pty.kill("SIGTERM");
    }, 143],
    ["an error that nobody caught", (pty) => say(pty, "crash"), 1],
  ];
  test.each(ENDS)("TERM-11: the terminal is sane after %s", async (_how, end, code) => {
    await using pty = await openChat(run);
    await end(pty);
    expect(await pty.exited()).toBe(code);
    expectSane(pty);
    // Behind the spinner's last frame its line was cleared.
    expect(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏][^\n]*$/.exec(pty.raw())?.[0] ?? "\x1b[J").toContain("\x1b[J");
  });

  test("goes on after it was stopped and continued", async () => {
    await using pty = await openChat(run);
    pty.type("before");
    await pty.until("before");
    pty.kill("SIGSTOP");
    await Bun.sleep(50);
    pty.cook();
    pty.mark();
    pty.kill("SIGCONT");
    await pty.until("before");
    expect(pty.isCooked()).toBe(false);
    expect(await ask(pty, " and after")).toContain('said "before and after"');
    await leave(pty);
  });
});
