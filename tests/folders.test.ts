import { expect, test } from "bun:test";
import { broadness, foldersOf } from "../core/folders.ts";

const places: [string, string, string, { [name: string]: string }, string | undefined, string | undefined][] = [
  ["on Linux", "linux", "/home/u", {}, "/home/u/.config/tenon", "/home/u/.local/state/tenon"],
  ["where XDG says", "linux", "/home/u", { XDG_CONFIG_HOME: "/c/", XDG_STATE_HOME: "/s" }, "/c/tenon", "/s/tenon"],
  [
    "on Linux where XDG is relative",
    "linux",
    "/home/u",
    { XDG_CONFIG_HOME: "c", XDG_STATE_HOME: "" },
    "/home/u/.config/tenon",
    "/home/u/.local/state/tenon",
  ],
  [
    "on macOS",
    "darwin",
    "/Users/u",
    {},
    "/Users/u/Library/Application Support/tenon",
    "/Users/u/Library/Application Support/tenon/state",
  ],
  [
    "on macOS where XDG says",
    "darwin",
    "/Users/u",
    { XDG_STATE_HOME: "/s" },
    "/Users/u/Library/Application Support/tenon",
    "/s/tenon",
  ],
  [
    "on Windows",
    "win32",
    "C:\\Users\\u",
    {},
    "C:\\Users\\u\\AppData\\Roaming\\tenon",
    "C:\\Users\\u\\AppData\\Local\\tenon",
  ],
  [
    "on Windows where it says",
    "win32",
    "C:\\Users\\u",
    { APPDATA: "D:\\r\\", LOCALAPPDATA: "\\\\srv\\l" },
    "D:\\r\\tenon",
    "\\\\srv\\l\\tenon",
  ],
  [
    "on Windows where XDG is of another system",
    "win32",
    "C:\\Users\\u",
    { XDG_CONFIG_HOME: "/c" },
    "C:\\Users\\u\\AppData\\Roaming\\tenon",
    "C:\\Users\\u\\AppData\\Local\\tenon",
  ],
  ["without a home: nowhere, rather than below the current folder", "linux", "", {}, undefined, undefined],
  ["without a home, where XDG says", "linux", "", { XDG_CONFIG_HOME: "/c" }, "/c/tenon", undefined],
];
test.each(places)("foldersOf finds config and state %s", (_, platform, home, env, config, state) => {
  expect(foldersOf({ platform, home, env: (name) => env[name] })).toEqual({ home: home || undefined, config, state });
});

const broad: [string, string][] = [
  ["/", "it is the root of the file system"],
  ["/home/u", "it is your home folder"],
  ["/home", "it holds your home folder"],
  ["/home/u/.config", "it holds tenon's settings"],
  ["/home/u/.config/tenon", "it holds tenon's settings"],
  ["/var/s", "it holds tenon's sessions"],
];
const folders = { home: "/home/u", config: "/home/u/.config/tenon", state: "/var/s/tenon" };
test.each(broad)("broadness tells what speaks against %s", (root, words) => {
  expect(broadness(root, folders)).toBe(words);
});

test.each(["/home/u/project", "/home/u2", "/ho", "/var/s/tenon-work", "/home/u/.config/tenon/plugins"])(
  "broadness lets %s be",
  (root) => expect(broadness(root, folders)).toBeUndefined(),
);

test("broadness without a known home is that of the root alone", () => {
  const unknown = { home: undefined, config: undefined, state: undefined };
  expect(broadness("/home/u", unknown)).toBeUndefined();
  expect(broadness("/", unknown)).toContain("the root of the file system");
});
