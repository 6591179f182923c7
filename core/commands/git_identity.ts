/** The name that the user's commits carry, read from git's own files without running git. */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { NOT_THROUGH } from "../files/opening.ts";
import { join } from "../path.ts";
import { realOf } from "../place.ts";

/** Bytes of a repository's settings; a larger file is none. */
const CONFIG_LIMIT = 1_000_000;

/** Empty where git has none. */
export interface Identity {
  name?: string;
  email?: string;
}

/** `user.name` and `user.email` of a file as git-config(1) describes it. What it includes is not looked at. */
export function parseIdentity(text: string): Identity {
  const found: Identity = {};
  let inUser = false;
  // A line goes on in the next one after a backslash that is not itself escaped.
  const lines = text.replace(/(?<!\\)((?:\\\\)*)\\\r?\n/g, (_, escaped: string) => escaped).split(/\r?\n/);
  for (const line of lines) {
    const section = /^\s*\[([^\]"]*)("[^"]*")?\s*\]/.exec(line);
    if (section) inUser = section[1]?.trim().toLowerCase() === "user" && section[2] === undefined;
    const rest = section ? line.slice(section[0].length) : line;
    const [, key, value = ""] = /^\s*(name|email)\s*=(.*)$/i.exec(rest) ?? [];
    // A variable cannot hold NUL, and nothing would start with one that does.
    if (inUser && key !== undefined && !value.includes("\0")) {
      found[key.toLowerCase() as keyof Identity] = unquoted(value);
    }
  }
  return found;
}

/** As variables of git, which then needs no file of the user's: git(1). The last file that says something counts. */
export function identityEnv(texts: readonly string[]): { [name: string]: string } {
  const { name, email } = texts.map(parseIdentity).reduce<Identity>((all, one) => ({ ...all, ...one }), {});
  return {
    ...(name ? { GIT_AUTHOR_NAME: name, GIT_COMMITTER_NAME: name } : {}),
    ...(email ? { GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_EMAIL: email } : {}),
  };
}

/**
 * The settings of the repository that lies in a real folder; empty where there is none. Anyone may have written them: no link is
 * followed, and no pipe is waited for. What git keeps elsewhere (a worktree, a folder above) is not looked at.
 */
export function repositoryConfig(root: string): string {
  const file = join(root, ".git", "config");
  if (realOf(file) !== file) return "";
  try {
    const handle = openSync(file, constants.O_RDONLY | NOT_THROUGH);
    try {
      const { size } = fstatSync(handle);
      const bytes = new Uint8Array(size <= CONFIG_LIMIT ? size : 0);
      return new TextDecoder().decode(bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, 0)));
    } finally {
      closeSync(handle);
    }
  } catch {
    return "";
  }
}

/** Quotes go, what they hold stays; outside of them a comment ends the value, and blanks around it are not part of it. */
function unquoted(raw: string): string {
  let value = "";
  let quoted = false;
  let meant = 0; // blanks at the end count up to here
  for (let at = 0; at < raw.length; at++) {
    const char = raw[at] ?? "";
    const isBlank = char === " " || char === "\t";
    if (char === '"') quoted = !quoted;
    else if (char === "\\") value += ESCAPED[raw[++at] ?? ""] ?? raw[at] ?? "";
    else if (!quoted && (char === "#" || char === ";")) break;
    else if (quoted || !isBlank || value !== "") value += char;
    if (quoted || char === "\\") meant = value.length;
  }
  return value.slice(0, Math.max(value.trimEnd().length, meant));
}

const ESCAPED: { [char: string]: string } = { n: "\n", t: "\t", b: "\b" };
