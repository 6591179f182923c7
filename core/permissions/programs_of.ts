/** Which program a command starts, told from its words alone: what `--allow-run=NAMES` and `--deny-run=NAMES` are held against. */

/** Letters and digits of any script, and signs that mean nothing to a shell wherever they stand. */
const PLAIN_WORD = /^[\p{L}\p{N}_@%+=:,./-]+$/u;
/** No `=`: that would be an assignment, and the program the next word. */
const PROGRAM = /^[\p{L}\p{N}_./][\p{L}\p{N}_.+/-]*$/u;

/** What starts the program that its own words name, or reads its words as a command. The usual ones: nobody can know them all. */
const STARTERS = new Set([
  ...[
    "if",
    "then",
    "else",
    "elif",
    "fi",
    "for",
    "while",
    "until",
    "do",
    "done",
    "case",
    "esac",
    "select",
    "function",
    "in",
  ],
  ...[".", "builtin", "command", "compgen", "coproc", "enable", "eval", "exec", "source", "time", "trap"],
  ...["bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "sh", "rbash", "busybox", "toybox"],
  ...["chroot", "chrt", "doas", "env", "flock", "ionice", "nice", "nohup", "nsenter", "parallel", "script", "setarch"],
  ...["setpriv", "setsid", "stdbuf", "strace", "su", "sudo", "taskset", "timeout", "unshare", "watch", "xargs"],
]);

/**
 * The one program of a simple command, as typed, in a list; an empty list where that cannot be told: several commands, quotes,
 * variables, patterns, redirections, a line end, an assignment, or a program whose business it is to start another one. When in
 * doubt it cannot be told. What the program itself starts (`make`, `npm`) is not looked at.
 */
export function programsOf(command: string): string[] {
  const [program = "", ...words] = command.replace(/^[ \t]+|[ \t]+$/g, "").split(/[ \t]+/);
  if (!PROGRAM.test(program) || !words.every((word) => PLAIN_WORD.test(word))) return [];
  return STARTERS.has(program.replace(/^.*\//, "")) ? [] : [program];
}
