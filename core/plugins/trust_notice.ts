/** What the user is told of plugins, and of tenon itself, that lie in the workspace. */

import { readdirSync } from "node:fs";
import process from "node:process";
import { dirname, isInside } from "../path.ts";
import { permissionSet } from "../permissions/permissions.ts";
import { isPluginName, toolOf } from "./plugins.ts";
import { placeName } from "../permissions/policy.ts";
import type { Premises } from "../premises.ts";
import { isExecutable, mayRead, programFolder } from "../runtime.ts";
import { realOf } from "../place.ts";
import { shellWord } from "./shell_word.ts";
import { oneLine } from "../text.ts";
import type { Trustable } from "./trust.ts";

/** For each folder one line with the command that lets its plugins in. `workspace` is the option as it was given. */
export function untrustedLines(untrusted: readonly Trustable[], root: string, workspace: string): string[] {
  return [...Map.groupBy(untrusted, ({ file }) => dirname(file))].map(([folder, plugins]) => {
    const names = plugins.map(({ file, changed }) => `${fileName(folder, file)}${changed ? " (changed)" : ""}`).join(
      ", ",
    );
    const are = plugins.length === 1 ? "is not trusted and was" : "are not trusted and were";
    const place = oneLine(placeName(root, folder), 300);
    return `${oneLine(names, 300)} in ${place} ${are} skipped. To use: ${trustCommand(folder, workspace)}`;
  });
}

/** As it can be pasted, from the folder that tenon was started in. */
export function trustCommand(folder: string, workspace: string): string {
  const where = workspace === "." ? "" : ` -C ${shellWord(workspace)}`;
  return `tenon trust${where} ${shellWord(folder)}`;
}

/** A plugin on one line, for whoever is asked about it: its file, its tool, and what it may do. */
export function describeTrustable({ file, permissions, changed }: Trustable, root: string): string {
  const since = changed ? `; changed since it was trusted: ${changed.join(", ")}` : "";
  return oneLine(
    `${placeName(root, file)} (tool ${toolOf(file)}; permissions: ${permissionSet(permissions)}${since})`,
    500,
  );
}

/**
 * Why the workspace is an odd one: it holds tenon itself, or plugins that it loads. Undefined where it does not. File tools
 * are kept from both by the guard; a program that `bash` runs, and the code of a plugin, are held by the kernel alone, which knows no
 * such exception.
 */
export function reachNotice({ root, pluginFolders, policy }: Premises): string | undefined {
  const program = isExecutable() ? realOf(process.execPath) : realOf(programFolder());
  const held = [
    ...(isInside(root, program) ? ["tenon itself"] : []),
    ...pluginFolders.map(({ path }) => path).filter((path) => isInside(root, path) && hasPlugins(path))
      .map((path) => `plugins (${path === root ? "." : placeName(root, path)})`),
  ];
  if (held.length === 0) return undefined;
  const others = [...(policy.run.state === "deny" ? [] : ["a command that bash runs"]), "a plugin that may write"];
  const but = policy.write.state === "deny" ? "" : `, but ${others.join(" or ")} can replace them`;
  return oneLine(`The workspace holds ${held.join(" and ")}: file tools refuse to write there${but}`, 500);
}

function hasPlugins(folder: string): boolean {
  try {
    return mayRead(folder) && readdirSync(folder).some(isPluginName);
  } catch {
    return false; // none there, or a file: whoever loads plugins says so
  }
}

function fileName(folder: string, file: string): string {
  return file.slice(folder.length + 1);
}
