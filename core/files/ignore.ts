/** What a walk leaves out: a fixed list of folders, and what .gitignore files name, layer on layer as git does it. */

import ignore, { type Ignore } from "ignore";
import { dirname } from "../path.ts";

/** Folders that are named in a listing but not entered, unless they are asked for. */
export const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules", "vendor", ".idea", "dist", "__pycache__"]);

/** The rules of one .gitignore and the folder that they are relative to, as path from the walk's base, with `/`; `""` is the base. */
export interface Layer {
  folder: string;
  rules: Ignore;
}

/** The layer of one .gitignore file. */
export function layerOf(folder: string, text: string): Layer {
  return { folder, rules: ignore({ ignorecase: false }).add(text) };
}

/**
 * Whether a file or folder is left out by the layers, which go from the root to the folder that it is in: the last rule that matches
 * decides, a deeper file before a higher one. The caller does not enter what is left out, so nothing below it comes back.
 */
export function isIgnored(layers: readonly Layer[], path: string, isFolder: boolean): boolean {
  let answer = false;
  for (const { folder, rules } of layers) {
    const below = folder === "" ? path : path.slice(folder.length + 1);
    const parent = dirname(below);
    // Here we are inside a folder that this layer leaves out: a deeper layer took it back, or it was asked for by name.
    if (parent !== "." && rules.ignores(`${parent}/`)) continue;
    const { ignored, unignored } = rules.test(isFolder ? `${below}/` : below);
    if (ignored || unignored) answer = ignored;
  }
  return answer;
}
