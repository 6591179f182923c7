/** A built-in that the model is never offered: removes a folder that was made for a file, once it is empty. */

import type { OwnWorkspace } from "../files/workspace.ts";
import type { Context, Definition } from "../tool.ts";

export const definition: Definition = {
  name: "remove_folder",
  description: "Removes a folder that is empty.",
  input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  permissions: { read: true, write: true },
};

/** What the handler says when the folder was there and is gone. */
export const REMOVED = "removed";

/** `path` as it was when it was made: where a link leads now is another folder, which stays. */
export async function handler({ path }: { path: string }, context: Context): Promise<string | undefined> {
  const workspace = context.workspace as OwnWorkspace;
  if (await workspace.resolve(path, "write") !== path) return undefined;
  return await workspace.removeFolder(path) ? REMOVED : undefined;
}
