/** Images that the Messages API takes, told by their bytes: kind, size in pixels, and whether they are whole. */

import { crc32 } from "node:zlib";

/** Bytes of an image at most: 5 MB as base64 (the API's limit per image). */
export const IMAGE_LIMIT = 3_750_000;
/** Pixels of a side at most (the API's limit). */
export const SIDE_LIMIT = 8000;

export interface Image {
  media_type: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  width: number;
  height: number;
}

const KINDS: {
  media_type: Image["media_type"];
  magic: RegExp;
  measure(bytes: Uint8Array): [number, number] | undefined;
}[] = [
  // deno-lint-ignore no-control-regex -- the signature has one (RFC 2083, 12.12)
  { media_type: "image/png", magic: /^\x89PNG\r\n\x1a\n/, measure: measurePng },
  { media_type: "image/jpeg", magic: /^\xff\xd8\xff/, measure: measureJpeg },
  { media_type: "image/gif", magic: /^GIF8[79]a/, measure: measureGif },
  { media_type: "image/webp", magic: /^RIFF[^]{4}WEBP/, measure: measureWebp },
];

/** The kind of image that begins with these bytes, or nothing. The file's name does not count. */
export function kindOfImage(head: Uint8Array): Image["media_type"] | undefined {
  const start = ascii(head, 0, 12);
  return KINDS.find(({ magic }) => magic.test(start))?.media_type;
}

/** Kind and size of an image, or nothing when its structure does not hold to its end. Pixels are not decoded. */
export function readImage(bytes: Uint8Array): Image | undefined {
  const start = ascii(bytes, 0, 12);
  const kind = KINDS.find(({ magic }) => magic.test(start));
  const sides = kind?.measure(bytes);
  if (kind === undefined || sides === undefined || sides[0] === 0 || sides[1] === 0) return undefined;
  return { media_type: kind.media_type, width: sides[0], height: sides[1] };
}

/** PNG (RFC 2083): IHDR first, image data, IEND; each chunk is length, type, data, and the checksum of type and data. */
function measurePng(bytes: Uint8Array): [number, number] | undefined {
  const view = viewOf(bytes);
  if (bytes.length < 33 || ascii(bytes, 12, 4) !== "IHDR" || view.getUint32(8) !== 13) return undefined;
  const start: number[] = []; // of the data in all IDAT: they are one stream, cut anywhere
  for (let at = 8; at + 12 <= bytes.length;) {
    const type = ascii(bytes, at + 4, 4);
    const end = at + 12 + view.getUint32(at);
    if (end > bytes.length || crc32(bytes.subarray(at + 4, end - 4)) !== view.getUint32(end - 4)) return undefined;
    if (type === "IDAT" && start.length < 2) start.push(...bytes.subarray(at + 8, Math.min(at + 10, end - 4)));
    if (type === "IEND") return isZlib(start) ? [view.getUint32(16), view.getUint32(20)] : undefined;
    at = end;
  }
  return undefined;
}

/** Whether a zlib stream begins so (RFC 1950, 2.2): deflate, and both bytes as one number a multiple of 31. */
function isZlib([method, flags]: number[]): boolean {
  return method !== undefined && flags !== undefined && (method & 15) === 8 && (method * 256 + flags) % 31 === 0;
}

/** JPEG (ITU T.81): segments and scans up to the end marker; the frame header before the first scan has the size. */
function measureJpeg(bytes: Uint8Array): [number, number] | undefined {
  const view = viewOf(bytes);
  let sides: [number, number] | undefined;
  let hasScan = false;
  for (let at = 2; at + 2 <= bytes.length;) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at++; // fill byte
      continue;
    }
    if (marker === 0xd9) return hasScan ? sides : undefined;
    if (at + 4 > bytes.length) return undefined;
    const length = view.getUint16(at + 2);
    // Frame headers are C0 to CF but for the tables C4, C8 and CC.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame && at + 9 <= bytes.length) sides = [view.getUint16(at + 7), view.getUint16(at + 5)];
    if (length < 2) return undefined;
    at += 2 + length;
    if (marker === 0xda) {
      hasScan = true;
      at = endOfScan(bytes, at);
    }
  }
  return undefined;
}

/** Where the first marker after a scan's data is: not a stuffed FF 00, not a fill byte, not a restart (D0 to D7). */
function endOfScan(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return bytes.length;
}

/** GIF: blocks after the header and its colour table, at least one image, a trailer. A frame may reach over the screen. */
function measureGif(bytes: Uint8Array): [number, number] | undefined {
  if (bytes.length < 14) return undefined;
  const view = viewOf(bytes);
  let sides: [number, number] = [view.getUint16(6, true), view.getUint16(8, true)];
  let hasImage = false;
  for (let at = 13 + tableSize(bytes[10]); at < bytes.length;) {
    const kind = bytes[at];
    if (kind === 0x3b) return hasImage ? sides : undefined;
    if (kind === 0x2c) {
      if (at + 10 > bytes.length) return undefined;
      const [left = 0, top = 0, width = 0, height = 0] = [1, 3, 5, 7].map((field) => view.getUint16(at + field, true));
      sides = [Math.max(sides[0], left + width), Math.max(sides[1], top + height)];
      hasImage = true;
      at += 10 + tableSize(bytes[at + 9]) + 1;
    } else if (kind === 0x21) {
      at += 2;
    } else {
      return undefined;
    }
    // Sub-blocks: a length byte and so many bytes, until a length of zero.
    while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] ?? 0);
    at++;
  }
  return undefined;
}

/** WebP (RFC 9649): a RIFF that is as long as it says; the size is the largest of its canvas and its frames. */
function measureWebp(bytes: Uint8Array): [number, number] | undefined {
  if (bytes.length < 20) return undefined;
  const length = viewOf(bytes).getUint32(4, true) + 8;
  return length > bytes.length ? undefined : measureChunks(bytes.subarray(12, length));
}

/** The largest sides in a row of WebP chunks, or nothing when a chunk does not hold or none has image data. */
function measureChunks(bytes: Uint8Array, isFrame = false): [number, number] | undefined {
  const view = viewOf(bytes);
  let [hasImage, width, height] = [false, 0, 0];
  for (let at = 0; at < bytes.length;) {
    if (at + 8 > bytes.length) return undefined;
    const size = view.getUint32(at + 4, true);
    const data = bytes.subarray(at + 8, at + 8 + size);
    if (data.length < size) return undefined;
    const type = ascii(bytes, at, 4);
    // Frames do not nest: followed down, they would use up the stack.
    const measure = isFrame && type === "ANMF" ? undefined : WEBP_CHUNKS[type];
    if (measure !== undefined) {
      const sides = measure(data);
      if (sides === undefined) return undefined;
      if (type !== "VP8X") hasImage = true;
      [width, height] = [Math.max(width, sides[0]), Math.max(height, sides[1])];
    }
    at += 8 + size + size % 2; // a chunk of odd size has a byte of padding
  }
  return hasImage ? [width, height] : undefined;
}

const WEBP_CHUNKS: { [type: string]: (data: Uint8Array) => [number, number] | undefined } = {
  VP8X(data) {
    if (data.length < 10) return undefined;
    const view = viewOf(data);
    return [1 + (view.getUint32(4, true) & 0xffffff), 1 + (view.getUint32(6, true) >>> 8)];
  },
  VP8L(data) {
    if (data.length < 5 || data[0] !== 0x2f) return undefined;
    const bits = viewOf(data).getUint32(1, true);
    return [1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)];
  },
  // A key frame has its start code after three bytes (RFC 6386, 9.1).
  "VP8 "(data) {
    if (data.length < 10 || ascii(data, 3, 3) !== "\x9d\x01\x2a") return undefined;
    const view = viewOf(data);
    return [view.getUint16(6, true) & 0x3fff, view.getUint16(8, true) & 0x3fff];
  },
  // A frame of an animation has 16 bytes of its own, then chunks.
  ANMF(data) {
    return measureChunks(data.subarray(16), true);
  },
};

/** Bytes of the colour table that this byte of flags announces. */
function tableSize(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

function ascii(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
