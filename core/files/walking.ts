/** Goes through a folder, depth first and sorted, without what the skip list and the .gitignore files leave out. */

import type { Rules } from "./grant.ts";
import { shown } from "./finding.ts";
import { isIgnored, type Layer, layerOf, SKIPPED } from "./ignore.ts";
import { showName } from "./name.ts";
import { entriesIn, openFile } from "./opening.ts";
import { childOf, isInside, namesBetween, parentOf } from "../path.ts";
import { codeOf } from "./refusal.ts";
import type { Entry, WalkOptions } from "../tool.ts";

/** A longer .gitignore is not read. */
const GITIGNORE_LIMIT = 1_000_000;

/** An entry and its real path. */
export interface Walked {
  entry: Entry;
  real: string;
}

/**
 * The entries below a folder, given by its real path. A subfolder that cannot be read or is refused counts as skipped; the first
 * folder throws. Links are named, never entered, so there is no circle.
 */
export async function* walk(start: string, rules: Rules, options: WalkOptions): AsyncGenerator<Walked> {
  const base = isInside(rules.root, start) ? rules.root : start;
  const layers: Layer[] = [];
  for (let folder = start; folder !== base;) {
    folder = parentOf(folder);
    layers.unshift(...await layersOf(folder, base, rules));
  }
  yield* walkFolder(start, await entriesIn(start), layers, { base, rules, options });
}

interface Walk {
  base: string;
  rules: Rules;
  options: WalkOptions;
}

type Entries = Awaited<ReturnType<typeof entriesIn>>;

async function* walkFolder(folder: string, entries: Entries, above: Layer[], walk: Walk): AsyncGenerator<Walked> {
  const { base, rules, options } = walk;
  const hasRules = entries.some(({ name, kind }) => name === ".gitignore" && kind === "file");
  const layers = hasRules ? [...above, ...await layersOf(folder, base, rules)] : above;
  // Once for the folder: of a hundred thousand entries each path would be taken apart and put together again.
  const way = namesBetween(base, folder).map((name) => `${name}/`).join("");
  const place = showName(shown(folder, rules));
  for (const { name, kind } of entries) {
    const real = childOf(folder, name);
    const entry: Entry = { path: place === "." ? showName(shown(real, rules)) : `${place}/${showName(name)}`, kind };
    const isFolder = kind === "folder";
    if ((isFolder && SKIPPED.has(name)) || isIgnored(layers, way + name, isFolder)) {
      options.skipped?.(entry);
    } else if (!isFolder || options.recursive === false) {
      yield { entry, real };
    } else {
      const inside = await entriesOrNothing(real, rules);
      if (inside === undefined) {
        options.skipped?.(entry);
        continue;
      }
      yield { entry, real };
      yield* walkFolder(real, inside, layers, walk);
    }
  }
}

async function entriesOrNothing(real: string, rules: Rules): Promise<Entries | undefined> {
  try {
    rules.check(real, "read");
    return await entriesIn(real);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The layer of the .gitignore in a folder, if there is one that is a readable regular file. */
async function layersOf(folder: string, base: string, rules: Rules): Promise<Layer[]> {
  try {
    const { handle } = await openFile(() => {
      const real = childOf(folder, ".gitignore");
      rules.check(real, "read");
      return Promise.resolve(real);
    });
    try {
      if ((await handle.stat()).size > GITIGNORE_LIMIT) return [];
      const text = new TextDecoder().decode(await handle.readFile());
      return [layerOf(namesBetween(base, folder).join("/"), text)];
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return [];
  }
}
