/** How many columns text takes on a terminal. */

import { eastAsianWidth } from "get-east-asian-width";

/** Takes no column of its own: combining marks, format characters, variation selectors, Hangul fillers. */
const NO_COLUMN = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]$/u;

/** A picture made of several code points: with a variation selector, a skin tone, or joined to another one. */
const EMOJI_SEQUENCE = /^[\p{Extended_Pictographic}#*0-9].*[\u{fe0f}\u{200d}\p{Emoji_Modifier}]/su;

/** A syllable written as separate letters is shown in the columns of its first one. */
const HANGUL = /^[\u1100-\u11ff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb]/;

/** The pieces a user takes for one character (grapheme clusters, Unicode Standard Annex #29). */
export function clustersOf(text: string): string[] {
  return isPlain(text) ? [...text] : Array.from(segmenter().segment(text), ({ segment }) => segment);
}

/**
 * The columns of a text that holds no control characters; ambiguous characters count as narrow, as Unicode Standard
 * Annex #11 advises where nothing else is known.
 */
export function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  return clustersOf(text).reduce((sum, cluster) => sum + widthOfCluster(cluster), 0);
}

/** The text, or as much of it as fits with `…` behind it in so many columns. */
export function cutToWidth(text: string, columns: number): string {
  // A cluster of many marks can make a short line long, so only a text that is surely narrow is passed unmeasured.
  if (text.length <= columns && isPlain(text)) return text;
  const kept: string[] = [];
  let used = 0;
  let keptAtCut = 0;
  for (const cluster of clustersOf(text)) {
    used += widthOfCluster(cluster);
    if (used > columns) return columns > 0 ? `${kept.slice(0, keptAtCut).join("")}…` : "";
    kept.push(cluster);
    if (used < columns) keptAtCut = kept.length;
  }
  return text;
}

function widthOfCluster(cluster: string): number {
  if (EMOJI_SEQUENCE.test(cluster)) return 2;
  let width = 0;
  for (const char of cluster) {
    if (NO_COLUMN.test(char)) continue;
    width += eastAsianWidth(char.codePointAt(0) ?? 0);
    if (HANGUL.test(cluster)) break;
  }
  return width;
}

let sharedSegmenter: Intl.Segmenter | undefined;

/** Made at the first text that needs it: it costs 2 to 14 ms. */
function segmenter(): Intl.Segmenter {
  return sharedSegmenter ??= new Intl.Segmenter();
}

function isPlain(text: string): boolean {
  return !/[^ -~]/.test(text);
}
