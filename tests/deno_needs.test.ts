import { describe, expect, test } from "bun:test";
import type { DenoDescriptor } from "../core/permissions/deno_grants.ts";
import { programNeeds } from "../core/permissions/deno_needs.ts";

const NEEDS = { api: "api.example.com:443", pluginFolders: ["/p/plugins", "/a,b"], state: "/s/tenon" };
const KEPT = "undo, and all else that is kept in /s/tenon";

/** Everything a descriptor says, in words: `net api.example.com:443`. */
function nameOf(descriptor: DenoDescriptor): string {
  return Object.values(descriptor).join(" ");
}

const rows: [what: string, granted: string[], told: string[]][] = [
  ["everything where nothing is granted", [], [
    "the key: Deno has no --allow-env for it; start with deno run --allow-env=ANTHROPIC_*",
    "the API at api.example.com:443: Deno has no --allow-net for it; start with deno run --allow-net=api.example.com:443",
    "your home folder: Deno has no --allow-env for it; start with deno run --allow-env=HOME",
    "plugins in /p/plugins: Deno has no --allow-read for it; start with deno run --allow-read=/p/plugins",
    "plugins in /a,b: Deno has no --allow-read for it; start with deno run --allow-read=/a,,b",
    `${KEPT}: Deno has no --allow-read for it; start with deno run --allow-read=/s/tenon`,
    `${KEPT}: Deno has no --allow-write for it; start with deno run --allow-write=/s/tenon`,
  ]],
  ["one of several folders", [
    ...["env ANTHROPIC_API_KEY", "net api.example.com:443", "env HOME", "read /p/plugins", "read /s/tenon"],
  ], [
    "plugins in /a,b: Deno has no --allow-read for it; start with deno run --allow-read=/a,,b",
    `${KEPT}: Deno has no --allow-write for it; start with deno run --allow-write=/s/tenon`,
  ]],
  ["nothing where all is granted, by another name too", [
    ...["env ANTHROPIC_AUTH_TOKEN", "net api.example.com:443", "env USERPROFILE", "read /p/plugins", "read /a,b"],
    ...["read /s/tenon", "write /s/tenon"],
  ], []],
];

describe("programNeeds", () => {
  test.each(rows)("tells %s", (_, granted, told) => {
    const missing = programNeeds((descriptor) => granted.includes(nameOf(descriptor)) ? "granted" : "denied", NEEDS);
    expect(missing.map(({ feature, reason }) => `${feature}: ${reason}`)).toEqual(told);
  });
});
