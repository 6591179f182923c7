/** A built-in that the model is never offered: removes temporary files that a killed process left, in a host that writes. */

import { TEMPORARY } from "./opening.ts";
import type { OwnWorkspace } from "./workspace.ts";
import type { Context, Definition } from "../tool.ts";

export const definition: Definition = {
  name: "remove_leftovers",
  description: "Removes temporary files that were left.",
  input_schema: {
    type: "object",
    properties: { paths: { type: "array", items: { type: "string" } } },
    required: ["paths"],
  },
  permissions: { read: true, write: true },
};

/** Removes nothing but a regular file that has the name of a temporary one, behind no link. What cannot be removed stays. */
export async function handler({ paths }: { paths: string[] }, context: Context): Promise<void> {
  const workspace = context.workspace as OwnWorkspace;
  for (const path of paths) {
    if (!TEMPORARY.test(path.slice(path.lastIndexOf("/") + 1))) continue;
    try {
      if (await workspace.resolve(path) === path) await workspace.removeFile(path);
    } catch {
      // It is gone, or no file of ours any more, or may not be removed.
    }
  }
}
