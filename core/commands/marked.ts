/** The processes that carry a mark in their environment, seen and ended through a shell: Deno may not look itself. */

import type { Descendant } from "./descendants.ts";
import { denoProgram } from "./deno_program.ts";

/**
 * The variable that marks every command and, by inheritance, all that it starts, in whatever session. Its value is one that
 * nobody can guess. A process that empties its environment, or writes over it (some do, to show a title), is not seen.
 */
export const MARK = "COMMAND_MARK";

/**
 * For POSIX sh. `marked` prints the numbers of the processes whose environment was made with `$mark`, in the same order each time.
 * Without /proc (macOS; not yet run there) `ps` tells, so the mark comes in two halves and is in no argument of who looks.
 */
const MARKED = `mark=$1$2
marked() {
  if [ -r /proc/self/environ ]; then
    for file in $(grep -lsF -e "$mark" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      echo "\${pid%/environ}"
    done
  else
    ps -axEww -o pid=,command= | while read -r pid line; do
      case $line in *"$mark"*) echo "$pid" ;; esac
    done
  fi
}
`;

const LIST = `for pid in $(marked); do
  name=
  read -r name < "/proc/$pid/comm"
  echo "$pid $name"
done`;

/**
 * Prints `ended` where each process of the group `$3` has ended, and there is one: it stays in its group until its parent asks how it
 * ended, which in a container is often nobody's work. proc_pid_stat(5): after the name come state, parent and group.
 */
const GROUP = `group=$3 found=
for file in /proc/[0-9]*/stat; do
  read -r line < "$file" || continue
  set -- \${line##*) }
  [ "$3" = "$group" ] || continue
  [ "$1" = Z ] || exit
  found=yes
done
[ -n "$found" ] && echo ended`;

/**
 * For a script that begins with `markedArguments`: kills them all, until none is left. Between the look and the kill a process may have
 * started another: all are stopped before the first is killed. What keeps starting more of itself is killed as it comes, and
 * given up after a hundred looks.
 */
export const END_MARKED = `last= looks=0
while now=$(marked); [ -n "$now" ] && [ $looks -lt 100 ]; do
  if [ "$now" = "$last" ] || [ $looks -gt 50 ]; then kill -s KILL $now; else kill -s STOP $now; fi
  last=$now looks=$((looks + 1))
done
`;

/** The arguments of a shell for a script that knows `marked`. */
export function markedArguments(script: string, mark: string, ...more: string[]): string[] {
  const half = Math.ceil(mark.length / 2);
  return ["-c", MARKED + script, "sh", mark.slice(0, half), mark.slice(half), ...more];
}

export interface Marked {
  /** Those that run, each by a name that may be empty; each look costs some milliseconds. Nothing where it cannot be told. */
  list(): Promise<Descendant[]>;
  /** Whether all that is in this group has ended, and was only not asked for; false where it cannot be told. */
  hasEnded(group: number): Promise<boolean>;
  /** Kills them until none is left. */
  end(): Promise<void>;
}

/** Looks with this shell, in the PATH that is given. */
export function markedProcesses(mark: string, shell: string, PATH: string): Marked {
  async function say(script: string, ...more: string[]): Promise<string> {
    try {
      const args = markedArguments(script, mark, ...more);
      const child = denoProgram(shell, { args, cwd: "/", env: { PATH }, stdout: "piped", detached: true }).spawn();
      return await new Response(child.stdout).text();
    } catch {
      return ""; // no shell can be started any more
    }
  }
  return {
    async list() {
      const rows = (await say(LIST)).matchAll(/^(\d+) (.*)$/gm);
      return Array.from(rows, ([, pid, name = ""]) => ({ pid: Number(pid), name }));
    },
    hasEnded: async (group) => (await say(GROUP, String(group))).trim() === "ended",
    end: async () => void await say(END_MARKED),
  };
}
