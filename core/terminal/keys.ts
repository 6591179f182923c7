/** The bytes that a terminal sends, as keys. */
// deno-lint-ignore-file no-control-regex -- control characters are what a terminal sends

export type KeyName =
  | "enter"
  | "newline"
  | "backspace"
  | "delete"
  | "left"
  | "right"
  | "word_left"
  | "word_right"
  | "up"
  | "down"
  | "home"
  | "end"
  | "kill_to_end"
  | "kill_to_start"
  | "kill_word"
  | "tab"
  | "escape"
  | "interrupt"
  | "end_of_input"
  | "redraw"
  | "suspend";

/** Typed text has no control characters; pasted text has newlines (LF) and tabs, and no other ones. */
export type Key = { name: KeyName } | { name: "text" | "paste"; text: string };

export interface KeyDecoder {
  /** The keys that are complete with these bytes. */
  push(bytes: Uint8Array): Key[];
  /** The keys that are complete because nothing followed: call it when no byte has come for `QUIET_MS`. */
  rest(): Key[];
}

/** What follows sooner than this belongs to what came before: the rest of a sequence, or of a paste. */
export const QUIET_MS = 50;

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";

/** Control characters as a terminal sends them; Ctrl-letter is the letter's number. */
const CONTROLS: { [char: string]: KeyName } = {
  "\x01": "home",
  "\x02": "left",
  "\x03": "interrupt",
  "\x04": "end_of_input",
  "\x05": "end",
  "\x06": "right",
  "\x08": "backspace",
  "\t": "tab",
  "\x0b": "kill_to_end",
  "\x0c": "redraw",
  "\x0e": "down",
  "\x10": "up",
  "\x15": "kill_to_start",
  "\x17": "kill_word",
  "\x1a": "suspend",
  "\x7f": "backspace",
};

/** Escape sequences without their ESC (xterm's control sequences; `u` is the kitty keyboard protocol's). */
const SEQUENCES: { [sequence: string]: KeyName } = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  "[H": "home",
  "[F": "end",
  "OA": "up",
  "OB": "down",
  "OC": "right",
  "OD": "left",
  "OH": "home",
  "OF": "end",
  "[1~": "home",
  "[3~": "delete",
  "[4~": "end",
  "[7~": "home",
  "[8~": "end",
  "[1;3C": "word_right",
  "[1;3D": "word_left",
  "[1;5C": "word_right",
  "[1;5D": "word_left",
  "[13;2u": "newline",
  "[13;3u": "newline",
  "\r": "newline",
  "\x7f": "kill_word",
  b: "word_left",
  f: "word_right",
};

/**
 * Turns bytes into keys. A paste never submits: its line ends are text. Nor can pasted text end the paste early with an end
 * mark of its own, which some terminals let through: a paste is over when its end mark was seen and nothing follows at once,
 * and all of it is text. Where a terminal does not mark pastes, an Enter with more text right behind it is taken for
 * part of one. Sequences of no key here (mouse, reports that a terminal sends) are dropped whole.
 */
export function createKeyDecoder(): KeyDecoder {
  const utf8 = new TextDecoder();
  let waiting = ""; // what may go on: part of a sequence, or a paste
  let pasting = false;

  function endPaste(): Key[] {
    const text = waiting.replaceAll(PASTE_START, "").replaceAll(PASTE_END, "").replace(/\r\n?/g, "\n");
    waiting = "";
    pasting = false;
    return [{ name: "paste", text: text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "") }];
  }

  function keysOf(input: string): Key[] {
    const keys: Key[] = [];
    for (let at = 0; at < input.length;) {
      if (input.startsWith(PASTE_START, at)) {
        waiting = input.slice(at + PASTE_START.length);
        pasting = true;
        break;
      }
      const rest = input.slice(at);
      const sequence = rest[0] === "\x1b" ? sequenceOf(rest.slice(1)) : undefined;
      if (rest[0] !== "\x1b") {
        at += plainKey(rest, keys);
      } else if (sequence === undefined) {
        waiting = rest;
        break;
      } else {
        const name = sequence === "" ? "escape" : SEQUENCES[sequence];
        if (name) keys.push({ name });
        at += 1 + sequence.length;
      }
    }
    return keys;
  }

  return {
    push(bytes) {
      const piece = utf8.decode(bytes, { stream: true });
      // A paste whose end got lost must not lock the keyboard.
      if (pasting && piece === "\x03") return [...endPaste(), { name: "interrupt" }];
      const input = waiting + piece;
      waiting = pasting ? input : "";
      return pasting ? [] : keysOf(input);
    },
    rest() {
      if (pasting) return waiting.includes(PASTE_END) ? endPaste() : [];
      const alone = waiting === "\x1b";
      waiting = "";
      return alone ? [{ name: "escape" }] : [];
    },
  };
}

/** Adds the first key of an input that does not begin with ESC, and tells its length. */
function plainKey(input: string, keys: Key[]): number {
  const lineEnd = /^(?:\r\n|\r|\n)/.exec(input)?.[0];
  if (lineEnd) {
    keys.push({ name: /^[\r\n]+[^\x00-\x1f\x7f]/.test(input) ? "newline" : "enter" });
    return lineEnd.length;
  }
  const name = CONTROLS[input.charAt(0)];
  if (name) keys.push({ name });
  const run = /^[^\x00-\x1f\x7f]+/.exec(input)?.[0] ?? "";
  const text = run.replace(/[\x80-\x9f]/g, "");
  if (text !== "") keys.push({ name: "text", text });
  return run.length || 1;
}

/**
 * The sequence that an input begins with whose ESC is cut off: "" if there is none (the ESC stands for itself), `undefined`
 * if more is to come. CSI and SS3 as in ECMA-48; OSC, DCS, APC, PM and SOS, which only a terminal's reports use, run to BEL
 * or ST.
 */
function sequenceOf(input: string): string | undefined {
  const first = input.charAt(0);
  if (first === "") return undefined;
  if (first === "[") {
    const csi = /^\[[0-?]*[ -/]*([@-~]|(?=[^ -~])|$)/.exec(input);
    return csi?.[1] === "" && csi[0] === input ? undefined : csi?.[0] ?? "[";
  }
  if (first === "O") return input.length > 1 ? input.slice(0, 2) : undefined;
  if (/[\]PX^_]/.test(first)) return /^[\s\S]*?(?:\x07|\x1b\\)/.exec(input)?.[0];
  if (first < " " && !(first in SEQUENCES)) return "";
  return String.fromCodePoint(input.codePointAt(0) ?? 0);
}
