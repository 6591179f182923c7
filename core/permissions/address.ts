/** An address `host:port` in its one spelling, so that two addresses are the same exactly when their texts are. */

import { visible } from "../text.ts";

/** The spelling to compare, or why there is none and what to write instead (one sentence each, for the user). */
export type ParsedAddress = { ok: true; address: string } | { ok: false; problem: string };

const EXAMPLE = 'Give "host:port", as in example.com:443';

/**
 * Lower case, international names in punycode, IPv6 in its short form and in brackets, the port in digits (443 when there
 * is none). Whatever two parsers could read differently is refused instead of repaired: user parts, percent signs,
 * invisible characters, a final dot, odd spellings of an IPv4 address. There are no wildcards and no ranges.
 */
export function parseAddress(text: string): ParsedAddress {
  if (visible(text) !== text || /\s/.test(text)) return no(`it holds a space or an invisible character. ${EXAMPLE}`);
  if (text.includes("*")) return no("a wildcard lets in hosts that nobody named. Name each host");
  if (text.includes("://")) return no(`it is a URL. ${EXAMPLE}`);
  if (text.includes("@")) return no(`it has a user part. ${EXAMPLE}`);
  if (/[/\\?#%]/.test(text)) return no(`it is more than a host and a port. ${EXAMPLE}`);

  const bracketed = /^(\[[0-9a-f:.]*\])(?::(.*))?$/i.exec(text);
  const plain = /^([^:[\]]*)(?::([^:]*))?$/.exec(text);
  const [, host, port = "443"] = bracketed ?? plain ?? [];
  if (host === undefined) return no("an IPv6 address goes in brackets. Write it as in [::1]:443");
  if (host === "") return no(`the host is missing. ${EXAMPLE}`);
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535) return no("the port is not a number from 1 to 65535");

  const canonical = canonicalHost(host);
  if (canonical === undefined) return no(`it is not the name of a host. ${EXAMPLE}`);
  if (host.endsWith(".") || canonical.endsWith(".")) return no("it ends in a dot. Leave the dot out");
  if (/^[\d.]+$/.test(canonical) && canonical !== host) return no(`the usual spelling is ${canonical}. Write it so`);
  if (!bracketed && !/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(canonical)) {
    return no(`it is not the name of a host. ${EXAMPLE}`);
  }
  return { ok: true, address: `${canonical}:${port}` };
}

/** As fetch will spell it: the same parser decides what is granted and what is dialled. */
function canonicalHost(host: string): string | undefined {
  try {
    return new URL(`https://${host}/`).hostname;
  } catch {
    return undefined;
  }
}

function no(problem: string): ParsedAddress {
  return { ok: false, problem };
}
