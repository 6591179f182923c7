/** What a source file imports, read from its text without running it: too much rather than too little. */

export interface Imports {
  /** Each literal name once, in order; also those in comments and strings that look like an import. */
  names: string[];
  /** What cannot be followed (`import(name)`, `require`), in words; undefined when the names are all there is. */
  unknown?: string;
  /** Whether the code may look at something besides its own bytes while it loads: files, the runtime, other code. */
  looksAround: boolean;
}

/** Where an import may stand: a real one always has one of these words, whole and without escapes (ECMA-262, 12.7.2). */
const WORDS = /\b(?:import|from|require|createRequire|getBuiltinModule)\b/g;

const LOOKS_AROUND = /\b(?:eval|Function|Worker|Bun|Deno|globalThis)\b|\bprocess\s*[.[]|\bimport\s*\.\s*meta\b/;

/** No honest file has more imports, and each look takes its time. */
const CLAUSES_LIMIT = 2000;

const TOO_ODD = { unknown: "comments or imports that cannot be told apart", looksAround: true };

/** Characters that may be skipped between words, as a multiple of the text: an honest file needs a fraction. */
const PATIENCE = 4;

/**
 * Reads a JavaScript or TypeScript text. Whatever is imported by a literal is among `names`, or `unknown` is set; what is not
 * found out is code that makes code (`eval`), and `looksAround` tells that it may.
 */
export function readImports(text: string): Imports {
  const names = new Set<string>();
  const skip = skipper(text);
  let unknown: string | undefined;
  let clauses = 0;
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    const next = skip(index + word.length);
    if (next === undefined) return { ...TOO_ODD, names: [...names] };
    if (word === "from") {
      if (text[next] !== '"' && text[next] !== "'" || !isClauseBefore(text, index)) continue;
      if (++clauses > CLAUSES_LIMIT) return { ...TOO_ODD, names: [...names] };
    }
    if (word === "import" || word === "from") {
      const isCall = word === "import" && text[next] === "(";
      const at = isCall ? skip(next + 1) : next;
      const name = at === undefined ? undefined : literalAt(text, at);
      const end = at === undefined || name === undefined ? undefined : skip(at + name.length + 2);
      if (at === undefined || isCall && (end === undefined || text[end] !== ")" && text[end] !== ",")) {
        unknown ??= "import(…) of a computed name";
      } else if (name !== undefined && (end === undefined || !isOfPlainType(text.slice(end, end + 200), isCall))) {
        unknown ??= "an import of a type that is not written out as json or text";
      } else if (name !== undefined && name.includes("\\")) unknown ??= "an import with an escape in its name";
      else if (name !== undefined) names.add(name);
      else if (/^\.\s*(?:defer|source)\b/.test(text.slice(next, next + 100))) {
        unknown ??= "import.defer or import.source";
      }
    } else if (text[next] === "(" || text[next] === "." || text[next] === "?") unknown ??= `${word}(…)`;
  }
  const looksAround = unknown !== undefined || LOOKS_AROUND.test(text);
  return { names: [...names], ...(unknown === undefined ? {} : { unknown }), looksAround };
}

/**
 * Whether what stands before `from` may be the rest of `import … from`: in doubt yes. Prose (`a row from "table"`) is told by
 * the mark that begins it. What is not in braces has only names, commas and stars in it (ECMA-262, 16.2.2 and 16.2.3).
 */
function isClauseBefore(text: string, index: number): boolean {
  const first = Math.max(0, index - 300);
  const before = text.slice(first, index);
  const last = before.trimEnd().at(-1) ?? "";
  if (/[}"'*/]/.test(last) || /\/[/*]/.test(before)) return true;
  let start = before.length;
  while (start > 0 && /[\w$*,\s\\\u0080-\uffff]/.test(before[start - 1] ?? "")) start--;
  return start === 0 && first > 0 || /\b(?:import|export)\b/.test(before.slice(start));
}

/**
 * Whether what stands behind the name leaves it to the ending what the file is, or makes data of it: Bun runs any file as code
 * when it is told to (`with { type: "ts" }`), and a file of data is not followed.
 */
function isOfPlainType(behind: string, isCall: boolean): boolean {
  const type = /\{\s*type\s*:\s*(?:"(?:json|text)"|'(?:json|text)')\s*,?\s*\}/.source;
  if (isCall) return new RegExp(`^,?\\s*(?:\\{\\s*with\\s*:\\s*${type}\\s*,?\\s*\\}\\s*,?\\s*)?\\)`).test(behind);
  return !/^(?:with|assert)\b/.test(behind) || new RegExp(`^with\\s*${type}`).test(behind);
}

/** What stands between quotes that begin here, as it is written. */
function literalAt(text: string, at: number): string | undefined {
  const quote = text[at];
  if (quote !== '"' && quote !== "'") return undefined;
  const end = text.indexOf(quote, at + 1);
  const name = end < 0 ? "\n" : text.slice(at + 1, end);
  // A line break, or a quote behind a backslash, is never part of a name: then this is no import, or an escaped one.
  return name.includes("\n") ? undefined : name;
}

type Skip = (at: number) => number | undefined;

/** Finds the next character that is neither blank nor in a comment. Undefined when a comment has no end, or the file plays games. */
function skipper(text: string): Skip {
  let patience = PATIENCE * text.length + 1000;
  let close = -1; // the end of the comment seen last: it is the same for all that begins before it
  return (from) => {
    let at = from;
    while (patience > 0) {
      if (/\s/.test(text[at] ?? "")) at++;
      else if (text.startsWith("//", at)) {
        const end = text.slice(at, at + 10_000).search(/[\n\r\u2028\u2029]/);
        const step = end < 0 ? Math.min(10_000, text.length - at) : end;
        at += step;
        if (end < 0 && at < text.length) return undefined; // a comment of 10,000 characters
        patience -= step;
      } else if (text.startsWith("/*", at)) {
        if (close < at + 2) close = text.indexOf("*/", at + 2);
        if (close < 0) return undefined;
        at = close + 2;
      } else return at;
      patience--;
    }
    return undefined;
  };
}
