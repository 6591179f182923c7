import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { kindOfImage, readImage } from "../core/files/image.ts";

/** The smallest whole image of each kind. */
const IMAGES: { [kind: string]: { base64: string; width: number; height: number } } = {
  "image/png": {
    base64: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==",
    width: 1,
    height: 1,
  },
  "image/gif": { base64: "R0lGODlhAgADAIAAAAAAAP///yH5BAEAAAAALAAAAAACAAMAAAICRF4AOw==", width: 2, height: 3 },
  "image/webp": { base64: "UklGRhoAAABXRUJQVlA4TA0AAAAvAUAAAAcQEf0PRP8DAA==", width: 2, height: 2 },
};

/** A JPEG of segments alone: start, frame header, scan, end. */
function jpegOf(width: number, height: number): Uint8Array {
  const frame = [0xff, 0xc0, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0];
  return Uint8Array.of(
    0xff,
    0xd8,
    0xff,
    0xe0,
    0,
    4,
    0,
    0,
    ...frame,
    0xff,
    0xda,
    0,
    8,
    1,
    1,
    0,
    0,
    63,
    0,
    0x2a,
    0xff,
    0,
    0x2a,
    0xff,
    0xd9,
  );
}

/** A PNG of 1 × 1 pixel with these chunks of image data, each with a true checksum. */
function pngOf(...data: (readonly number[])[]): Buffer {
  const chunk = (type: string, body: readonly number[]) => {
    const checked = Buffer.from([...Buffer.from(type), ...body]);
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(body.length);
    checksum.writeUInt32BE(crc32(checked));
    return Buffer.concat([length, checked, checksum]);
  };
  const header = chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0]);
  const images = data.map((body) => chunk("IDAT", body));
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), header, ...images, chunk("IEND", [])]);
}

describe("readImage", () => {
  for (const [media_type, { base64, width, height }] of Object.entries(IMAGES)) {
    test(`measures ${media_type}`, () => {
      const bytes = Buffer.from(base64, "base64");
      expect(kindOfImage(bytes)).toBe(media_type as ReturnType<typeof kindOfImage>);
      expect(readImage(bytes) as unknown).toEqual({ media_type, width, height });
    });

    test(`refuses ${media_type} that is cut anywhere`, () => {
      const bytes = Buffer.from(base64, "base64");
      for (let end = 12; end < bytes.length - 1; end++) expect(readImage(bytes.subarray(0, end))).toBeUndefined();
    });
  }

  test("refuses a PNG that ends before its image data begins", () => {
    const bytes = Buffer.from(IMAGES["image/png"]?.base64 ?? "", "base64");
    expect(readImage(Buffer.concat([bytes.subarray(0, 33), bytes.subarray(-12)]))).toBeUndefined();
  });

  test.each([
    { data: "stands in one chunk", chunks: [[0x78, 0xda, 0x63, 0x60, 0, 0, 0, 2, 0, 1]], width: 1 },
    { data: "is cut inside its header", chunks: [[], [0x78], [0xda, 0x63, 0x60, 0, 0, 0, 2, 0, 1]], width: 1 },
    { data: "is empty", chunks: [[]], width: undefined },
    { data: "ends after a byte", chunks: [[0x78]], width: undefined },
    { data: "is not deflated", chunks: [[0x77, 0x85, 0x63, 0x60]], width: undefined },
    { data: "has a header that does not check", chunks: [[0x78, 0xdb, 0x63, 0x60]], width: undefined },
  ])("sees whether a PNG is whole when its data $data", ({ chunks, width }) => {
    expect(readImage(pngOf(...chunks))?.width).toBe(width);
  });

  test("refuses a PNG with a changed byte in any chunk", () => {
    const bytes = Buffer.from(IMAGES["image/png"]?.base64 ?? "", "base64");
    for (let at = 8; at < bytes.length; at++) {
      const changed = Uint8Array.from(bytes, (byte, index) => index === at ? byte ^ 1 : byte);
      expect(readImage(changed)).toBeUndefined();
    }
  });

  test("measures JPEG, and refuses one that is cut anywhere", () => {
    const bytes = jpegOf(640, 480);
    expect(readImage(bytes)).toEqual({ media_type: "image/jpeg", width: 640, height: 480 });
    for (let end = 3; end < bytes.length; end++) expect(readImage(bytes.subarray(0, end))).toBeUndefined();
  });

  const frameless = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0];
  const frame = [0xff, 0xc0, 0, 11, 8, 0, 2, 0, 3, 1, 1, 0x11, 0];
  const scan = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x2a, 0xff, 0, 0xff, 0xd0, 0x2a, 0xff, 0xd7, 0x2a];
  const tableWithEnd = [0xff, 0xc4, 0, 6, 1, 0xff, 0xd9, 2];
  const end = [0xff, 0xd9];
  test.each([
    { parts: "scans with a table between", bytes: [frame, scan, tableWithEnd, scan, end], width: 3 },
    { parts: "a fill byte before the end", bytes: [frame, scan, [0xff], end], width: 3 },
    { parts: "bytes after the end", bytes: [frame, scan, end, [1, 2, 3]], width: 3 },
    { parts: "an end only inside a table", bytes: [frame, scan, tableWithEnd], width: undefined },
    { parts: "a table that is longer than the file", bytes: [frame, scan, [0xff, 0xc4, 0, 99], end], width: undefined },
    { parts: "no scan", bytes: [frame, end], width: undefined },
    { parts: "no frame header", bytes: [scan, end], width: undefined },
  ])("sees whether a JPEG is whole that has $parts", ({ bytes, width }) => {
    expect(readImage(Uint8Array.from([...frameless, ...bytes.flat()]))?.width).toBe(width);
  });

  test.each([
    { frame: "inside the screen", sides: [0, 0, 2, 3], measured: [2, 3] },
    { frame: "wider than the screen", sides: [0, 0, 9000, 3], measured: [9000, 3] },
    { frame: "higher than the screen", sides: [0, 0, 2, 9000], measured: [2, 9000] },
    { frame: "moved out of the screen", sides: [7000, 8000, 2, 3], measured: [7002, 8003] },
  ])("measures a GIF with a frame $frame", ({ sides, measured }) => {
    const bytes = Buffer.from(IMAGES["image/gif"]?.base64 ?? "", "base64");
    const at = bytes.indexOf(0x2c);
    for (const [index, side] of sides.entries()) bytes.writeUInt16LE(side, at + 1 + 2 * index);
    const { width, height } = readImage(bytes) ?? {};
    expect([width, height] as unknown).toEqual(measured);
  });

  const webp = (type: string, data: readonly number[], size = data.length) => {
    const head = Buffer.alloc(8);
    head.write(type);
    head.writeUInt32LE(size, 4);
    return [...head, ...data, ...(data.length % 2 ? [0] : [])];
  };
  const canvas = webp("VP8X", [0, 0, 0, 0, 0x7f, 2, 0, 0xdf, 1, 0]); // 640 × 480
  const lossy = [0, 0, 0, 0x9d, 1, 0x2a, 0x80, 2, 0xe0, 1]; // 640 × 480
  const lossless = [0x2f, 1, 0x40, 0, 0]; // 2 × 2
  const huge = [0, 0, 0, 0x9d, 1, 0x2a, 0x28, 0x23, 1, 0]; // 9000 × 1
  const place = Array<number>(16).fill(0);
  test.each([
    { form: "lossy", chunks: [webp("VP8 ", lossy)], measured: [640, 480] },
    { form: "lossless", chunks: [webp("VP8L", lossless)], measured: [2, 2] },
    { form: "extended", chunks: [canvas, webp("ICCP", [1]), webp("VP8L", lossless)], measured: [640, 480] },
    { form: "animated", chunks: [canvas, webp("ANMF", [...place, ...webp("VP8 ", lossy)])], measured: [640, 480] },
    { form: "larger than its canvas", chunks: [canvas, webp("VP8 ", huge)], measured: [9000, 480] },
    { form: "a canvas alone", chunks: [canvas], measured: undefined },
    { form: "a canvas with an empty frame", chunks: [canvas, webp("ANMF", place)], measured: undefined },
    { form: "longer by a chunk than by its length", chunks: [webp("VP8 ", lossy, 12)], measured: undefined },
    { form: "cut in the head of a chunk", chunks: [webp("VP8 ", lossy), [1, 2]], measured: undefined },
    { form: "without a start code", chunks: [webp("VP8 ", [...lossy.slice(0, 3), 0, ...lossy.slice(4)])] },
    { form: "without the lossless signature", chunks: [webp("VP8L", [0, 1, 0x40, 0, 0])] },
    { form: "of an unknown kind", chunks: [webp("VP8?", lossy)] },
  ] as { form: string; chunks: number[][]; measured?: number[] }[])(
    "sees whether a WebP is whole that is $form",
    ({ chunks, measured }) => {
      const image = readImage(Uint8Array.from(webp("RIFF", [...Buffer.from("WEBP"), ...chunks.flat()])));
      expect(image && [image.width, image.height]).toEqual(measured);
    },
  );

  test("does not follow WebP frames inside frames", () => {
    const depth = 100_000;
    const bytes = Buffer.alloc(12 + 24 * depth);
    bytes.write("RIFF....WEBP", "latin1");
    bytes.writeUInt32LE(bytes.length - 8, 4);
    for (let level = 0; level < depth; level++) {
      bytes.write("ANMF", 12 + 24 * level);
      bytes.writeUInt32LE(24 * (depth - level) - 8, 16 + 24 * level);
    }
    expect(readImage(bytes)).toBeUndefined();
  });

  test("has an end for any bytes behind a true beginning", () => {
    const starts = [
      ...Object.values(IMAGES).map(({ base64 }) => Buffer.from(base64, "base64").subarray(0, 14)),
      jpegOf(1, 1).subarray(0, 3),
    ];
    fc.assert(fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 100 }), (start, rest) => {
      readImage(Uint8Array.of(...start, ...rest));
    }));
  });

  test.each(["<svg/>", "GIF", "\x89PNG", "RIFF....WAVE", ""])("%p is no image", (text) => {
    expect(kindOfImage(Buffer.from(text, "latin1"))).toBeUndefined();
  });
});
