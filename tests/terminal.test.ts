// deno-lint-ignore-file no-control-regex -- escape sequences are what this is about

import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event } from "../core/agent.ts";
import type { Screen } from "../core/terminal/screen.ts";
import { terminalView } from "../core/terminal/terminal.ts";
import { createCleaner, visible } from "../core/text.ts";
import { openPty } from "./support/pty.ts";
import { recorder } from "./support/recorder.ts";
import { RUNTIMES } from "./support/runtimes.ts";

const usage = { input_tokens: 7, output_tokens: 2, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
const text = (piece: string): Event => ({ type: "text", text: piece });
const call = (id: string, name = "read_file", input: unknown = { path: "README.md" }): Event => ({
  type: "tool_use",
  call: { type: "tool_use", id, name, input },
});
const result = (id: string, content: string, is_error = false): Event => ({
  type: "tool_result",
  result: { type: "tool_result", tool_use_id: id, content, is_error },
});
const spent: Event = { type: "usage", usage, model: "m" };
const end = (stop_reason = "end_turn", steps = 1): Event => ({ type: "end", stop_reason, steps });

function show(events: Event[], options: { stdout?: Partial<Screen>; stderr?: Partial<Screen> } = {}) {
  const stdout = recorder(options.stdout);
  const stderr = recorder(options.stderr);
  const view = terminalView({ stdout, stderr, now: () => 0 });
  for (const event of events) view.show(event);
  view.end();
  return { out: stdout.written(), err: stderr.written() };
}

/** Both streams on one terminal, as the user sees them. */
function showOnTerminal(events: Event[], options: Partial<Screen> = {}): string {
  const screen = recorder({ tty: true, ...options });
  const view = terminalView({ stdout: screen, stderr: screen, now: () => 0 });
  for (const event of events) view.show(event);
  view.end();
  return screen.written();
}

const TURN = [
  text("I will look.\n"),
  spent,
  call("1"),
  result("1", "a\nb\nc"),
  text("It has "),
  text("3 lines."),
  end(),
];

describe("where a turn goes", () => {
  test("stdout that is no terminal gets the last reply's text, whole and closed by a newline; stderr the rest", () => {
    expect(show(TURN)).toEqual({
      out: "It has 3 lines.\n",
      err: 'I will look.\n⏺ read_file {"path":"README.md"}\n  3 lines\n',
    });
  });

  test("a reply that follows another without a call takes its place as the answer", () => {
    expect(show([text("first"), spent, text("second"), spent, end()])).toEqual({ out: "second\n", err: "first\n" });
  });

  test("usage told before the text of a reply does not divide it", () => {
    expect(show([spent, text("one "), text("reply"), end()]).out).toBe("one reply\n");
  });

  test("a turn without text leaves stdout empty", () => {
    expect(show([call("1"), result("1", "x"), end("max_steps", 50)]).out).toBe("");
  });

  test("a terminal gets the text as it comes, and a line of its own for what follows", () => {
    const screen = recorder({ tty: true });
    const view = terminalView({ stdout: screen, stderr: screen, now: () => 0 });
    view.show(text("Let me"));
    expect(screen.written()).toBe("Let me");
    view.show(call("1"));
    view.end();
    expect(screen.written()).toBe('Let me\n⏺ read_file {"path":"README.md"}\n');
  });

  test("a discarded reply never reaches a stdout that is no terminal", () => {
    expect(show([text("wrong"), { type: "discard", reason: "overloaded" }, text("right"), end()]).out).toBe("right\n");
  });

  test("a discarded reply that was seen on a terminal is said to be void", () => {
    const shown = showOnTerminal([text("wrong\n"), { type: "discard", reason: "overloaded" }, text("right"), end()]);
    expect(shown).toStartWith("wrong\nThe text above does not count: overloaded\nright\n");
  });

  test("end says what there is to say once, however often it is called", () => {
    const stdout = recorder();
    const view = terminalView({ stdout, stderr: recorder() });
    view.show(text("answer"));
    view.end();
    view.end();
    expect(stdout.written()).toBe("answer\n");
  });
});

describe("how an event looks", () => {
  const NOTES: [what: string, events: Event[], err: string][] = [
    ["a result of one line is shown", [call("1"), result("1", "(no output)")], "  (no output)\n"],
    ["a result of more lines is counted", [call("1"), result("1", "a\nb\n")], "  2 lines\n"],
    ["the last line in brackets is shown", [call("1"), result("1", "a\n[exit code 3]")], "  1 line · exit code 3\n"],
    ["only the last one is", [call("1"), result("1", "[a]\n[b]\n[exit code 3]\n")], "  2 lines · exit code 3\n"],
    ["a list in brackets over more lines is counted", [call("1"), result("1", "[\n1\n]")], "  3 lines\n"],
    ["what an edit did stands for the lines below", [call("1"), result("1", "Edited\n  1\ta\n  2\tb")], "  Edited\n"],
    ["numbered lines alone are counted", [call("1"), result("1", "  1\ta\n  2\tb")], "  2 lines\n"],
    [
      "of a long error the first line says why",
      [call("1"), result("1", "No:\na\nb", true)],
      "  No: (and 2 lines more)\n",
    ],
    ["an error is told in the tool's words", [call("1"), result("1", 'Cannot read "x"', true)], '  Cannot read "x"\n'],
    ["a retry tells when and why", [{ type: "retry", reason: "busy", wait_ms: 4000 }], "Trying again in 4 s: busy\n"],
    ["a short wait is not none", [{ type: "retry", reason: "busy", wait_ms: 463 }], "Trying again in 0.5 s: busy\n"],
    ["no wait is told as now", [{ type: "retry", reason: "busy", wait_ms: 0 }], "Trying again now: busy\n"],
    ["a long wait is told in seconds", [{ type: "retry", reason: "x", wait_ms: 61_400 }], "in 1 min 01 s: x\n"],
    ["the number of a line is not its text", [call("1"), result("1", "     1\thello")], "  hello\n"],
    ["a number in the text is", [call("1"), result("1", "1\thello")], "  1\\thello\n"],
    [
      "one step is no steps",
      [end("max_steps", 1)],
      "Stopped after 1 step, the limit of one turn. Raise it with --max-steps\n",
    ],
    ["a warning is told", [{ type: "warning", text: "no key" }], "no key\n"],
    ["an interrupted turn says so", [end("interrupted")], "Stopped: interrupted\n"],
    ["an unknown stop reason is named", [end("moon\x1bphase")], "Stopped: moon\\u{1b}phase\n"],
  ];
  test.each(NOTES)("%s", (_what, events, err) => {
    expect(show(events).err).toEndWith(err);
  });

  test("an image is named by its type", () => {
    const image = { type: "image" as const, source: { type: "base64" as const, media_type: "image/png", data: "" } };
    const event: Event = { type: "tool_result", result: { type: "tool_result", tool_use_id: "1", content: [image] } };
    expect(show([call("1"), event]).err).toEndWith("  (image/png)\n");
  });

  test("results of calls that ran together name their call, the last call's own result does not need to", () => {
    const a = call("1", "read_file", { path: "a" });
    const b = call("2", "read_file", { path: "b" });
    expect(show([a, b, result("2", "of b"), result("1", "of a")]).err).toEndWith(
      '  of b\n  read_file {"path":"a"}: of a\n',
    );
    expect(show([a, b, result("1", "of a"), result("2", "of b")]).err).toEndWith(
      '  read_file {"path":"a"}: of a\n  read_file {"path":"b"}: of b\n',
    );
  });

  test("a call is cut to the terminal's width, wide characters counted as two columns", () => {
    const shown = showOnTerminal([call("1", "read_file", { path: "中".repeat(40) })]);
    expect(shown).toBe(`⏺ read_file {"path":"${"中".repeat(9)}…\n`);
  });

  test("colours are there on a screen that has them, and nowhere else", () => {
    const coloured = showOnTerminal([call("1"), result("1", "no", true), end()], { colour: true });
    expect(coloured).toContain('\x1b[36m⏺ read_file {"path":"README.md"}\x1b[0m\n\x1b[31m  no\x1b[0m\n');
    expect(showOnTerminal([...TURN, result("1", "no", true)])).not.toContain("\x1b");
  });

  test("a finished turn on a terminal closes with steps, time and tokens", () => {
    expect(showOnTerminal([text("hi"), spent, end()])).toBe(
      "hi\n1 step · 0 s · 7 tokens in, 0 of them cached, 2 out\n",
    );
  });
});

describe("the line that moves", () => {
  const OURS = /\r\x1b\[J/g;

  test("tells what runs, for how long and how far, in less than the terminal's width, and goes away", async () => {
    let time = 0;
    const screen = recorder({ tty: true, redraws: true, columns: () => 24 });
    const view = terminalView({ stdout: screen, stderr: screen, now: () => time });
    view.show(call("1", "bash", {}));
    view.show({ type: "progress", tool_use_id: "1", text: "half of it and more\x1b[2J" });
    time = 65_000;
    await Bun.sleep(150);
    expect(screen.written()).toEndWith("\n⠋ bash 1 min 05 s · ha…");
    view.show(result("1", "done"));
    expect(screen.written()).toEndWith("\r\x1b[J  done\n");
    view.end();
    const after = screen.written();
    await Bun.sleep(150);
    expect(screen.written()).toBe(after);
  });

  test("lets no escape sequence of a tool's name or progress through", async () => {
    const screen = recorder({ tty: true, redraws: true, columns: () => 80 });
    const view = terminalView({ stdout: screen, stderr: screen });
    view.show(call("1", "\x1b[2Jname", {}));
    view.show({ type: "progress", tool_use_id: "1", text: "50%\x1b]0;x\x07\r" });
    await Bun.sleep(150);
    view.end();
    expect(screen.written()).toContain("⠋ \\u{1b}[2Jname 0 s · 50%\\u{1b}]0;x\\u{7}\\u{d}");
    expect(screen.written().replaceAll(OURS, "")).not.toMatch(FORBIDDEN);
  });

  test("is taken away whole after the window was made narrower", async () => {
    let columns = 40;
    const screen = recorder({ tty: true, redraws: true, columns: () => columns });
    const view = terminalView({ stdout: screen, stderr: screen });
    view.show({ type: "progress", tool_use_id: "1", text: "0123456789".repeat(5) });
    await Bun.sleep(150);
    columns = 15;
    view.end();
    expect(screen.written()).toEndWith("\r\x1b[2A\x1b[J");
  });

  test("is still during a question, and what happened meanwhile is shown after it", async () => {
    const screen = recorder({ tty: true, redraws: true });
    const view = terminalView({ stdout: screen, stderr: screen });
    view.show(call("1", "bash", {}));
    const resume = view.pause();
    const before = screen.written();
    view.show(result("1", "done"));
    await Bun.sleep(150);
    expect(screen.written()).toBe(before);
    resume();
    expect(screen.written()).toEndWith("  done\n");
    view.end();
  });

  test("keeps out of a line of text that is being written", async () => {
    const screen = recorder({ tty: true, redraws: true });
    const view = terminalView({ stdout: screen, stderr: screen });
    view.show(text("It has "));
    await Bun.sleep(150);
    view.show(text("3 lines"));
    view.end();
    expect(screen.written()).toBe("It has 3 lines\n");
  });
});

/** What strangers write to a terminal, with the ids of the handed attacks. */
const HOSTILE: [id: string, bytes: string][] = [
  ["TERM-01 clipboard write", "a\x1b]52;c;ZWNobyBwd24=\x07b"],
  ["TERM-03 a prompt painted over the screen", "\x1b[2J\x1b[H\x1b[?1049h\x1b[1;31mAllow run_shell? [y/N] \x1b[8m"],
  ["TERM-05 queries that the terminal would answer", "\x1b[6n\x1b[c\x1b[>q\x1b]10;?\x07\x1bP$q q\x1b\\\x1b[21t"],
  ["TERM-07 bidi controls", 'access = "user\u202e \u2066// admin\u2069 \u2066"'],
  ["TERM-07 tag characters", "\u{e0069}\u{e0067}hidden"],
  ["R31 title, clear screen, clipboard", "before \x1b]0;PWN\x07\x1b[2J\x1b]52;c;aGk=\x07 after"],
  ["C1 controls", "\x9b2J\x9d0;title\x9c"],
  ["carriage return and backspace over a line", "rm -rf /\rls      \b\b"],
  ["zero-width characters", "pass\u200bword\u2060\ufeff"],
];
const FORBIDDEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

describe("what strangers wrote", () => {
  test.each(HOSTILE)("is shown as code points wherever it comes from: %s", (_id, bytes) => {
    const events: Event[] = [
      ...Array.from(bytes, (char) => text(char)), // an event border at every place
      call("1", `n${bytes}`, { path: bytes, [bytes]: 1 }),
      { type: "progress", tool_use_id: "1", text: bytes },
      result("1", bytes),
      call("2"),
      result("2", bytes, true),
      { type: "retry", reason: bytes, wait_ms: 1 },
      text("x"),
      { type: "discard", reason: bytes },
      { type: "warning", text: bytes },
      end(bytes),
    ];
    const { out, err } = show(events);
    expect(out + err + showOnTerminal(events)).not.toMatch(FORBIDDEN);
    expect(err).toContain(visible(bytes));
  });

  test("text cut anywhere into events is shown as it would be in one piece", () => {
    const unit = fc.constantFrom("a", "中", "🦊", "\r", "\n", "\x1b", "[2J", "\ud83e", "\udd8a", "\u202e");
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), fc.array(fc.nat(24), { maxLength: 4 }), (units, cuts) => {
        const whole = units.join("");
        const borders = [0, ...cuts.filter((cut) => cut < whole.length).sort((a, b) => a - b), whole.length];
        const cleaner = createCleaner();
        let shown = "";
        for (let k = 1; k < borders.length; k++) shown += cleaner.push(whole.slice(borders[k - 1], borders[k]));
        expect(shown + cleaner.end()).toBe(visible(whole.replaceAll("\r\n", "\n")));
      }),
    );
  });
});

const folder = mkdtempSync(join(tmpdir(), "tenon-terminal-"));
afterAll(() => rmSync(folder, { recursive: true }));

function script(name: string, events: Event[], env: Record<string, string> = {}): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ events, env }));
  return file;
}

describe.each(RUNTIMES)("under %s", (_runtime, run) => {
  const program = join(import.meta.dir, "fixtures", "shows_a_turn.ts");

  test("a real terminal gets the turn, and of escape sequences only our own colours and redraws", async () => {
    const events = [text("hi \x1b[2J"), call("1"), result("1", "\x1b]0;PWN\x07", true), end()];
    await using pty = openPty(run(program, script("tty", events)));
    expect(await pty.exited()).toBe(0);
    const own = pty.raw().replaceAll(/\x1b\[(?:36|31|90|33|0)m|\r\x1b\[J|\r/g, "");
    expect(own.replace(/^(?:\x1b\[0G|\x1b\[2K|\x1b\[J)*/, "")).not.toContain("\x1b"); // Deno clears its own line first
    expect(pty.raw()).toContain('\x1b[36m⏺ read_file {"path":"README.md"}\x1b[0m');
  });

  test("NO_COLOR is obeyed", async () => {
    await using pty = openPty(run(program, script("plain", TURN, { NO_COLOR: "1" })));
    await pty.exited();
    expect(pty.raw()).toContain("⏺ read_file");
    expect(pty.raw()).not.toMatch(/\x1b\[\d+m/);
  });

  test("stdout gets all of a long answer when it is a pipe", async () => {
    const child = Bun.spawn(run(program, script("long", [text("0123456789".repeat(40_000)), end()])), {
      stdout: "pipe",
      stderr: "pipe",
    });
    expect((await new Response(child.stdout).text()).length).toBe(400_001);
    expect(await child.exited).toBe(0);
  });

  test("L45: a stdout that is closed early ends the program quietly", async () => {
    const file = script("pipe", [text("line\n".repeat(100_000)), end()]);
    const command = run(program, file).map((word) => `'${word}'`).join(" ");
    const shell = Bun.spawn(["bash", "-c", `set -o pipefail; ${command} | head -1`], {
      stdout: "pipe",
      stderr: "pipe",
    });
    expect(await new Response(shell.stdout).text()).toBe("line\n");
    expect(await new Response(shell.stderr).text()).toBe("");
    expect(await shell.exited).toBe(0);
  });

  test("a stderr that is closed early leaves the answer alone", async () => {
    const events = [...Array.from({ length: 50 }, (): Event => ({ type: "warning", text: "w".repeat(400) })), ...TURN];
    const command = run(program, script("stderr", events)).map((word) => `'${word}'`).join(" ");
    const shell = Bun.spawn(["bash", "-c", `{ ${command} 2>&1 >&3 3>&- | head -c 1 >/dev/null; } 3>&1`], {
      stdout: "pipe",
    });
    expect(await new Response(shell.stdout).text()).toBe("It has 3 lines.\n");
  });
});
