/** Finds the places in a file's bytes where one of some texts stands. */

import { Buffer } from "node:buffer";

/** Where the next one of the texts begins, at or after a place; -1 when there is none. */
export type Finder = (from: number) => number;

/**
 * Makes the finders for texts. In any case, only the longest piece of each text is looked for whose letters have no other form than
 * their ASCII capitals (`k` has the Kelvin sign, `s` the long s); nothing when a text has no such piece.
 */
export function createFinders(
  texts: readonly string[],
  isAnyCase: boolean,
): ((bytes: Uint8Array) => Finder) | undefined {
  if (!isAnyCase) {
    const needles = texts.map((text) => Buffer.from(text));
    return (bytes) => {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      return firstOf(needles.map((needle) => (from) => buffer.indexOf(needle, from)));
    };
  }
  const pieces = texts.map(pieceOf);
  if (pieces.includes("")) return undefined;
  return (bytes) => {
    const lower = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1").toLowerCase();
    return firstOf(pieces.map((piece) => (from) => lower.indexOf(piece, from)));
  };
}

function pieceOf(text: string): string {
  const pieces = text.split(/[^\0-\x7f]|[ksKS]/u);
  return pieces.reduce((best, piece) => piece.length > best.length ? piece : best, "").toLowerCase();
}

/** Remembers where each text is next, so that a rare one is not looked for again and again. */
function firstOf(finders: Finder[]): Finder {
  const next = finders.map(() => -2);
  return (from) => {
    let first = -1;
    for (const [index, find] of finders.entries()) {
      let place = next[index] ?? -2;
      if (place !== -1 && place < from) next[index] = place = find(from);
      if (place !== -1 && (first === -1 || place < first)) first = place;
    }
    return first;
  };
}
