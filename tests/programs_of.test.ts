import { expect, test } from "bun:test";
import fc from "fast-check";
import { programsOf } from "../core/permissions/programs_of.ts";

const plain: [command: string, program: string][] = [
  ["echo three", "echo"],
  ["  ls\t-la  src/ ", "ls"],
  ["git commit --author=a@b.c -m x", "git"],
  ["./build.sh 1,2 a:b 50%", "./build.sh"],
  ["/bin/rm -rf a", "/bin/rm"],
  ["g++ -o a a.cc", "g++"],
  ["cat kešu/kesi.py", "cat"],
  ["true", "true"],
];
test.each(plain)("programsOf tells the program of %j: %s", (command, program) => {
  expect(programsOf(command)).toEqual([program]);
});

const unknown: [why: string, commands: string[]][] = [
  ["several commands", [
    "echo a; ls",
    "echo a && ls",
    "echo a || ls",
    "echo a | ls",
    "echo a & ls",
    "echo a\nls",
    "echo\r ls",
  ]],
  ["a program inside", ["echo $(ls)", "echo `ls`", "echo <(ls)", "(ls)", "{ ls }", "f() ls"]],
  ["quotes and escapes", ["echo 'a'", 'echo "a"', "l\\s", "echo a\\", "''ls"]],
  ["variables", ["$X", "echo $HOME", "echo ${X:-a}", "X=1 ls", "A+=1 ls", "PATH=. ls"]],
  ["patterns and the home folder", ["echo *", "ls a?", "ls [ab]", "ls {a,b}", "ls ~", "~/x"]],
  ["redirections", ["echo a > f", "cat < f", "echo a>f", "2>f ls"]],
  ["history, jobs and comments", ["! ls", "!!", "%1", "echo # ls", "#ls", "-ls"]],
  ["other blanks", ["echo\u00a0a", "echo\u2028ls", "echo \u0000", "echo\vls", "\ufeffls"]],
  ["nothing", ["", "  ", "\t"]],
  ["a program that starts another one", [
    "sh x.sh",
    "/usr/bin/env ls",
    "eval ls",
    "exec ls",
    ". x",
    "time ls",
    "sudo ls",
    "if ls",
  ]],
];
test.each(unknown)("programsOf tells nothing of a command with %s", (_, commands) => {
  for (const command of commands) expect([command, programsOf(command)]).toEqual([command, []]);
});

test("programsOf tells the first word, and only of commands without a sign that a shell reads", () => {
  const part = fc.constantFrom("ls", "echo", " ", "\t", "a", "/", ".", ...";&|<>()$`\\\"'*?[]#~!{}^\n=%-");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const command = parts.join("");
      const programs = programsOf(command);
      if (/[;&|<>()$`\\"'*?[\]#~!{}^\n]/.test(command)) expect(programs).toEqual([]);
      else if (programs.length > 0) expect(command.trim().split(/[ \t]+/)[0]).toBe(programs[0] ?? "");
    }),
    { numRuns: 500 },
  );
});
