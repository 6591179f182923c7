/** A built-in that the model is never offered: puts one file back to what it was, in the host that writes. */

import { Buffer } from "node:buffer";
import { cannot, refused } from "../files/refusal.ts";
import { sha256Of, startSha256 } from "../hash.ts";
import type { Context, Definition } from "../tool.ts";
import type { OwnWorkspace } from "../files/workspace.ts";

export const definition: Definition = {
  name: "restore",
  description: "Puts a file back to what it was.",
  input_schema: {
    type: "object",
    properties: {
      path: { type: "string" },
      content: { type: ["string", "null"], description: "Base64; null removes the file" },
      mode: { type: "number", description: "Permission bits, for a file that is gone" },
      after: { type: "string", description: "SHA-256 of what must be there" },
      mixed: { type: "boolean", description: "Something else wrote to it meanwhile" },
      force: { type: "boolean", description: "Whatever is there" },
    },
    required: ["path", "content", "after", "mixed", "force"],
  },
  permissions: { read: true, write: true },
};

export interface Restored {
  /** As it was when it was changed: the file itself, behind every link. */
  path: string;
  content: string | null;
  mode?: number;
  after: string;
  mixed: boolean;
  force: boolean;
}

/** What the handler says when, with force, it has put an end to what something else had written. */
export const OVER_ANOTHER = "over what was written since";

/**
 * Does nothing where the file is back already, so that what was interrupted can be done again. Also with force nothing goes but what was
 * there at the look: what comes in between stays.
 */
export async function handler(restored: Restored, context: Context): Promise<string | undefined> {
  const { path, content, mode, after, mixed, force } = restored;
  const workspace = context.workspace as OwnWorkspace;
  const because = (how: string) => cannot("restore", path, refused(how));
  if (await workspace.resolve(path, "write") !== path) throw because("a part of its path is a link now");
  const now = await workspace.exists(path) ? await hashOf(workspace, path) : null;
  const bytes = content === null ? null : Buffer.from(content, "base64");
  if (now === (bytes === null ? null : sha256Of(bytes))) return undefined;
  if (!force && now !== after) throw because(now === null ? "it is no longer there" : "it was changed since");
  if (!force && mixed) throw because("it was changed by something else between two changes of that turn");
  if (bytes === null) await workspace.removeFile(path, now ?? undefined);
  else await workspace.writeBytes(path, bytes, { replaces: now, ...(mode === undefined ? {} : { mode }) });
  return now === null || now === after && !mixed ? undefined : OVER_ANOTHER;
}

/** Of a file of any size. */
async function hashOf(workspace: OwnWorkspace, path: string): Promise<string> {
  const hash = startSha256();
  for await (const chunk of workspace.readChunks(path)) hash.update(chunk);
  return hash.digest("hex");
}
