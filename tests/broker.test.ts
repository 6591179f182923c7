import { describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createBroker } from "../core/hosts/broker.ts";
import { shownUrl } from "../core/hosts/shown_url.ts";

const never = new AbortController().signal;

async function server(answer: (url: string) => { status?: number; body?: string; location?: string }) {
  const seen: { url: string; headers: { [name: string]: unknown }; body: string }[] = [];
  const listening = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    seen.push({ url: request.url ?? "", headers: request.headers, body });
    const told = answer(request.url ?? "");
    response.writeHead(told.status ?? 200, told.location ? { location: told.location } : {});
    response.end(told.body ?? "");
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const { port } = listening.address() as AddressInfo;
  return { port, seen, [Symbol.dispose]: () => void listening.close() };
}

function get(url: string) {
  return { url, method: "GET", headers: [], body: undefined };
}

describe("createBroker", () => {
  const refused: [url: string, granted: string[], words: string][] = [
    ["https://example.com/", [], "the user has not granted it. Granted: nothing"],
    ["https://example.com/", ["example.org:443"], "the user has not granted it. Granted: example.org:443"],
    ["https://example.com:8443/", ["example.com:443"], "the user has not granted it"],
    ["https://evil-example.com/", ["example.com:443"], "the user has not granted it"],
    ["https://example.com.evil.com/", ["example.com:443"], "the user has not granted it"],
    ["https://example.com@evil.com/", ["example.com:443"], "it holds a name or password"],
    ["https://example.com\\@evil.com/", ["evil.com:443"], "the user has not granted it"],
    ["http://93.184.215.14/", ["93.184.215.14:80"], "it is not encrypted. Use https"],
    ["http://169.254.169.254/latest/meta-data/", ["169.254.169.254:80"], "it leads into a private network"],
    ["https://10.0.0.1/", ["10.0.0.1:443"], "it leads into a private network"],
    ["https://192.168.1.1/", ["192.168.1.1:443"], "it leads into a private network"],
    ["https://[fe80::1]/", ["[fe80::1]:443"], "it leads into a private network"],
    ["https://[::ffff:10.0.0.1]/", ["[::ffff:a00:1]:443"], "it leads into a private network"],
    ["https://0x7f000001.evil/", ["example.com:443"], "the user has not granted it"],
    ["file:///etc/passwd", [], "it is no https address"],
    ["ftp://example.com/", ["example.com:443"], "it is no https address"],
    ["example.com", ["example.com:443"], "it is no https address"],
    ["data:text/plain,hi", [], "it is no https address"],
    ["https://no-such-host.invalid/", ["no-such-host.invalid:443"], "its host is not known"],
  ];
  test.each(refused)("refuses %s with %j granted", async (url, granted, words) => {
    const error = await createBroker(granted)(get(url), never).catch((error) => error);
    expect(error).toBeInstanceOf(Error);
    expect(error.message).toStartWith(`Cannot fetch "${shownUrl(url)}": ${words}`);
  });

  const shown: [url: string, shown: string][] = [
    ["https://a.com/b?key=secret&x=1#y", "https://a.com/b?…"],
    ["https://a.com/b#secret", "https://a.com/b?…"],
    ["https://me:secret@a.com/@b", "https://…@a.com/@b"],
    ["https://a.com/b@c", "https://a.com/b@c"],
    ["https://a.com/b?secret\nsecret", "https://a.com/b?…"],
    ["nothing", "nothing"],
  ];
  test.each(shown)("tells of %s as %s", (url, words) => expect(shownUrl(url)).toBe(words));

  test("fetches from a granted address and keeps the plugin off the connection's own headers", async () => {
    using api = await server(() => ({ body: "grüezi" }));
    const broker = createBroker([`127.0.0.1:${api.port}`]);
    const wanted = {
      url: `http://127.0.0.1:${api.port}/a?b=c`,
      method: "POST",
      headers: [["Host", "evil.test"], ["X-One", "1"], ["Content-Length", "1"]] as [string, string][],
      body: new TextEncoder().encode("héllo"),
    };
    const { status, body } = await broker(wanted, never);
    expect([status, new TextDecoder().decode(body)]).toEqual([200, "grüezi"]);
    expect(api.seen[0]).toMatchObject({
      url: "/a?b=c",
      body: "héllo",
      headers: { "x-one": "1", host: `127.0.0.1:${api.port}` },
    });
  });

  test("does not follow a redirect: it is the plugin's next request", async () => {
    using other = await server(() => ({ body: "secret" }));
    using api = await server(() => ({ status: 302, location: `http://127.0.0.1:${other.port}/` }));
    const { status, headers } = await createBroker([`127.0.0.1:${api.port}`])(
      get(`http://127.0.0.1:${api.port}/`),
      never,
    );
    expect(status).toBe(302);
    expect(headers).toContainEqual(["location", `http://127.0.0.1:${other.port}/`]);
    expect(other.seen).toEqual([]);
  });

  test("gives up on an answer over 10 MB", async () => {
    using api = await server(() => ({ body: "x".repeat(10_000_001) }));
    const url = `http://127.0.0.1:${api.port}/`;
    const error = await createBroker([`127.0.0.1:${api.port}`])(get(url), never).catch((error) => error);
    expect(error.message).toBe(`Cannot fetch "${url}": its answer is over 10 MB`);
  });

  test("ends when the call does", async () => {
    const abort = new AbortController();
    using api = await server(() => ({ body: "late" }));
    abort.abort();
    const url = `http://127.0.0.1:${api.port}/`;
    expect(createBroker([`127.0.0.1:${api.port}`])(get(url), abort.signal)).rejects.toThrow("Cannot fetch");
  });
});
