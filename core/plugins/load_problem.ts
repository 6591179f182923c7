/** Why a plugin file cannot be imported: its line and the reason, in one line for its author. */

import { readFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { isInstalled, missingPackage, packageOf } from "./import_problem.ts";
import { basename, dirname } from "../path.ts";
import { nameIn } from "./plugin_closure.ts";
import { oneLine } from "../text.ts";

/** What Bun adds: the bundler `position`, the resolver that found nothing `specifier`. */
interface BuildMessage {
  position?: { file: string; line: number } | null;
  specifier?: string;
}

interface Spot {
  file: string;
  line: number;
}

/** From what `import()` rejected with, on either runtime. Where no line is known, the reason alone. Never rejects. */
export async function loadProblem(thrown: unknown, file: string): Promise<string> {
  try {
    return await wordsFor(thrown, file);
  } catch {
    return "throws what cannot be shown while it is imported"; // it throws at whoever reads it, or has no JSON
  }
}

async function wordsFor(thrown: unknown, file: string): Promise<string> {
  if (!(thrown instanceof Error)) {
    return `throws ${oneLine(JSON.stringify(thrown) ?? String(thrown), 200)} while it is imported`;
  }
  const [first = thrown] = (thrown as AggregateError).errors as Error[] | undefined ?? [];
  const { position, specifier } = first as Error & BuildMessage;
  const message = stripVTControlCharacters(first.message); // Deno colours the place
  // Bun takes a file with a `return` on top for CommonJS, and then blames its first export.
  const told = message.startsWith("Top-level return")
    ? await spotOf((line) => /^return\b/.test(line), file)
    : position ?? spotIn(message, file);
  const known = await partProblem(message, specifier, file) ?? knownReason(message, file);
  const spot = told ?? spotIn(first.stack ?? "", file) ??
    await spotOf(tellsOf(message) ?? hasWord(specifier ?? known?.word), file);
  // An error of the language's reader has its place in the message, or its class; any other one was thrown by a line that ran.
  const isThrown = !told && !(first instanceof SyntaxError) && specifier === undefined && spot !== undefined;
  const words = cleaned(message, file) || first.name;
  const reason = known?.reason ?? (isThrown ? `throws while it is imported: ${words}` : words);
  return spot === undefined ? reason : `${placeOf(spot, file)}: ${reason}`;
}

/** Between two starts of a host the file, or the copy of a trusted one, was removed. */
const GONE = "its file is gone: it was removed, or is no longer trusted";

/** The package is there, but not what is imported of it; Bun then says that the package is missing. */
async function partProblem(message: string, specifier: string | undefined, file: string): Promise<Reason | undefined> {
  const [, part, closed] =
    /^\[ERR_PACKAGE_PATH_NOT_EXPORTED\] Package subpath '\.([^']*)'.* in '([^']+)\/package\.json'/
      .exec(message) ?? [];
  const missing = /^\[ERR_MODULE_NOT_FOUND\] Cannot find module '([^']+)'/.exec(message)?.[1];
  const path = closed === undefined ? missing : `${closed}${part}`;
  const folder = dirname(file);
  const isThere = specifier !== undefined && message.startsWith("Cannot find package") &&
    await isInstalled(packageOf(specifier), folder, folder);
  const name = isThere ? specifier : /.*\bnode_modules\/(.+)$/.exec(path ?? "")?.[1];
  if (name === undefined) return undefined;
  return { reason: `imports "${oneLine(name, 80)}", which its package does not have`, word: name };
}

interface Reason {
  reason: string;
  /** Where to look for the line. */
  word?: string;
}

/** What both runtimes tell, each in its own way. */
function knownReason(message: string, file: string): Reason | undefined {
  const [, , name] = /^(Cannot find package '|Import ")([^'"]+)['"]/.exec(message) ?? [];
  if (name !== undefined) return { reason: missingPackage(name, dirname(file)) };
  const own = /^(?:Cannot find package '|\[ERR_PACKAGE_IMPORT_NOT_DEFINED\] Package import specifier ")(#[^'"]*)/.exec(
    message,
  )?.[1];
  if (own !== undefined) return { reason: `imports "${oneLine(own, 80)}", which no package.json beside it names` };
  const [, path] = /^(?:Cannot find module '|Module not found "|ENOENT reading ")([^'"]+)['"]/.exec(message) ?? [];
  if (path !== undefined && [file, pathToFileURL(file).href].includes(path)) return { reason: GONE };
  if (path !== undefined) return { reason: `imports "${oneLine(shortened(path, file), 80)}", which is not there` };
  const [, bun, bunFrom] = /^Export named '([^']+)' not found in module '([^']+)'/.exec(message) ?? [];
  const [, denoFrom, deno] =
    /^The requested module '([^']+)' does not provide an export named '([^']+)'/.exec(message) ?? [];
  // Of a default Bun tells in two ways more.
  const [, fault, faultFrom] = /^Missing '(default)' export in module '([^']+)'/.exec(message) ?? [];
  const [, nearFrom, near] = /^module '([^']+)' does not have an export named '([^']+)'/i.exec(message) ?? [];
  const [word, from] = [bun ?? deno ?? fault ?? near, bunFrom ?? denoFrom ?? faultFrom ?? nearFrom];
  if (word !== undefined && from !== undefined) {
    const reason = `imports ${oneLine(word, 80)}, which "${oneLine(basename(from), 80)}" does not export`;
    return { reason, word: word === "default" ? basename(from) : word };
  }
  const scheme = /^Unsupported scheme "bun" for module "([^"]+)"/.exec(message)?.[1];
  if (scheme !== undefined) return { reason: `imports "${oneLine(scheme, 80)}", which only Bun has` };
  const [, kind, what] = /^Requires (\w+) access to (.*), (?:run again|specify)/.exec(message) ?? [];
  if (kind !== undefined) {
    return { reason: `needs ${kind} access to ${oneLine(what ?? "", 200)} while it is imported, and has none` };
  }
  return undefined;
}

function placeOf({ file, line }: Spot, plugin: string): string {
  return file === plugin ? `line ${line}` : `${oneLine(shortened(file, plugin), 80)} line ${line}`;
}

/** `/folder/file.ts:12:3`, as a path or as an address: of the plugin itself, else of a file beside or below it. */
function spotIn(text: string, file: string): Spot | undefined {
  const folder = dirname(file);
  // The address first: in it the path may stand as well.
  const spellings: [folder: string, read: (path: string) => string][] = [
    [pathToFileURL(folder).href, fileURLToPath],
    [folder, (path) => path],
  ];
  for (const [name, read] of spellings) {
    const spots = text.split(`${name}/`).slice(1).flatMap((part) => {
      const [, path, line] = /^([^\n:]+):(\d+)/.exec(part) ?? [];
      return path === undefined ? [] : [{ file: read(`${name}/${path}`), line: Number(line) }];
    });
    const found = spots.find((spot) => spot.file === file) ?? spots[0];
    if (found) return found;
  }
  return undefined;
}

/** Bun does not tell where an import stands that leads nowhere. */
async function spotOf(isIt: (line: string) => boolean, file: string): Promise<Spot | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const index = text.split("\n").findIndex(isIt);
  return index < 0 ? undefined : { file, line: index + 1 };
}

/** Bun's engine tells no line of an expression that is none. */
function tellsOf(message: string): ((line: string) => boolean) | undefined {
  if (!message.startsWith("Invalid regular expression")) return undefined;
  const literal = /(?:^|[=(,:[!&|?{};\s])\/((?![*/])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+)\/([a-z]*)/g;
  return (line) =>
    [...line.matchAll(literal)].some(([, body = "", flags]) => {
      try {
        return !new RegExp(body, flags);
      } catch {
        return true;
      }
    });
}

function hasWord(word: string | undefined): (line: string) => boolean {
  return (line) =>
    word !== undefined && line.split(/[^\w$./@:#-]+/).some((part) => part === word || part.endsWith(`/${word}`));
}

/** One line: Deno puts an excerpt, a hint and the place below it, and before it what kind of error it is. */
function cleaned(message: string, file: string): string {
  const [line = ""] = message.split("\n");
  return oneLine(withoutFolder(line.replace(/ at file:\S+$/, "").replace(/^SyntaxError: /, ""), file), 300);
}

/** The path of a file, or its address, as it is seen from the plugin's folder. */
function shortened(path: string, plugin: string): string {
  const real = path.startsWith("file:") ? fileURLToPath(path) : path;
  const name = nameIn(dirname(plugin), real);
  return real === path && !path.startsWith("/") || name.startsWith("..") ? path : name;
}

function withoutFolder(text: string, plugin: string): string {
  const folder = dirname(plugin);
  return text.replaceAll(`${pathToFileURL(folder).href}/`, "").replaceAll(`${folder}/`, "");
}
