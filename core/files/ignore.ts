/** What a walk leaves out: a fixed list of folders, and what .gitignore files name, layer on layer as git does it. */

import ignore, { type Ignore } from "ignore";
import { basename, dirname } from "../path.ts";

/** Folders that are named in a listing but not entered, unless they are asked for. */
export const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules", "vendor", ".idea", "dist", "__pycache__"]);

/** The rules of one .gitignore and the folder that they are relative to, as path from the walk's base, with `/`; `""` is the base. */
export interface Layer {
  folder: string;
  rules: Ignore;
  /** Its lines by themselves, in the order in which they decide: the last one first. Made when they are needed. */
  lines?: Line[];
  text: string;
}

/** One line: whether it takes back, and what it says, as if it took away. */
interface Line {
  takesBack: boolean;
  pattern: string;
  rule: Ignore;
}

/** The layer of one .gitignore file. */
export function layerOf(folder: string, text: string): Layer {
  return { folder, rules: ignore({ ignorecase: false }).add(text), text };
}

/**
 * Whether a file or folder is left out by the layers, which go from the root to the folder that it is in: the last rule that matches
 * decides, a deeper file before a higher one. The caller does not enter what is left out, so nothing below it comes back.
 */
export function isIgnored(layers: readonly Layer[], path: string, isFolder: boolean): boolean {
  let answer = false;
  for (const layer of layers) {
    const { folder, rules } = layer;
    const below = folder === "" ? path : path.slice(folder.length + 1);
    const parent = dirname(below);
    // For the library everything in a folder shares the folder's fate; for git a line takes away or back what it names itself. The
    // two differ inside a folder that a line names and another one took back, or that was asked for by name.
    const isInside = parent !== "." && (rules.ignores(`${parent}/`) || rules.test(`${parent}/`).unignored);
    const { ignored, unignored } = rules.test(isFolder ? `${below}/` : below);
    if (isInside) answer = lastWord(layer, below, isFolder) ?? answer;
    else if (ignored || unignored) answer = ignored;
  }
  return answer;
}

/** What the last line says that names this very path, not just a folder above it: ignored, taken back, or nothing. */
function lastWord(layer: Layer, path: string, isFolder: boolean): boolean | undefined {
  layer.lines ??= linesOf(layer.text);
  const line = layer.lines.find((line) => names(line, path, isFolder));
  return line && !line.takesBack;
}

function linesOf(text: string): Line[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#")).map((line) => {
    const takesBack = line.startsWith("!");
    const pattern = takesBack ? line.slice(1).replace(/^[#!]/, "\\$&") : line;
    return { takesBack, pattern, rule: ignore({ ignorecase: false }).add(pattern) };
  }).reverse();
}

function names({ pattern, rule }: Line, path: string, isFolder: boolean): boolean {
  if (pattern.trimEnd().endsWith("/") && !isFolder) return false;
  const end = isFolder ? "/" : "";
  const steps = pattern.trimEnd().replace(/^(\*\*\/)+/, "").replace(/\/$/, "");
  // Without a slash a line is about names at any depth.
  if (!steps.includes("/")) return rule.ignores(`${basename(path)}${end}`);
  if (!rule.ignores(`${dirname(path)}/`)) return rule.ignores(`${path}${end}`);
  // Of what lies in a folder that it names, a line names again only what ** reaches, by its last step.
  const last = steps.slice(steps.lastIndexOf("/") + 1);
  if (last === "**" || !steps.includes("**")) return last === "**";
  return ignore({ ignorecase: false }).add(last).ignores(`${basename(path)}${end}`);
}
