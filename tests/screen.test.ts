import { describe, expect, test } from "bun:test";
import { PassThrough } from "node:stream";
import type { WriteStream } from "node:tty";
import { openScreen, paint } from "../core/terminal/screen.ts";

/** A stream that is a terminal or not, and whose reader the test is. */
function stream(properties: Partial<WriteStream> = {}): WriteStream {
  return Object.assign(new PassThrough({ highWaterMark: 4 }), properties) as unknown as WriteStream;
}

const KINDS: [
  what: string,
  isTTY: boolean,
  env: { NO_COLOR?: string; TERM?: string },
  colour: boolean,
  redraws: boolean,
][] = [
  ["a terminal", true, { TERM: "xterm" }, true, true],
  ["a terminal with NO_COLOR", true, { NO_COLOR: "1" }, false, true],
  ["a terminal with an empty NO_COLOR, which the rule does not count", true, { NO_COLOR: "" }, true, true],
  ["a dumb terminal", true, { TERM: "dumb" }, false, false],
  ["no terminal", false, { TERM: "xterm" }, false, false],
];

describe("openScreen", () => {
  test.each(KINDS)("sees %s for what it is", (_what, isTTY, env, colour, redraws) => {
    expect(openScreen(() => stream(), { tty: isTTY, env })).toMatchObject({ tty: isTTY, colour, redraws });
  });

  test("tells the columns of the moment, and 80 where there are none", () => {
    const terminal = stream({ columns: 50 });
    const screen = openScreen(() => terminal, { tty: true, env: {} });
    expect(screen.columns()).toBe(50);
    terminal.columns = 33;
    expect(screen.columns()).toBe(33);
    expect(openScreen(() => stream(), { tty: false, env: {} }).columns()).toBe(80);
  });

  test("is flushed when the reader has it all, not before", async () => {
    const pipe = stream();
    const screen = openScreen(() => pipe, { tty: false, env: {} });
    screen.write("more than the stream holds");
    screen.write("and again");
    let flushed = false;
    const done = screen.flushed().then(() => (flushed = true));
    await Bun.sleep(5);
    expect(flushed).toBe(false);
    (pipe as unknown as PassThrough).resume();
    await done;
  });

  test("tells once that the reader went away, drops what follows and waits for nobody", async () => {
    const pipe = stream();
    const codes: string[] = [];
    const screen = openScreen(() => pipe, { tty: false, env: {}, closed: (code) => codes.push(code) });
    screen.write("more than the stream holds");
    const done = screen.flushed();
    pipe.emit("error", Object.assign(new Error("broken pipe"), { code: "EPIPE" }));
    pipe.emit("error", Object.assign(new Error("broken pipe"), { code: "EPIPE" }));
    await done;
    let wrote = false;
    pipe.write = () => (wrote = true);
    screen.write("for nobody");
    await screen.flushed();
    expect(codes).toEqual(["EPIPE"]);
    expect(wrote).toBe(false);
  });

  const full = Object.assign(new Error("full"), { code: "ENOSPC" });
  const refusals: [how: string, write: (text: string, done: (error?: Error) => void) => boolean][] = [
    ["throws it, as Deno does", () => {
      throw full;
    }],
    ["hands it to the writer before it emits it, as Bun does", (_, done) => {
      done(full);
      return false;
    }],
  ];
  test.each(refusals)("tells before it is flushed that a file is full: the stream %s", async (_, write) => {
    const file = Object.assign(stream(), { write });
    const codes: string[] = [];
    const screen = openScreen(() => file, { tty: false, env: {}, closed: (code) => codes.push(code) });
    screen.write("an answer");
    await screen.flushed();
    expect(codes).toEqual(["ENOSPC"]);
    file.emit("error", full);
    screen.write("and more");
    expect(codes).toEqual(["ENOSPC"]);
  });
});

test("paint colours where there are colours and leaves the text alone elsewhere", () => {
  expect(paint({ colour: true }, "red", "no")).toBe("\x1b[31mno\x1b[0m");
  expect(paint({ colour: false }, "red", "no")).toBe("no");
});
