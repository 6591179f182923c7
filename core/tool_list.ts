/** `tenon tools`: the registry as a table, and the files that were set aside. */

import type { Catalog } from "./catalog.ts";
import { permissionSet } from "./permissions.ts";
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
      bytes: new TextEncoder().encode(JSON.stringify(definition)).length,
    })),
    set_aside: [...setAside, ...notTrusted({ untrusted })].map(({ file, problem }) => ({ file, problem })),
  };
}

export function toolLines({ tools, set_aside }: ToolList): string[] {
  const rows = [
    ["NAME", "PERMISSIONS", "BYTES", "SOURCE"],
    ...tools.map((tool) => [tool.name, tool.permissions, String(tool.bytes), tool.source]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return [
    ...rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()),
    ...set_aside.map(({ file, problem }) => `set aside: ${file}: ${problem}`),
  ];
}
