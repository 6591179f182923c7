/** A built-in that the model is never offered: puts one file back to what it was, in the host that writes. */

import { Buffer } from "node:buffer";
import { cannot, refused } from "../files/refusal.ts";
import { sha256Of } from "../hash.ts";
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
      replaces: { type: ["string", "null"], description: "SHA-256 of what must be there; null: whatever is" },
    },
    required: ["path", "content", "replaces"],
  },
  permissions: { read: true, write: true },
};

export interface Restored {
  /** As it was when it was changed: the file itself, behind every link. */
  path: string;
  content: string | null;
  replaces: string | null;
}

/** Does nothing where the file is back already, so that what was interrupted can be done again. */
export async function handler({ path, content, replaces }: Restored, context: Context): Promise<void> {
  const workspace = context.workspace as OwnWorkspace;
  const because = (how: string) => cannot("restore", path, refused(how));
  if (await workspace.resolve(path, "write") !== path) throw because("a part of its path is a link now");
  const isThere = await workspace.exists(path);
  const now = isThere && replaces !== null ? sha256Of(await workspace.readBytes(path)) : null;
  const bytes = content === null ? null : Buffer.from(content, "base64");
  if (bytes === null && !isThere) return;
  if (bytes !== null && now === sha256Of(bytes)) return;
  if (replaces !== null && !isThere) throw because("it is no longer there");
  if (replaces !== null && now !== replaces) throw because("it was changed since");
  const condition = replaces ?? undefined;
  if (bytes === null) return await workspace.removeFile(path, condition);
  // Text is written again byte for byte.
  const text = textOf(bytes);
  if (text === undefined) throw because("it was not UTF-8 text, and only text can be put back");
  await workspace.writeText(path, text, condition === undefined ? {} : { replaces: condition });
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
