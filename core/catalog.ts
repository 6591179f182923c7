/** The tools there are: the built-in ones, and those found in plugin folders, each with the host that runs it. */

import * as builtin from "../plugins/mod.ts";
import type { Approval } from "./approval.ts";
import type { Hosts } from "./hosts.ts";
import { basename, extname } from "./path.ts";
import { grantFor, isOffered, permissionSet } from "./permissions.ts";
import { checkPlugin, findPlugins, type SetAside } from "./plugins.ts";
import type { Policy } from "./policy.ts";
import type { Loaded } from "./protocol.ts";
import type { Tool } from "./registry.ts";
import { ownPluginFolder } from "./runtime.ts";

export interface Catalog {
  /** Those that the model is told of. */
  tools: Tool[];
  setAside: SetAside[];
}

export interface CatalogOptions {
  policy: Policy;
  /** In the order in which names are given away. A folder that is not there has no plugins. */
  folders: readonly string[];
  hosts: Hosts;
  approval: Approval;
}

/** Imports the built-in tools for their definitions; every other plugin is loaded by a host. */
export async function openCatalog({ policy, folders, hosts, approval }: CatalogOptions): Promise<Catalog> {
  const tools: Tool[] = [];
  const setAside: SetAside[] = [];

  function add(loaded: readonly Loaded[], source: string, plugins: { builtin: string[] } | { file: string }): void {
    const offered = loaded.filter((tool) => isOffered(policy, tool.permissions));
    const [first] = offered;
    if (!first) return;
    const needs = first.permissions;
    const host = hosts.open({ plugins, needs, grant: grantFor(policy, needs) }, offered);
    for (const { definition, permissions } of offered) {
      tools.push(approval.guard({ definition, permissions, source, host }));
    }
  }

  const own = await Promise.all(Object.entries(builtin).map(([name, module]) => checkPlugin({ ...module }, name)));
  const sets = Map.groupBy(own.map((plugin) => plugin.loaded), (loaded) => permissionSet(loaded.permissions));
  for (const set of sets.values()) add(set, "built in", { builtin: set.map((loaded) => loaded.definition.name) });

  const taken = new Map(own.map((plugin) => [plugin.loaded.definition.name, "built in"]));
  for (const folder of folders) {
    const found = await findPlugins(folder);
    setAside.push(...found.setAside);
    const files = found.files.filter((file) => folder !== ownPluginFolder() || !isBuiltin(file));
    const loads = await Promise.all(files.map((file) => loadFile(hosts, file)));
    for (const [index, file] of files.entries()) {
      const loaded = loads[index];
      if (typeof loaded === "string" || !loaded) {
        setAside.push({ file, problem: loaded ?? "did not load" });
        continue;
      }
      const { name } = loaded.definition;
      const other = taken.get(name);
      if (other === undefined) add([loaded], file, { file });
      else setAside.push({ file, problem: `the name "${name}" is taken (${other})` });
      taken.set(name, other ?? file);
    }
  }
  return { tools, setAside };
}

/** In the folder of the sources the built-in tools lie beside the others. */
function isBuiltin(file: string): boolean {
  const name = basename(file);
  return name.slice(0, -extname(name).length) in builtin;
}

async function loadFile(hosts: Hosts, file: string): Promise<Loaded | string> {
  try {
    return (await hosts.load({ file }))[0] ?? "did not load";
  } catch (error) {
    return error instanceof Error ? error.message : "did not load";
  }
}
