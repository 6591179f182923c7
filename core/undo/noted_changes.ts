/** Inside a host: notes what a built-in tool changes, with what was there before, so that the user can take it back. */

import { Buffer } from "node:buffer";
import { CHANGE_LIMIT, type FileChange } from "../hosts/protocol.ts";
import { sha256Of } from "../hash.ts";
import type { OwnWorkspace } from "../files/workspace.ts";

/** The same workspace; `note` is called after each write that went well. */
export function noteChanges(workspace: OwnWorkspace, note: (change: FileChange) => void): OwnWorkspace {
  async function noted(path: string, content: string | Uint8Array, write: () => Promise<void>): Promise<void> {
    // What cannot be looked at cannot be written either, and the write has the words for it.
    const old = await lookAt(workspace, path).catch(() => undefined);
    await write();
    if (old) note({ ...old, after: sha256Of(content) });
  }
  return {
    ...workspace,
    writeText: (path, text, options) => noted(path, text, () => workspace.writeText(path, text, options)),
    writeBytes: (path, bytes, options) => noted(path, bytes, () => workspace.writeBytes(path, bytes, options)),
  };
}

async function lookAt(workspace: OwnWorkspace, path: string): Promise<Omit<FileChange, "after">> {
  const real = await workspace.resolve(path, "write");
  if (!(await workspace.exists(real))) {
    const folders = await missingAbove(workspace, real);
    return { path: real, before: null, ...(folders.length > 0 ? { folders } : {}) };
  }
  const { size } = await workspace.stat(real);
  const mode = await workspace.modeOf(real);
  if (size > CHANGE_LIMIT) return { path: real, mode };
  const bytes = await workspace.readBytes(real);
  return { path: real, mode, before: Buffer.from(bytes).toString("base64") };
}

/** The folders that a write will make, the outermost first. */
async function missingAbove(workspace: OwnWorkspace, path: string): Promise<string[]> {
  const folders: string[] = [];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    const folder = path.slice(0, end);
    if (await workspace.exists(folder)) break;
    folders.unshift(folder);
  }
  return folders;
}
