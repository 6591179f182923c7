/** Which encoding bytes are in that are not UTF-8, as far as they tell. */

/**
 * What a file is that begins with these bytes and is not UTF-8 text, in words that follow "it is". Names an encoding only where the bytes
 * leave little doubt: a BOM, the zeros of UTF-16, or single bytes that read as Western European text.
 */
export function describeBytes(head: Uint8Array, size: number): string {
  const convert = (name: string) => `${name}, not UTF-8. Convert it first, for example with iconv`;
  const [a, b, c, d] = head;
  if (a === 0xff && b === 0xfe) return convert(c === 0 && d === 0 ? "UTF-32 LE text" : "UTF-16 LE text");
  if (a === 0xfe && b === 0xff) return convert("UTF-16 BE text");
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return convert("UTF-32 BE text");
  const wide = wideOrder(head.subarray(0, 4096));
  if (wide !== undefined) return convert(`UTF-16 ${wide} text`);
  if (isBinary(head)) return `binary (${size.toLocaleString("en-US")} bytes)`;
  for (const [label, name] of [["shift_jis", "Shift-JIS"], ["gbk", "GBK"]] as const) {
    if (isLikely(label, head)) return convert(`probably ${name} text`);
  }
  if (isWestern(head)) return convert("probably Latin-1 or Windows-1252 text");
  return convert("text in an unknown encoding");
}

/** Whether bytes cannot be text of any one-byte encoding: a NUL, or many control characters. */
function isBinary(sample: Uint8Array): boolean {
  let controls = 0;
  for (const byte of sample) {
    if (byte === 0) return true;
    // Tab, line ends, form feed, and the escape of coloured logs are in text.
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) controls++;
  }
  return controls * 10 > sample.length;
}

/** The byte order of UTF-16 without a BOM: most characters are Latin, so that every other byte is zero. */
function wideOrder(sample: Uint8Array): "LE" | "BE" | undefined {
  if (sample.length < 8) return undefined;
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const half = sample.length / 2;
  if (odd > half * 0.7 && even < half * 0.05) return "LE";
  if (even > half * 0.7 && odd < half * 0.05) return "BE";
  return undefined;
}

/** Valid in the encoding, and mostly the characters that its language is written with. */
function isLikely(label: "shift_jis" | "gbk", bytes: Uint8Array): boolean {
  let text: string;
  try {
    text = new TextDecoder(label, { fatal: true }).decode(bytes.subarray(0, 4096), { stream: true });
  } catch {
    return false;
  }
  const foreign = text.match(/[\u0080-\u{10ffff}]/gu) ?? [];
  // Kana prove Japanese. Chinese has no such proof: ask for the commonest characters and punctuation.
  const proof = label === "shift_jis"
    ? /[\u3041-\u30fe]/gu
    : /[\u7684\u4e00\u662f\u4e0d\u4e86\u5728\u6709\u4eba\u6211\u4e2d\u6587\uff0c\u3002]/gu;
  const proofs = text.match(proof)?.length ?? 0;
  return foreign.length >= 4 && proofs * 5 >= foreign.length;
}

/** One-byte text of Western Europe: bytes over 127 are rare, and stand for letters and typographic signs. */
function isWestern(bytes: Uint8Array): boolean {
  let high = 0;
  for (const byte of bytes) {
    if (byte < 128) continue;
    if ([0x81, 0x8d, 0x8f, 0x90, 0x9d].includes(byte)) return false; // not assigned in Windows-1252
    high++;
  }
  return high > 0 && high * 3 < bytes.length;
}
