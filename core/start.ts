/** From options to what every command needs: the folder, the policy, the tools, the model. */

import { readFile, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import process from "node:process";
import type { Ask } from "./agent.ts";
import { type Catalog, openCatalog } from "./catalog.ts";
import { cutWithDeno, type Missing } from "./deno_grants.ts";
import { checkBroad, type Folders, foldersOf } from "./folders.ts";
import { checkBaseUrl } from "./endpoint.ts";
import { connectInProcess, createHosts, type Hosts } from "./hosts.ts";
import type { Options } from "./options.ts";
import { join, resolve } from "./path.ts";
import { parseFlags } from "./permission_flags.ts";
import { placeAt } from "./place.ts";
import { makePolicy, type Policy } from "./policy.ts";
import { systemPrompt } from "./prompt.ts";
import { createRegistry, type Registry } from "./registry.ts";
import { deno, denoState, mayRead, ownPluginFolder, readEnv } from "./runtime.ts";
import { oneLine } from "./text.ts";
import { usageError } from "./usage_error.ts";

export const DEFAULT_MODEL = "claude-sonnet-5-5";

/** The programs that a tool starts without being told to. */
const SHELLS = ["bash", "sh"];

export interface Setup {
  /** The workspace: absolute and real. */
  root: string;
  folders: Folders;
  /** Where plugins are looked for beside the built-in ones. */
  pluginFolders: string[];
  policy: Policy;
  /** What tenon's flags give and Deno's do not. */
  missing: Missing[];
  hosts: Hosts;
  catalog: Catalog;
  registry: Registry;
}

/** Throws a usage error when there is no folder to work in, or a flag makes no sense. */
export async function setUp(options: Options, canAsk: boolean): Promise<Setup> {
  const root = await openRoot(options.workspace);
  const folders = foldersOf({ env: readEnv, platform: process.platform, home: homeFolder() });
  const broad = checkBroad(root, folders);
  if (broad !== undefined && !options.allowBroadWorkspace) throw usageError(broad);
  const flags = parseFlags(options.permissions);
  const wanted = makePolicy({ ...flags, prompt: flags.prompt && canAsk }, placeAt(root));
  const { policy, missing } = deno ? cutWithDeno(wanted, denoState, SHELLS) : { policy: wanted, missing: [] };
  const own = folders.config === undefined ? [] : [join(folders.config, "plugins")];
  const pluginFolders = [ownPluginFolder(), ...own, ...options.plugins.map((dir) => resolve(dir))].filter(mayRead);
  const hosts = createHosts(connectInProcess, new Map());
  const catalog = await openCatalog({ policy, folders: pluginFolders, hosts });
  const registry = createRegistry(chosen(catalog, options.tools));
  return { root, folders, pluginFolders, policy, missing, hosts, catalog, registry };
}

/** The real folder behind the name. Under Deno its permission is looked at first: Deno itself would ask. */
async function openRoot(name: string): Promise<string> {
  const shown = oneLine(name);
  if (!mayRead(name)) {
    throw usageError(`Cannot work in "${shown}": Deno may not read it. Start with deno run --allow-read="${shown}"`);
  }
  const kind = await stat(name).catch(() => undefined);
  if (!kind) throw usageError(`Cannot work in "${shown}": no such folder`);
  if (!kind.isDirectory()) throw usageError(`Cannot work in "${shown}": it is not a folder`);
  const real = await realpath(name);
  if (mayRead(real)) return real;
  throw usageError(
    `Cannot work in "${shown}": it leads to ${real}, which Deno may not read. Start with --allow-read="${real}"`,
  );
}

function homeFolder(): string {
  const home = readEnv(process.platform === "win32" ? "USERPROFILE" : "HOME");
  return home ?? (deno ? "" : homedir());
}

function chosen({ tools }: Catalog, names: readonly string[] | undefined): Catalog["tools"] {
  if (!names) return tools;
  const unknown = names.find((name) => !tools.some((tool) => tool.definition.name === name));
  if (unknown === undefined) return tools.filter((tool) => names.includes(tool.definition.name));
  const known = tools.map((tool) => tool.definition.name).sort().join(", ");
  throw usageError(`No tool is named "${oneLine(unknown, 80)}". Use --tools with some of: ${known}`);
}

export interface KeySource {
  credential: { apiKey: string } | { authToken: string };
  /** The variable that it comes from. */
  variable: string;
}

/** From the environment only, never from a file of the workspace. */
export function findKey(): KeySource | undefined {
  const apiKey = readEnv("ANTHROPIC_API_KEY");
  if (apiKey !== undefined) return { credential: { apiKey }, variable: "ANTHROPIC_API_KEY" };
  const authToken = readEnv("ANTHROPIC_AUTH_TOKEN");
  return authToken === undefined ? undefined : { credential: { authToken }, variable: "ANTHROPIC_AUTH_TOKEN" };
}

export interface OpenModel {
  name: string;
  ask: Ask;
  /** What the user should know about the choice. */
  note?: string;
}

/** Throws a usage error when there is no key and nobody who would read that the demo model stands in. */
export async function openModel(options: Options, registry: Registry): Promise<OpenModel> {
  const system = systemPrompt(await readSystemFile(options.systemFile));
  const key = findKey();
  if (options.model === "demo" || !key) {
    const silent = options.outputFormat !== "text" || readEnv("CI") !== undefined;
    if (options.model !== "demo" && silent) {
      throw usageError("No key: set ANTHROPIC_API_KEY, or use -m demo for the offline model");
    }
    const { demoModel } = await import("./demo_model.ts");
    const note = options.model === "demo"
      ? {}
      : { note: "No ANTHROPIC_API_KEY is set: this is the offline demo model" };
    return { name: "demo", ask: demoModel(registry.definitions), ...note };
  }
  const { apiModel, MODEL_LIMITS } = await import("./model.ts");
  const baseUrl = options.baseUrl ?? readEnv("ANTHROPIC_BASE_URL");
  if (baseUrl !== undefined) checkBaseUrl(baseUrl);
  const name = options.model ?? DEFAULT_MODEL;
  const ask = apiModel({
    model: name,
    credential: key.credential,
    baseUrl,
    compat: options.compat,
    maxTokens: options.maxTokens,
    system,
    definitions: registry.definitions,
    limits: MODEL_LIMITS,
  });
  return { name, ask };
}

async function readSystemFile(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const text = mayRead(file) ? await readFile(file, "utf8").catch(() => undefined) : undefined;
  if (text === undefined) throw usageError(`Cannot read --system "${oneLine(file)}"`);
  return text.toWellFormed();
}
