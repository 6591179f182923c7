import { expect, test } from "bun:test";
import { identityEnv, parseIdentity } from "../core/commands/git_identity.ts";

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
