/** `tenon tools`: the registry as a table, and the files that were set aside. */

import type { Catalog } from "./plugins/catalog.ts";
import { bytesOf, tokensOf } from "./plugins/definition_size.ts";
import { permissionSet } from "./permissions/permissions.ts";
import type { Registry, WireDefinition } from "./registry.ts";

export interface ToolList {
  /** The definition is what the model gets; `bytes` are those of it in a request. */
  tools: (WireDefinition & { source: string; permissions: string; bytes: number })[];
  set_aside: { file: string; problem: string; untrusted?: true }[];
  /** For each folder with untrusted files a line with the command that lets them in. */
  to_trust: readonly string[];
}

export function toolList(
  { setAside, untrusted, skipped }: Pick<Catalog, "setAside" | "untrusted" | "skipped">,
  { tools }: Registry,
): ToolList {
  return {
    tools: tools.map(({ definition, source, permissions }) => ({
      ...definition,
      source,
      permissions: permissionSet(permissions),
      bytes: bytesOf(definition),
    })),
    set_aside: [
      ...setAside.map(({ file, problem }) => ({ file, problem })),
      ...untrusted.map(({ file, changed }) => ({ file, problem: notTrusted(changed), untrusted: true as const })),
    ],
    to_trust: skipped,
  };
}

/** `changed` as in `Trustable`. */
function notTrusted(changed: readonly string[] | undefined): string {
  return changed ? `changed since it was trusted (${changed.join(", ")})` : "is not trusted";
}

/** Columns that one cell can widen a column to: a longer one moves the rest of its own row alone, so that the others fit a terminal. */
const COLUMN_LIMIT = 24;

/** Of the untrusted files a line for each folder stands for all. */
export function toolLines({ tools, set_aside, to_trust }: ToolList): string[] {
  const rows = [
    ["NAME", "PERMISSIONS", "BYTES", "SOURCE"],
    ...tools.map((tool) => [tool.name, tool.permissions, String(tool.bytes), tool.source]),
  ];
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0).filter((width) => width <= COLUMN_LIMIT))
  );
  const bytes = tools.reduce((sum, tool) => sum + tool.bytes, 0);
  const pad = (cell: string, column: number) =>
    column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return [
    ...rows.map((row) => row.map(pad).join("  ").trimEnd()),
    `${tools.length} ${tools.length === 1 ? "tool" : "tools"}: about ${tokensOf(bytes)} tokens of every request`,
    ...set_aside.filter(({ untrusted }) => !untrusted).map(({ file, problem }) => `set aside: ${file}: ${problem}`),
    ...to_trust,
  ];
}
