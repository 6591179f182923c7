/** Braces in a pattern: `a.{ts,js}` stands for `a.ts` and `a.js`. */

import { refused } from "./refusal.ts";

/** Patterns that one pattern may stand for. */
const LIMIT = 256;

/**
 * The patterns that a pattern with braces stands for, in their order. Braces without a comma or without their other half are plain, and
 * so is what follows a backslash. Throws the reason when there are too many.
 */
export function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const braces = findBraces(text);
    if (braces === undefined) done.push(text);
    else {
      const { start, end, parts } = braces;
      open.push(...parts.map((part) => text.slice(0, start) + part + text.slice(end)).reverse());
    }
    if (open.length + done.length > LIMIT) {
      throw refused(`the braces of the pattern stand for more than ${LIMIT} patterns. Use a simpler one`);
    }
  }
  return done;
}

/** The first braces with a comma in them and their other half, from `{` to after `}`. */
function findBraces(text: string): { start: number; end: number; parts: string[] } | undefined {
  for (let start = 0; start < text.length; start++) {
    if (text[start] === "\\") start++;
    else if (text[start] === "{") {
      const commas: number[] = [];
      let depth = 0;
      for (let at = start; at < text.length; at++) {
        const char = text[at];
        if (char === "\\") at++;
        else if (char === "{") depth++;
        else if (char === "," && depth === 1) commas.push(at);
        else if (char === "}" && --depth === 0) {
          if (commas.length === 0) break;
          const borders = [start, ...commas, at];
          const parts = borders.slice(1).map((border, index) => text.slice((borders[index] ?? 0) + 1, border));
          return { start, end: at + 1, parts };
        }
      }
    }
  }
  return undefined;
}
