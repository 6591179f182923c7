import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Connect, createHosts, type HostOrder } from "../core/hosts/hosts.ts";
import type { Connection } from "../core/hosts/running_host.ts";
import { type CallOptions, createRegistry, type Host } from "../core/registry.ts";
import type { Permissions, SeenFile } from "../core/tool.ts";
import { connectInProcess } from "./support/host_in_process.ts";
import { RESULT_LIMIT } from "../core/text.ts";

const FOLDER = join(import.meta.dir, "fixtures", "plugins");
const LIMITS = { loadMs: 400, startMs: 200, graceMs: 50 };
const grant = { root: FOLDER, read: [FOLDER], write: [], denyRead: [], denyWrite: [] };

const options = (more: Partial<CallOptions> = {}): CallOptions => ({
  signal: new AbortController().signal,
  progress() {},
  ...more,
});

/** Loads a fixture and opens a host for it; counts how often one was started. */
async function open(name: string, seen = new Map<string, SeenFile>()) {
  const started: Connection[] = [];
  const connect = () => {
    const connection = connectInProcess();
    started.push(connection);
    return connection;
  };
  const hosts = createHosts(connect, seen, LIMITS);
  const plugins = { file: join(FOLDER, `${name}.ts`) };
  const loaded = await hosts.load(plugins);
  started.length = 0; // the one that only loads
  const [tool] = loaded;
  if (!tool) throw new Error(`${name} did not load`);
  const host = hosts.open({ plugins, grant, needs: tool.permissions }, loaded);
  return { host, hosts, tool, started };
}

/** A host that says only what the test has it say. */
function silent(): { connect: Connect; say(message: unknown): void; close(reason: string): void; kills: () => number } {
  let receive: (message: unknown) => void = () => {};
  let kills = 0;
  const closed = Promise.withResolvers<string>();
  return {
    connect: () => ({
      send() {},
      receive: (handle) => receive = handle,
      closed: closed.promise,
      kill() {
        kills++;
        closed.resolve("its host was ended");
      },
    }),
    say: (message) => receive(message),
    close: closed.resolve,
    kills: () => kills,
  };
}

function silentHost(graceMs = LIMITS.graceMs) {
  const channel = silent();
  const hosts = createHosts(channel.connect, new Map(), { ...LIMITS, graceMs });
  const definition = { name: "t", description: "d", input_schema: { type: "object" } };
  const host = hosts.open({ plugins: { file: "/t.ts" }, grant, needs: {} }, [
    { definition, permissions: {}, timeout_ms: 1000 },
  ]);
  return { ...channel, hosts, host };
}

describe("a call", () => {
  test("is answered with what the tool returns", async () => {
    const { host } = await open("returns_a_string");
    expect(await host.call("returns_a_string", {}, options())).toEqual({ content: "done", is_error: false });
  });

  test("starts its host once, whether calls come together or one after another", async () => {
    const { host, started } = await open("returns_a_string");
    expect(started.length).toBe(0);
    await Promise.all([1, 2, 3].map(() => host.call("returns_a_string", {}, options())));
    await host.call("returns_a_string", {}, options());
    expect(started.length).toBe(1);
  });

  test("that fails is answered with the reason, and the next one is not touched", async () => {
    const { host } = await open("throws_a_string");
    const failed = { content: "plain string", is_error: true };
    expect(await Promise.all([1, 2].map(() => host.call("throws_a_string", {}, options())))).toEqual([failed, failed]);
  });

  test("of a tool that the host does not have says so", async () => {
    const { hosts, tool } = await open("returns_a_string");
    const other = { ...tool, definition: { ...tool.definition, name: "other" } };
    const plugins = { file: join(FOLDER, "returns_a_string.ts") };
    const outcome = await hosts.open({ plugins, grant, needs: {} }, [other]).call("other", {}, options());
    expect(outcome).toEqual({ content: "Cannot run other: its host does not have it", is_error: true });
  });

  test("of 50 MB is cut before anything is kept (X19)", async () => {
    const { host, tool } = await open("returns_50_mb");
    const registry = createRegistry([{ ...tool, source: "a fixture", host }]);
    const call = { type: "tool_use" as const, id: "a", name: "returns_50_mb", input: {} };
    const { content } = await registry.run(call, options());
    expect(content.length).toBeLessThanOrEqual(RESULT_LIMIT);
    expect(content).toEndWith("END");
  });

  test("tells of its progress", async () => {
    const { host } = await open("stops_when_told");
    const told: string[] = [];
    await host.call("stops_when_told", {}, options({ progress: (text) => told.push(text) }));
    expect(told).toEqual(["waiting"]);
  });
});

describe("a call that takes too long", () => {
  const cases: [name: string, content: string, is_error: boolean, what: string][] = [
    ["stops_when_told", "Cannot run stops_when_told: no end after 0.1 s", true, "hears its signal"],
    ["saves_when_told", "half of it", false, "returns what it has"],
    ["never_settles", "Cannot run never_settles: no end after 0.1 s", true, "is deaf"],
  ];
  for (const [name, content, is_error, what] of cases) {
    test(`is answered when its handler ${what}`, async () => {
      const { host } = await open(name);
      expect(await host.call(name, {}, options())).toEqual({ content, is_error });
    });
  }

  test("costs a deaf handler its host, and the next call gets another one at once", async () => {
    const { host, started } = await open("never_settles");
    await host.call("never_settles", {}, options());
    expect(await host.call("never_settles", {}, options())).toMatchObject({ is_error: true });
    expect(started.length).toBe(2);
  });

  test("costs a handler that listens nothing", async () => {
    const { host, started } = await open("stops_when_told");
    await host.call("stops_when_told", {}, options());
    await host.call("stops_when_told", {}, options());
    expect(started.length).toBe(1);
  });
});

describe("an abort", () => {
  for (const name of ["stops_when_told", "never_settles"]) {
    test(`ends ${name} as interrupted`, async () => {
      const { host } = await open(name);
      const abort = new AbortController();
      const outcome = host.call(name, {}, options({ signal: abort.signal }));
      setTimeout(() => abort.abort(), 10);
      expect(await outcome).toEqual({ content: `Cannot run ${name}: interrupted by the user`, is_error: true });
    });
  }

  test("before the call keeps it from running", async () => {
    const { host } = await open("returns_a_string");
    const outcome = await host.call("returns_a_string", {}, options({ signal: AbortSignal.abort() }));
    expect(outcome).toEqual({ content: "Cannot run returns_a_string: interrupted by the user", is_error: true });
  });

  test("is heard while the host is starting", async () => {
    const { host } = silentHost();
    const abort = new AbortController();
    const outcome = host.call("t", {}, options({ signal: abort.signal }));
    abort.abort();
    expect(await outcome).toEqual({ content: "Cannot run t: interrupted by the user", is_error: true });
  });
});

describe("a host", () => {
  const ready = { type: "ready", tools: [] };
  const result = { type: "result", content: "r", is_error: false, seen: [] };

  async function started(host: Host, say: (message: unknown) => void) {
    const outcome = host.call("t", {}, options());
    say(ready);
    await Promise.resolve();
    await new Promise((resolve) => setTimeout(resolve, 1));
    return outcome;
  }

  test("that closes answers each open call with the reason", async () => {
    const { host, say, close } = silentHost();
    const outcomes = [started(host, say), started(host, say)];
    setTimeout(() => close("it ran out of memory"), 5);
    expect(await Promise.all(outcomes)).toEqual([
      { content: "Cannot run t: it ran out of memory", is_error: true },
      { content: "Cannot run t: it ran out of memory", is_error: true },
    ]);
  });

  test("that closes before it is ready answers the call that waits for it", async () => {
    const { host, close } = silentHost();
    const outcome = host.call("t", {}, options());
    close("its process ended");
    expect(await outcome).toEqual({ content: "Cannot run t: its process ended", is_error: true });
  });

  test("that cannot load answers with its problem and is ended", async () => {
    const { host, say, kills } = silentHost();
    const outcome = host.call("t", {}, options());
    say({ type: "failed", problem: "line 1: no luck" });
    expect(await outcome).toEqual({ content: "Cannot run t: line 1: no luck", is_error: true });
    expect(kills()).toBe(1);
  });

  test("that never gets ready is ended, for a call and for a load", async () => {
    const reason = "its host was not ready within 0.2 s";
    const { host, kills } = silentHost();
    expect(await host.call("t", {}, options())).toEqual({ content: `Cannot run t: ${reason}`, is_error: true });
    expect(kills()).toBe(1);
    const { hosts } = silentHost();
    expect(await hosts.load({ file: "/t.ts" }).catch((error) => error.message)).toBe(
      "did not finish loading within 0.4 s (a top-level await, or a loop?)",
    );
  });

  test("that talks of a call that is not open is not heard", async () => {
    const { host, say } = silentHost();
    const outcome = started(host, say);
    await new Promise((resolve) => setTimeout(resolve, 5));
    say({ ...result, id: 99 });
    say({ type: "progress", id: 99, text: "x" });
    say({ type: "ready", tools: [] });
    say({ type: "failed", problem: "too late" });
    say({ ...result, id: 1, content: "the one" });
    expect(await outcome).toEqual({ content: "the one", is_error: false });
  });

  const noted = { sha256: "0".repeat(64), whole: false };
  const nonsense: unknown[] = [
    undefined,
    null,
    "result",
    { type: "grant", read: ["/"] },
    { ...result, id: "1" },
    { ...result, id: 1, content: [{ type: "tool_use" }] },
    { ...result, id: 1, seen: [["a", { sha256: "no", whole: true }]] },
    { ...result, id: 1, seen: [["a", { ...noted, lines: { shown: [[0, 1]], total: 1 } }]] },
    { ...result, id: 1, seen: [["a", { ...noted, lines: { shown: [[1, 1.5]], total: 2 } }]] },
    { ...result, id: 1, seen: [["a", { ...noted, lines: { shown: [[1, 1]] } }]] },
    { ...result, id: 1, seen: [["a", { ...noted, names: 0 }]] },
  ];
  test.each(nonsense.map((message) => [message]))("that says %j is ended", async (message) => {
    const { host, say, kills } = silentHost();
    const outcome = started(host, say);
    await new Promise((resolve) => setTimeout(resolve, 5));
    say(message);
    const told = "Cannot run t: its plugin wrote into tenon's own channel";
    expect(await outcome).toEqual({ content: told, is_error: true });
    expect(kills()).toBe(1);
  });

  test("that takes its time to end gets no further call", async () => {
    let starts = 0;
    const connect: Connect = () => {
      starts++;
      return { send() {}, receive: (handle) => handle({ type: "failed", problem: "no" }), closed: never, kill() {} };
    };
    const never = new Promise<string>(() => {});
    const host = createHosts(connect, new Map(), LIMITS).open({ plugins: { builtin: [] }, grant, needs: {} }, []);
    await host.call("t", {}, options());
    await host.call("t", {}, options());
    expect(starts).toBe(2);
  });

  test("is ended with all others by close", async () => {
    const { host, hosts, kills } = silentHost();
    const outcome = host.call("t", {}, options());
    hosts.close();
    expect(await outcome).toEqual({ content: "Cannot run t: its host was ended", is_error: true });
    expect(kills()).toBe(1);
  });
});

describe("what the model has seen", () => {
  test("is handed to a tool that writes, and what it notes is kept", async () => {
    const file = { sha256: "1".repeat(64), whole: false };
    const seen = new Map<string, SeenFile>([["a.txt", file]]);
    const { host } = await open("notes_a_file", seen);
    expect((await host.call("notes_a_file", {}, options())).content).toBe(JSON.stringify({ before: file }));
    expect(seen.get("a.txt")).toEqual({ sha256: "0".repeat(64), whole: true });
  });
});

test("load tells why a file does not load", async () => {
  const hosts = createHosts(connectInProcess, new Map(), LIMITS);
  const problem = await hosts.load({ file: join(FOLDER, "missing_handler.ts") }).catch((error) => error.message);
  expect(problem).toBe('has no export "handler". Write export const handler = (input, context) => …');
});

describe("a plugin that needs more than to read", () => {
  /** What each of its hosts was started with. */
  function opened(plugins: HostOrder["plugins"], permissions: Permissions) {
    const orders: HostOrder[] = [];
    const connect: Connect = (order) => {
      orders.push(order);
      return connectInProcess();
    };
    const hosts = createHosts(connect, new Map(), LIMITS);
    const definition = { name: "proposes_a_file", description: "d", input_schema: { type: "object" } };
    const tools = [{ definition, permissions, timeout_ms: 1000 }];
    return { orders, host: hosts.open({ plugins, grant, needs: permissions }, tools) };
  }
  const plugin = { file: join(FOLDER, "proposes_a_file.ts") };
  const needs = { read: true, write: true, run: true, net: ["a.com:443"], env: ["A"] };

  test("tells what it would do in a host that can only read", async () => {
    const { orders, host } = opened(plugin, needs);
    await host.preview?.("proposes_a_file", { path: "a" }, options());
    await host.call("proposes_a_file", { path: "a" }, options());
    await host.preview?.("proposes_a_file", { path: "a" }, options());
    expect(orders.map((order) => order.needs)).toEqual([{ read: true }, needs]);
  });

  test("keeps no host after a yes to one call", async () => {
    const { orders, host } = opened(plugin, needs);
    const once = options({ once: true });
    for (const each of [once, once, options(), options()]) await host.call("proposes_a_file", { path: "a" }, each);
    expect(orders.length).toBe(3);
  });

  test("is not a built-in tool, whose host stays and does both", async () => {
    const { orders, host } = opened({ builtin: ["write_file"] }, { read: true, write: true });
    await host.preview?.("write_file", { path: "a", content: "" }, options());
    await host.call("write_file", { path: "/", content: "" }, options({ once: true }));
    await host.call("write_file", { path: "/", content: "" }, options());
    expect(orders.length).toBe(1);
  });
});
