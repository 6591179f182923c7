/** `tenon doctor`: what this program runs on and works with, and what is wrong. */

import type { Catalog } from "./plugins/catalog.ts";
import { runtimeName } from "./runtime.ts";
import type { FenceStatus } from "./fence/fence_rules.ts";
import { NARROWER } from "./folders.ts";
import { findKey, keyProblem } from "./model/key.ts";
import { deniedInside } from "./permissions/denied_inside.ts";
import { describePolicy } from "./permissions/policy.ts";
import type { Premises } from "./premises.ts";
import { printFolder } from "./hosts/print_log.ts";
import { shellPlace } from "./commands/shell_place.ts";
import type { Setup } from "./start.ts";
import { whatIsNotKept } from "./state_file.ts";
import { VERSION } from "./options.ts";

export interface Report {
  runtime: string;
  version: string;
  fence: FenceStatus;
  /** What the flags come to, in one line. */
  permissions: string;
  /** Outside of the workspace: what commands may read and start programs from, beside the system's own. */
  toolchains: string[];
  /** The variable that the key comes from; `null` without one. */
  key_source: string | null;
  folders: {
    workspace: string;
    plugins: string[];
    config: string | null;
    state: string | null;
    printed: string | null;
  };
  plugins: { name: string; source: string }[];
  problems: string[];
}

/** The part of a setup that is looked at. */
export type Examined = Premises & Pick<Setup, "registry" | "fence"> & {
  catalog: Pick<Catalog, "setAside" | "skipped">;
};

export function makeReport(examined: Examined): Report {
  const { root, broad, folders, kept, pluginFolders, policy, missing, catalog, registry, fence } = examined;
  const key = findKey();
  const unsendable = key && keyProblem(key);
  const unkept = whatIsNotKept(kept);
  return {
    runtime: runtimeName(),
    version: VERSION,
    fence: { ...fence, not_covered: [...fence.not_covered, ...deniedInside(policy)] },
    permissions: broad === undefined ? describePolicy(policy) : "nothing in this folder",
    toolchains: policy.run.state === "deny" ? [] : shellPlace(examined).readExec,
    key_source: key?.variable ?? null,
    folders: {
      workspace: root,
      plugins: pluginFolders.map(({ path }) => path),
      config: folders.config ?? null,
      state: folders.state ?? null,
      printed: printFolder(kept) ?? null,
    },
    plugins: registry.tools.map((tool) => ({ name: tool.definition.name, source: tool.source })),
    problems: [
      ...(broad === undefined ? [] : [`this folder is no workspace: ${broad}. ${NARROWER}`]),
      ...(unsendable === undefined ? [] : [unsendable]),
      ...(unkept === undefined ? [] : [unkept]),
      ...missing.map(({ feature, reason }) => `${feature}: ${reason}`),
      ...catalog.setAside.map(({ file, problem }) => `${file}: ${problem}`),
      ...catalog.skipped,
    ],
  };
}

/** The report for a person. */
export function reportLines(report: Report): string[] {
  const { fence, folders } = report;
  return [
    `tenon      ${report.version} on ${report.runtime}`,
    `fence      ${fence.level}${fence.landlock_abi > 0 ? ` (Landlock ABI ${fence.landlock_abi}, seccomp)` : ""}`,
    ...fence.not_covered.map((line) => `           not covered: ${line}`),
    `allowed    ${report.permissions}`,
    ...report.toolchains.map((path) => `programs   ${path}`),
    `key        ${report.key_source ?? "none: set ANTHROPIC_API_KEY (the offline demo model stands in)"}`,
    `workspace  ${folders.workspace}`,
    ...folders.plugins.map((folder) => `plugins    ${folder}`),
    `tools      ${report.plugins.map((plugin) => plugin.name).sort().join(", ") || "none"}`,
    ...(folders.printed === null ? [] : [`printed    ${folders.printed} (what plugins print)`]),
    ...report.problems.map((problem) => `problem    ${problem}`),
  ];
}
