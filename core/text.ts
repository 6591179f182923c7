/** Text that strangers wrote: cut it, and make it safe to show. */

/** One result is at most this many characters (UTF-16 units). */
export const RESULT_LIMIT = 50_000;

/**
 * What a terminal must never get from a model, a file or a tool: C0 and C1 controls (but newline and tab), bidi controls,
 * zero-width and other invisible format characters, line separators, tag and private-use characters of planes 14 to 16,
 * lone surrogates.
 */
const HIDDEN =
  // deno-lint-ignore no-control-regex -- these are the characters that this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{10ffff}]|\p{Surrogate}/gu;

/** The same text with every hidden character written out, as `\u{1b}`: what you see is all there is. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

const UNSEEN =
  // deno-lint-ignore no-control-regex -- these are the characters that this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * Without what can neither be seen nor meant in a description: controls (but newline and tab), bidi controls, line separators, tag
 * characters; lone surrogates become U+FFFD. Joiners and variation selectors stay: scripts and emoji need them.
 */
export function stripped(text: string): string {
  return text.toWellFormed().replace(UNSEEN, "");
}

/** `visible`, on one line: newline and tab are written out too, and what is over `limit` characters is cut with `…`. */
export function oneLine(text: string, limit = 200): string {
  const start = text.length > 4 * limit ? text.slice(0, 4 * limit) : text;
  const line = visible(start.replaceAll("\n", "\\n").replaceAll("\t", "\\t"));
  return line.length > limit || start.length < text.length ? `${headOf(line, limit - 1)}…` : line;
}

/**
 * `visible` for text that comes in pieces, as if it had come at once: the halves of a surrogate pair and of a CRLF (which
 * becomes LF) may lie in two pieces. An escape sequence cut in two needs no memory: its first character never gets through.
 */
export function createCleaner(): { push(piece: string): string; end(): string } {
  let kept = "";
  return {
    push(piece) {
      const text = kept + piece;
      kept = /[\r\ud800-\udbff]$/.exec(text)?.[0] ?? "";
      return visible(text.slice(0, text.length - kept.length).replaceAll("\r\n", "\n"));
    },
    end() {
      const rest = visible(kept);
      kept = "";
      return rest;
    },
  };
}

/** `a, b and c`; nothing of no items. */
export function listed(items: readonly string[], word: "and" | "or" = "and"): string {
  const last = items.at(-1) ?? "";
  return items.length < 2 ? last : `${items.slice(0, -1).join(", ")} ${word} ${last}`;
}

/** Lines of a text; a last one without a line end counts. */
export function countLines(text: string): number {
  return countLineEnds(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
}

/** LFs between two offsets. */
export function countLineEnds(text: string, from = 0, to = text.length): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The first `limit` characters, never half of a surrogate pair. */
export function headOf(text: string, limit: number): string {
  const head = text.slice(0, limit);
  return head.length < text.length && isHigh(head.charCodeAt(head.length - 1)) ? head.slice(0, -1) : head;
}

/** The last `limit` characters, never half of a surrogate pair. */
export function tailOf(text: string, limit: number): string {
  const tail = limit > 0 ? text.slice(-limit) : "";
  return tail.length < text.length && isLow(tail.charCodeAt(0)) ? tail.slice(1) : tail;
}

/**
 * Text over the limit as its head and its tail, cut on line borders where there are some, with a line between them that
 * says what was left out. The answer is never longer than `limit`.
 */
export function cutMiddle(text: string, limit = RESULT_LIMIT): string {
  if (text.length <= limit) return text;
  const room = limit - 120; // for the line between
  const head = headLines(text, Math.ceil(room * 0.6));
  const tail = tailLines(text, Math.floor(room * 0.4));
  const leftOut = text.length - head.length - tail.length;
  return `${head}${head.endsWith("\n") ? "" : "\n"}[${leftOut} of ${text.length} characters left out here]\n${tail}`;
}

/** `headOf`, up to and with its last newline where that lies in its second half; one newline may come on top of `limit`. */
export function headLines(text: string, limit: number): string {
  let head = headOf(text, limit);
  if (head.length === text.length) return head;
  if (text[head.length] === "\n") head += "\n";
  const end = head.lastIndexOf("\n");
  return end > head.length / 2 ? head.slice(0, end + 1) : head;
}

/** `tailOf`, from after its first newline on where that lies in its first half. */
export function tailLines(text: string, limit: number): string {
  const tail = tailOf(text, limit);
  if (tail.length === text.length) return tail;
  const start = tail.indexOf("\n");
  return start >= 0 && start < tail.length / 2 ? tail.slice(start + 1) : tail;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
