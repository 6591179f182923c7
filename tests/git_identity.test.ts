import { expect, test } from "bun:test";
import { identityEnv, parseIdentity, repositoryConfig } from "../core/commands/git_identity.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const FILES: [what: string, text: string, identity: { name?: string; email?: string }][] = [
  ["nothing of an empty file", "", {}],
  ["both", "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n", {
    name: "Ada Lovelace",
    email: "ada@example.org",
  }],
  ["sections and names in any case, CRLF", "[USER]\r\nName=A\r\nEMAIL = b\r\n", { name: "A", email: "b" }],
  ["what follows its section on one line", "[user] name = A", { name: "A" }],
  ["quotes, and what they hold", '[user]\nname = "A #1; B"  \n', { name: "A #1; B" }],
  ["blanks that are quoted", '[user]\nname = " A "\n', { name: " A " }],
  ["no comment", "[user]\nname = A # b\nemail = c ; d\n# name = x\n", { name: "A", email: "c" }],
  ["escapes", '[user]\nname = A \\"the\\" B\\\\\n', { name: 'A "the" B\\' }],
  ["a value that goes on in the next line", "[user]\nname = A\\\nB\n", { name: "AB" }],
  ["the last of two", "[user]\nname = A\n[core]\nname = C\n[user]\nname = B\n", { name: "B" }],
  ["no value that no variable can have", "[user]\nname = A\0B\nemail = c\n", { email: "c" }],
  ["no other section", '[users]\nname = A\n[user "x"]\nname = B\n[credential]\nemail = c\n', {}],
];

test.each(FILES)("parseIdentity reads %s", (_what, text, identity) => {
  expect(parseIdentity(text)).toEqual(identity);
});

test("identityEnv names author and committer, and lets the later file win", () => {
  expect(identityEnv(["[user]\nname = A\nemail = a@x", "[user]\nname = B\n"])).toEqual({
    GIT_AUTHOR_NAME: "B",
    GIT_COMMITTER_NAME: "B",
    GIT_AUTHOR_EMAIL: "a@x",
    GIT_COMMITTER_EMAIL: "a@x",
  });
  expect(identityEnv(["[user]\nname =\n"])).toEqual({});
});

const SAYS = "printf '[user]\\nname = Eve\\n' >";
const REPOSITORIES: [what: string, setup: string, text: string][] = [
  ["the repository's settings", `mkdir .git; ${SAYS} .git/config`, "[user]\nname = Eve\n"],
  ["nothing where there is no repository", "true", ""],
  ["nothing of another repository's", `mkdir ../other; ${SAYS} ../other/config; echo 'gitdir: ../other' > .git`, ""],
  ["nothing behind a link", `mkdir .git; ${SAYS} ../o; ln -s ../../o .git/config`, ""],
  ["nothing in a folder that is a link", `mkdir ../o; ${SAYS} ../o/config; ln -s ../o .git`, ""],
  ["nothing of a pipe", "mkdir .git; mkfifo .git/config", ""],
  ["nothing of what is too large for settings", "mkdir .git; truncate -s 2M .git/config", ""],
];

test.each(REPOSITORIES)("repositoryConfig gives %s", async (_what, setup, text) => {
  await using temp = await tempWorkspace();
  await temp.sh(setup);
  expect(repositoryConfig(temp.root)).toBe(text);
});
