/** Why a plugin file cannot be imported: its line and the reason, in one line for its author. */

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { oneLine } from "../text.ts";

/** What Bun adds: the bundler `position`, the resolver that found nothing `specifier`. */
interface BuildMessage {
  position?: { file: string; line: number } | null;
  specifier?: string;
}

/** From what `import()` rejected with, on either runtime. Where no line is known, the reason alone. Never rejects. */
export async function loadProblem(thrown: unknown, file: string): Promise<string> {
  if (!(thrown instanceof Error)) {
    return `threw ${oneLine(JSON.stringify(thrown) ?? String(thrown), 200)} while loading`;
  }
  const [first = thrown] = (thrown as AggregateError).errors as Error[] | undefined ?? [];
  const { position, specifier } = first as Error & BuildMessage;
  const message = stripVTControlCharacters(first.message); // Deno colours the place
  const text = `${message}\n${first.stack ?? ""}`;
  const line = position?.file === file ? position.line : lineIn(text, file) ?? await lineOf(specifier, file);
  const reason = missingPackage(message) ?? (firstLine(message) || first.name);
  return line === undefined ? reason : `line ${line}: ${reason}`;
}

/** An import that is neither a path nor lent, in the words of Bun or Deno, turned into what to do. */
function missingPackage(message: string): string | undefined {
  const found = /^Cannot find package '([^']+)'|^Import "([^"]+)" not a dependency/.exec(message);
  const name = found?.[1] ?? found?.[2];
  if (name === undefined) return undefined;
  const install = /^(?:@[\w.-]+\/)?[\w.-]+/.exec(name)?.[0] ?? name;
  return `imports "${oneLine(name, 80)}", which is not there: run npm install ${
    oneLine(install, 80)
  } in the plugin's ` +
    "folder. Only valibot and tenon come with the program";
}

/** `/folder/file.ts:12:3`, as a path or as an address. */
function lineIn(text: string, file: string): number | undefined {
  for (const name of [file, pathToFileURL(file).href]) {
    const line = text.split(`${name}:`)[1]?.match(/^\d+/)?.[0];
    if (line !== undefined) return Number(line);
  }
  return undefined;
}

/** Bun does not tell where an import stands that leads nowhere. */
async function lineOf(specifier: string | undefined, file: string): Promise<number | undefined> {
  if (!specifier) return undefined;
  const text = await readFile(file, "utf8").catch(() => "");
  const index = text.split("\n").findIndex((line) =>
    line.includes(`"${specifier}"`) || line.includes(`'${specifier}'`)
  );
  return index < 0 ? undefined : index + 1;
}

/** Deno puts an excerpt, a hint and the place below it. */
function firstLine(message: string): string {
  const [line = ""] = message.split("\n");
  return oneLine(line.replace(/ at file:\S+$/, ""), 300);
}
