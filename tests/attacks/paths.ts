/** Paths that lead out of the workspace, or to what is protected in it. */

import type { Attack, Seen } from "./attack.ts";

const read = (path: string) => ({ name: "read_file", input: { path } });
const write = (path: string, content = "x") => ({ name: "write_file", input: { path, content } });
const edit = (path: string, old_string: string, new_string: string) => ({
  name: "edit_file",
  input: { path, old_string, new_string },
});

const hookMade = ({ tree }: Seen) => tree.has(tree.ws, ".git/hooks/pre-commit") && "a hook was made";
const notRefused = ({ results }: Seen) => !results[0]?.isError && "the call was not refused";

export const PATHS: Attack[] = [
  {
    id: "PATH-01",
    holds: "refuses a path over .., and no byte of the file gets out",
    steps: [read("../out/secret.txt")],
    breach: notRefused,
    control: "naive tool",
  },
  {
    id: "PATH-03",
    holds: "takes a folder beside the workspace whose name begins like it for outside",
    setup: `mkdir "$WS-evil" && cp "$OUT/secret.txt" "$WS-evil/f.txt"`,
    steps: [read("$WS-evil/f.txt")],
    breach: notRefused,
    control: "naive tool",
  },
  {
    id: "PATH-05",
    holds: "refuses a path with a NUL, and does not cut it there",
    steps: [read("a\0/../../out/secret.txt")],
    breach: notRefused,
    control: { none: "both runtimes refuse a NUL themselves" },
  },
  {
    id: "PATH-07",
    holds: "makes no parent folder outside",
    steps: [write("newdir/../../out/pwn.txt")],
    control: "naive tool",
  },
  {
    id: "PATH-09",
    holds: "writes no hook, however .git is spelt",
    setup: "mkdir -p $WS/.git/hooks",
    steps: [".GIT", ".g\u200cit", "./.git/."].map((git) => write(`${git}/hooks/pre-commit`)),
    breach: hookMade,
    control: "naive tool",
  },
  {
    id: "PATH-11",
    holds: "takes a pattern or path that begins with a dash for data",
    setup: `printf '#!/bin/sh\\ntouch $WS/ran\\n' > $WS/x.sh; chmod +x $WS/x.sh`,
    steps: [
      { name: "search_code", input: { pattern: "--pre=./x.sh", path: "." } },
      { name: "search_code", input: { pattern: "x", path: "--pre=./x.sh" } },
      read("-rf"),
    ],
    breach: ({ tree }) => tree.has(tree.ws, "ran") && "a program was started",
    control: { none: "no tool hands its input to a program as arguments" },
  },
  {
    id: "PATH-13",
    holds: "edits nothing outside",
    steps: [edit("../out/secret.txt", "CANARY", "D")],
    breach: notRefused,
    control: "naive tool",
  },
  {
    id: "LINK-01",
    holds: "refuses to read through a link that leads out",
    setup: "ln -s ../out/secret.txt $WS/l",
    steps: [read("l")],
    breach: notRefused,
    control: "naive tool",
  },
  {
    id: "LINK-03",
    holds: "never writes through a link to a file outside",
    setup: "ln -s ../out/secret.txt $WS/l",
    steps: [write("l", "overwritten")],
    control: "naive tool",
  },
  {
    id: "LINK-05",
    holds: "breaks a hard link when it writes, and leaves the file outside as it was",
    setup: "ln $OUT/secret.txt $WS/h",
    steps: [read("h"), write("h"), edit("h", "x", "y")],
    mayShow: true,
    control: "naive tool",
  },
  {
    id: "LINK-11",
    holds: "answers to a loop of links within a second",
    setup: "ln -s a $WS/b; ln -s b $WS/a",
    steps: [read("a")],
    breach: ({ results: [result] }) => !(result?.isError && result.tookMs < 1000) && `${result?.tookMs} ms`,
    control: { none: "the kernel ends a loop itself" },
  },
  {
    id: "LINK-15",
    holds: "stays with the folder that it was started in, when another is put at its place",
    steps: [
      { name: "list_files", input: { path: "." } },
      { user: "mv $WS $WS.gone && ln -s $OUT $WS" },
      read("secret.txt"),
    ],
    control: "naive tool",
  },
  {
    id: "LINK-17",
    holds: "protects .git also behind a link in the workspace",
    setup: "mkdir -p $WS/.git/hooks; ln -s .git $WS/gitlink",
    steps: [write("gitlink/hooks/pre-commit", "#!/bin/sh\n")],
    breach: hookMade,
    control: "naive tool",
  },
  {
    id: "SPEC-01",
    holds: "does not hang on a named pipe",
    setup: "mkfifo $WS/p",
    steps: [read("p"), write("p"), { name: "search_code", input: { pattern: "x", path: "." } }],
    breach: ({ results }) => results.some(({ tookMs }) => tookMs > 2000) && "a call took over 2 s",
    control: "naive tool",
  },
  {
    id: "SPEC-03",
    holds: "reads no file of a terabyte into memory",
    setup: "truncate -s 1T $WS/big",
    steps: [read("big")],
    breach: notRefused,
    control: { none: "both runtimes refuse to read so much at once; tests/read_file.test.ts measures the memory" },
  },
  {
    id: "SPEC-07",
    holds: "writes out what is hidden in names, and such files can still be read",
    setup:
      `printf x > "$WS/$(printf 'a\\nb\\033]52;c;ZZZ\\007')"; printf y > "$WS/$(printf '\\377\\376bad')"; printf z > $WS/--help`,
    steps: [{ name: "list_files", input: { path: "." } }, read("--help")],
    breach({ results: [listed, help], tty }) {
      if (tty.includes("\u001b]52") || listed?.text.includes("\u001b]52")) return "the name acts on the terminal";
      return !help?.text.includes("z") && "--help cannot be read";
    },
    control: "naive tool",
  },
  {
    id: "SEC-19",
    holds: "refuses to show .env where it was not named",
    setup: `echo "TOKEN=$CANARY" > $WS/.env`,
    steps: [read(".env")],
    breach: notRefused,
    control: "naive tool",
  },
];
