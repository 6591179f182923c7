import { describe, expect, test } from "bun:test";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { FETCHES_AT_ONCE } from "../core/hosts/fetching.ts";
import { createHosts, type HostOrder } from "../core/hosts/hosts.ts";
import type { Connection } from "../core/hosts/running_host.ts";
import type { CallOptions, Outcome } from "../core/registry.ts";
import { connectInProcess } from "./support/host_in_process.ts";

const FILE = join(import.meta.dir, "fixtures", "plugins", "fetches.ts");

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

/** Says what it got; `/to?URL` redirects there; `/never` does not answer. */
async function server() {
  const seen: Seen[] = [];
  const gone: string[] = []; // asked, not answered, and given up
  const listening = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { method, url = "", headers } = request;
    seen.push({ method, url, headers, body });
    const [, status, target] = /^\/to\/(\d+)\?(.*)$/.exec(url) ?? [];
    if (url.startsWith("/never")) return void response.on("close", () => gone.push(url));
    if (url === "/gone") return void response.end(`${gone.length} gone`);
    if (url === "/loop") return void response.writeHead(302, { location: "/loop" }).end();
    if (status) response.writeHead(Number(status), { location: target }).end();
    else if (url === "/empty") response.writeHead(204).end();
    else if (url === "/bytes") response.end(Buffer.from([0, 255, 128]));
    else if (url === "/two") response.writeHead(404, { "set-cookie": ["a=1", "b=2"], "x-is": "héé" }).end("none");
    else response.end(`${method} ${url} ${body}`);
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(listening.address() as AddressInfo).port}`;
  return {
    host,
    url: (path: string) => `http://${host}${path}`,
    seen,
    gone,
    [Symbol.dispose]() {
      listening.closeAllConnections();
      listening.close();
    },
  };
}

const options = (more: Partial<CallOptions> = {}): CallOptions => ({
  signal: new AbortController().signal,
  progress() {},
  ...more,
});

/** Runs the fixture in a host that was granted `net`. */
async function run(net: string[] | undefined, input: unknown, more: Partial<CallOptions> = {}): Promise<Outcome> {
  const hosts = createHosts(connectInProcess, new Map());
  const loaded = await hosts.load({ file: FILE });
  const grant = { root: import.meta.dir, read: [], write: [], denyRead: [], denyWrite: [], ...(net ? { net } : {}) };
  const order: HostOrder = { plugins: { file: FILE }, grant, needs: { net: net ?? [] } };
  const outcome = await hosts.open(order, loaded).call("fetches", input, options(more));
  hosts.close();
  return outcome;
}

async function answer(net: string[], input: unknown): Promise<unknown> {
  const { content } = await run(net, input);
  return JSON.parse(content as string);
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

describe("context.fetch", () => {
  test("gives a real Response with status, headers, url and body", async () => {
    using api = await server();
    expect(await answer([api.host], { url: api.url("/two") })).toEqual({
      isResponse: true,
      status: 404,
      ok: false,
      url: api.url("/two"),
      text: "none",
      cookies: ["a=1", "b=2"],
    });
  });

  test("sends method, headers and body, of text and of bytes", async () => {
    using api = await server();
    const init = { method: "put", headers: { "x-token": "abc", "content-type": "text/csv" }, body: "héllo" };
    expect(await answer([api.host], { url: api.url("/a?b=c"), init })).toMatchObject({ text: "PUT /a?b=c héllo" });
    expect(api.seen[0]?.headers).toMatchObject({ "x-token": "abc", "content-type": "text/csv" });
  });

  test("gives bytes as they are, and no body with 204", async () => {
    using api = await server();
    expect(await answer([api.host], { url: api.url("/bytes"), as: "bytes" })).toEqual([0, 255, 128]);
    expect(await answer([api.host], { url: api.url("/empty") })).toMatchObject({ status: 204, text: "" });
  });

  const redirects: [status: number, init: RequestInit, text: string][] = [
    [301, {}, "GET /there "],
    [302, { method: "POST", body: "b" }, "GET /there "],
    [303, { method: "PUT", body: "b" }, "GET /there "],
    [307, { method: "POST", body: "b" }, "POST /there b"],
    [308, { method: "POST", body: "b" }, "POST /there b"],
  ];
  test.each(redirects)("follows %d on the same host, from %j", async (status, init, text) => {
    using api = await server();
    const found = await answer([api.host], { url: api.url(`/to/${status}?/there`), init });
    expect(found).toMatchObject({ text, url: api.url("/there") });
  });

  test("does not carry a request to another host, granted or not, and leaves a redirect alone when told so", async () => {
    using other = await server();
    using api = await server();
    const url = api.url(`/to/302?${other.url("/x")}`);
    const shown = api.url("/to/302?…");
    const words = `Cannot fetch "${shown}": it redirects to "${
      other.url("/x")
    }". Fetch that address itself, if the user granted it`;
    const headers = { authorization: "secret" };
    expect(await run([api.host, other.host], { url, init: { headers } })).toEqual({ content: words, is_error: true });
    expect(other.seen).toEqual([]);
    expect(await answer([api.host], { url, init: { redirect: "manual" } })).toMatchObject({ status: 302, url });
    expect((await run([api.host], { url, init: { redirect: "error" } })).content).toBe(
      `Cannot fetch "${shown}": it redirects, which was not wanted`,
    );
  });

  test("ends a redirect to itself", async () => {
    using api = await server();
    const url = api.url("/loop");
    expect((await run([api.host], { url })).content).toBe(`Cannot fetch "${url}": it redirects without end`);
    expect(api.seen.length).toBe(21);
  });

  const refused: [what: string, url: string, init: unknown, words: string][] = [
    ["a host that is not granted", "https://example.org/", {}, "the user has not granted it. Granted: HOST"],
    ["what is no address", "not an address", {}, "it is no https address"],
    ["a path alone", "/etc/passwd", {}, "it is no https address"],
    ["a file", "file:///etc/passwd", {}, "it is no https address"],
    ["a name in the address", "https://me:pw@example.com/", {}, "it holds a name or password. Send them in a header"],
    [
      "an odd method",
      "https://example.com/",
      { method: "BREW" },
      "its method is none of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
    ],
    [
      "a body over 10 MB",
      "https://example.com/",
      { method: "POST", body: "x".repeat(10_000_001) },
      "its body is over 10 MB",
    ],
  ];
  test.each(refused)("refuses %s", async (_, url, init, words) => {
    const { content, is_error } = await run(["example.com:443"], { url, init });
    const filled = words.replace("HOST", () => "example.com:443");
    const shown = url.replace("me:pw@", "…@");
    expect([content, is_error]).toEqual([`Cannot fetch "${shown}": ${filled}`, true]);
  });

  test("makes so many requests at a time, and says so of the next one", async () => {
    using api = await server();
    const urls = Array.from({ length: FETCHES_AT_ONCE + 1 }, (_, index) => api.url(`/${index}`));
    const texts = await answer([api.host], { urls }) as string[];
    expect(texts.filter((text) => text.startsWith("GET"))).toHaveLength(FETCHES_AT_ONCE);
    expect(texts.at(-1)).toBe(
      `Cannot fetch "${urls.at(-1)}": ${FETCHES_AT_ONCE} requests are under way. Wait for one`,
    );
  });

  test("ends with its own signal, and with the call: the connection is closed", async () => {
    using api = await server();
    const url = api.url("/never");
    expect((await run([api.host], { url, timeout: 50 })).content).toMatch(/time/i);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    expect((await run([api.host], { url }, { signal: abort.signal })).content).toBe(
      "Cannot run fetches: interrupted by the user",
    );
    await settled();
    expect(api.gone).toEqual(["/never", "/never"]);
  });

  test("closes the connection of what the handler gave up, while the call goes on", async () => {
    using api = await server();
    expect((await run([api.host], { url: api.url("/never"), urls: [api.url("/gone")], as: "dropped" })).content).toBe(
      '["1 gone"]',
    );
  });

  test("that nobody waits for ends when the handler is done", async () => {
    using api = await server();
    expect((await run([api.host], { url: api.url("/never/left"), as: "left" })).content).toBe("done");
    await settled();
    expect(api.gone).toEqual(["/never/left"]);
  });

  test("that a handler keeps says in the next call that its own is over", async () => {
    using api = await server();
    const url = api.url("/kept");
    const [first, next] = [await run([api.host], { url, as: "kept" }), await run([api.host], { url, as: "kept" })];
    expect(first.content).toBe("GET /kept ");
    expect(next.content).toBe(
      `Cannot fetch "${url}": the call that this fetch was for is over. Use the context of the call at hand`,
    );
    expect(api.seen.length).toBe(1);
  });

  test("is not there where no address was granted, nor in a preview", async () => {
    expect((await run(undefined, { url: "https://example.com/" })).content).toBe("there is no fetch");
    const hosts = createHosts(connectInProcess, new Map());
    const grant = { root: import.meta.dir, read: [], write: [], denyRead: [], denyWrite: [], net: ["example.com:443"] };
    const host = hosts.open({ plugins: { file: FILE }, grant, needs: {} }, await hosts.load({ file: FILE }));
    expect((await host.preview?.("fetches", {}, options()))?.proposal).toEqual({ command: "no fetch" });
  });
});

describe("a host that forges messages", () => {
  /** A host of which the test says what it says; what core sends it is kept. */
  function forger(net: string[] | undefined) {
    const sent: unknown[] = [];
    let say: (message: unknown) => void = () => {};
    const closed = Promise.withResolvers<string>();
    const connect = (): Connection => ({
      send: (message) => void sent.push(message),
      receive: (handle) => say = handle,
      closed: closed.promise,
      kill: () => closed.resolve("its host was ended"),
    });
    const hosts = createHosts(connect, new Map());
    const grant = { root: "/", read: [], write: [], denyRead: [], denyWrite: [], ...(net ? { net } : {}) };
    const definition = { name: "t", description: "d", input_schema: { type: "object" } };
    const tools = [{ definition, permissions: {}, timeout_ms: 5000 }];
    const host = hosts.open({ plugins: { file: "/t.ts" }, grant, needs: {} }, tools);
    return { host, hosts, sent, say: (message: unknown) => say(message) };
  }

  const wanted = (url: string) => ({ url, method: "GET", headers: [] });
  const ready = { type: "ready", tools: [] };
  const answers = (sent: unknown[]) => sent.filter((message) => (message as { type: string }).type === "fetched");

  test("gets nothing without a grant, of a call that is not open, or of a preview", async () => {
    using api = await server();
    const { host, hosts, sent, say } = forger(undefined);
    void host.call("t", {}, options());
    say(ready);
    await settled();
    for (const id of [1, 2, 99]) say({ type: "fetch", id, fetch: 1, wanted: wanted(api.url("/")) });
    await settled();
    const other = forger([api.host]);
    void other.host.preview?.("t", {}, options());
    other.say(ready);
    await settled();
    other.say({ type: "fetch", id: 1, fetch: 1, wanted: wanted(api.url("/")) });
    await settled();
    expect([api.seen, answers(sent), answers(other.sent)]).toEqual([[], [], []]);
    hosts.close();
    other.hosts.close();
  });

  test("gets no more than it was granted, and nothing once the call is over", async () => {
    using api = await server();
    using other = await server();
    const { host, hosts, sent, say } = forger([api.host]);
    const outcome = host.call("t", {}, options());
    say(ready);
    await settled();
    say({ type: "fetch", id: 1, fetch: 1, wanted: wanted(other.url("/")), net: [other.host] });
    say({ type: "fetch", id: 1, fetch: 2, wanted: wanted(api.url("/mine")) });
    say({ type: "fetch", id: 1, fetch: 3, wanted: wanted(api.url("/never")) });
    await settled();
    expect(answers(sent)).toEqual([
      {
        type: "fetched",
        id: 1,
        fetch: 1,
        problem: `Cannot fetch "${other.url("/")}": the user has not granted it. Granted: ${api.host}`,
      },
      expect.objectContaining({ fetch: 2, response: expect.objectContaining({ status: 200 }) }),
    ]);
    say({ type: "result", id: 1, content: "done", is_error: false, seen: [] });
    expect(await outcome).toEqual({ content: "done", is_error: false });
    say({ type: "fetch", id: 1, fetch: 4, wanted: wanted(api.url("/late")) });
    await settled();
    expect(answers(sent).length).toBe(2);
    expect(api.seen.map(({ url }) => url)).toEqual(["/mine", "/never"]);
    expect(other.seen).toEqual([]);
    hosts.close();
  });
});
