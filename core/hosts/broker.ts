/** The network of a plugin: core makes its requests, to exactly the addresses that the user granted. */

import { lookup } from "node:dns/promises";
import http from "node:http";
import https from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { parseAddress } from "../permissions/address.ts";
import { BODY_LIMIT } from "./protocol.ts";
import { deno } from "../runtime.ts";
import { shownUrl } from "./shown_url.ts";
import { oneLine } from "../text.ts";

/** A request as a plugin wants it. */
export interface Wanted {
  url: string;
  method: string;
  headers: [name: string, value: string][];
  body: Uint8Array | undefined;
}

/** What came of it: a `Response`, taken apart. */
export interface Fetched {
  status: number;
  headers: [name: string, value: string][];
  body: Uint8Array;
}

/** Does one request. Rejects with words for the plugin, and through it for the model. */
export type Broker = (wanted: Wanted, signal: AbortSignal) => Promise<Fetched>;

/** What a connection is about, and not what is said on it, is core's. */
const OWN_HEADERS =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive|proxy-.*)$/i;

/** Loopback: the one place where http is taken, and a private address. */
const LOOPBACK = blocks(["127.0.0.0/8", "::1/128"]);
/** Not the internet: this machine, private, link-local (a cloud's metadata), shared, multicast, reserved. RFC 6890. */
const INWARD = blocks([
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.168.0.0/16",
  "198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4",
  "::/127 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 fc00::/7 fe80::/10 ff00::/8",
].flatMap((line) => line.split(" ")));

/**
 * Granted are addresses in their one spelling (`host:port`). The name is resolved once, every address of it is judged, and
 * one of those is dialled: what was checked is what is reached. Deno lets a program that was granted a name neither look it up nor dial
 * its address: there the address is judged once it is connected to, before TLS has begun. No proxy is used. A redirect is the plugin's to follow, by another
 * request that is judged like the first.
 */
export function createBroker(granted: readonly string[]): Broker {
  return async (wanted, signal) => {
    const url = URL.canParse(wanted.url) ? new URL(wanted.url) : undefined;
    const fail = (how: string) => new Error(`Cannot fetch "${shownUrl(wanted.url)}": ${how}`);
    if (!url || !/^https?:$/.test(url.protocol)) throw fail("it is no https address");
    if (url.username || url.password) throw fail("it holds a name or password. Send them in a header");
    const secure = url.protocol === "https:";
    const parsed = parseAddress(`${url.hostname}:${url.port || (secure ? 443 : 80)}`);
    if (!parsed.ok || !granted.includes(parsed.address)) {
      throw fail(`the user has not granted it. Granted: ${granted.join(", ") || "nothing"}`);
    }
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const local = host === "localhost" || contains(LOOPBACK, host);
    const isReachable = (address: string) => contains(local ? LOOPBACK : INWARD, address) === local;
    const addresses = deno && !isIP(host) ? [] : await resolve(host).catch(() => {
      throw fail("its host is not known");
    });
    if (!addresses.every(isReachable)) throw fail(PRIVATE);
    if (!secure && !local) throw fail("it is not encrypted. Use https");
    try {
      return await request(url, addresses[0], isReachable, wanted, signal);
    } catch (error) {
      throw fail(reasonOf(error));
    }
  };
}

const PRIVATE = "it leads into a private network, where nothing is fetched from";

async function resolve(host: string): Promise<string[]> {
  if (isIP(host)) return [host];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Without an address the runtime finds one, which is judged as soon as it is connected to. */
function request(
  url: URL,
  address: string | undefined,
  isReachable: (address: string) => boolean,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    const sent = (url.protocol === "https:" ? https : http).request(url, {
      method: wanted.method,
      headers: headersOf(wanted),
      signal,
      agent: false,
      ...(address === undefined ? {} : { lookup: lookupOf(address) }),
    });
    if (address === undefined) {
      sent.on("socket", (socket) => {
        socket.once("connect", () => {
          if (!isReachable(socket.remoteAddress ?? "")) sent.destroy(new Error(PRIVATE));
        });
      });
    }
    sent.on("error", reject);
    sent.on("response", (response) => {
      const chunks: Uint8Array[] = [];
      let size = 0;
      response.on("data", (chunk: Uint8Array) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > BODY_LIMIT) sent.destroy(new Error(`its answer is over ${BODY_LIMIT / 1_000_000} MB`));
      });
      response.on("error", reject);
      response.on("end", () => {
        const headers = Object.entries(response.headersDistinct ?? {})
          .flatMap(([name, values]) => (values ?? []).map((value): [string, string] => [name, value]));
        resolve({ status: response.statusCode ?? 0, headers, body: new Uint8Array(Buffer.concat(chunks)) });
      });
    });
    sent.end(wanted.body);
  });
}

const REASONS: { [code: string]: string } = {
  ENOTFOUND: "its host is not known",
  EAI_AGAIN: "its host is not known",
  ECONNREFUSED: "nothing answers there",
  ECONNRESET: "the connection broke",
  ETIMEDOUT: "nothing answers there",
  ABORT_ERR: "the call is over",
};

/** The runtimes have words of their own for these. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return REASONS[String(code)] ?? (oneLine(String(message ?? "")) || "the connection failed");
}

/** Answers with this one address, whatever the name. */
function lookupOf(address: string): LookupFunction {
  const family = isIP(address);
  return (_host, { all }, done) => all ? done(null, [{ address, family }]) : done(null, address, family);
}

function headersOf({ headers, body }: Wanted): { [name: string]: string } {
  const kept = headers.filter(([name]) => !OWN_HEADERS.test(name));
  // Compressed bytes would reach the plugin as they are.
  return {
    ...Object.fromEntries(kept),
    "accept-encoding": "identity",
    ...(body ? { "content-length": `${body.length}` } : {}),
  };
}

/** A list for each family: in one list `::ffff:0:0/96` would hold every IPv4 address. */
function blocks(ranges: readonly string[]): { 4: BlockList; 6: BlockList } {
  const lists = { 4: new BlockList(), 6: new BlockList() };
  for (const range of ranges) {
    const [network = "", bits] = range.split("/");
    if (isIP(network) === 6) lists[6].addSubnet(network, Number(bits), "ipv6");
    else lists[4].addSubnet(network, Number(bits), "ipv4");
  }
  return lists;
}

function contains(lists: { 4: BlockList; 6: BlockList }, address: string): boolean {
  const family = isIP(address);
  if (family === 6) return lists[6].check(address, "ipv6");
  return family === 4 && lists[4].check(address, "ipv4");
}
