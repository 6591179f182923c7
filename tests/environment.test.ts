import { expect, test } from "bun:test";
import { cleanEnvironment } from "../core/fence/environment.ts";

const options = {
  home: "/private/home",
  tmp: "/private/tmp",
  names: [] as string[],
  isWritable: (folder: string) => folder === "/ws" || folder.startsWith("/ws/"),
};
const base = { PATH: "/usr/bin", HOME: "/private/home", TMPDIR: "/private/tmp", LANG: "C.UTF-8", TERM: "dumb" };

test("cleanEnvironment passes nothing on that was not named", () => {
  const env = {
    PATH: "/usr/bin",
    HOME: "/home/u",
    TMPDIR: "/tmp",
    TERM: "xterm",
    ANTHROPIC_API_KEY: "key",
    AWS_SECRET_ACCESS_KEY: "canary",
    SSH_AUTH_SOCK: "/x",
    DBUS_SESSION_BUS_ADDRESS: "unix:path=/x",
  };
  expect(cleanEnvironment(env, options, "linux")).toEqual(base);
});

test("cleanEnvironment passes on what was named, the language and the time zone", () => {
  const env = { PATH: "/usr/bin", LANG: "de_DE.UTF-8", TZ: "Asia/Taipei", CC: "clang", EMPTY: "", OTHER: "x" };
  expect(cleanEnvironment(env, { ...options, names: ["CC", "EMPTY", "ABSENT"] }, "linux")).toEqual({
    ...base,
    LANG: "de_DE.UTF-8",
    TZ: "Asia/Taipei",
    CC: "clang",
    EMPTY: "",
  });
});

test.each([
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "BUN_OPTIONS",
  "BUN_BE_BUN",
  "NODE_OPTIONS",
  "LD_PRELOAD",
  "LD_LIBRARY_PATH",
  "DENO_DIR",
  "DYLD_INSERT_LIBRARIES",
  "node_options",
])("cleanEnvironment never passes on %s, also when it is named", (name) => {
  const env = { PATH: "/usr/bin", [name]: "x" };
  expect(cleanEnvironment(env, { ...options, names: [name] }, "linux")).toEqual(base);
});

test("cleanEnvironment lets no named variable take the place of its own", () => {
  const env = { PATH: "/usr/bin", HOME: "/home/u", TMPDIR: "/tmp", TERM: "xterm" };
  expect(cleanEnvironment(env, { ...options, names: ["HOME", "TMPDIR", "TERM", "PATH"] }, "linux")).toEqual(base);
});

/** SHELL-11: a program that a tool may write is never found by its name. */
const PATHS: [id: string, path: string | undefined, clean: string][] = [
  ["SHELL-11", ".:/ws/node_modules/.bin:/usr/bin:/bin", "/usr/bin:/bin"],
  ["relative", "bin:./x:../y:/bin", "/bin"],
  ["empty entries mean the current folder", ":/bin::/usr/bin:", "/bin:/usr/bin"],
  ["a name that only begins like the workspace", "/wsx/bin:/ws", "/wsx/bin"],
  ["nothing left", "/ws:.", "/usr/local/bin:/usr/bin:/bin"],
  ["no path", undefined, "/usr/local/bin:/usr/bin:/bin"],
];

test.each(PATHS)("cleanEnvironment cleans the path (%s): %p", (_id, path, clean) => {
  expect(cleanEnvironment({ PATH: path }, options, "linux")["PATH"]).toBe(clean);
});

test("cleanEnvironment on Windows keeps what programs there need, and its kind of path", () => {
  const env = {
    Path: "C:\\Windows;bin;D:\\ws;\\\\host\\share",
    SystemRoot: "C:\\Windows",
    PATHEXT: ".EXE",
    SECRET: "x",
  };
  expect(cleanEnvironment(env, { ...options, isWritable: (folder) => folder === "D:\\ws" }, "win32")).toEqual({
    ...base,
    PATH: "C:\\Windows;\\\\host\\share",
    SystemRoot: "C:\\Windows",
    PATHEXT: ".EXE",
    USERPROFILE: "/private/home",
    TEMP: "/private/tmp",
    TMP: "/private/tmp",
  });
});
