import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createHosts } from "../core/hosts/hosts.ts";
import { runPlugin } from "../core/hosts/run_plugin.ts";
import { importPlugin } from "../core/plugins/plugins.ts";
import { SOURCES } from "./support/program.ts";
import { connectInProcess } from "./support/host_in_process.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const FOLDER = join(SOURCES, "plugins", "examples");

async function run(name: string, input: unknown, files: Record<string, string>): Promise<unknown> {
  await using folder = await tempWorkspace(files);
  return (await runPlugin(await importPlugin(join(FOLDER, `${name}.ts`)), input, folder.context)).content;
}

test("every example loads, and its own examples pass its schema", async () => {
  const names = (await readdir(FOLDER)).sort();
  expect(names).toEqual(["http_get.ts", "json_query.ts", "todo_scan.ts"]);
  const hosts = createHosts(connectInProcess, new Map());
  for (const name of names) {
    const [loaded] = await hosts.load({ file: join(FOLDER, name), inspect: true });
    const problems = loaded?.inspected?.examples ?? [];
    expect([name, problems.length > 0, problems.filter((problem) => problem !== null)]).toEqual([name, true, []]);
  }
});

describe("todo_scan", () => {
  const files = { "src/a.ts": "one\n// TODO: tidy up\n", "b.md": "FIXME now\nTODOS are none", "c.bin": "TODO\0" };
  const cases: [what: string, input: unknown, files: Record<string, string>, content: string][] = [
    ["lists comments with file and line", {}, files, "b.md:1: FIXME now\nsrc/a.ts:2: TODO: tidy up"],
    ["looks into one folder", { path: "src" }, files, "src/a.ts:2: TODO: tidy up"],
    ["says that there are none", {}, { "a.txt": "none" }, "No TODO and no FIXME in 1 file"],
    ["names a folder that is not there", { path: "nope" }, files, 'Cannot list "nope": no such folder'],
  ];
  test.each(cases)(
    "%s",
    async (_, input, files, content) => expect(await run("todo_scan", input, files)).toStartWith(content),
  );

  test("stops at 100", async () => {
    const content = await run("todo_scan", {}, { "a.txt": "TODO\n".repeat(200) }) as string;
    expect(content.split("\n")).toHaveLength(101);
    expect(content).toEndWith("[100 shown; give a path for the others]");
  });
});

describe("json_query", () => {
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, index]));
  const files = {
    "a.json": '{"scripts":{"test":"bun test"},"list":[1,{"x":null}]}',
    "b.txt": "{",
    "many.json": JSON.stringify(many),
  };
  const cases: [what: string, input: unknown, content: string][] = [
    ["reads one value", { path: "a.json", query: "scripts.test" }, '"bun test"'],
    ["goes into lists", { path: "a.json", query: "list.1.x" }, "null"],
    ["reads all of it", { path: "a.json", query: "scripts" }, '{\n  "test": "bun test"\n}'],
    ["lists keys", { path: "a.json", keys_only: "true" }, "an object with the keys scripts, list"],
    [
      "counts the keys that it leaves out",
      { path: "many.json", keys_only: true },
      `an object with the keys ${Object.keys(many).slice(0, 100).join(", ")} (the first 100 of 101)`,
    ],
    [
      "says what there is instead",
      { path: "a.json", query: "list.x" },
      'Cannot find "x" in "a.json": at list there is a list of 2. Use one of its keys',
    ],
    [
      "finds nothing in what all objects have",
      { path: "a.json", query: "toString" },
      'Cannot find "toString" in "a.json": at the top',
    ],
    ["refuses what is no JSON", { path: "b.txt" }, 'Cannot read "b.txt": it is not JSON. Use read_file'],
    ["refuses a bad input", { path: "" }, "Cannot call json_query: path: expected at least 1 character, got 0"],
  ];
  test.each(cases)(
    "%s",
    async (_, input, content) => expect(await run("json_query", input, files)).toStartWith(content),
  );
});

test("http_get fetches from the host that it names, and from no other", async () => {
  const server = createServer((request, response) => {
    response.setHeader("content-type", request.url === "/image" ? "image/png" : "text/plain");
    response.end("hello");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const text = await Bun.file(join(FOLDER, "http_get.ts")).text();
  await using folder = await tempWorkspace({ "http_get.ts": text.replaceAll("example.com:443", () => host) });
  const file = join(folder.root, "http_get.ts");
  const hosts = createHosts(connectInProcess, new Map());
  const loaded = await hosts.load({ file });
  const grant = { root: folder.root, read: [], write: [], denyRead: [], denyWrite: [], net: [host] };
  const tool = hosts.open({ plugins: { file }, grant, needs: loaded[0]?.permissions ?? {} }, loaded);
  const get = async (url: string) =>
    (await tool.call("http_get", { url }, { signal: new AbortController().signal, progress() {} })).content;
  expect(await get(`http://${host}/`)).toBe("200, text/plain\n\nhello");
  expect(await get(`http://${host}/image`)).toBe("200, image/png, not shown: it is no text");
  expect(await get("https://example.org/")).toBe(
    `Cannot fetch "https://example.org/": the user has not granted it. Granted: ${host}`,
  );
  hosts.close();
  server.closeAllConnections();
  server.close();
});
