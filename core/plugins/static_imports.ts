/** What a source file imports before its first line runs, read from its text: too little rather than too much. */

export interface StaticImport {
  /** As it is written between the quotes. */
  name: string;
  /** From 1. */
  line: number;
  /** It names nothing but types, each marked in the braces: `import { type A } from "a"`. */
  typesOnly: boolean;
  /** What follows in `with { … }`. */
  attributes: string;
}

/** Behind these words a `/` begins a regular expression; behind any other word it divides. */
const BEFORE_REGEX = new Set(
  "return typeof case in of delete void throw new else do instanceof await yield default extends".split(" "),
);

/** Tokens of one clause, at most: whoever imports a thousand names has a longer one, and the runtime tells of it. */
const CLAUSE_LIMIT = 4000;

interface Token {
  kind: "word" | "text" | "mark";
  /** Of a text what stands between its quotes; of a template nothing. */
  text: string;
  at: number;
  /** How many brackets are open around it. */
  depth: number;
}

/**
 * The `import` and `export … from` declarations of a JavaScript or TypeScript text, but those of types (`import type`). What
 * stands in comments, texts and functions is none. A text that is told apart wrongly (a `/` may divide, or begin a regular
 * expression) may hide one, and then the runtime says what is wrong with it. Takes time in proportion to the text.
 */
export function readStaticImports(text: string): StaticImport[] {
  const found: StaticImport[] = [];
  const lineAt = lineCounter(text);
  let clause: string[] | undefined;
  let before = "";
  for (const { kind, text: token, at, depth } of tokensOf(text)) {
    const begins = kind === "word" && (token === "import" || token === "export") && depth === 0 && before !== ".";
    if (begins && clause?.at(-1) !== "{" && clause?.at(-1) !== ",") clause = [token];
    else if (clause && kind === "text" && endsBefore(clause)) {
      if (!isOfTypes(clause)) {
        const attributes = /^\s*with\s*\{([^}]{0,500})\}/.exec(
          text.slice(at + token.length + 2, at + token.length + 600),
        );
        const typesOnly = hasTypesOnly(clause);
        found.push({ name: token, line: lineAt(at), typesOnly, attributes: attributes?.[1] ?? "" });
      }
      clause = undefined;
    } else if (clause && (kind !== "mark" || /[{},*]/.test(token)) && clause.length < CLAUSE_LIMIT) {
      clause.push(kind === "text" ? '"' : token);
    } else clause = undefined;
    before = token;
  }
  return found;
}

/** Whether the name of the file comes next: `import`, or `… from`. */
function endsBefore(clause: readonly string[]): boolean {
  return clause.length === 1 ? clause[0] === "import" : clause.at(-1) === "from" && clause.length > 2;
}

/** `import type A from`, `export type * from`; but `import type from` has a name that is `type`. */
function isOfTypes([, first, second, third]: readonly string[]): boolean {
  return first === "type" && second !== "," && (second !== "from" || third !== undefined);
}

/** ECMA-262 knows no `type`; TypeScript: `type A`, `type A as B`, `type as`, `type as as B`, but not `type as B`. */
function hasTypesOnly(clause: readonly string[]): boolean {
  if (clause[1] !== "{") return false;
  const names = clause.slice(2, clause.indexOf("}")).join(" ").split(",").map((name) => name.trim()).filter(Boolean);
  return names.length > 0 && names.every((name) => /^type (?!as \S+$)\S/.test(name));
}

/** Tells the line of places that are asked for in their order. */
function lineCounter(text: string): (at: number) => number {
  let [line, from] = [1, 0];
  return (at) => {
    for (let next = text.indexOf("\n", from); next >= 0 && next < at; next = text.indexOf("\n", from)) {
      line++;
      from = next + 1;
    }
    return line;
  };
}

function* tokensOf(text: string): Generator<Token> {
  /** Open brackets; `$` is that of a template, which goes on behind it. */
  const open: string[] = [];
  const word = /[\w$\\\u0080-\u1fff\u2030-\uffff]+/y;
  let before: Token | undefined;
  let noRegexUntil = 0;
  const token = (kind: Token["kind"], at: number, words: string): Token =>
    before = { kind, text: words, at, depth: open.length };
  for (let at = text.startsWith("#!") ? endOfLine(text, 0) : 0; at < text.length;) {
    const char = text[at] ?? "";
    if (/\s/.test(char)) at++;
    else if (text.startsWith("//", at)) at = endOfLine(text, at);
    else if (text.startsWith("/*", at)) {
      const end = text.indexOf("*/", at + 2);
      if (end < 0) return;
      at = end + 2;
    } else if (char === '"' || char === "'") {
      const end = endOfText(text, at);
      if (text[end] === char) yield token("text", at, text.slice(at + 1, end));
      at = end + 1;
    } else if (char === "`" || char === "}" && open.at(-1) === "$") {
      if (char === "}") open.pop();
      const end = endOfTemplate(text, at + 1);
      if (text[end] === "$") open.push("$");
      else yield token("mark", at, "`");
      at = end + (text[end] === "$" ? 2 : 1);
    } else if (char === "/" && at >= noRegexUntil && mayBeginRegex(before)) {
      const end = endOfRegex(text, at + 1);
      if (text[end] !== "/") noRegexUntil = end;
      else yield token("mark", at, ")"); // a value
      at = text[end] === "/" ? end + 1 : at + 1;
    } else {
      word.lastIndex = at;
      const [letters] = word.exec(text) ?? [];
      if (letters === undefined && /[)\]}]/.test(char)) open.pop();
      yield token(letters === undefined ? "mark" : "word", at, letters ?? char);
      if (letters === undefined && /[([{]/.test(char)) open.push(char);
      at += letters?.length ?? 1;
    }
  }
}

function mayBeginRegex(before: Token | undefined): boolean {
  if (before === undefined) return true;
  return before.kind === "word" ? BEFORE_REGEX.has(before.text) : before.kind === "mark" && !/[)\]`]/.test(before.text);
}

function endOfLine(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (/[\n\r\u2028\u2029]/.test(text[at] ?? "")) return at;
  return text.length;
}

/** The quote that ends the text which begins here, or where its line ends without one. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at];
    if (char === text[start] || char === "\n") return at;
    if (char === "\\") at++;
  }
  return text.length;
}

/** Its last quote, or the `$` of `${`. */
function endOfTemplate(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "`" || text.startsWith("${", at)) return at;
    if (text[at] === "\\") at++;
  }
  return text.length;
}

/** The `/` that ends it, or where its line ends without one. */
function endOfRegex(text: string, from: number): number {
  let inClass = false;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === "\n" || char === "/" && !inClass) return at;
    if (char === "\\") at++;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
  }
  return text.length;
}
