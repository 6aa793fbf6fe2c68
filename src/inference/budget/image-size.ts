/** Base64 characters that are decoded first. The headers of most images are shorter. */
const FIRST_CHARS = 4_096;

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the width and height of a Base64 image, in pixels. Reads the headers of PNG, GIF, WebP
 * and JPEG. Returns undefined for other formats and for broken headers.
 */
export function readImageSize(base64: string): ImageSize | undefined {
  const start = Buffer.from(base64.slice(0, FIRST_CHARS), 'base64');
  const size = sizeIn(start);
  if (size || base64.length <= FIRST_CHARS || !isJpeg(start)) return valid(size);
  // A JPEG may have long metadata before its size.
  return valid(sizeIn(Buffer.from(base64, 'base64')));
}

function valid(size: ImageSize | undefined): ImageSize | undefined {
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

function sizeIn(bytes: Buffer): ImageSize | undefined {
  if (isJpeg(bytes)) return jpegSize(bytes);
  if (bytes.length < 30) return undefined;
  const magic = bytes.toString('latin1', 0, 16);
  if (magic.startsWith('\x89PNG\r\n\x1a\n')) {
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  if (magic.startsWith('GIF8')) {
    return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  }
  if (magic.startsWith('RIFF') && magic.slice(8, 12) === 'WEBP') {
    return webpSize(bytes, magic.slice(12, 16));
  }
  return undefined;
}

/** Reads the size of one of the three kinds of WebP (RFC 9649). */
function webpSize(bytes: Buffer, kind: string): ImageSize | undefined {
  switch (kind) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

const isJpeg = (bytes: Buffer) => bytes[0] === 0xff && bytes[1] === 0xd8;

/** Reads the first frame header (ITU T.81, B.2.2). Returns undefined if it is not in `bytes`. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) at += 1;
    else if (isFrameHeader(marker)) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    } else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** True for the markers SOF0 to SOF15. The markers DHT, JPG and DAC in this range are excluded. */
const isFrameHeader = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
