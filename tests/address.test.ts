import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseAddress } from "../core/permissions/address.ts";

const same: [string, string][] = [
  ["example.com", "example.com:443"],
  ["example.com:80", "example.com:80"],
  ["EXAMPLE.Com:443", "example.com:443"],
  ["münchen.de", "xn--mnchen-3ya.de:443"],
  ["MÜNCHEN.de:8080", "xn--mnchen-3ya.de:8080"],
  ["xn--mnchen-3ya.de", "xn--mnchen-3ya.de:443"],
  ["localhost:3000", "localhost:3000"],
  ["10.0.0.1:1", "10.0.0.1:1"],
  ["a_b.c:65535", "a_b.c:65535"],
  ["[::1]:80", "[::1]:80"],
  ["[::1]", "[::1]:443"],
  ["[0:0:0:0:0:0:0:1]:80", "[::1]:80"],
  ["[::FFFF:127.0.0.1]", "[::ffff:7f00:1]:443"],
];
test.each(same)("parseAddress spells %j as %j", (text, address) => {
  expect(parseAddress(text)).toEqual({ ok: true, address });
});

const EXAMPLE = 'Give "host:port", as in example.com:443';
const PORT = "the port is not a number from 1 to 65535";
const NAME = `it is not the name of a host. ${EXAMPLE}`;
const wrong: [string, string][] = [
  ["", `the host is missing. ${EXAMPLE}`],
  [":443", `the host is missing. ${EXAMPLE}`],
  ["http://x", `it is a URL. ${EXAMPLE}`],
  ["https://a.com:443/", `it is a URL. ${EXAMPLE}`],
  ["a.com/", `it is more than a host and a port. ${EXAMPLE}`],
  ["a.com/path", `it is more than a host and a port. ${EXAMPLE}`],
  ["a.com\\b", `it is more than a host and a port. ${EXAMPLE}`],
  ["a.com?x", `it is more than a host and a port. ${EXAMPLE}`],
  ["a.com#x", `it is more than a host and a port. ${EXAMPLE}`],
  ["10.0.0.0/8", `it is more than a host and a port. ${EXAMPLE}`],
  ["%61.com", `it is more than a host and a port. ${EXAMPLE}`],
  ["[fe80::1%25eth0]", `it is more than a host and a port. ${EXAMPLE}`],
  ["good.com@evil.com", `it has a user part. ${EXAMPLE}`],
  ["user:pw@evil.com:443", `it has a user part. ${EXAMPLE}`],
  ["*", "a wildcard lets in hosts that nobody named. Name each host"],
  ["*.example.com", "a wildcard lets in hosts that nobody named. Name each host"],
  ["evil.com\0.good.com", `it holds a space or an invisible character. ${EXAMPLE}`],
  ["exa\u00admple.com", `it holds a space or an invisible character. ${EXAMPLE}`],
  ["a\u200db.com", `it holds a space or an invisible character. ${EXAMPLE}`],
  ["a b.com", `it holds a space or an invisible character. ${EXAMPLE}`],
  ["a.com\n", `it holds a space or an invisible character. ${EXAMPLE}`],
  ["a.com.", "it ends in a dot. Leave the dot out"],
  ["a.com.:443", "it ends in a dot. Leave the dot out"],
  ["a.com\u3002", "it ends in a dot. Leave the dot out"],
  ["1.2.3.4.", "it ends in a dot. Leave the dot out"],
  [".a.com", NAME],
  ["a..com", NAME],
  ["a,b", NAME],
  ["xn--a", NAME],
  ["a$b", NAME],
  ["[::1", "an IPv6 address goes in brackets. Write it as in [::1]:443"],
  ["::1", "an IPv6 address goes in brackets. Write it as in [::1]:443"],
  ["::1:80", "an IPv6 address goes in brackets. Write it as in [::1]:443"],
  ["[::1]80", "an IPv6 address goes in brackets. Write it as in [::1]:443"],
  ["[]:80", NAME],
  ["[1:2]", NAME],
  ["127.1", "the usual spelling is 127.0.0.1. Write it so"],
  ["0x7f000001", "the usual spelling is 127.0.0.1. Write it so"],
  ["2130706433:80", "the usual spelling is 127.0.0.1. Write it so"],
  ["０127.0.0.1", "the usual spelling is 87.0.0.1. Write it so"],
  ["a.com:", PORT],
  ["a.com:0", PORT],
  ["a.com:65536", PORT],
  ["a.com:99999999999", PORT],
  ["a.com:0443", PORT],
  ["a.com:+443", PORT],
  ["a.com:443x", PORT],
  ["a.com:１", PORT],
];
test.each(wrong)("parseAddress refuses %j", (text, problem) => {
  expect(parseAddress(text)).toEqual({ ok: false, problem });
});

test("parseAddress reads its own spelling as it is, and so does the parser that fetch dials with", () => {
  const text = fc.oneof(
    fc.webAuthority({ withPort: true, withIPv4: true, withIPv6: true }),
    fc.string({ unit: fc.constantFrom(..."aA.:[]1@*ß。%\u00ad/-_0x"), maxLength: 12 }),
  );
  fc.assert(
    fc.property(text, (text) => {
      const parsed = parseAddress(text);
      if (!parsed.ok) return;
      expect(parseAddress(parsed.address)).toEqual(parsed);
      const url = new URL(`https://${parsed.address}/`);
      expect(`${url.hostname}:${url.port || "443"}`).toBe(parsed.address);
    }),
    { numRuns: 500 },
  );
});
