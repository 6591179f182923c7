/** What a question names: folders, files and the kind of answer, found by its form alone. */

/** A question as the offline model understands it. */
export interface Question {
  text: string;
  /** Whether it has Han characters: then it is answered in Chinese. */
  chinese: boolean;
  /** Folders it names, in order, as it names them; `..` and absolute ones too. */
  folders: string[];
  /** Files it names by a path or an ending. Those that only a listing can tell are found by `matchEntries`. */
  files: Mention[];
  wantsTodos: boolean;
  /** It asks what there is, not what it says. */
  wantsListing: boolean;
  wantsRun: boolean;
}

/** A name and the place in the text where it stands. */
export interface Mention {
  path: string;
  start: number;
  end: number;
}

/** A letter, digit or mark of a script that is written with spaces: Chinese text may touch a name on both sides. */
const WORD = String.raw`[[\p{L}\p{N}\p{M}_]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]]`;
const PATH_CHAR = String.raw`(?:${WORD}|[.\-+@~\/\\])`;
const PATH = new RegExp(String.raw`(?<![<:]|${PATH_CHAR})(?:[A-Za-z]:(?=[\/\\]))?${PATH_CHAR}+`, "gv");
/** `筆記.txt`: an ending that touches Chinese text has its name there. */
const HAN_FILE =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\w\-]{0,80}[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]\.[A-Za-z]\w{0,9}/gv;
/** What stands before a name: `幫我讀筆記.txt`, `跟筆記.txt`. */
const HAN_BEFORE = /^(?:請|请|幫|帮|我|你|讀|读|取|看|打開|打开|總結|总结|一下|把|在|跟|和|與|与|及|這個|这个)+/v;
const QUOTED = /`([^`\n]+)`|"([^"\n]+)"|“([^”\n]+)”|「([^」\n]+)」|『([^』\n]+)』|(?<![\p{L}\p{N}])'([^'\n]+)'/gv;
const ADDRESS = /\bhttps?:\/\/[^\s\p{sc=Han}]+/giv;

const FOLDER_AFTER =
  /^["'`」』”]?\s*(?:這個|这个|的)?\s*(?:子?目錄|子?目录|資料夾|资料夹|文件夾|文件夹|(?:folder|directory|dir)\b)/iv;
const FOLDER_BEFORE = /(?:目錄|目录|資料夾|资料夹|文件夾|文件夹|\b(?:folder|directory|dir))\s*["'`「『“]?$/iv;
/** Words before "folder" that name none. */
const NO_FOLDER =
  /^(?:an?|the|this|that|these|which|what|each|every|any|some|one|same|my|our|your|its|current|whole|entire|main|root|base|top|parent|project|workspace|working|source|sub|is|of|in|and|empty|new)$/i;
/** Names with a dot that are hardly ever files. */
const NO_FILE = /^(?:e\.g|i\.e|a\.m|p\.m|(?:node|deno|vue|next|nuxt|react|three|d3|express)\.js|asp\.net)$/i;

const LISTING =
  /\b(?:list|which|what|show)\b[^.?!]*\bfiles\b|\bwhat(?:'s|’s| is| are)? (?:there )?(?:in|inside|under)\b|(?:[裡里下中內内]面?|目錄|目录|資料夾|资料夹|文件夾|文件夹)有(?:什[麼么]|哪些|啥)|有(?:什[麼么]|哪些)(?:檔案|文件|東西|东西)|列出/i;

const ENDING = /[^.\/\\]\.\p{L}[\p{L}\p{N}]{0,9}$/v;
const DOT_FILE = /(?:^|[\/\\])\.\p{L}[\p{L}\p{N}._\-]*$/v;
const FROM_ROOT = /^(?:[\/\\]|~[\/\\]|[A-Za-z]:[\/\\]|\.\.?[\/\\])/;

/** Of a longer question (a whole diff on stdin) only this many characters are looked at. */
const LIMIT = 4_000;

/** Reads a question. Never throws, whatever the text is. */
export function readQuestion(raw: string): Question {
  const text = raw.slice(0, LIMIT).toWellFormed();
  const folders: string[] = [];
  const files: Mention[] = [];
  for (const mention of mentionsIn(text)) {
    const kind = kindOf(mention, text);
    if (kind === "file") files.push({ ...mention, path: mention.path.replace(/^\.\//, "") });
    if (kind === "folder" && !folders.includes(mention.path)) folders.push(mention.path);
  }
  return {
    text,
    chinese: /\p{sc=Han}/v.test(text),
    folders,
    files,
    wantsTodos: /\bto-?dos?\b|\bfixme\b|待辦|待办/i.test(text),
    wantsListing: LISTING.test(text),
    wantsRun: /\b(?:run|start|install|use|build)\b|運行|运行|執行|执行|啟動|启动|安裝|安装|怎[麼么]用/i.test(text),
  };
}

/**
 * The entries of a listing that the text names by their path or by their last part, in the order of the text. A longer name wins over
 * one inside it, and of equal names the one nearest to the root.
 */
export function matchEntries(text: string, entries: readonly string[]): Mention[] {
  const found: Mention[] = [];
  for (const path of entries) {
    const base = path.slice(path.lastIndexOf("/") + 1);
    // A plain word such as `run` is not taken for a file of that name; `Makefile` is.
    if (!/[.\p{Lu}\p{sc=Han}]/v.test(base)) continue;
    const short = /^readme(?=\.[^.]+$)/i.exec(base)?.[0];
    for (const name of new Set([path, base, ...short ? [short, short.toLowerCase()] : []])) {
      for (let start = text.indexOf(name); start >= 0; start = text.indexOf(name, start + 1)) {
        const end = start + name.length;
        if (standsAlone(text, start, end)) found.push({ path, start, end });
      }
    }
  }
  const depth = (path: string) => path.split("/").length;
  found.sort((a, b) => b.end - b.start - (a.end - a.start) || depth(a.path) - depth(b.path));
  const kept: Mention[] = [];
  for (const mention of found) if (!kept.some((other) => overlap(mention, other))) kept.push(mention);
  return kept.sort((a, b) => a.start - b.start);
}

/** Whether two names share a part of the text. */
export function overlap(a: Mention, b: Mention): boolean {
  return a.start < b.end && b.start < a.end;
}

/** Everything that may be a path; what is in quotes is taken whole. */
function mentionsIn(text: string): Mention[] {
  const found: Mention[] = [];
  let rest = text.replace(ADDRESS, (address) => " ".repeat(address.length));
  for (const match of rest.matchAll(QUOTED)) {
    const path = match.slice(1).find((group) => group !== undefined)?.trim() ?? "";
    const mention = { path, start: match.index, end: match.index + match[0].length };
    if (path.length > 200 || kindOf(mention, text) === undefined) continue;
    found.push(mention);
  }
  for (const { start, end } of found) rest = rest.slice(0, start) + "\n".repeat(end - start) + rest.slice(end);
  for (const match of rest.matchAll(HAN_FILE)) {
    const path = match[0].replace(HAN_BEFORE, "");
    const end = match.index + match[0].length;
    found.push({ path, start: end - path.length, end });
    rest = rest.slice(0, match.index) + "\n".repeat(match[0].length) + rest.slice(end);
  }
  for (const match of rest.matchAll(PATH)) {
    const path = match[0].replace(/(?<=[^.\/\\])\.+$/, ""); // the dot that ends the sentence
    found.push({ path, start: match.index, end: match.index + path.length });
  }
  return found.sort((a, b) => a.start - b.start);
}

function kindOf({ path, start, end }: Mention, text: string): "file" | "folder" | undefined {
  const called = FOLDER_AFTER.test(text.slice(end)) || FOLDER_BEFORE.test(text.slice(Math.max(0, start - 20), start));
  if (path === "" || /^[.\/\\]$/.test(path) && !called) return undefined;
  if (/(?:^|[\/\\])\.\.$/.test(path) || /[\/\\]$/.test(path) && /[^\/\\]/.test(path)) return "folder";
  if (called) return /^\.{3,}$/.test(path) || NO_FOLDER.test(path) ? undefined : "folder";
  if (!/\p{L}|\p{N}/v.test(path) || NO_FILE.test(path)) return undefined;
  return ENDING.test(path) || DOT_FILE.test(path) || FROM_ROOT.test(path) ? "file" : undefined;
}

/** A name inside a longer word or path is not that name. */
function standsAlone(text: string, start: number, end: number): boolean {
  const before = new RegExp(`${PATH_CHAR}$`, "v");
  const after = new RegExp(`^(?:${WORD}|[\\-\\/\\\\]|\\.${WORD})`, "v");
  return !before.test(text.slice(Math.max(0, start - 2), start)) && !after.test(text.slice(end, end + 3));
}
