import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createApproval } from "../core/permissions/approval.ts";
import { type Catalog, openCatalog } from "../core/plugins/catalog.ts";
import { createHosts, HOST_LIMITS, type Hosts } from "../core/hosts/hosts.ts";
import { parseArgv } from "../core/options.ts";
import { openPremises } from "../core/premises.ts";
import { setAsideLine } from "../core/plugins/plugins.ts";
import { createRegistry } from "../core/registry.ts";
import { connectInWorker } from "./support/host_in_worker.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(30_000);

function plugin(name: string, answer: string, more = ""): string {
  return `${more}
export const definition = { name: "${name}", description: "Says ${answer.length} letters.", input_schema: { type: "object" } };
export const handler = () => "${answer}";
`;
}

interface Opened extends AsyncDisposable {
  catalog: Catalog;
  /** How often a file was loaded by a host. */
  loads(): string[];
  call(tool: string): Promise<unknown>;
}

/** The catalog of a program whose plugins lie in `p`, beside the workspace unless `inside` it. */
async function open(
  { root, top }: TempWorkspace,
  {
    inside = false,
    isSource = false,
    beforeLoad = (): Promise<void> => Promise.resolve(),
    loadMs = HOST_LIMITS.loadMs,
  } = {},
): Promise<Opened> {
  const folder = inside ? join(root, "p") : join(top, "p");
  const premises = await openPremises(parseArgv(["tools", "-C", root, "--plugins", folder]).options, false);
  const running = createHosts(connectInWorker, new Map(), { ...HOST_LIMITS, loadMs });
  const loads: string[] = [];
  const hosts: Hosts = {
    ...running,
    async load(plugins) {
      await beforeLoad();
      loads.push("file" in plugins ? plugins.file : "");
      return await running.load(plugins);
    },
  };
  const { policy, pluginFolders } = premises;
  const folders = pluginFolders.filter(({ path }) => path === folder)
    .map(({ path, needsTrust }) => ({ path, needsTrust: needsTrust && !isSource }));
  const { guard } = createApproval(policy);
  const state = join(top, "state");
  const where = { folders, sources: undefined, guarded: [folder], state, workspace: root };
  const catalog = await openCatalog({ policy, ...where, hosts, guard });
  return {
    catalog,
    loads: () => loads.splice(0).map((file) => file.slice(top.length + 1)),
    async call(name) {
      const call = { type: "tool_use" as const, id: "1", name, input: {} };
      const options = { signal: new AbortController().signal, progress() {} };
      return (await createRegistry(catalog.tools).run(call, options)).content;
    },
    async [Symbol.asyncDispose]() {
      hosts.close();
      await Bun.sleep(0);
    },
  };
}

async function write({ top }: TempWorkspace, files: Record<string, string>): Promise<void> {
  await mkdir(join(top, "p", "lib"), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(top, "p", name), text);
}

const found = ({ tools }: Catalog) =>
  tools.filter(({ source }) => source !== "built in").map((tool) => tool.definition.name);

describe("openCatalog", () => {
  test("imports nothing at a start without changes, and only what changed at the next one", async () => {
    await using temp = await tempWorkspace();
    await write(temp, {
      "a.ts": plugin("a", "one", 'import "./lib/x.ts"; import "valibot";'),
      "lib/x.ts": "export {};",
      "b.ts": plugin("b", "b"),
      "time.ts": plugin("time", "t", "export const at = import.meta.url;"),
      "bad.ts": "export const definition = 1;",
    });
    await using first = await open(temp);
    expect(first.loads().sort()).toEqual(["p/a.ts", "p/b.ts", "p/bad.ts", "p/time.ts"]);
    await using second = await open(temp);
    // Whatever looks around is loaded each time.
    expect(second.loads()).toEqual(["p/time.ts"]);
    expect(second.catalog.setAside).toEqual(first.catalog.setAside);
    expect(second.catalog.tools.map((tool) => JSON.stringify(tool.definition))).toEqual(
      first.catalog.tools.map((tool) => JSON.stringify(tool.definition)),
    );
    expect(await second.call("a")).toBe("one");
    await write(temp, { "lib/x.ts": "export const y = 1;" });
    await using third = await open(temp);
    expect(third.loads().sort()).toEqual(["p/a.ts", "p/time.ts"]);
  });

  test("keeps no definition of a file that changes between the look and the load", async () => {
    await using temp = await tempWorkspace();
    const [old, other] = [plugin("a", "old"), plugin("a", "another")];
    await write(temp, { "a.ts": old });
    await using first = await open(temp, { beforeLoad: () => write(temp, { "a.ts": other }) });
    expect(await first.call("a")).toBe("another");
    await write(temp, { "a.ts": old });
    await using second = await open(temp);
    expect(second.loads()).toEqual(["p/a.ts"]);
    expect(found(second.catalog)).toEqual(["a"]);
  });
});

/** Milliseconds: only what never ends is to be late. */
const limitFor = (source: string) => source.includes("new Promise") ? 300 : HOST_LIMITS.loadMs;

describe("a bad file", () => {
  const kept: [what: string, source: string][] = [
    ["has a bad schema", plugin("a", "x").replace('"object"', '"text"')],
    ["cannot be read as code", "export const definition = {"],
    ["throws", 'throw new Error("no");'],
    ["never ends", "await new Promise(() => {});"],
    ["never ends and looks around", 'import "node:fs"; await new Promise(() => {});'],
    ["imports a bad one", 'import "./lib/x.ts";'],
  ];
  test.each(kept)("that %s is not loaded again before it changes, or /reload asks for it", async (_, source) => {
    await using temp = await tempWorkspace();
    await write(temp, { "a.ts": source, "lib/x.ts": "throw 1;" });
    await using first = await open(temp, { loadMs: limitFor(source) });
    expect(first.loads()).toEqual(["p/a.ts"]);
    await using second = await open(temp, { loadMs: limitFor(source) });
    expect(second.loads()).toEqual([]);
    expect(second.catalog.setAside).toEqual(first.catalog.setAside);
    expect(second.catalog.setAside.length).toBe(1);
    await second.catalog.refresh({ again: true });
    expect(second.loads()).toEqual(["p/a.ts"]);
    await write(temp, { "a.ts": plugin("a", "good") });
    await using third = await open(temp);
    expect([third.loads(), found(third.catalog)]).toEqual([["p/a.ts"], ["a"]]);
  });

  const anew: [what: string, source: string][] = [
    ["looks around", 'import "node:fs"; throw new Error("no");'],
    ["asks for the time", 'if (Date.now() > 0) throw new Error("no");'],
    ["asks the network", 'await fetch("http://127.0.0.1:9");'],
    ["never ends, and may run more than was read", 'import("./" + "x.ts"); await new Promise(() => {});'],
  ];
  test.each(anew)("that %s is loaded at each start: it may be well without a change", async (_, source) => {
    await using temp = await tempWorkspace();
    await write(temp, { "a.ts": source });
    await using first = await open(temp, { loadMs: limitFor(source) });
    await using second = await open(temp, { loadMs: limitFor(source) });
    expect([first.loads(), second.loads()]).toEqual([["p/a.ts"], ["p/a.ts"]]);
    expect(second.catalog.setAside.map(({ problem }) => problem)).toEqual([expect.not.stringContaining("not tried")]);
  });

  test("whose host ends is loaded at each start, and its author is told what to do", async () => {
    await using temp = await tempWorkspace();
    await write(temp, { "a.ts": plugin("a", "x") });
    const beforeLoad = () => Promise.reject(new Error("its process ended by itself (exit code 0)"));
    await using first = await open(temp, { beforeLoad });
    expect(first.catalog.setAside[0]?.problem).toBe(
      "while it was imported, its process ended by itself (exit code 0). Only export there, and do the work in the handler",
    );
    await using second = await open(temp);
    expect(found(second.catalog)).toEqual(["a"]);
  });

  test("that misses a package is taken at the next look after it was installed, and no host looks for it", async () => {
    await using temp = await tempWorkspace();
    await write(temp, { "a.ts": plugin("a", "x", 'import { b } from "bee"; b();') });
    await using opened = await open(temp);
    const { catalog } = opened;
    const before = catalog.setAside;
    expect(before[0]?.problem).toStartWith('line 1: imports "bee", which is not there: run npm install --prefix ');
    await catalog.refresh();
    expect([opened.loads(), catalog.setAside]).toEqual([[], before]);
    const folder = join(temp.top, "p", "node_modules", "bee");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "package.json"), '{"name":"bee","type":"module","exports":"./b.js"}');
    await writeFile(join(folder, "b.js"), "export const b = () => {};");
    await catalog.refresh();
    expect(found(catalog)).toEqual(["a"]);
  });
});

describe("refresh", () => {
  test("loads what is new and what changed, and lets go of what is gone", async () => {
    await using temp = await tempWorkspace();
    await write(temp, { "a.ts": plugin("a", "one"), "gone.ts": plugin("gone", "g") });
    await using opened = await open(temp);
    const { catalog, call } = opened;
    expect(await call("a")).toBe("one");
    opened.loads();
    await catalog.refresh();
    expect(opened.loads()).toEqual([]);
    expect(catalog.takeChanges()).toEqual([]);

    await rm(join(temp.top, "p", "gone.ts"));
    await write(temp, { "a.ts": plugin("a", "three"), "b.ts": plugin("b", "new") });
    await catalog.refresh();
    expect(catalog.takeChanges()).toEqual([
      `New tool: b (read), from ${join(temp.top, "p", "b.ts")}`,
      "Tool changed: a",
      "Tool gone: gone",
    ]);
    expect([await call("a"), await call("b")]).toEqual(["three", "new"]);
    expect(found(catalog)).toEqual(["a", "b"]);
  });

  test("keeps the last good version of a file that is bad now, also when its host must start again", async () => {
    await using temp = await tempWorkspace();
    await write(temp, { "a.ts": plugin("a", "good", 'import "./lib/x.ts";'), "lib/x.ts": "export {};" });
    await using opened = await open(temp);
    const { catalog, call } = opened;
    const file = join(temp.top, "p", "a.ts");
    for (const bad of ["export const definition = {", "export const definition = 1;"]) {
      await write(temp, { "a.ts": bad });
      await catalog.refresh();
      const lines = catalog.takeChanges();
      expect(lines).toEqual([expect.stringMatching(/a\.ts: .+\. The version before stays$/)]);
      expect(await call("a")).toBe("good");
      expect(catalog.setAside.map(setAsideLine)).toEqual(lines);
    }
    await write(temp, { "a.ts": plugin("a", "better") });
    await catalog.refresh();
    expect(await call("a")).toBe("better");
    expect(catalog.setAside).toEqual([]);
    await write(temp, { "a.ts": "throw 1" });
    await rm(file);
    await catalog.refresh();
    expect(found(catalog)).toEqual([]);
  });

  test("loads again what cannot be told to be unchanged only when it is told to", async () => {
    await using temp = await tempWorkspace();
    await write(temp, {
      "a.ts": plugin(
        "a",
        "x",
        'import { readFileSync } from "node:fs"; readFileSync(new URL("lib/d", import.meta.url));',
      ),
    });
    await using opened = await open(temp);
    expect(opened.catalog.setAside.map(({ file }) => file)).toEqual([join(temp.top, "p", "a.ts")]);
    await write(temp, { "lib/d": "data" });
    await opened.catalog.refresh();
    expect(found(opened.catalog)).toEqual([]);
    await opened.catalog.refresh({ again: true });
    expect(found(opened.catalog)).toEqual(["a"]);
  });

  test("gives a name that became free to the next file", async () => {
    await using temp = await tempWorkspace();
    await write(temp, { "a.ts": plugin("a", "ts"), "a.js": plugin("a", "js") });
    await using opened = await open(temp);
    const { catalog, call } = opened;
    const [js, ts] = ["a.js", "a.ts"].map((name) => join(temp.top, "p", name));
    expect(await call("a")).toBe("js");
    expect(catalog.setAside).toEqual([{
      file: ts ?? "",
      problem: `the name "a" is taken (${js}). Give the file and its tool another`,
    }]);
    await rm(js ?? "");
    await catalog.refresh();
    expect(await call("a")).toBe("ts");
  });
});

test("refuse sets a plugin aside until its file changes, and no built-in tool", async () => {
  await using temp = await tempWorkspace();
  await write(temp, { "a.ts": plugin("a", "one") });
  await using opened = await open(temp);
  const { catalog } = opened;
  expect([catalog.refuse("read_file", "no"), catalog.refuse("nothing", "no")]).toEqual([false, false]);
  expect(catalog.refuse("a", "tools.0: no")).toBe(true);
  expect(found(catalog)).toEqual([]);
  expect(catalog.setAside).toEqual([{ file: join(temp.top, "p", "a.ts"), problem: "tools.0: no" }]);
  await catalog.refresh();
  expect(found(catalog)).toEqual([]);
  await write(temp, { "a.ts": plugin("a", "three") });
  await catalog.refresh();
  expect(found(catalog)).toEqual(["a"]);
});

test("a link in a folder of the user's own that leads into the workspace is a plugin that nobody can trust", async () => {
  await using temp = await tempWorkspace({ "src/a.ts": plugin("a", "x") });
  await write(temp, { "b.ts": plugin("b", "x") });
  await symlink(join(temp.root, "src/a.ts"), join(temp.top, "p", "a.ts"));
  await using opened = await open(temp);
  expect(found(opened.catalog)).toEqual(["b"]);
  expect(opened.catalog.setAside[0]?.problem).toStartWith("is a link to a file outside its folder");
  expect(opened.loads()).toEqual(["p/b.ts"]);
});

describe("a plugin inside the workspace", () => {
  const inside = async (temp: TempWorkspace, files: Record<string, string>) => {
    await mkdir(join(temp.root, "p", "lib"), { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(temp.root, "p", name), text);
  };

  test("is loaded at once where its folder is one of the sources", async () => {
    await using temp = await tempWorkspace();
    await inside(temp, { "a.ts": plugin("a", "one") });
    await using opened = await open(temp, { inside: true, isSource: true });
    expect(found(opened.catalog)).toEqual(["a"]);
    expect(opened.loads()).toEqual(["ws/p/a.ts"]);
  });

  test("is not loaded before it is trusted, runs from its copy then, and not once it changed", async () => {
    await using temp = await tempWorkspace();
    await inside(temp, {
      "a.ts": plugin("a", "one", 'import "./lib/x.ts"; await import("node:fs").then((fs) => fs.readdirSync("/"));'),
      "lib/x.ts": "export {};",
    });
    await using opened = await open(temp, { inside: true });
    const { catalog, call } = opened;
    expect([opened.loads(), found(catalog)]).toEqual([[], []]);
    expect(catalog.untrusted.map(({ file }) => file)).toEqual([join(temp.root, "p", "a.ts")]);
    for (const one of catalog.untrusted) await catalog.trust(one);
    await catalog.refresh();
    expect(opened.loads()).toEqual([expect.stringMatching(/^state\/trusted\/[0-9a-f]{64}\/a\.ts$/)]);
    expect(await call("a")).toBe("one");
    await inside(temp, { "lib/x.ts": "throw 1" });
    await catalog.refresh();
    expect([opened.loads(), found(catalog)]).toEqual([[], []]);
    expect(catalog.untrusted.map(({ changed }) => changed)).toEqual([["lib/x.ts"]]);
  });

  test("is set aside when it declares other permissions than its text shows", async () => {
    await using temp = await tempWorkspace();
    await inside(temp, {
      "a.ts": plugin("a", "x").replace(
        'input_schema: { type: "object" }',
        'input_schema: { type: "object" }, ["permis" + "sions"]: { read: true, run: true }',
      ),
    });
    await using opened = await open(temp, { inside: true });
    for (const one of opened.catalog.untrusted) await opened.catalog.trust(one);
    await opened.catalog.refresh();
    expect(found(opened.catalog)).toEqual([]);
    expect(opened.catalog.setAside.map(({ problem }) => problem)).toEqual([
      "declares read+run, but its text says read, and that is what was trusted",
    ]);
  });
});
