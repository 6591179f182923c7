import { describe, expect, test } from "bun:test";
import { ALONE_MS, type Asker, type Clock, createAsker, PAUSE_MS } from "../core/terminal/ask.ts";
import type { Keyboard, Signal } from "../core/terminal/keyboard.ts";
import { createKeyDecoder } from "../core/terminal/keys.ts";
import { recorder } from "./support/recorder.ts";

const CHOICES = [{ key: "y", label: "yes" }, { key: "n", label: "no" }];

/** A clock that stands still until it is told to go on. */
function handClock(): Clock & { goOn(ms: number): Promise<void> } {
  let now = 1000;
  let waiting: { at: number; act: () => void }[] = [];
  return {
    now: () => now,
    after(ms, act) {
      const one = { at: now + ms, act };
      waiting.push(one);
      return () => void (waiting = waiting.filter((other) => other !== one));
    },
    async goOn(ms) {
      for (const end = now + ms;;) {
        const [next] = waiting.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at);
        now = next?.at ?? end;
        if (!next) break;
        waiting = waiting.filter((one) => one !== next);
        next.act();
      }
      await Promise.resolve();
    },
  };
}

/** An asker at a terminal whose reads and times the test gives. */
function openDesk() {
  const readers: ((key: Signal) => void)[] = [];
  let away = 0;
  const keyboard: Keyboard = {
    listen(reader) {
      readers.push(reader);
      return () => void readers.splice(readers.lastIndexOf(reader), 1);
    },
    suspend: () => void away++,
    close() {},
  };
  const clock = handClock();
  const screen = recorder();
  const asker = createAsker(keyboard, screen, clock);
  keyboard.listen(asker.keep);
  const decoder = createKeyDecoder();
  return {
    asker,
    screen,
    clock,
    /** The bytes of one read, as the keyboard hands them on. */
    read(bytes: string) {
      for (const key of decoder.push(new TextEncoder().encode(bytes))) readers.at(-1)?.(key);
    },
    away: () => away,
    press: (key: Signal) => readers.at(-1)?.(key),
    /** What the next prompt begins with. */
    async nextLine() {
      const line = asker.readLine([]);
      readers.at(-1)?.({ name: "enter" });
      return await line;
    },
  };
}

type Step = string | number | Signal;

interface Row {
  what: string;
  /** Reads before the question is shown, milliseconds between them. */
  before?: Step[];
  /** The same after it. */
  steps: Step[];
  answer?: string;
  /** What stands at the next prompt. */
  next?: string;
  bells?: number;
}

const READ = PAUSE_MS;
const paste = (text: string): Signal => ({ name: "paste", text });

const KEYS: Row[] = [
  { what: "a key alone, after a pause", steps: [READ, "y"], answer: "y" },
  { what: "a capital letter", steps: [READ, "N"], answer: "n" },
  { what: "a key with an Enter behind it, as a person presses it", steps: [READ, "y", 80, "\r"], answer: "y" },
  { what: "a key, and a window that changes its size", steps: [READ, "y", 10, { name: "redraw" }], answer: "y" },
  { what: "a key that comes too soon, and again", steps: [READ - 1, "y", READ, "y"], answer: "y", bells: 1 },
  { what: "no key that comes too soon", steps: [READ - 1, "y"], bells: 1 },
  { what: "no paste without marks: a line", steps: [READ, "y\r"], bells: 1 },
  { what: "no paste without marks: lines", steps: [READ, "y\ra\rn\r"], bells: 1 },
  { what: "no paste without marks: a word", steps: [READ, "yes"], bells: 1 },
  { what: "no paste without marks that comes in pieces", steps: [READ, "y", ALONE_MS - 1, "n", 5, "y"], bells: 1 },
  { what: "no paste without marks whose last piece is a key", steps: [READ, "npm run", 10, "y"], bells: 1 },
  { what: "no paste with marks", steps: [READ, paste("y")], bells: 1 },
  { what: "a key after a paste, and a pause", steps: [READ, "y\r", READ, "n"], answer: "n", bells: 1 },
  { what: "no key that Esc takes back at once", steps: [READ, "y", 10, { name: "escape" }], bells: 0 },
  { what: "no other key", steps: [READ, "q", READ, "u", READ, "i"], bells: 3 },
  { what: "a key after others", steps: [READ, "q", READ, "u", READ, "y"], answer: "y", bells: 2 },
  { what: "no key that was typed before", before: ["y"], steps: [READ], next: "y" },
  {
    what: "no key of a line that goes on, which is kept as a whole",
    before: ["say wh", 100],
    steps: [100, "y", 100, " ", 100, "n", 100],
    next: "say why n",
  },
  {
    what: "a key after a line that was typed ahead",
    before: ["say", 100],
    steps: [READ, "y"],
    answer: "y",
    next: "say",
  },
  {
    what: "a key after a line that went on",
    before: ["say", 9],
    steps: [9, "!", READ, "y"],
    answer: "y",
    next: "say!",
  },
];

async function play(desk: ReturnType<typeof openDesk>, steps: readonly Step[]) {
  for (const step of steps) {
    if (typeof step === "number") await desk.clock.goOn(step);
    else if (typeof step === "string") desk.read(step);
    else desk.press(step);
  }
}

/** Asks, plays the steps, and takes the question back when they were no answer. */
async function ask<T>(
  { before = [], steps }: Pick<Row, "before" | "steps">,
  put: (asker: Asker, signal: AbortSignal) => Promise<T>,
) {
  const desk = openDesk();
  await play(desk, before);
  const abort = new AbortController();
  const answer = put(desk.asker, abort.signal);
  for (let turn = 0; turn < 5; turn++) await Promise.resolve(); // its turn comes
  await play(desk, [0, ...steps, ALONE_MS]);
  abort.abort();
  const given = await answer;
  return { given, bells: desk.screen.written().split("\x07").length - 1, next: await desk.nextLine(), desk };
}

describe("a question takes for an answer", () => {
  test.each(KEYS)("$what", async ({ before = [], steps, answer, next = "", bells = 0 }) => {
    const told = await ask({ before, steps }, (asker, signal) => asker.askKey("Run it?", CHOICES, { signal }));
    expect(told.given).toBe(answer);
    expect(told.next).toBe(next);
    expect(told.bells).toBe(bells);
  });

  test("no key that was sent before it, however late it is read", async () => {
    const desk = openDesk();
    const abort = new AbortController();
    const answer = desk.asker.askKey("Run it?", CHOICES, { signal: abort.signal });
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    desk.read("y"); // before the clock has gone on: nothing else was done since the question was shown
    await desk.clock.goOn(ALONE_MS);
    abort.abort();
    expect(await answer).toBeUndefined();
    expect(await desk.nextLine()).toBe("y");
  });

  const HINTS: [what: string, steps: Step[], hints: number][] = [
    ["never after one key that does not count", [READ, "q"], 0],
    ["after two", [READ, "q", READ, "u"], 1],
    ["after an answer with an Enter right behind it", [READ, "y\r"], 1],
    ["after more, only once", [READ, "q", READ, "u", READ, "i", READ, "o"], 1],
  ];
  test.each(HINTS)("one key alone, and says so %s", async (_, steps, hints) => {
    const { desk } = await ask({ steps }, (asker, signal) => asker.askKey("Run it?", CHOICES, { signal }));
    expect(desk.screen.written().split("Press one key:").length - 1).toBe(hints);
  });

  test("a key after Ctrl-Z, when it was put again and could be read", async () => {
    const steps: Step[] = [READ, { name: "suspend" }, 5000, { name: "redraw" }, { name: "redraw" }, 10, "n", READ, "y"];
    const { given, bells, desk } = await ask({ steps }, (asker) => asker.askKey("Run it?", CHOICES));
    expect([given, bells, desk.away()]).toEqual(["y", 1, 1]);
    expect(desk.screen.written().match(/Run it\?/g)).toHaveLength(2);
  });

  test("nothing more after its answer: an Enter out of habit is no part of the next line", async () => {
    const desk = openDesk();
    const answer = desk.asker.askKey("Run it?", CHOICES);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    await play(desk, [0, READ, "y", 80]);
    expect(await answer).toBe("y");
    desk.read("\r");
    await desk.clock.goOn(50);
    desk.read("go on");
    expect(await desk.nextLine()).toBe("go on");
  });
});

const LINES: Row[] = [
  { what: "a line", steps: [READ, "use npm", 5, "\r"], answer: "use npm" },
  { what: "a line that is begun at once", steps: [10, "us", 10, "e", 10, "\r"], answer: "use" },
  { what: "an empty line, after a pause", steps: [READ, "\r"], answer: "" },
  { what: "no Enter out of habit", steps: [10, "\r", 100, "x", 5, "\r"], answer: "x" },
  {
    what: "nothing of a line that goes on",
    before: ["say", 9],
    steps: [9, "!", 9, "\r", READ, "x", 5, "\r"],
    answer: "x",
    next: "say!",
  },
  { what: "nothing when Esc is pressed", steps: [READ, "x", { name: "escape" }] },
];

test.each(LINES)("a question for a line takes $what", async ({ before = [], steps, answer, next = "" }) => {
  const told = await ask({ before, steps }, (asker, signal) => asker.askLine("Why?", { signal }));
  expect(told.given).toBe(answer);
  expect(told.next).toBe(next);
});
