/** `tenon trust`: list the plugins that lie in the workspace, and trust them or take that back. */

import type { ReadStream } from "node:tty";
import { createAsker } from "../terminal/ask.ts";
import { openKeyboard } from "../terminal/keyboard.ts";
import { basename, resolve } from "../path.ts";
import { permissionSet } from "../permissions/permissions.ts";
import { realOf } from "../place.ts";
import { readClosure } from "./plugin_closure.ts";
import type { PluginFolder } from "./plugin_folders.ts";
import { findPlugins, toolOf } from "./plugins.ts";
import { placeName } from "../permissions/policy.ts";
import type { Premises } from "../premises.ts";
import type { Screen } from "../terminal/screen.ts";
import { visible } from "../text.ts";
import { openTrust, type Trust, type Trustable } from "./trust.ts";
import { trustCommand } from "./trust_notice.ts";
import { usageError } from "../usage_error.ts";

export interface TrustTask {
  /** As it was typed; without one it is every folder of the workspace that plugins are loaded from. */
  folder: string | undefined;
  /** Trust without a question. */
  yes: boolean;
  /** Take back. */
  revoke: boolean;
  /** The option as it was given. */
  workspace: string;
}

export interface TrustIo {
  stdout: Screen;
  stderr: Screen;
  /** A terminal to ask at; without one nothing is trusted unless the task says `yes`. */
  stdin: ReadStream | undefined;
  signal: AbortSignal;
}

/** A file of the list: `plugin` when it can be trusted. */
interface Row {
  state: "trusted" | "new" | "changed" | "refused";
  file: string;
  words: string;
  plugin?: Trustable;
}

/** Resolves with whether every plugin of the list is trusted at the end (or none, after `revoke`). Runs no plugin. */
export async function trustPlugins(task: TrustTask, premises: Premises, io: TrustIo): Promise<boolean> {
  const trust = await openTrust(premises.kept);
  const folders = chosenFolders(task, premises);
  if (task.revoke) return await revokeAll(trust, folders, premises, io);
  let allWell = true;
  let count = 0;
  for (const { path } of folders) {
    const rows = await rowsOf(path, trust);
    if (rows.length === 0) continue;
    count += rows.length;
    io.stdout.write(`${visible(placeName(premises.root, path))}\n`);
    for (const line of tableOf(rows)) io.stdout.write(`  ${visible(line)}\n`);
    const waiting = rows.flatMap(({ state, plugin }) => plugin && state !== "trusted" ? [plugin] : []);
    if (rows.some(({ state }) => state === "refused")) allWell = false;
    if (waiting.length > 0) allWell = await acceptAll(trust, waiting, path, task, io) && allWell;
  }
  if (count === 0) io.stderr.write("There are no plugins to trust here. They are looked for in .tenon/plugins\n");
  return allWell;
}

function chosenFolders({ folder }: TrustTask, { root, pluginFolders }: Premises): PluginFolder[] {
  if (folder === undefined) return pluginFolders.filter(({ needsTrust }) => needsTrust);
  const path = realOf(resolve(folder));
  const found = pluginFolders.find((one) => one.path === path);
  if (!found) throw usageError(`Cannot look at "${folder}": it may not be read`);
  if (found.needsTrust) return [found];
  throw usageError(`"${folder}" is not in the workspace ${root}: no tool can write there, so it needs no trust`);
}

async function rowsOf(folder: string, trust: Trust): Promise<Row[]> {
  const { files, setAside } = await findPlugins(folder);
  const refused = setAside.map(({ file, problem }): Row => ({ state: "refused", file, words: problem }));
  return [...refused, ...await Promise.all(files.map((file) => rowOf(file, trust)))];
}

async function rowOf(file: string, trust: Trust): Promise<Row> {
  try {
    const closure = await readClosure(file);
    const judged = trust.judge(file, closure);
    if (typeof judged === "string") return { state: "refused", file, words: judged };
    const { plugin } = judged;
    const state = judged.state === "trusted" ? "trusted" : plugin.changed ? "changed" : "new";
    const others = [...closure.files.keys()].filter((name) => name !== basename(file));
    const words = [
      permissionSet(plugin.permissions),
      ...(others.length > 0 ? [`with ${others.join(", ")}`] : []),
      ...(plugin.changed ? [`changed: ${plugin.changed.join(", ")}`] : []),
    ];
    return { state, file, words: words.join("; "), plugin };
  } catch (error) {
    return { state: "refused", file, words: error instanceof Error ? error.message : "cannot be read" };
  }
}

/** State, file, tool, and what it may do or why it cannot be trusted. */
function tableOf(rows: readonly Row[]): string[] {
  const cells = rows.map(({ state, file, words }) => {
    return [state, basename(file), toolOf(file), words];
  });
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
}

async function acceptAll(
  trust: Trust,
  plugins: readonly Trustable[],
  folder: string,
  { yes, workspace }: TrustTask,
  io: TrustIo,
): Promise<boolean> {
  const count = plugins.length === 1 ? "this plugin" : `these ${plugins.length} plugins`;
  if (!yes && !io.stdin) {
    io.stderr.write(`Nobody can be asked here. To trust ${count}: ${trustCommand(folder, workspace)} --yes\n`);
    return false;
  }
  if (!yes && io.stdin && !(await isMeant(io.stdin, io, `Trust ${count}, as the files are now?`))) return false;
  for (const plugin of plugins) await trust.accept(plugin);
  io.stderr.write(`Trusted: ${visible(plugins.map(({ file }) => basename(file)).join(", "))}\n`);
  return true;
}

async function isMeant(stdin: ReadStream, { stderr, signal }: TrustIo, question: string): Promise<boolean> {
  const keyboard = openKeyboard(stdin, stderr);
  try {
    const choices = [{ key: "y", label: "yes" }, { key: "n", label: "no" }];
    return await createAsker(keyboard, stderr).askKey(question, choices, { signal }) === "y";
  } finally {
    keyboard.close();
  }
}

async function revokeAll(
  trust: Trust,
  folders: readonly PluginFolder[],
  { root }: Premises,
  { stderr }: TrustIo,
): Promise<boolean> {
  let isAny = false;
  for (const { path } of folders) {
    const count = await trust.revoke(path);
    if (count === 0) continue;
    isAny = true;
    stderr.write(`${visible(placeName(root, path))}: ${count} no longer trusted\n`);
  }
  if (!isAny) stderr.write("Nothing is trusted here\n");
  return true;
}
