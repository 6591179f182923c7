/** `tenon tools`: the registry as a table, and the files that were set aside. */

import type { Catalog } from "./plugins/catalog.ts";
import { bytesOf, tokensOf } from "./plugins/definition_size.ts";
import { permissionSet } from "./permissions/permissions.ts";
import type { Registry } from "./registry.ts";

export interface ToolList {
  tools: { name: string; source: string; permissions: string; bytes: number }[];
  set_aside: { file: string; problem: string }[];
}

/** What waits for the user's word, as a reason like others. */
export function notTrusted({ untrusted }: Pick<Catalog, "untrusted">): { file: string; problem: string }[] {
  return untrusted.map(({ file, changed }) => ({
    file,
    problem: changed
      ? `changed since it was trusted (${changed.join(", ")}); see tenon trust`
      : "is not trusted; see tenon trust",
  }));
}

export function toolList(
  { setAside, untrusted }: Pick<Catalog, "setAside" | "untrusted">,
  { tools }: Registry,
): ToolList {
  return {
    tools: tools.map(({ definition, source, permissions }) => ({
      name: definition.name,
      source,
      permissions: permissionSet(permissions),
      bytes: bytesOf(definition),
    })),
    set_aside: [...setAside, ...notTrusted({ untrusted })].map(({ file, problem }) => ({ file, problem })),
  };
}

/** Columns that one cell can widen a column to: a longer one moves the rest of its own row alone, so that the others fit a terminal. */
const COLUMN_LIMIT = 24;

export function toolLines({ tools, set_aside }: ToolList): string[] {
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
    ...set_aside.map(({ file, problem }) => `set aside: ${file}: ${problem}`),
  ];
}
