import { deflateSync } from 'node:zlib';
import { hashText } from '../shared/random.ts';

/** Small real files: one second of video, H.264 in MP4, and one second of a tone in MP3. */
const VIDEO = await Bun.file(new URL('./media/video.mp4', import.meta.url)).bytes();
const AUDIO = await Bun.file(new URL('./media/audio.mp3', import.meta.url)).bytes();
/** The longest edge of an image, in pixels. A larger image would only slow down the tests. */
const MAX_EDGE = 1_024;

export type MediaKind = 'image' | 'video' | 'audio' | 'model';

export const MEDIA_TYPES: Record<MediaKind, string> = {
  image: 'image/png',
  video: 'video/mp4',
  audio: 'audio/mpeg',
  model: 'model/gltf-binary',
};

/** The bytes of a result; the seed decides an image's color. */
export function mediaOf(kind: MediaKind, seed: string, width = 256, height = 256): Uint8Array {
  if (kind === 'video') return VIDEO;
  if (kind === 'audio') return AUDIO;
  if (kind === 'model') return glb();
  return pngOf(Math.min(width, MAX_EDGE), Math.min(height, MAX_EDGE), hashText(seed));
}

/** Images of one pixel in other formats (RFC 9649; JFIF). */
const PIXELS: Readonly<Record<string, string>> = {
  webp: 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA',
  jpeg: '/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AKp//2Q==',
};

/** An image in `format`, in Base64: a PNG of this size, or one pixel in another format. */
export function imageIn(format: string, seed: string, width: number, height: number): string {
  return PIXELS[format] ?? Buffer.from(mediaOf('image', seed, width, height)).toString('base64');
}

/** An empty scene in the binary form of glTF (glTF 2.0 specification: GLB). */
function glb(): Uint8Array {
  const scene = Buffer.from('{"asset":{"version":"2.0"},"scenes":[{"nodes":[]}],"scene":0}   ');
  const json = scene.subarray(0, scene.length - (scene.length % 4));
  const head = Buffer.alloc(20);
  head.write('glTF', 0);
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(head.length + json.length, 8);
  head.writeUInt32LE(json.length, 12);
  head.write('JSON', 16);
  return Buffer.concat([head, json]);
}

const PNG_SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const PNG_BIT_DEPTH = 8;
const PNG_TRUECOLOUR = 2;

/** An image of one color (PNG specification: chunk layout, filter type 0). */
function pngOf(width: number, height: number, colour: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, PNG_BIT_DEPTH);
  header.setUint8(9, PNG_TRUECOLOUR);
  const row = Buffer.alloc(1 + width * 3);
  for (let at = 0; at < width; at += 1) row.writeUIntBE(colour & 0xffffff, 1 + at * 3, 3);
  const rows = Buffer.concat(Array.from({ length: height }, () => row));
  return Buffer.concat([
    PNG_SIGNATURE,
    chunk('IHDR', new Uint8Array(header.buffer)),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', new Uint8Array()),
  ]);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(Bun.hash.crc32(named));
  return Buffer.concat([size, named, check]);
}
