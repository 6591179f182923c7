import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { answer, results, say } from "./support/asking.ts";
import { type Answer, type FakeApi, fakeApi, reply } from "./support/fake_api.ts";
import { openTenon, runTenon, SOURCES, type Start, type Way, WAYS, writeFiles } from "./support/program.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // each wait has its own limit

const call = (name: string): Answer => reply({ calls: [{ name, input: {} }] });
const done = reply({ text: "All is done." });
/** What Deno is given in the README. */
const ENV = ["ANTHROPIC_*", "HOME", "XDG_*", "CI", "NO_COLOR", "TERM"];
const REFUSED = "Not run: the user refused sends. Ask what to do instead";

/** A server on loopback that keeps what it was sent. */
async function sink() {
  const tokens: string[] = [];
  const server = createServer((request, response) => {
    tokens.push(String(request.headers["x-token"]));
    response.end("reached");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, tokens, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}

/**
 * `sends` sends its token to the host, and tells wherever it runs what it sees of the token: as it is loaded, before it is allowed
 * anything, in its call.
 */
function sends(host: string, needs: string): string {
  return `import process from "node:process";
const token = () => { try { return process.env["TOKEN"] ?? "unset" } catch { return "refused" } };
export const definition = {
  name: "sends",
  description: "Loaded with token " + token() + ".",
  input_schema: { type: "object" },
  permissions: ${needs},
};
export const preview = async (_input, { fetch }) => {
  await fetch?.("http://${host}/preview", { headers: { "x-token": "preview" } }).catch(() => {});
  await globalThis.fetch("http://${host}/own").catch(() => {});
  return { command: "token " + token() };
};
globalThis.calls = 0;
export const handler = async (_input, { fetch }) => {
  const sent = await fetch?.("http://${host}/", { headers: { "x-token": token() } }).then((it) => it.text());
  return "call " + ++globalThis.calls + " in its host: " + (sent ?? "saw " + token());
};
`;
}

/** Tenon with the plugin, towards the API; Deno is given what it asks for. */
async function start(temp: TempWorkspace, api: FakeApi, host: string, needs: string, args: string[]): Promise<Start> {
  const plugins = join(temp.top, "plugins");
  await writeFiles(plugins, { "sends.ts": sends(host, needs) });
  return {
    cwd: temp.root,
    args: ["--base-url", api.url, "-m", "fake-model", "--plugins", plugins, ...args],
    env: { ANTHROPIC_API_KEY: "sk-test", TOKEN: "t-1" },
    deno: {
      read: [".", SOURCES, plugins],
      net: [new URL(api.url).host, host],
      env: [...ENV, "TOKEN"],
    },
  };
}

describe.concurrent.each([...WAYS])("a plugin that names a host and a variable, with tenon as %s", (way: Way) => {
  test("reaches nothing and sees nothing before a yes; yes, no, always and revoke are held to", async () => {
    await using temp = await tempWorkspace();
    await using server = await sink();
    await using api = await fakeApi(Array.from({ length: 6 }, () => [call("sends"), done]).flat());
    const { host, tokens } = server;
    const needs = `{ read: true, net: ["${host}"], env: ["TOKEN"] }`;
    await using pty = await openTenon(way, await start(temp, api, host, needs, []), { columns: 400 });
    const told = async (turn: number) => {
      await pty.until("All is done.");
      return results(api, 2 * turn - 1);
    };
    await say(pty, "one");
    const question = "What it reads of the workspace, and TOKEN, can be sent there.";
    await pty.until(question);
    expect(tokens).toEqual([]);
    const shown = await answer(pty, "y", /yes\r\n/, question);
    expect(shown).toContain(`Let sends (${join(temp.top, "plugins", "sends.ts")}) read, reach ${host}, see TOKEN? `);
    expect(shown).toMatch(/\$ token (unset|refused)\r\n/);
    expect(await told(1)).toEqual(["call 1 in its host: reached"]);
    expect(JSON.stringify(api.requests[0]?.body.tools)).toMatch(/Loaded with token (unset|refused)\./);
    await say(pty, "two");
    await answer(pty, "n", /no\r\n/, question);
    expect(await told(2)).toEqual([REFUSED]);
    expect(tokens).toEqual(["t-1"]);
    await say(pty, "three");
    await answer(pty, "a", /always \(this host and this variable\)\r\n/, question);
    expect(await told(3)).toEqual(["call 1 in its host: reached"]);
    await say(pty, "four");
    expect(await told(4)).toEqual(["call 2 in its host: reached"]);
    expect(pty.since()).not.toContain("Let sends");
    await say(pty, "/permissions");
    await pty.until(`  1. sends: the host ${host}\r\n  2. sends: the variable TOKEN`);
    await say(pty, "/permissions revoke 1");
    await pty.until("Taken back: 1");
    await say(pty, "five");
    await answer(
      pty,
      "a",
      /always \(this host\)\r\n/,
      `reach ${host}? What it reads of the workspace, and TOKEN, can be`,
    );
    expect(await told(5)).toEqual(["call 1 in its host: reached"]);
    await say(pty, "/reset");
    await say(pty, "six");
    await answer(pty, "n", /no\r\n/, question);
    await pty.until("All is done.");
    expect(tokens).toEqual(["t-1", "t-1", "t-1", "t-1"]);
    const bodies = api.requests.map(({ body }) => JSON.stringify(body.tools));
    expect(new Set(bodies).size).toBe(1);
  });

  test("sees a variable of which it alone is asked after a yes, in a single turn", async () => {
    await using temp = await tempWorkspace();
    await using server = await sink();
    await using api = await fakeApi([call("sends"), call("sends"), done]);
    const given = await start(temp, api, server.host, `{ env: ["TOKEN"] }`, ["-p", "go"]);
    await using pty = await openTenon(way, given, { columns: 200 });
    expect(await answer(pty, "y", /yes\r\n/, "see TOKEN? ")).toContain("always (this variable)");
    await answer(pty, "n", /no\r\n/, "see TOKEN? ");
    expect(await pty.exited()).toBe(0);
    expect([results(api, 1), results(api, 2)]).toEqual([["call 1 in its host: saw t-1"], [REFUSED]]);
    expect(server.tokens).toEqual([]);
  });

  test("is refused with the flags where nobody can be asked, and offered all the same", async () => {
    await using temp = await tempWorkspace();
    await using server = await sink();
    await using api = await fakeApi([call("sends"), done]);
    const { host, tokens } = server;
    const needs = `{ net: ["${host}"], env: ["TOKEN"] }`;
    const outcome = await runTenon(way, { ...await start(temp, api, host, needs, ["go"]), stdin: "" });
    expect(outcome).toMatchObject({ code: 0, stdout: "All is done.\n" });
    expect(results(api, 1)).toEqual([
      `Not run: net and env need --allow-net=${host} and --allow-env=TOKEN, and nobody can be asked here`,
    ]);
    expect(tokens).toEqual([]);
  });
});

test.concurrent.each(["bun", "deno"] as const)(
  "the programs of a plugin get the variables that it names, whatever commands get, with tenon as %s",
  async (way) => {
    await using temp = await tempWorkspace();
    const plugins = join(temp.top, "plugins");
    await writeFiles(plugins, {
      "lists.ts": `export const definition = {
  name: "lists",
  description: "Lists variables.",
  input_schema: { type: "object" },
  permissions: { run: true, env: ["TOKEN"] },
};
export const handler = (_input, { run }) => Object.keys(run.env).filter((name) => /^(TOKEN|OTHER)$/.test(name)).join();
`,
    });
    const outcome = await runTenon(way, {
      cwd: temp.root,
      args: ["--plugins", plugins, "--allow-run", "--allow-env=TOKEN,OTHER", "call", "lists"],
      env: { TOKEN: "t-1", OTHER: "o-1" },
      deno: { read: [".", SOURCES, plugins], run: ["bash", "sh"], env: [...ENV, "TOKEN", "OTHER"] },
    });
    expect([outcome.code, outcome.stdout]).toEqual([0, "TOKEN\n"]);
  },
);

test.concurrent.each([...WAYS])(
  "a plugin starts the program that was named, after a yes, with tenon as %s",
  async (way) => {
    await using temp = await tempWorkspace();
    await using api = await fakeApi([call("starts"), done]);
    const plugins = join(temp.top, "plugins");
    await writeFiles(plugins, {
      "starts.ts": `import { spawnSync } from "node:child_process";
export const definition = {
  name: "starts",
  description: "Starts a program.",
  input_schema: { type: "object" },
  permissions: { run: true },
};
export const handler = (_input, { run }) => String(spawnSync("echo", ["it runs"], { ...run, encoding: "utf8" }).stdout);
`,
    });
    await using pty = await openTenon(way, {
      cwd: temp.root,
      args: ["--base-url", api.url, "-m", "fake-model", "--plugins", plugins, "--allow-run=echo", "-p", "go"],
      env: { ANTHROPIC_API_KEY: "sk-test" },
      deno: { read: [".", SOURCES, plugins], net: [new URL(api.url).host], run: ["echo"] },
    });
    await answer(pty, "y", /yes\r\n/, "Let starts");
    expect(await pty.exited()).toBe(0);
    expect(results(api, 1)).toEqual(["it runs\n"]);
  },
);

describe.concurrent("what is never asked for", () => {
  const rows: [what: string, way: Way, needs: string, args: string[], result: string][] = [
    [
      "a host that Deno was not given",
      "deno",
      `{ net: ["example.com"] }`,
      [],
      "net needs Deno's --allow-net=example.com:443",
    ],
    ["a variable that Deno was not given", "deno", `{ env: ["OTHER"] }`, [], "env needs Deno's --allow-env=OTHER"],
    [
      "a host, with --no-prompt",
      "bun",
      `{ net: ["example.com"] }`,
      ["--no-prompt"],
      "net needs --allow-net=example.com:443, and nobody can be asked here",
    ],
    [
      "the key",
      "bun",
      `{ env: ["ANTHROPIC_API_KEY"] }`,
      [],
      'env of "ANTHROPIC_API_KEY" is never granted: no tool ever gets this variable. Leave it out',
    ],
    [
      "the key",
      "deno",
      `{ env: ["ANTHROPIC_API_KEY"] }`,
      [],
      'env of "ANTHROPIC_API_KEY" is never granted: no tool ever gets this variable. Leave it out',
    ],
  ];
  test.each(rows)("%s, with tenon as %s and %s", async (_what, way, needs, args, result) => {
    await using temp = await tempWorkspace();
    await using api = await fakeApi([call("sends"), done]);
    await using pty = await openTenon(way, await start(temp, api, "127.0.0.1:9", needs, [...args, "-p", "go"]));
    expect(await pty.exited()).toBe(0);
    expect(results(api, 1)).toEqual([`Not run: ${result}`]);
    expect(pty.raw()).not.toContain("[y] yes");
  });
});
