/** Private folders for commands, and a shell beside tenon that ends what is left of them and removes the folders. Deno only. */

import { denoProgram } from "../commands/deno_program.ts";
import { END_MARKED, MARK, markedArguments } from "../commands/marked.ts";
import { join } from "../path.ts";

export interface Keeper {
  home: string;
  tmp: string;
  /** Marks the commands as its own. */
  env: { [name: string]: string };
  /** Ends all that carry the mark, and removes the folders, in a moment. */
  end(): void;
}

const MAKE = 'umask 077 && mkdir "$1" "$1/home" "$1/tmp"';

/** Waits for the end of its input, which the kernel closes however tenon ends. Package managers make folders that cannot be written. */
const KEEP = `trap "" HUP INT TERM
while read -r _; do :; done
${END_MARKED}
rm -rf "$3" || { chmod -R u+rwX "$3"; rm -rf "$3"; }`;

/**
 * Makes the folders below `folder`, which may be one that all may write: their name, which is also the mark, is one that nobody
 * can guess. Undefined where it cannot be written. The keeper itself is out of reach of the terminal's signals.
 */
export function openKeeper(shell: string, folder: string, PATH: string): Keeper | undefined {
  const mark = `tenon-${crypto.randomUUID()}`;
  const own = join(folder, mark);
  const env = { PATH };
  try {
    if (!denoProgram(shell, { args: ["-c", MAKE, "sh", own], cwd: "/", env }).outputSync().success) return undefined;
    const args = markedArguments(KEEP, mark, own);
    const keeper = denoProgram(shell, { args, cwd: "/", env, stdin: "piped", detached: true }).spawn();
    keeper.unref();
    return {
      home: join(own, "home"),
      tmp: join(own, "tmp"),
      env: { [MARK]: mark },
      end: () => void keeper.stdin.close().catch(() => {}), // it was killed
    };
  } catch {
    return undefined; // no such shell
  }
}
