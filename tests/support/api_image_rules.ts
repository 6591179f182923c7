/** The rules for images: base64, 5 MB, bytes that are what they say, sides within the limit. */

import { must, refuse } from "./api_refusal.ts";

/** An image block's base64 source, and where it stands in the request. */
export interface PlacedImage {
  path: string;
  data: string;
  media_type: string;
}

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_IMAGES = 100;
/** Longest side in pixels; the second one holds as soon as a request has more than 20 images. */
const MAX_SIDE = 8000;
const MAX_SIDE_OF_MANY = 2000;

/** Refuses the first image that the API would not take. The 5 MB count the base64 text, as the API's own messages do. */
export function checkImages(images: readonly PlacedImage[]): void {
  must(images.length <= MAX_IMAGES, `messages: at most ${MAX_IMAGES} images are permitted, found ${images.length}`);
  const maxSide = images.length > 20 ? MAX_SIDE_OF_MANY : MAX_SIDE;
  for (const { path, data, media_type } of images) {
    const at = `${path}.source.base64`;
    must(data !== "", `${at}: image cannot be empty`);
    must(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(data), `${at}: invalid base64 data`);
    must(data.length <= MAX_BYTES, `${at}: image exceeds 5 MB maximum: ${data.length} bytes > ${MAX_BYTES} bytes`);
    const image = describeImage(Buffer.from(data, "base64")) ?? refuse(`${at}: Could not process image`);
    must(
      image.mediaType === media_type,
      `${at}: The image was specified using the ${media_type} media type, but the image appears to be a ` +
        `${image.mediaType} image`,
    );
    must(
      Math.max(image.width, image.height) <= maxSide,
      `${at}: At least one of the image dimensions exceeds the maximum of ${maxSide} pixels`,
      { details: { error_code: "image_dimensions_too_large", max_side_length_pixels: maxSide, paths: [path] } },
    );
  }
}

interface ImageHeader {
  mediaType: string;
  width: number;
  height: number;
}

/** Type and size from the first bytes; undefined when they are no image, or one cut within its header. */
export function describeImage(bytes: Buffer): ImageHeader | undefined {
  const ascii = (from: number, to: number) => bytes.toString("latin1", from, to);
  if (ascii(0, 8) === "\x89PNG\r\n\x1a\n") {
    if (bytes.length < 24 || ascii(12, 16) !== "IHDR") return undefined;
    return { mediaType: "image/png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  if (/^GIF8[79]a$/.test(ascii(0, 6))) {
    if (bytes.length < 10) return undefined;
    return { mediaType: "image/gif", width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  }
  if (ascii(0, 2) === "\xff\xd8") return describeJpeg(bytes);
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP") return describeWebp(bytes);
  return undefined;
}

/** Walks the segments to the first start-of-frame (ITU T.81, B.1.1.3). */
function describeJpeg(bytes: Buffer): ImageHeader | undefined {
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) {
      return { mediaType: "image/jpeg", width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** The three kinds of first chunk (RFC 9649, 2.5 to 2.7). */
function describeWebp(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 30) return undefined;
  const mediaType = "image/webp";
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { mediaType, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { mediaType, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}
