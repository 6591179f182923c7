/** Inside a host: notes what a built-in tool changes, with the content before, so that the user can take it back. */

import { Buffer } from "node:buffer";
import { CHANGE_LIMIT, type FileChange } from "../hosts/protocol.ts";
import { sha256Of } from "../hash.ts";
import type { Workspace } from "../tool.ts";

/** The same workspace; `note` is called after each write that went well. */
export function noteChanges<W extends Workspace>(workspace: W, note: (change: FileChange) => void): W {
  return {
    ...workspace,
    async writeText(path, text, options) {
      // What cannot be looked at cannot be written either, and the write has the words for it.
      const old = await lookAt(workspace, path).catch(() => undefined);
      await workspace.writeText(path, text, options);
      if (old) note({ ...old, after: sha256Of(text) });
    },
  };
}

async function lookAt(workspace: Workspace, path: string): Promise<Pick<FileChange, "path" | "before">> {
  const real = await workspace.resolve(path, "write");
  if (!(await workspace.exists(real))) return { path: real, before: null };
  const { size } = await workspace.stat(real);
  if (size > CHANGE_LIMIT) return { path: real };
  const bytes = await workspace.readBytes(real);
  return { path: real, before: Buffer.from(bytes).toString("base64") };
}
