/** From the premises to what a command works with: the tools and the model. */

import { readFile } from "node:fs/promises";
import process from "node:process";
import { leavingLine } from "./hosts/leaving.ts";
import type { Ask } from "./agent.ts";
import { type Approval, createApproval } from "./permissions/approval.ts";
import { type Catalog, openCatalog } from "./plugins/catalog.ts";
import { checkBaseUrl } from "./model/endpoint.ts";
import { connectFor } from "./hosts/connect.ts";
import { grantFor } from "./permissions/permissions.ts";
import type { FenceStatus } from "./fence/fence_rules.ts";
import { createHosts, HOST_LIMITS, type Hosts } from "./hosts/hosts.ts";
import { watchIntegrity } from "./files/integrity.ts";
import { cannot, refused } from "./files/refusal.ts";
import { findKey, howToSetKey, keyProblem } from "./model/key.ts";
import type { Options } from "./options.ts";
import { realOf } from "./place.ts";
import { withoutFence } from "./permissions/policy.ts";
import type { Premises } from "./premises.ts";
import { openPrintLog, printFolder } from "./hosts/print_log.ts";
import { systemPrompt } from "./model/prompt.ts";
import { createRegistry, type Registry, type Tool, type WireDefinition } from "./registry.ts";
import { isExecutable, mayRead, ownPluginFolder, readEnv } from "./runtime.ts";
import type { SeenFile } from "./tool.ts";
import { createUndo, restorer, restoringGrant, type Undo } from "./undo/undo.ts";
import { openUndoStore, undoFolder } from "./undo/undo_store.ts";
import { oneLine } from "./text.ts";
import { notesFolder, notingWrites, removeLeftovers } from "./hosts/write_notes.ts";
import { usageError } from "./usage_error.ts";

export const DEFAULT_MODEL = "claude-sonnet-5-5";

export interface Setup extends Premises {
  fence: FenceStatus;
  /** Programs that tools start are held by the kernel as well. */
  confined: boolean;
  /** What the model has seen of files in this session. */
  seen: Map<string, SeenFile>;
  approval: Approval;
  undo: Undo;
  hosts: Hosts;
  catalog: Catalog;
  /** Of the tools as they are now; another one after a `reload`. */
  registry: Registry;
  /**
   * Looks at the plugins again, between two turns; `again` as in `Catalog.refresh`. `askTrust` may trust some of those that
   * are not, and tells whether it did. Resolves with what changed, a line each, for the user.
   */
  reload(how: { again?: boolean; askTrust?: (untrusted: Catalog["untrusted"]) => Promise<boolean> }): Promise<string[]>;
}

/** Loads the plugins. Throws a usage error when `--tools` names one that is not there. */
export async function setUp(options: Options, given: Premises, fence: FenceStatus): Promise<Setup> {
  const confined = fence.level === "kernel";
  const premises = confined ? given : { ...given, policy: withoutFence(given.policy) };
  const { policy, pluginFolders, kept: state } = premises;
  const seen = new Map<string, SeenFile>();
  const log = openPrintLog(printFolder(state));
  const notes = notesFolder(state, policy.root);
  const running = createHosts(notingWrites(connectFor(premises, fence), notes), seen, HOST_LIMITS, log.print);
  const hosts: Hosts = {
    ...running,
    close() {
      running.close();
      log.close();
    },
  };
  const approval = createApproval(policy);
  const sources = isExecutable() ? undefined : realOf(ownPluginFolder());
  const guarded = ownPlaces(premises);
  const roots = [...new Set([policy.root, ...policy.write.scope])];
  const restoring = restoringGrant(policy, guarded);
  const tidy = () => removeLeftovers(notes, hosts, restoring);
  const undo = createUndo(openUndoStore(undoFolder(state, policy.root)), restorer(hosts, restoring), tidy);
  const guard = (tool: Tool) => approval.guard(watchIntegrity(undo.guard(tool), roots));
  const tidied = removeLeftovers(notes, hosts, grantFor(policy, { read: true, write: true }, guarded));
  const catalog = await openCatalog({
    ...{ policy, folders: pluginFolders, sources, guarded, state, hosts, guard },
    workspace: options.workspace,
  });
  await tidied;
  const setup: Setup = {
    ...{ ...premises, fence, confined, seen, approval, undo, hosts, catalog },
    registry: createRegistry(chosen(catalog, options.tools)),
    async reload({ again = false, askTrust }) {
      await catalog.refresh({ again });
      if (await askTrust?.(catalog.untrusted)) await catalog.refresh();
      const changes = catalog.takeChanges();
      // A tool of `--tools` may be gone by now; that ends no chat.
      const names = options.tools?.filter((name) => catalog.tools.some((tool) => tool.definition.name === name));
      const next = createRegistry(chosen(catalog, names));
      const isOther = JSON.stringify(next.definitions) !== JSON.stringify(setup.registry.definitions);
      const [before, leaving] = [setup.registry, next].map(({ tools }) => leavingLine(policy, tools));
      if (isOther || changes.length > 0) setup.registry = next;
      if (leaving !== undefined && leaving !== before) changes.push(leaving);
      return isOther && changes.length > 0 ? [...changes, "The tools changed: the prompt cache starts anew"] : changes;
    },
  };
  return setup;
}

/** What tenon itself is, is set by and loads from: no tool writes there. */
function ownPlaces({ pluginFolders, folders: { config, state } }: Premises): string[] {
  const program = isExecutable() ? [realOf(process.execPath)] : [];
  const places = [...program, config, state].filter((place) => place !== undefined);
  return [...pluginFolders.map(({ path }) => path), ...places];
}

function chosen({ tools }: Catalog, names: readonly string[] | undefined): Catalog["tools"] {
  if (!names) return tools;
  const unknown = names.find((name) => !tools.some((tool) => tool.definition.name === name));
  if (unknown === undefined) return tools.filter((tool) => names.includes(tool.definition.name));
  const known = tools.map((tool) => tool.definition.name).sort().join(", ");
  throw usageError(`No tool is named "${oneLine(unknown, 80)}". Use --tools with some of: ${known}`);
}

export interface OpenModel {
  name: string;
  /** Offers these tools. */
  askWith(definitions: readonly WireDefinition[]): Ask;
  /** What the user should know about the choice. */
  note?: string;
}

/**
 * Throws a usage error for a key that cannot be sent, and when there is none and the demo model cannot stand in: something else was
 * named, or nobody would read that it does. `trace` gets the lines of
 * `--trace`.
 */
export async function openModel(options: Options, trace: (line: string) => void): Promise<OpenModel> {
  const system = systemPrompt(await readSystemFile(options.systemFile));
  const model = await chooseModel(options, system);
  const { traced } = await import("./model/trace.ts");
  const { fitted } = await import("./model/fitting.ts");
  // What does not fit is left out first, so that the trace tells what is sent.
  const askWith: OpenModel["askWith"] = (definitions) => {
    const ask = model.askWith(definitions);
    return fitted(options.trace ? traced(ask, system, definitions, trace) : ask);
  };
  return { ...model, askWith };
}

async function chooseModel(options: Options, system: string): Promise<OpenModel> {
  const key = findKey();
  if (options.model === "demo" || !key) {
    const isOther = options.model !== undefined || options.baseUrl !== undefined; // not what the demo could stand in for
    const silent = options.outputFormat !== "text" || readEnv("CI") !== undefined;
    if (options.model !== "demo" && (isOther || silent)) {
      throw usageError(`No key: ${howToSetKey()}, or use -m demo for the offline model`);
    }
    const { demoModel } = await import("./model/demo_model.ts");
    const note = options.model === "demo"
      ? {}
      : { note: "No ANTHROPIC_API_KEY is set: this is the offline demo model" };
    return { name: "demo", askWith: demoModel, ...note };
  }
  const problem = keyProblem(key);
  if (problem !== undefined) throw usageError(problem);
  const { apiModel, MODEL_LIMITS } = await import("./model/model.ts");
  const baseUrl = options.baseUrl ?? readEnv("ANTHROPIC_BASE_URL");
  if (baseUrl !== undefined) checkBaseUrl(baseUrl);
  const name = options.model ?? DEFAULT_MODEL;
  const limits = {
    retries: setting("TENON_RETRIES", MODEL_LIMITS.retries),
    longestWaitMs: 1000 * setting("TENON_LONGEST_WAIT_S", MODEL_LIMITS.longestWaitMs / 1000),
    silenceMs: 1000 * setting("TENON_SILENCE_S", MODEL_LIMITS.silenceMs / 1000),
  };
  const { credential } = key;
  const { compat, maxTokens } = options;
  const common = { model: name, credential, baseUrl, compat, maxTokens, system, limits };
  return { name, askWith: (definitions) => apiModel({ ...common, definitions }) };
}

/** A number from the user's environment; what is none is a usage error. */
function setting(variable: string, otherwise: number): number {
  const text = readEnv(variable);
  if (text === undefined) return otherwise;
  if (!/^\d+(\.\d+)?$/.test(text)) throw usageError(`${variable} needs a number, not "${oneLine(text, 80)}"`);
  return Number(text);
}

async function readSystemFile(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const fail = (how: unknown) => usageError((cannot("read --system", file, how) as Error).message);
  if (file === "") throw fail(refused("no such file")); // Deno has other words for that
  if (!mayRead(file)) throw fail(refused(`Deno may not read it. Start with deno run --allow-read="${oneLine(file)}"`));
  const bytes = await readFile(file).catch((error) => {
    throw fail(error);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw fail(refused("it is not UTF-8 text"));
  }
}
