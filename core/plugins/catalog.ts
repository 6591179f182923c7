/** The tools there are: the built-in ones, and those found in plugin folders, each with the host that runs it. */

import * as builtin from "../../plugins/mod.ts";
import { openDefinitionCache } from "./definition_cache.ts";
import type { HostOrder, Hosts } from "../hosts/hosts.ts";
import { grantFor, isOffered, permissionSet } from "../permissions/permissions.ts";
import { folderAt, MADE_LATER, type PluginFolder } from "./plugin_folders.ts";
import { type Candidate, createLoader, type Examined, type Good } from "./plugin_loader.ts";
import {
  checkPlugin,
  findPlugins,
  nameIsTaken,
  OWN_TIMEOUT_MS,
  type SetAside,
  setAsideLine,
  toolOf,
  UNREADABLE,
} from "./plugins.ts";
import type { Policy } from "../permissions/policy.ts";
import type { Loaded } from "../hosts/protocol.ts";
import { BUILT_IN, type Tool } from "../registry.ts";
import { openTrust, type Trustable } from "./trust.ts";
import { untrustedLines } from "./trust_notice.ts";

export interface Catalog {
  /** Those that the model is told of. */
  readonly tools: readonly Tool[];
  readonly setAside: readonly SetAside[];
  /** Files that are not loaded before the user trusts them. */
  readonly untrusted: readonly Trustable[];
  /** For each folder of those a line with the command that lets them in. */
  readonly skipped: readonly string[];
  /**
   * Looks at the folders again. The hosts of what changed end, so no call may run. With `again` what cannot be told to be
   * unchanged, and what failed, is loaded once more.
   */
  refresh(options?: { again?: boolean }): Promise<void>;
  /** What is new since this was asked last, a line each, for the user. */
  takeChanges(): string[];
  /** Trusts these bytes; the next `refresh` loads them. Throws, in words for the user, when that cannot be kept. */
  trust(plugin: Trustable): Promise<void>;
  /** Sets the plugin of this tool aside until its file changes. False when the tool is built in, or there is none. */
  refuse(tool: string, problem: string): boolean;
}

export interface CatalogOptions {
  policy: Policy;
  /** In the order in which names are given away. A folder that is not there has no plugins. */
  folders: readonly PluginFolder[];
  /** The folder beside the sources, where the built-in tools lie among the others. */
  sources: string | undefined;
  /** Places of tenon's own, which no tool writes to. */
  guarded: readonly string[];
  /** The state folder. */
  state: string | undefined;
  /** The folder to work in as it was given, for the commands that the user is told. */
  workspace: string;
  hosts: Hosts;
  /** Put around each tool. */
  guard(tool: Tool): Tool;
}

/** Imports the built-in tools for their definitions; every other plugin is loaded by a host, or known from before. */
export async function openCatalog(options: CatalogOptions): Promise<Catalog> {
  const { policy, folders, sources, guarded, state, workspace, hosts, guard } = options;
  const [trust, cache] = await Promise.all([openTrust(state), openDefinitionCache(state)]);
  const loader = createLoader({ hosts, trust, cache, state });
  const own = await Promise.all(
    Object.entries(builtin).map(([name, module]) => checkPlugin({ ...module }, name, OWN_TIMEOUT_MS)),
  );
  const ownTools = builtinTools(own.map((plugin) => plugin.loaded));
  const taken = new Map(own.map(({ loaded }) => [loaded.definition.name, BUILT_IN]));
  /** Each version that is in use, with its host. */
  const running = new Map<Good, Running>();
  /** What the API refused, by the file, with the hash of what was sent. */
  const refused = new Map<string, { sha256: string; problem: string }>();
  const atStart = new Map(folders.map(({ path }) => [path, folderAt(path)]));
  let examined: Examined[] = [];
  let found: SetAside[] = [];
  let view: View = { tools: [], setAside: [], untrusted: [] };

  function open(plugins: HostOrder["plugins"], tools: readonly Loaded[]): Running["host"] {
    const needs = tools[0]?.permissions ?? {};
    return hosts.open({ plugins, needs, grant: grantFor(policy, needs, guarded) }, tools);
  }

  function builtinTools(all: readonly Loaded[]): Tool[] {
    const offered = all.filter((loaded) => isOffered(policy, loaded.permissions));
    const sets = Map.groupBy(offered, (loaded) => permissionSet(loaded.permissions));
    return [...sets.values()].flatMap((set) => {
      const host = open({ builtin: set.map((loaded) => loaded.definition.name) }, set);
      return set.map((loaded) => guard({ ...loaded, source: BUILT_IN, host }));
    });
  }

  function run(file: string, good: Good): Running {
    const host = open({ file: good.runs }, [good.loaded]);
    return { host, tool: guard({ ...good.loaded, source: file, host }) };
  }

  /** From what is known of each file to what there is: the first of a name has it. */
  function show(): void {
    const next: View = { tools: [...ownTools], setAside: [...found], untrusted: [] };
    const names = new Map(taken);
    const inUse = new Set<Good>();
    for (const { file, good, problem, untrusted } of examined) {
      if (untrusted) next.untrusted.push(untrusted);
      const apart = refused.get(file);
      const isRefused = good !== undefined && apart?.sha256 === good.closure.sha256;
      const other = good && names.get(good.loaded.definition.name);
      if (problem !== undefined) next.setAside.push({ file, problem, ...(good ? { stays: true } : {}) });
      if (isRefused) next.setAside.push({ file, problem: apart.problem });
      else if (good && other !== undefined) {
        next.setAside.push({ file, problem: nameIsTaken(good.loaded.definition.name, other) });
      } else if (good) {
        names.set(good.loaded.definition.name, file);
        if (!isOffered(policy, good.loaded.permissions)) continue;
        const one = running.get(good) ?? run(file, good);
        running.set(good, one);
        inUse.add(good);
        next.tools.push(one.tool);
      }
    }
    for (const [good, { host }] of running) {
      if (inUse.has(good)) continue;
      host.end();
      running.delete(good);
    }
    view = next;
  }

  async function refresh({ again = false } = {}): Promise<void> {
    const lists = await Promise.all(folders.map(({ path }) => findPlugins(path)));
    found = lists.flatMap(({ setAside }) => setAside).map((one) =>
      one.problem === UNREADABLE && atStart.get(one.file) !== folderAt(one.file) ? { ...one, problem: MADE_LATER } : one
    );
    const candidates = lists.flatMap(({ files }, index): Candidate[] =>
      files.filter((file) => folders[index]?.path !== sources || !isBuiltin(file))
        .map((file) => ({ file, needsTrust: folders[index]?.needsTrust ?? true }))
    );
    const known = new Map(examined.map((one) => [one.file, one]));
    examined = await Promise.all(candidates.map((one) => loader.examine(one, known.get(one.file), again)));
    show();
    await cache.save();
  }

  await refresh();
  let told = view;
  return {
    get tools() {
      return view.tools;
    },
    get setAside() {
      return view.setAside;
    },
    get untrusted() {
      return view.untrusted;
    },
    get skipped() {
      return untrustedLines(view.untrusted, policy.root, workspace);
    },
    refresh,
    takeChanges() {
      const changes = changesBetween(told, view);
      told = view;
      return changes;
    },
    trust: (plugin) => trust.accept(plugin),
    refuse(tool, problem) {
      const entry = examined.find(({ good }) => good && running.get(good)?.tool.definition.name === tool);
      if (!entry?.good) return false;
      refused.set(entry.file, { sha256: entry.good.closure.sha256, problem });
      show();
      told = view; // whoever calls this has the words
      return true;
    },
  };
}

interface Running {
  host: ReturnType<Hosts["open"]>;
  tool: Tool;
}

interface View {
  tools: Tool[];
  setAside: SetAside[];
  untrusted: Trustable[];
}

/** In the folder of the sources the built-in tools lie beside the others. */
function isBuiltin(file: string): boolean {
  return toolOf(file) in builtin;
}

/** In the words of the chat. */
function changesBetween(before: View, after: View): string[] {
  const names = ({ tools }: View) => new Map(tools.map((tool) => [tool.definition.name, tool]));
  const [old, now] = [names(before), names(after)];
  const stay = new Set(after.setAside.filter(({ stays }) => stays).map(({ file }) => file));
  const isOther = (name: string, tool: Tool) => old.has(name) && old.get(name) !== tool && !stay.has(tool.source);
  const told = new Set(before.setAside.map(({ file, problem }) => `${file}: ${problem}`));
  return [
    ...[...now].filter(([name]) => !old.has(name)).map(([name, { permissions, source }]) =>
      `New tool: ${name} (${permissionSet(permissions)}), from ${source}`
    ),
    ...[...now].filter(([name, tool]) => isOther(name, tool)).map(([name]) => `Tool changed: ${name}`),
    ...[...old.keys()].filter((name) => !now.has(name)).map((name) => `Tool gone: ${name}`),
    ...after.setAside.filter(({ file, problem }) => !told.has(`${file}: ${problem}`)).map(setAsideLine),
  ];
}
