/** The rules of the house, held against the files: who may import whom, how long a file may be, what is bundled. */

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isPluginName } from "../core/plugins/plugins.ts";
import * as builtin from "../plugins/mod.ts";

const ROOT = join(import.meta.dir, "..");

function filesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts")).map((name) => join(folder, name)).sort();
}

const SOURCES = [...filesOf("core"), ...filesOf("plugins"), "mod.ts", "build.ts"];

/** What a file imports, as paths from the root or names of packages; `types` are gone when the program runs. */
function importsOf(file: string): { path: string; types: boolean; lazy: boolean }[] {
  const text = readFileSync(join(ROOT, file), "utf8").replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");
  const fixed = [...text.matchAll(/^\s*(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm)]
    .map(([, type, path = ""]) => ({ path, types: type !== undefined, lazy: false }));
  const lazy = [...text.matchAll(/\bimport\("([^"]+)"\)/g)].map(([, path = ""]) => ({
    path,
    types: false,
    lazy: true,
  }));
  return [...fixed, ...lazy].map((one) => ({
    ...one,
    path: one.path.startsWith(".") ? relative(ROOT, join(ROOT, dirname(file), one.path)) : one.path,
  }));
}

const graph = new Map(SOURCES.map((file) => [file, importsOf(file)]));

/** The files that are loaded with this one at once. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  for (const { path, types, lazy } of graph.get(file) ?? []) {
    if (types || lazy || seen.has(path)) continue;
    seen.add(path);
    loadedWith(path, seen);
  }
  return seen;
}

describe("the house", () => {
  test.each(SOURCES)("%s does not load itself", (file) => {
    expect([...loadedWith(file)]).not.toContain(file);
  });

  test.each(SOURCES)("%s opens with its job and has at most 250 lines", (file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    expect(text).toStartWith("/** ");
    expect(text.split("\n").length).toBeLessThanOrEqual(251);
  });

  test("the loop loads only what touches no SDK, no terminal, no file and no plugin", () => {
    const loaded = [...loadedWith("core/agent.ts")];
    expect(loaded.filter((path) => !path.startsWith("core"))).toEqual([]);
    expect(loaded.map((path) => basename(path)).sort()).toEqual(["history.ts"]);
    expect(readFileSync(join(ROOT, "core/agent.ts"), "utf8").split("\n").length).toBeLessThanOrEqual(101);
  });

  const alone: [what: string, importers: string[]][] = [
    ["@anthropic-ai/sdk", ["model.ts", "retry.ts"]],
    ["node:path", ["path.ts"]],
    ["bun:ffi", ["kernel.ts"]],
    ["@commander-js/extra-typings", ["options.ts"]],
    ["plugins/mod.ts", ["catalog.ts", "check.ts", "host.ts", "new_plugin.ts"]],
    ["mod.ts", []],
  ];
  test.each(alone)("%s is imported by %j alone", (what, importers) => {
    const found = SOURCES.filter((file) => importsOf(file).some(({ path }) => path === what));
    expect(found.map((file) => basename(file)).sort()).toEqual(importers);
  });

  test("what is slow to load is loaded when it is used", () => {
    const atStart = [...loadedWith("core/cli.ts"), ...loadedWith("core/start.ts")];
    const slow = [
      ...["node:crypto", "node:stream", "node:tty", "node:util"],
      ...["@anthropic-ai/sdk", "@valibot/to-json-schema", "@cfworker/json-schema", "re2js", "diff", "bun:ffi"],
    ];
    expect(atStart.filter((path) => slow.includes(path))).toEqual([]);
  });

  test("no tool is loaded before the fence is up: there the program starts anew", () => {
    expect([...loadedWith("core/cli.ts")].filter((path) => path.startsWith("plugins"))).toEqual([]);
  });

  test("every plugin in plugins/ is named in plugins/mod.ts, so that the executable has it", () => {
    const files = readdirSync(join(ROOT, "plugins")).filter(isPluginName).map((name) => name.replace(/\.ts$/, ""));
    expect(Object.keys(builtin).sort()).toEqual(files.sort());
  });
});
