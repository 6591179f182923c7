/** From options to what the fence is made from: the folder, the policy, the places. Runs no tool and loads no plugin. */

import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import process from "node:process";
import { bakedFlags } from "./permissions/baked.ts";
import { narrow } from "./permissions/ceiling.ts";
import { cutWithDeno, type Missing } from "./permissions/deno_grants.ts";
import { programNeeds } from "./permissions/deno_needs.ts";
import { hostOf } from "./model/endpoint.ts";
import { broadness, type Folders, foldersOf, NARROWER } from "./folders.ts";
import type { Options } from "./options.ts";
import { dirname, isInside, join, resolve } from "./path.ts";
import { parseFlags } from "./permissions/permission_flags.ts";
import { namedRoot, placeAt, realFolders, realOf } from "./place.ts";
import { makePolicy, placeName, type Policy } from "./permissions/policy.ts";
import { SHELLS } from "./commands/shells.ts";
import { type PluginFolder, pluginFoldersOf } from "./plugins/plugin_folders.ts";
import { deno, denoState, isExecutable, mayRead, ownPluginFolder, readEnv } from "./runtime.ts";
import { oneLine } from "./text.ts";
import { usageError } from "./usage_error.ts";

export interface Premises {
  /** The workspace: absolute and real. */
  root: string;
  folders: Folders;
  /** Where plugins are looked for beside the built-in ones. */
  pluginFolders: PluginFolder[];
  policy: Policy;
  /** Why no tool may be called in this folder. */
  broad?: string;
  /** Where tenon keeps something: its state folder, unless the home that it belongs to is not there and would be made with it. */
  kept: string | undefined;
  /** What tenon's flags give, or tenon itself needs, and Deno's flags do not give. */
  missing: Missing[];
}

/**
 * Throws a usage error when there is no folder to work in, or a flag makes no sense. `lookOnly`: no tool will be called, so that
 * a folder that is too broad to work in is no error but a problem. `asksNobody` as in `Policy`.
 */
export async function openPremises(
  options: Options,
  canAsk: boolean,
  { lookOnly = false, asksNobody }: { lookOnly?: boolean; asksNobody?: string } = {},
): Promise<Premises> {
  const folders = userFolders();
  const root = await openRoot(options, folders);
  const broad = options.allowBroadWorkspace ? undefined : broadness(root, folders);
  if (broad !== undefined && !lookOnly) throw usageError(`Cannot work in "${oneLine(root)}": ${broad}. ${NARROWER}`);
  const place = placeAt(root, namedRoot(options.workspace, root, readEnv("PWD")));
  const flags = narrow(bakedFlags(), parseFlags(options.permissions), place);
  const policy = makePolicy({ ...flags, prompt: flags.prompt && canAsk }, place);
  const asked = asksNobody === undefined ? policy : { ...policy, asksNobody };
  const wanted = broad === undefined ? asked : withoutFolders(asked);
  checkThere(wanted);
  const own = folders.config === undefined ? [] : [join(folders.config, "plugins")];
  const named = options.plugins.map(namedFolder);
  const further = [...own, ...named];
  const places = { root, writable: wanted.write.scope, own: ownPluginFolder(), isSource: !isExecutable(), further };
  const pluginFolders = pluginFoldersOf({ ...places, realOf }).filter(({ path }) => mayRead(path));
  const common = {
    root,
    folders,
    pluginFolders,
    kept: placeToKeep(folders.state, folders),
    ...(broad === undefined ? {} : { broad }),
  };
  if (!deno) return { ...common, policy: wanted, missing: [] };
  const api = hostOf(options.baseUrl ?? readEnv("ANTHROPIC_BASE_URL"));
  const { policy: given, missing } = cutWithDeno(wanted, denoState, SHELLS);
  const { state } = folders;
  const needs = programNeeds(denoState, { api, pluginFolders: [ownPluginFolder(), ...further], state });
  return { ...common, policy: given, missing: [...missing, ...needs] };
}

/** The same tools are offered, and no file is granted: behind a fence that lets `/` through nothing would be left outside. */
function withoutFolders(policy: Policy): Policy {
  return { ...policy, read: { ...policy.read, scope: [] }, write: { ...policy.write, scope: [] } };
}

/**
 * The folder, unless the home that it belongs to is not there and would be made with it: a mistyped HOME stays one. What Deno does
 * not let be looked at counts as there, since it may not be made either.
 */
export function placeToKeep(folder: string | undefined, { home }: Folders): string | undefined {
  const isThere = (place: string | undefined) => place !== undefined && (!mayRead(place) || existsSync(place));
  return folder !== undefined && (isThere(home) || isThere(dirname(folder))) ? folder : undefined;
}

/**
 * The kernel grants what is there, not a name: what is made later would be refused without a word of why. A path below one that is
 * granted needs no grant of its own.
 */
function checkThere(policy: Policy): void {
  for (const kind of ["read", "write"] as const) {
    const { scope } = policy[kind];
    const isThere = (path: string) => !mayRead(path) || existsSync(path);
    const lost = scope.find((path) =>
      !isThere(path) && !scope.some((folder) => folder !== path && isInside(folder, path))
    );
    if (lost === undefined) continue;
    const flag = oneLine(`--allow-${kind}=${placeName(policy.root, lost)}`);
    throw usageError(`${flag}: nothing is there yet. Make it first, or name the folder that it will be in`);
  }
}

/** A folder that the user names must be there: a typing error would take tools away without a word. */
function namedFolder(name: string): string {
  const folder = resolve(name);
  if (mayRead(folder) && !existsSync(folder)) throw usageError(`--plugins "${oneLine(name)}": no such folder`);
  return folder;
}

/** The user's own folders, where they really are. */
export function userFolders(): Folders {
  return realFolders(foldersOf({ env: readEnv, platform: process.platform, home: homeFolder() }));
}

/** The real folder behind the name. Under Deno its permission is looked at first: Deno itself would ask. */
async function openRoot({ workspace: name, allowBroadWorkspace }: Options, folders: Folders): Promise<string> {
  const shown = oneLine(name);
  if (denoState({ name: "read", path: name }) === "denied") {
    throw usageError(
      `Cannot work in "${shown}": Deno has a --deny-read for it or for a part of it. Start deno run without it, and give tenon ` +
        "--deny-read after mod.ts",
    );
  }
  if (!mayRead(name)) {
    // To let Deno read all of a home folder is no advice, when tenon would not work in it.
    const broad = allowBroadWorkspace ? undefined : broadness(resolve(name), folders);
    if (broad !== undefined) throw usageError(`Cannot work in "${shown}": ${broad}. ${NARROWER}`);
    throw usageError(`Cannot work in "${shown}": Deno may not read it. Start with deno run --allow-read="${shown}"`);
  }
  const kind = await stat(name).catch(() => undefined);
  if (!kind) throw usageError(`Cannot work in "${shown}": no such folder`);
  if (!kind.isDirectory()) throw usageError(`Cannot work in "${shown}": it is not a folder`);
  const real = await realpath(name).catch(() => undefined);
  if (real === undefined) throw usageError(`Cannot work in "${shown}": it was deleted. Go to another folder`);
  if (mayRead(real)) return real;
  throw usageError(
    `Cannot work in "${shown}": it leads to ${real}, which Deno may not read. Start with --allow-read="${real}"`,
  );
}

function homeFolder(): string {
  const home = readEnv(process.platform === "win32" ? "USERPROFILE" : "HOME");
  return home ?? (deno ? "" : homedir());
}
