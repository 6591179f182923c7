/** The words of the offline model: it quotes what the results say, and adds nothing of its own. */

import { matchEntries, type Question } from "./demo_question.ts";

/** A call that was made, and what came of it. */
export interface Done {
  name: string;
  path: string;
  /** The text of the result, as the tool wrote it. */
  text: string;
  isError: boolean;
}

interface Line {
  /** `path:12`. */
  place: string;
  text: string;
}

const LINES_PER_FILE = 12;
const ENTRIES_SHOWN = 60;
const TODO = /\bTODO\b|\bFIXME\b|待辦|待办|^\s*(?:[-*+]|\d+[.)])\s+\[ \]/i;
const ITEM = /^\s*(?:[-*+•]|\d+[.)、])\s*\S/;
const TICKED = /^\s*(?:[-*+]|\d+[.)])\s+\[[xX]\]/;
const RUN =
  /\b(?:run|running|usage|install|installation|start|started|build|quick ?start)\b|運行|运行|執行|执行|安裝|安装|使用|用法|啟動|启动/i;

/** What a step says before its calls. `isDeeper`: it looks for the second time. */
export function announce(question: Question, name: string, paths: readonly string[], isDeeper: boolean): string {
  const say = wordsFor(question);
  const names = paths.filter((path) => path !== ".").join(say.comma);
  if (name === "read_file") return say.reading(names);
  return isDeeper ? say.lookingDeeper : say.looking(names);
}

/** The entries of a listing: paths from the root, that can be read as they are; folders end in `/`. */
export function entriesOf({ text, isError }: Done): string[] {
  if (isError) return [];
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (/^[\[(].*[\])]$/.test(lines.at(-1) ?? "")) lines.pop(); // the count of what was left out, or "(empty)"
  return lines;
}

/** A folder's entry ends in `/`; a note such as `(not entered)` may follow. */
export function isFolder(entry: string): boolean {
  return /\/(?:\s+[(\[].*)?$/.test(entry);
}

/** The final text, from everything that was looked at and read. `missing` names the tools that it wanted and did not have. */
export function answer(question: Question, done: readonly Done[], missing: readonly string[]): string {
  const say = wordsFor(question);
  const parts: string[] = [];
  if (missing.length > 0) parts.push(say.missing(missing.join(say.comma)));
  const refused = done.filter((call) => call.isError);
  if (refused.length > 0) parts.push([say.refused, ...refused.map(refusal)].join("\n"));

  const reads = done.filter((call) => call.name === "read_file");
  const paths = reads.map((read) => read.path);
  const namesFile = question.files.length > 0 || matchEntries(question.text, paths).length > 0;
  const look = done.findLast((call) => call.name === "list_files" && !call.isError);
  if (look && (paths.length === 0 || question.wantsListing && !namesFile)) parts.push(listing(look, say));
  const texts = reads.filter((read) => !read.isError);
  if (texts.length > 0) parts.push(...quotes(question, texts, say));
  const unread = look ? entriesOf(look).filter((entry) => !isFolder(entry) && !paths.includes(entry)) : [];
  if (question.wantsTodos && !namesFile && unread.length > 0) parts.push(say.unread(unread.length));
  parts.push(say.closing);
  return parts.join("\n\n");
}

function refusal({ name, path, text }: Done): string {
  return `- ${name} ${path}: ${cut(text.replace(/\s+/g, " ").trim(), 400)}`;
}

function listing(look: Done, say: Words): string {
  const entries = entriesOf(look);
  const rest = entries.length - ENTRIES_SHOWN;
  // Nothing to list: the tool's own words tell why.
  if (entries.length === 0) return say.nothing(look.path, cut(look.text.trim().replace(/^\[(.*)\]$/, "$1"), 400));
  const shown = entries.slice(0, ENTRIES_SHOWN).map((entry) => `- ${cut(entry, 200)}`);
  const more = rest > 0 ? [say.moreEntries(rest)] : [];
  return [say.listed(look.path), ...shown, ...more, ...noteOf(look)].join("\n");
}

function quotes(question: Question, reads: readonly Done[], say: Words): string[] {
  const names = reads.map((read) => read.path).join(say.comma);
  if (question.wantsTodos) {
    const todos = reads.flatMap((read) => [...todosOf(read).map(quote), ...noteOf(read)]);
    if (reads.some((read) => todosOf(read).length > 0)) return [[say.todos(names), ...todos].join("\n")];
  }
  const intro = question.wantsTodos ? say.noTodos(names) : say.read(names);
  return [intro, ...reads.map((read) => quoteFile(read, question, say))];
}

/** The lines marked as to-dos, and the items of a list whose heading says so; not those that are ticked. */
function todosOf(read: Done): Line[] {
  let isListed = false;
  return linesOf(read).filter(({ text }) => {
    if (TICKED.test(text)) return false;
    const isItem = ITEM.test(text);
    if (TODO.test(text)) {
      isListed = !isItem && /^#|[:：]\s*$/.test(text);
      return true;
    }
    isListed &&= isItem || text.trim() === "";
    return isListed && isItem;
  });
}

/** The first lines that say something, no code in Markdown; when the question is how to run it, those about that too. */
function quoteFile(read: Done, question: Question, say: Words): string {
  const lines = linesOf(read);
  const code = /\.(?:md|markdown)$/i.test(read.path) ? fencedLines(lines) : new Set<Line>();
  const told = lines.filter((line) => /[\p{L}\p{N}]/u.test(line.text));
  // An empty file, or an image: what the tool said about it.
  if (told.length === 0) return `${read.path}: ${cut(read.text.trim(), 400) || say.empty}`;
  const prose = told.filter((line) => !code.has(line));
  let shown = (prose.length > 0 ? prose : told).slice(0, LINES_PER_FILE);
  const start = question.wantsRun ? prose.findIndex((line, index) => index > 0 && RUN.test(labelOf(line))) : -1;
  const heading = prose[start];
  if (heading !== undefined) {
    const before = prose.slice(0, Math.min(start, LINES_PER_FILE / 2));
    const at = told.indexOf(heading);
    shown = [...before, ...told.slice(at, at + LINES_PER_FILE - before.length)];
  }
  const rest = told.length - shown.length;
  const more = rest > 0 ? [say.moreLines(rest)] : [];
  return [...shown.map(quote), ...more, ...noteOf(read)].join("\n");
}

/** The lines of fenced code, with their fences. */
function fencedLines(lines: readonly Line[]): Set<Line> {
  let isCode = false;
  return new Set(lines.filter(({ text }) => {
    const isFence = /^\s*(?:```|~~~)/.test(text);
    if (isFence) isCode = !isCode;
    return isCode || isFence;
  }));
}

/** What a line is about: a heading, or the words before its colon. */
function labelOf({ text }: Line): string {
  return /^#.*|^[^:：]{1,40}[:：]/.exec(text)?.[0] ?? "";
}

/** The numbered lines of a `read_file` result; the note at its end has no number. */
function linesOf({ path, text }: Done): Line[] {
  return text.split("\n").flatMap((line) => {
    const match = /^ *(\d+)\t(.*)$/s.exec(line);
    return match ? [{ place: `${path}:${match[1]}`, text: match[2] ?? "" }] : [];
  });
}

/** The last line of a result where it is a note in brackets: what was cut or left out, and how to go on. */
function noteOf({ text }: Done): string[] {
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return /^\[.*\]$/.test(last) ? [last] : [];
}

function quote({ place, text }: Line): string {
  return `${place}: ${cut(text.trim(), 200)}`;
}

function cut(text: string, limit: number): string {
  const chars = Array.from(text.slice(0, 2 * limit + 2));
  return chars.length > limit ? `${chars.slice(0, limit).join("")}…` : text;
}

function wordsFor(question: Question): Words {
  return question.chinese ? CHINESE : ENGLISH;
}

type Words = typeof ENGLISH;

const ENGLISH = {
  comma: ", ",
  looking: (names: string) => names === "" ? "I look at the folder first." : `I look at ${names} first.`,
  lookingDeeper: "It is not there; I look further.",
  reading: (names: string) => `Now I read ${names}.`,
  missing: (tools: string) => `I could not look: without ${tools} I see nothing of the folder.`,
  refused: "This was not possible; the tool says:",
  listed: (path: string) => path === "." ? "The folder has:" : `${path} has:`,
  nothing: (path: string, why: string) =>
    `There is nothing to list in ${path === "." ? "the workspace" : path}: ${why}.`,
  moreLines: (count: number) => `(${count} more ${count === 1 ? "line with text was" : "lines with text were"} read)`,
  moreEntries: (count: number) => `(${count} more ${count === 1 ? "entry" : "entries"})`,
  unread: (count: number) =>
    count === 1
      ? "(1 other file of this listing was not read.)"
      : `(${count} other files of this listing were not read.)`,
  todos: (names: string) => `Lines marked as to-dos in ${names}:`,
  noTodos: (names: string) => `No line is marked as a to-do in ${names}. The first lines:`,
  read: (names: string) => `I read ${names}. Some lines:`,
  empty: "nothing to quote",
  closing:
    "(This is tenon's offline demo model: it quotes, it does not understand. For a real one, set ANTHROPIC_API_KEY.)",
};

const CHINESE: Words = {
  comma: "、",
  looking: (names) => names === "" ? "我先看看資料夾裡有什麼。" : `我先看看 ${names} 裡有什麼。`,
  lookingDeeper: "那裡沒有，我再找找。",
  reading: (names) => `接著讀 ${names}。`,
  missing: (tools) => `我沒辦法看：沒有 ${tools}，資料夾裡的東西我一點也看不到。`,
  refused: "這些沒有做到，工具的說明是：",
  listed: (path) => path === "." ? "資料夾裡有：" : `${path} 裡有：`,
  nothing: (path, why) => `${path === "." ? "資料夾" : `${path} `}裡沒有可列的項目：${why}。`,
  moreLines: (count) => `（還讀了 ${count} 行，沒有列在這裡）`,
  moreEntries: (count) => `（還有 ${count} 項）`,
  unread: (count) => `（清單裡另有 ${count} 個檔案沒有讀。）`,
  todos: (names) => `${names} 裡標為待辦的有：`,
  noTodos: (names) => `${names} 裡沒有標為待辦的行。開頭幾行是：`,
  read: (names) => `我讀了 ${names}，其中幾行是：`,
  empty: "沒有可以引用的內容",
  closing: "（我是 tenon 的離線示範模型：只引用讀到的字句，並不理解。要用真正的模型，請設定 ANTHROPIC_API_KEY。）",
};
