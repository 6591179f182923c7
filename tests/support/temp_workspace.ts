/** A workspace in a temporary folder that goes away by itself. */

import { chmod, mkdir, mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { type Grant, openWorkspace } from "../../core/files/workspace.ts";
import { dirname, join } from "../../core/path.ts";
import type { Context, SeenFile, Workspace } from "../../core/tool.ts";

export interface TempWorkspace extends AsyncDisposable {
  /** The folder above, real path: what lies in it beside `root` is outside; an empty `home` is there. */
  top: string;
  /** The workspace's folder. */
  root: string;
  workspace: Workspace;
  /** A context as handlers get it; `seen` keeps what is noted. */
  context: Context;
  /** Runs a POSIX setup in `top` when it makes `ws`, as the handed cases have it; opens the workspace again. */
  sh(setup: string): Promise<void>;
}

/** Writes the files (name → text) and opens a workspace that may be read and written, unless the grant says otherwise. */
export async function tempWorkspace(
  files: { [path: string]: string | Uint8Array } = {},
  grant: Partial<Grant> = {},
): Promise<TempWorkspace> {
  const top = await realpath(await mkdtemp(join(tmpdir(), "tenon-test-")));
  const root = join(top, "ws");
  await mkdir(root);
  await mkdir(join(top, "home"));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  const open = () =>
    openWorkspace({ root, read: [root], write: [root], denyRead: [], denyWrite: [], ...absolute(root, grant) });
  const temp = {
    top,
    root,
    workspace: await open(),
    context: undefined as unknown as Context,
    async sh(setup: string) {
      // A setup that makes `ws` expects to find none; any other one runs inside the workspace.
      const makesRoot = /\bws\b/.test(setup);
      if (makesRoot) await rm(root, { recursive: true });
      const run = Bun.spawnSync(["sh", "-c", setup], { cwd: makesRoot ? top : root });
      if (run.exitCode !== 0) throw new Error(`setup failed: ${run.stderr}`);
      if (makesRoot) await stat(root);
      temp.workspace = temp.context.workspace = await open();
    },
    async [Symbol.asyncDispose]() {
      await chmod(top, 0o700);
      await rm(top, { recursive: true, force: true });
    },
  };
  temp.context = contextFor(temp.workspace);
  return temp;
}

function contextFor(workspace: Workspace): Context {
  const files = new Map<string, SeenFile>();
  return {
    workspace,
    signal: new AbortController().signal,
    progress: () => {},
    seen: { get: (path) => files.get(path), note: (path, file) => void files.set(path, file) },
  };
}

function absolute(root: string, grant: Partial<Grant>): Partial<Grant> {
  const entries = Object.entries(grant).map(([key, value]) => [
    key,
    Array.isArray(value) && key !== "undeclared" ? value.map((path) => join(root, path)) : value,
  ]);
  return Object.fromEntries(entries);
}
