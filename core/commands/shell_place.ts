/** What commands get beside the workspace: the user's toolchains, the name for git, and a network if it was given. */

import { existsSync, readFileSync } from "node:fs";
import type { FenceRules } from "../fence/fence_rules.ts";
import { identityEnv, repositoryConfig } from "./git_identity.ts";
import { isInside, join } from "../path.ts";
import { realOf } from "../place.ts";
import type { Premises } from "../premises.ts";
import { mayRead, readEnv } from "../runtime.ts";
import { findToolchains } from "./toolchains.ts";

export interface ShellPlace {
  /** Folders and files outside of the workspace to read and start programs from. */
  readExec: string[];
  env: { [name: string]: string };
  sockets: FenceRules["sockets"];
}

/** Looks at the user's folders, and starts nothing. The workspace's own are left to the grant. */
export function shellPlace(premises: Premises): ShellPlace {
  const { root, folders, policy } = premises;
  const real = (path: string) => isThere(path) ? realOf(path) : undefined;
  const found = findToolchains({ env: readEnv, home: folders.home, real, network: policy.shellNet });
  const roots = [root, ...policy.write.scope];
  return {
    readExec: found.readExec.filter((path) => !roots.some((folder) => isInside(folder, path))),
    // These variables count for git before any file: what the repository says must be in them.
    env: { ...found.env, ...identityEnv([...gitConfigs(premises).map(textOf), repositoryConfig(root)]) },
    sockets: policy.shellNet ? "inet" : "none",
  };
}

/** Git's files of the user, of which only core reads the name: they may hold logins. The later one counts. */
export function gitConfigs({ folders: { home } }: Pick<Premises, "folders">): string[] {
  if (home === undefined) return [];
  const config = readEnv("XDG_CONFIG_HOME");
  const settings = config?.startsWith("/") ? config : join(home, ".config");
  return [join(settings, "git", "config"), join(home, ".gitconfig")].map(realOf).filter(isThere);
}

/** Also as far as Deno lets it be known. */
function isThere(path: string): boolean {
  return mayRead(path) && existsSync(path);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
