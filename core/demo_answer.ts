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
const RUN =
  /\b(?:run|running|usage|install|installation|start|started|build|quick ?start)\b|運行|运行|執行|执行|安裝|安装|使用|用法|啟動|启动/i;

/** What a step says before its calls. */
export function announce(question: Question, name: string, paths: readonly string[]): string {
  const names = paths.filter((path) => path !== ".").join(question.chinese ? "、" : ", ");
  if (name === "read_file") return question.chinese ? `接著讀 ${names}。` : `Now I read ${names}.`;
  if (names === "") return question.chinese ? "我先看看資料夾裡有什麼。" : "I look at the folder first.";
  return question.chinese ? `我先看看 ${names} 裡有什麼。` : `I look at ${names} first.`;
}

/** The entries of a listing as paths that can be read; folders end in `/`. */
export function entriesOf({ path, text, isError }: Done): string[] {
  if (isError) return [];
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (/^[\[(].*[\])]$/.test(lines.at(-1) ?? "")) lines.pop(); // the count of what was left out, or "(empty)"
  const folder = path.replace(/^\.\//, "").replace(/\/*$/, "/");
  const isPlain = folder !== "./" && !/^[\/~]|\\|(?:^|\/)\.\.\//.test(folder);
  return lines.map((line) => isPlain && !line.startsWith(folder) ? folder + line : line);
}

/** The final text, from everything that was looked at and read. `missing` names the tools that it wanted and did not have. */
export function answer(question: Question, done: readonly Done[], missing: readonly string[]): string {
  const say = question.chinese ? CHINESE : ENGLISH;
  const reads = done.filter((call) => call.name === "read_file");
  const good = reads.filter((call) => !call.isError);
  const parts: string[] = [];
  if (missing.length > 0) parts.push(say.missing(missing.join(", ")));
  const failed = done.filter((call) => call.isError);
  if (failed.length > 0) parts.push([say.failed, ...failed.map(refusal)].join("\n"));
  const looks = done.filter((call) => call.name === "list_files" && !call.isError);
  const last = looks.at(-1);
  const paths = reads.map((read) => read.path);
  const named = paths.length > 0 && (question.files.length > 0 || matchEntries(question.text, paths).length > 0);
  if (last && !named && (question.wantsListing || reads.length === 0)) parts.push(listing(last, say));
  if (good.length > 0) parts.push(...quotes(question, good, say));
  parts.push(say.closing);
  return parts.join("\n\n");
}

function refusal({ name, path, text }: Done): string {
  return `- ${name} ${path}: ${cut(text.replace(/\s+/g, " ").trim(), 400)}`;
}

function listing(look: Done, say: typeof ENGLISH): string {
  const entries = entriesOf(look);
  const rest = entries.length - ENTRIES_SHOWN;
  // Nothing to list: the tool's own words tell why.
  if (entries.length === 0) return `${say.listed(look.path)}\n${cut(look.text.trim(), 400)}`;
  const shown = entries.slice(0, ENTRIES_SHOWN).map((entry) => `- ${cut(entry, 200)}`);
  const note = look.text.trimEnd().split("\n").at(-1) ?? "";
  if (rest > 0) shown.push(say.more(rest));
  if (/^\[.*\]$/.test(note)) shown.push(note);
  return [say.listed(look.path), ...shown].join("\n");
}

function quotes(question: Question, reads: readonly Done[], say: typeof ENGLISH): string[] {
  const names = reads.map((read) => read.path).join(say.comma);
  if (question.wantsTodos) {
    const todos = reads.flatMap((read) => linesOf(read).filter((line) => TODO.test(line.text)));
    if (todos.length > 0) return [[say.todos(names), ...todos.map(quote)].join("\n")];
  }
  const intro = question.wantsTodos ? say.noTodos(names) : say.read(names);
  return [intro, ...reads.map((read) => quoteFile(read, question, say))];
}

/** The first lines that say something; when the question is how to run it, also those from the first line about that. */
function quoteFile(read: Done, question: Question, say: typeof ENGLISH): string {
  const lines = linesOf(read).filter((line) => /[\p{L}\p{N}]/u.test(line.text));
  // An empty file, or an image: what the tool said about it.
  if (lines.length === 0) return `${read.path}: ${cut(read.text.trim(), 400) || say.empty}`;
  let shown = lines.slice(0, LINES_PER_FILE);
  const heading = lines.findIndex((line, index) => index > 0 && RUN.test(line.text) && /^#|[:：]$/.test(line.text));
  const half = LINES_PER_FILE / 2;
  if (question.wantsRun && heading >= half) {
    shown = [...lines.slice(0, half), ...lines.slice(heading, heading + half)];
  }
  const rest = lines.length - shown.length;
  const note = read.text.trimEnd().split("\n").at(-1) ?? "";
  const notes = [...rest > 0 ? [say.more(rest)] : [], ...note.startsWith("[") ? [note] : []];
  return [...shown.map(quote), ...notes].join("\n");
}

/** The numbered lines of a `read_file` result; the note at its end has no number. */
function linesOf({ path, text }: Done): Line[] {
  return text.split("\n").flatMap((line) => {
    const match = /^ *(\d+)\t(.*)$/s.exec(line);
    return match ? [{ place: `${path}:${match[1]}`, text: match[2] ?? "" }] : [];
  });
}

function quote({ place, text }: Line): string {
  return `${place}: ${cut(text.trim(), 200)}`;
}

function cut(text: string, limit: number): string {
  const chars = Array.from(text.slice(0, 2 * limit + 2));
  return chars.length > limit ? `${chars.slice(0, limit).join("")}…` : text;
}

const ENGLISH = {
  comma: ", ",
  missing: (tools: string) => `I could not look: without ${tools} I see nothing of the folder.`,
  failed: "This was not possible; the tool says:",
  listed: (path: string) => path === "." ? "The folder has:" : `${path} has:`,
  more: (count: number) => `(${count} more not quoted here)`,
  todos: (names: string) => `Lines marked as to-dos in ${names}:`,
  noTodos: (names: string) => `No line is marked as a to-do in ${names}. The first lines:`,
  read: (names: string) => `I read ${names}. The first lines:`,
  empty: "nothing to quote",
  closing:
    "(This is tenon's offline demo model: it quotes, it does not understand. For a real one, set ANTHROPIC_API_KEY.)",
};

const CHINESE: typeof ENGLISH = {
  comma: "、",
  missing: (tools) => `我沒辦法看：沒有 ${tools}，資料夾裡的東西我一點也看不到。`,
  failed: "這些沒有做到，工具的說明是：",
  listed: (path) => path === "." ? "資料夾裡有：" : `${path} 裡有：`,
  more: (count) => `（還有 ${count} 行沒有列在這裡）`,
  todos: (names) => `${names} 裡標為待辦的有：`,
  noTodos: (names) => `${names} 裡沒有標為待辦的行。開頭幾行是：`,
  read: (names) => `我讀了 ${names}，開頭幾行是：`,
  empty: "沒有可以引用的內容",
  closing: "（我是 tenon 的離線示範模型：只引用讀到的字句，並不理解。要用真正的模型，請設定 ANTHROPIC_API_KEY。）",
};
