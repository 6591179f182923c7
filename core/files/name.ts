/** Names of files: as bytes on the disk, as strings in the program, as text that is safe to show and can be handed back. */

import { Buffer } from "node:buffer";
import { visible } from "../text.ts";

/** What nearly all names are made of: it is printed, and compared, as it is. */
const PLAIN = /^[\u0020-\u007e]*$/;

/**
 * A name from the disk as a string. A byte that is not UTF-8 becomes a lone surrogate, U+DC00 plus the byte (PEP 383), so that
 * no two names become one and `toDisk` can give the bytes back.
 */
export function fromDisk(bytes: Uint8Array): string {
  const text = decode(bytes);
  if (text !== undefined) return text;
  let name = "";
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at] ?? 0;
    const length = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const char = decode(bytes.subarray(at, at + length));
    name += char ?? String.fromCharCode(0xdc00 + lead);
    at += char === undefined ? 1 : length;
  }
  return name;
}

/** What the file system is given for a path: the string itself, or bytes where a name is not UTF-8. Deno cannot open those. */
export function toDisk(path: string): string | Buffer {
  if (path.isWellFormed()) return path;
  const parts = path.split(/([\udc80-\udcff])/u);
  return Buffer.concat(
    parts.map((part, odd) => odd % 2 === 1 ? Buffer.of(part.charCodeAt(0) & 0xff) : Buffer.from(part)),
  );
}

/**
 * A path as it is printed: hidden characters are written out (`\n`, `\u{1b}`), bytes that are not UTF-8 as `\xff`. A name with none of
 * these is printed as it is, backslashes too; `readName` turns the others back.
 */
export function showName(path: string): string {
  if (PLAIN.test(path)) return path;
  return path.split("/").map((name) => {
    const safe = escapeHidden(name);
    return safe === name ? name : escapeHidden(name.replaceAll("\\", "\\\\"));
  }).join("/");
}

/** `showName` with everything beyond ASCII written out too: for two names that look the same. */
export function showExactly(path: string): string {
  return showName(path).replace(/[^\u0020-\u007e]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

/** The name behind a printed one. The exact name goes first: use this only when nothing is called what was asked for. */
export function readName(shown: string): string {
  return shown.replace(
    /\\(?:\\|n|t|x([0-9a-f]{2})|u\{([0-9a-f]{1,6})\})/gi,
    (whole: string, byte: string | undefined, char: string | undefined) => {
      if (whole === "\\n") return "\n";
      if (whole === "\\t") return "\t";
      if (whole === "\\\\") return "\\";
      const code = Number.parseInt(byte ?? char ?? "", 16);
      // Only what is never printed raw is read: a dot or slash that is written out must not become a step in the path.
      if (code === 0 || (code >= 0x20 && code <= 0x7e) || code > 0x10ffff) return whole;
      return byte !== undefined && code >= 0x80 ? String.fromCharCode(0xdc00 + code) : String.fromCodePoint(code);
    },
  );
}

/**
 * Whether a path, as it is or as it is printed, begins like a URL, a drive or a share of Windows, which are refused: with `./` in front
 * it can be handed back. Printing may double a backslash or make one, so a single one is enough, and none behind a drive.
 */
export function looksForeign(path: string): boolean {
  return /^(?:\\|file:|[a-z]:|[a-z]+:(?:\/|$))/i.test(path);
}

/** Two names are near twins when this is equal: composed or decomposed, one kind of space or apostrophe or another. */
export function foldName(name: string): string {
  if (PLAIN.test(name)) return name;
  return name.normalize("NFC").replace(/\p{Zs}/gu, " ").replace(/[\u2018\u2019]/g, "'");
}

/** Order by code point, which is the order of the UTF-8 bytes. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left === right) continue;
    // A surrogate half belongs to a code point above all others, though its unit is below U+E000.
    const isHalf = (unit: number) => unit >= 0xd800 && unit <= 0xdfff;
    return isHalf(left) === isHalf(right) ? left - right : isHalf(left) ? 1 : -1;
  }
  return a.length - b.length;
}

/** Up to three of `names` that someone may have meant by `wanted`: same but for case, a few letters off, or one within the other. */
export function nearNames(wanted: string, names: readonly string[]): string[] {
  const goal = wanted.toLowerCase().slice(0, 100);
  const limit = Math.floor(goal.length / 3);
  return names
    .map((name) => ({ name, off: distance(goal, name.toLowerCase().slice(0, 100), limit) }))
    .filter(({ off }) => off <= limit)
    .sort((a, b) => a.off - b.off || byCodePoint(a.name, b.name))
    .slice(0, 3)
    .map(({ name }) => name);
}

function escapeHidden(name: string): string {
  const bytes = name.replace(/[\udc80-\udcff]/gu, (half) => `\\x${(half.charCodeAt(0) & 0xff).toString(16)}`);
  return visible(bytes.replaceAll("\n", "\\n").replaceAll("\t", "\\t"));
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Levenshtein distance; anything over `limit` is `Infinity`. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  const off = row[b.length] ?? Infinity;
  return off <= limit ? off : Infinity;
}
