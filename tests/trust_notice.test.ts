import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parseArgv } from "../core/options.ts";
import { openPremises } from "../core/premises.ts";
import { describeTrustable, reachNotice, trustCommand, untrustedLines } from "../core/plugins/trust_notice.ts";
import type { Trustable } from "../core/plugins/trust.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const plugin = (file: string, changed?: string[]): Trustable => ({
  file,
  permissions: { read: true, net: ["a.com:443"] },
  closure: { sha256: "0", files: new Map(), isPure: true },
  changed,
});

test("untrustedLines has one line for each folder, with the command that lets its plugins in", () => {
  const list = [plugin("/ws/p/a.ts"), plugin("/ws/it's/c.ts"), plugin("/ws/p/b.ts", ["lib/x.ts"])];
  expect(untrustedLines(list, "/ws", ".")).toEqual([
    "a.ts, b.ts (changed) in p are not trusted and were skipped. To use: tenon trust /ws/p",
    "c.ts in it's is not trusted and was skipped. To use: tenon trust '/ws/it'\\''s'",
  ]);
  expect(untrustedLines([plugin("/ws/a.ts")], "/ws", "../ws")).toEqual([
    "a.ts in the workspace is not trusted and was skipped. To use: tenon trust -C ../ws /ws",
  ]);
  expect(untrustedLines([], "/ws", ".")).toEqual([]);
});

test("untrustedLines and describeTrustable show no control character of a file's name", () => {
  const odd = plugin("/ws/p\x1b[2J/a\u202e.ts", ["b\n.ts"]);
  for (const line of [...untrustedLines([odd], "/ws", "."), describeTrustable(odd, "/ws")]) {
    // deno-lint-ignore no-control-regex -- this is what must not be there
    expect(line.replace(/tenon trust .*/, "")).not.toMatch(/[\x00-\x1f\u202e]/);
  }
});

test("trustCommand can be pasted into a shell", () => {
  for (const folder of ["/a", "/a b", "/it's", '/"$(id)`id`', "/é", "/-x"]) {
    const words = trustCommand(folder, ".").replace("tenon trust", "printf %s");
    expect(Bun.spawnSync(["sh", "-c", words]).stdout.toString()).toBe(folder);
  }
});

test("describeTrustable tells file, tool, permissions and what changed", () => {
  expect(describeTrustable(plugin("/ws/p/a.ts"), "/ws")).toBe("p/a.ts (tool a; permissions: read+net=a.com:443)");
  expect(describeTrustable(plugin("/ws/p/a.ts", ["a.ts", "x.ts"]), "/ws")).toBe(
    "p/a.ts (tool a; permissions: read+net=a.com:443; changed since it was trusted: a.ts, x.ts)",
  );
});

describe("reachNotice", () => {
  const rows: [what: string, files: Record<string, string>, argv: string[], notice: string | undefined][] = [
    ["says nothing of a plain folder", { "a.txt": "" }, [], undefined],
    ["says nothing of a folder without plugins", { ".tenon/plugins/README.md": "" }, [], undefined],
    ["says nothing of a file in the place of a folder", { ".tenon/plugins": "" }, [], undefined],
    [
      "tells of plugins",
      { ".tenon/plugins/a.ts": "" },
      [],
      "The workspace holds plugins (.tenon/plugins): file tools refuse to write there, but a command that bash runs or a plugin that may write can replace them",
    ],
    [
      "tells of each folder, and not of bash where nothing may run",
      { ".tenon/plugins/a.ts": "", "p/b.ts": "" },
      ["--plugins", "p", "--deny-run"],
      "The workspace holds plugins (p) and plugins (.tenon/plugins): file tools refuse to write there, but a plugin that may write can replace them",
    ],
    [
      "and of nothing where nothing is written",
      { ".tenon/plugins/a.ts": "" },
      ["--deny-write"],
      "The workspace holds plugins (.tenon/plugins): file tools refuse to write there",
    ],
  ];
  test.each(rows)("%s", async (_, files, argv, notice) => {
    await using temp = await tempWorkspace(files);
    const words = argv.map((word) => word === "p" ? join(temp.root, word) : word);
    const { options } = parseArgv(["-C", temp.root, ...words, "hi"]);
    expect(reachNotice(await openPremises(options, true))).toBe(notice);
  });
});
