import { expect, test } from "bun:test";
import { systemProblem } from "../core/hosts/system_problem.ts";
import type { Permissions } from "../core/tool.ts";

function error(message: string, more: object = {}, Kind: new (message: string) => Error = Error): Error {
  return Object.assign(new Kind(message), more);
}

/** What Deno throws where a worker lacks a permission. */
function notCapable(kind: string, what: string): Error {
  return error(`Requires ${kind} access to "${what}", run again with the --allow-${kind} flag`, { name: "NotCapable" });
}

const NO_NETWORK = "a plugin has no network of its own. In its code, ";
const DECLARE_NET = `${NO_NETWORK}declare permissions: { net: ["host:port"] }, and use context.fetch`;
const DECLARE_RUN = "it starts a program, which it does not declare. Its definition needs permissions: { run: true }";
const USE_WORKSPACE = "Its code should use context.workspace";
const DNS = { code: "EAI_AGAIN", syscall: "getaddrinfo", errno: -3001 };
const OPEN = { syscall: "open", errno: -2 };
const SPAWN = { syscall: "spawn", errno: -1 };
const net = { net: ["example.com:443"] };

const rows: [what: string, thrown: unknown, declared: Permissions, words: string | undefined][] = [
  [
    "Bun's fetch",
    error("getaddrinfo EAI_AGAIN example.com", { ...DNS, path: "https://a.com/" }, TypeError),
    {},
    DECLARE_NET,
  ],
  [
    "Bun's fetch of an address",
    error("EPERM: ?", { code: "EPERM", errno: 0, path: "http://10.0.0.1/" }),
    {},
    DECLARE_NET,
  ],
  ["Bun's fetch without a fence", error("?", { code: "ConnectionRefused", path: "http://a.com/" }), {}, DECLARE_NET],
  ["Deno's fetch", notCapable("net", "example.com:443"), { read: true }, DECLARE_NET],
  ["Deno's https", notCapable("sys", "ca"), {}, DECLARE_NET],
  ["a name that is looked up", error("getaddrinfo EAI_AGAIN", DNS), {}, DECLARE_NET],
  ["a socket", error("connect", { code: "ECONNREFUSED", syscall: "connect", errno: -111 }), {}, DECLARE_NET],
  ["a fetch of what is declared", error("getaddrinfo EAI_AGAIN", DNS), net, `${NO_NETWORK}use context.fetch`],
  ["Bun's spawn", error("posix_spawn 'ls'", { code: "EPERM", ...SPAWN, path: "ls" }), {}, DECLARE_RUN],
  [
    "Bun's execSync",
    error("?", { code: "EPERM", errno: -1, syscall: "spawnSync /bin/sh", path: "/bin/sh" }),
    {},
    DECLARE_RUN,
  ],
  ["Deno's spawn", notCapable("run", "ls"), {}, DECLARE_RUN],
  ["Deno's execSync", error("Command failed: ls"), { read: true }, DECLARE_RUN],
  ["a command that failed", error("Command failed: ls"), { run: true }, undefined],
  [
    "a program that is not there",
    error("spawn gti ENOENT", { code: "ENOENT", ...SPAWN, path: "gti" }),
    { run: true },
    'it cannot start "gti": no such file',
  ],
  [
    "a program that was not granted",
    notCapable("run", "ls"),
    { run: true },
    'it cannot start "ls": the system does not permit it',
  ],
  [
    "a file that is missing",
    error("ENOENT: no such file or directory, open '../../s.txt'", { code: "ENOENT", ...OPEN, path: "../../s.txt" }),
    {},
    `it reaches for "../../s.txt" by itself: no such file. ${USE_WORKSPACE}`,
  ],
  [
    "a file outside",
    error("EACCES: permission denied, open '/home/me/s.txt'", { code: "EACCES", ...OPEN, path: "/home/me/s.txt" }),
    {},
    `it reaches for "s.txt" by itself: the system does not permit it. ${USE_WORKSPACE}`,
  ],
  [
    "a file outside under Deno",
    notCapable("read", "/home/me/s.txt"),
    {},
    `it reaches for "s.txt" by itself: the system does not permit it. ${USE_WORKSPACE}`,
  ],
  [
    "a file that is missing for Deno's own API",
    error("No such file or directory (os error 2): readfile 'nope'", { code: "ENOENT", name: "NotFound" }),
    {},
    `it reaches for "nope" by itself: no such file. ${USE_WORKSPACE}`,
  ],
  [
    "a handle",
    error("Bad file descriptor (os error 9)", { code: "EBADF" }),
    {},
    "what it asks of the system failed: the system refused it",
  ],
  [
    "a variable under Deno",
    notCapable("env", "FOO"),
    {},
    'it reads a variable that it was not given. Its definition needs permissions: { env: ["NAME"] }',
  ],
  [
    "another power of Deno's",
    notCapable("sys", "hostname"),
    {},
    "it asks Deno for sys access, which no plugin is given",
  ],
  ["an author's error with a code", error("no ink", { code: "EINK" }), {}, undefined],
  [
    "an author's error around one",
    error("Cannot do it", { cause: error("?", { code: "ENOENT", ...OPEN }) }),
    {},
    undefined,
  ],
  ["an author's error", error("Cannot do it: no ink"), {}, undefined],
  ["a mistake in the code", error("x is not a function", {}, TypeError), {}, undefined],
  ["a refusal of the context", error('Cannot read "a.txt": no such file'), {}, undefined],
  [
    "what the system tells of the root",
    error("Permission denied", { code: "EACCES", ...OPEN, path: "/" }),
    {},
    `it reaches for a file by itself: the system does not permit it. ${USE_WORKSPACE}`,
  ],
  [
    "a signal",
    error("kill() failed: EPERM: Operation not permitted", { code: "EPERM", syscall: "kill", errno: -1 }),
    {},
    "what it asks of the system failed: the system does not permit it",
  ],
  ["what is no error", "ENOENT", {}, undefined],
];

test.each(rows)("systemProblem tells of %s", (_what, thrown, declared, words) => {
  expect(systemProblem(thrown, declared)).toBe(words as string);
});
