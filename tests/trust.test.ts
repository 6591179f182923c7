import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readClosure } from "../core/plugins/plugin_closure.ts";
import { copyClosure, openTrust, type Trustable } from "../core/plugins/trust.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

const PLUGIN =
  'import { x } from "./lib/x.ts";\nexport const definition = { permissions: { read: true, run: true } };\n';
const FILES = { "p/a.ts": PLUGIN, "p/lib/x.ts": "export const x = 1;\n", "p/b.ts": "export {};\n" };

/** What the store says of a plugin now; a fresh look at both. */
async function judged({ root, top }: TempWorkspace, name = "a.ts") {
  const file = join(root, "p", name);
  return (await openTrust(join(top, "state"))).judge(file, await readClosure(file));
}

async function accept(temp: TempWorkspace, name = "a.ts"): Promise<Trustable> {
  const one = await judged(temp, name);
  if (typeof one === "string") throw new Error(one);
  await (await openTrust(join(temp.top, "state"))).accept(one.plugin);
  return one.plugin;
}

describe("openTrust", () => {
  test("trusts nothing at first, and shows what there is to trust", async () => {
    await using temp = await tempWorkspace(FILES);
    expect(await judged(temp)).toMatchObject({
      state: "untrusted",
      plugin: { file: join(temp.root, "p/a.ts"), permissions: { read: true, run: true } },
    });
  });

  test("trusts what was accepted, and no other file", async () => {
    await using temp = await tempWorkspace(FILES);
    await accept(temp);
    expect(await judged(temp)).toMatchObject({ state: "trusted" });
    expect(await judged(temp, "b.ts")).toMatchObject({ state: "untrusted" });
    expect((await stat(join(temp.top, "state", "trust.json"))).mode & 0o777).toBe(0o600);
  });

  const changes: [what: string, file: string, text: string, changed: string[]][] = [
    ["the plugin", "a.ts", `${PLUGIN}\n`, ["a.ts"]],
    ["what it imports (TRUST-05)", "lib/x.ts", "export const x = 2;\n", ["lib/x.ts"]],
  ];
  test.each(changes)("does not trust it any more once %s is another", async (_, file, text, changed) => {
    await using temp = await tempWorkspace(FILES);
    await accept(temp);
    await writeFile(join(temp.root, "p", file), text);
    expect(await judged(temp)).toMatchObject({ state: "untrusted", plugin: { changed } });
    await accept(temp);
    expect(await judged(temp)).toMatchObject({ state: "trusted" });
  });

  const unparsable: [what: string, files: { [name: string]: string }, problem: RegExp][] = [
    ["that does not parse", { "p/c.ts": "export const definition = {\n" }, /^cannot be trusted: line \d: \S/],
    [
      "that imports what does not parse",
      { "p/c.ts": 'import "./lib/y.ts";\n', "p/lib/y.ts": "\nconst a = ;\n" },
      /^cannot be trusted: lib\/y\.ts line 2: Unexpected ;$/,
    ],
    ["of JavaScript that is TypeScript", { "p/c.js": "let a: number;\n" }, /^cannot be trusted: line 1: \S/],
  ];
  test.each(unparsable)("cannot trust a file %s", async (_, files, problem) => {
    await using temp = await tempWorkspace(files);
    expect(await judged(temp, Object.keys(files)[0]?.slice(2))).toMatch(problem);
  });

  test("does not trust the same bytes at another place", async () => {
    await using temp = await tempWorkspace({ ...FILES, "q/a.ts": PLUGIN, "q/lib/x.ts": FILES["p/lib/x.ts"] });
    await accept(temp);
    const other = join(temp.root, "q", "a.ts");
    const trust = await openTrust(join(temp.top, "state"));
    expect(trust.judge(other, await readClosure(other))).toMatchObject({ state: "untrusted" });
  });

  test("takes trust back, for one folder", async () => {
    await using temp = await tempWorkspace(FILES);
    await accept(temp);
    await accept(temp, "b.ts");
    const trust = await openTrust(join(temp.top, "state"));
    expect(await trust.revoke(join(temp.root, "other"))).toBe(0);
    expect(await trust.revoke(join(temp.root, "p"))).toBe(2);
    expect(await judged(temp)).toMatchObject({ state: "untrusted" });
  });

  test("keeps what another tenon has trusted meanwhile", async () => {
    await using temp = await tempWorkspace(FILES);
    const early = await openTrust(join(temp.top, "state"));
    await accept(temp, "b.ts");
    const one = early.judge(join(temp.root, "p/a.ts"), await readClosure(join(temp.root, "p/a.ts")));
    if (typeof one === "string") throw new Error(one);
    await early.accept(one.plugin);
    expect(await judged(temp)).toMatchObject({ state: "trusted" });
    expect(await judged(temp, "b.ts")).toMatchObject({ state: "trusted" });
  });

  const broken = ["", "{", '{"plugins":[]}', '{"plugins":{"/x":{"sha256":"*"}}}', '{"plugins":true}'];
  test.each(broken)("trusts nothing when its list is %j", async (text) => {
    await using temp = await tempWorkspace(FILES);
    await accept(temp);
    await writeFile(join(temp.top, "state", "trust.json"), text);
    expect(await judged(temp)).toMatchObject({ state: "untrusted" });
  });

  const rule = "A plugin to be trusted imports only files beside or below it, node: modules, valibot and tenon";
  const refused: [source: string, problem: string][] = [
    ['import "zod"', `cannot be trusted: b.ts imports "zod". ${rule}`],
    ["import(x)", `cannot be trusted: b.ts has import(…) of a computed name. ${rule}`],
    ['import "../out.ts"', `cannot be trusted: it imports "../out.ts". ${rule}`],
    ['import "./none.ts"', `cannot be trusted: b.ts imports "none.ts", which is not there. ${rule}`],
    [
      "const d = { permissions: mine }",
      "cannot be trusted: its permissions are not written out in one literal, { read: true }",
    ],
  ];
  test.each(refused)("refuses %j", async (source, problem) => {
    await using temp = await tempWorkspace({ ...FILES, "out.ts": "", "p/b.ts": source });
    expect(await judged(temp, "b.ts")).toBe(problem);
  });

  test("refuses a plugin that is a link, and one that needs one", async () => {
    await using temp = await tempWorkspace({ "p/a.ts": 'import "./l/x.ts"', "q/x.ts": "", "q/b.ts": "" });
    await temp.sh("ln -s ../q p/l; ln -s ../q/b.ts p/b.ts");
    expect(await judged(temp)).toStartWith('cannot be trusted: "l/x.ts" is reached by a link');
    expect(await judged(temp, "b.ts")).toStartWith('cannot be trusted: "b.ts" is reached by a link');
  });

  test("says so when nothing can be kept", async () => {
    await using temp = await tempWorkspace(FILES);
    const one = await judged(temp);
    if (typeof one === "string") throw new Error(one);
    const nowhere = await openTrust(undefined);
    await expect(nowhere.accept(one.plugin)).rejects.toThrow("set HOME");
    const file = await openTrust(join(temp.root, "p", "a.ts"));
    await expect(file.accept(one.plugin)).rejects.toThrow("cannot be written");
    await expect(file.copyOf(one.plugin.file, one.plugin.closure)).rejects.toThrow("cannot be written");
  });
});

describe("copyOf", () => {
  test("makes a copy of the files that were hashed, below the state folder and with their hash", async () => {
    await using temp = await tempWorkspace(FILES);
    const { file, closure } = await accept(temp);
    // Whatever lies there by now: these bytes were hashed.
    await writeFile(file, "other");
    const copy = await (await openTrust(join(temp.top, "state"))).copyOf(file, closure);
    expect(copy).toBe(join(temp.top, "state", "trusted", closure.sha256, "a.ts"));
    expect(await readFile(copy, "utf8")).toBe(PLUGIN);
    expect(await readFile(join(dirname(copy), "lib/x.ts"), "utf8")).toBe(FILES["p/lib/x.ts"]);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
  });

  const later: [what: string, act: (temp: TempWorkspace) => Promise<unknown>][] = [
    ["trust in its plugin is taken back", async ({ root, top }) => {
      await (await openTrust(join(top, "state"))).revoke(join(root, "p"));
    }],
    ["other bytes of its plugin are trusted", async (temp) => {
      await writeFile(join(temp.root, "p", "a.ts"), `${PLUGIN}\n`);
      await accept(temp);
    }],
  ];
  test.each(later)("is removed when %s, and nothing else is", async (_, act) => {
    await using temp = await tempWorkspace(FILES);
    const trust = await openTrust(join(temp.top, "state"));
    const one = await accept(temp);
    const copy = await trust.copyOf(one.file, one.closure);
    // No plugin's trust: a version that works on beside a bad file. Another tenon may run it.
    const b = join(temp.root, "p", "b.ts");
    const kept = await copyClosure(join(temp.top, "state"), b, await readClosure(b));
    await act(temp);
    expect([existsSync(dirname(copy)), existsSync(kept)]).toEqual([false, true]);
  });

  test("stays while the same bytes are trusted elsewhere", async () => {
    const elsewhere = { "q/a.ts": PLUGIN, "q/lib/x.ts": FILES["p/lib/x.ts"] };
    await using temp = await tempWorkspace({ ...FILES, ...elsewhere });
    const trust = await openTrust(join(temp.top, "state"));
    const one = await accept(temp);
    const file = join(temp.root, "q", "a.ts");
    await trust.accept({ ...one, file, closure: await readClosure(file) });
    const copy = await trust.copyOf(one.file, one.closure);
    await trust.revoke(join(temp.root, "p"));
    expect(existsSync(copy)).toBe(true);
    await trust.revoke(join(temp.root, "q"));
    expect(existsSync(copy)).toBe(false);
  });

  test("makes one copy for plugins of the same bytes that are looked at together", async () => {
    const elsewhere = { "q/a.ts": PLUGIN, "q/lib/x.ts": FILES["p/lib/x.ts"] };
    await using temp = await tempWorkspace({ ...FILES, ...elsewhere });
    const files = ["p/a.ts", "q/a.ts", "p/a.ts", "q/a.ts"].map((name) => join(temp.root, name));
    const closure = await readClosure(join(temp.root, "p", "a.ts"));
    for (let round = 0; round < 20; round++) {
      const state = join(temp.top, `state${round}`);
      const copies = await Promise.all(files.map((file) => copyClosure(state, file, closure)));
      expect(new Set(copies)).toEqual(new Set([join(state, "trusted", closure.sha256, "a.ts")]));
    }
  });

  test("does not believe a copy that is there: it is made again when one byte differs", async () => {
    await using temp = await tempWorkspace(FILES);
    const { file, closure } = await accept(temp);
    const trust = await openTrust(join(temp.top, "state"));
    const copy = await trust.copyOf(file, closure);
    await writeFile(join(dirname(copy), "lib/x.ts"), "evil");
    expect(await trust.copyOf(file, closure)).toBe(copy);
    expect(await readFile(join(dirname(copy), "lib/x.ts"), "utf8")).toBe(FILES["p/lib/x.ts"]);
  });

  // Root writes everywhere.
  test.skipIf(process.getuid?.() === 0)(
    "throws rather than run a copy that differs and cannot be replaced",
    async () => {
      await using temp = await tempWorkspace(FILES);
      const { file, closure } = await accept(temp);
      const trust = await openTrust(join(temp.top, "state"));
      const copy = await trust.copyOf(file, closure);
      await writeFile(copy, "evil");
      for (const folder of [dirname(copy), dirname(dirname(copy))]) await chmod(folder, 0o500);
      try {
        await expect(trust.copyOf(file, closure)).rejects.toThrow("cannot be written");
      } finally {
        for (const folder of [dirname(dirname(copy)), dirname(copy)]) await chmod(folder, 0o700);
      }
    },
  );
});
