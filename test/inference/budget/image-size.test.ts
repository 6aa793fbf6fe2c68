import { describe, expect, test } from 'bun:test';
import { readImageSize } from '../../../src/inference/budget/image-size.ts';
import { fc } from '../../support/property.ts';

const base64 = (...parts: (string | number[] | Uint8Array)[]) =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part),
    ),
  ).toString('base64');

const PADDING = new Uint8Array(40);
/** A JPEG's segment with metadata of this length, bytes. */
const metadata = (length: number) => [
  ...[0xff, 0xe1, length >> 8, length & 0xff],
  ...new Array<number>(length - 2).fill(0xc0),
];
const frame = [0xff, 0xc2, 0, 17, 8, 0x03, 0x20, 0x05, 0x00, 3];

describe('the size of an image', () => {
  for (const [name, image, size] of [
    [
      'PNG',
      base64('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', [0, 0, 4, 0, 0, 0, 3, 0], PADDING),
      [1_024, 768],
    ],
    ['GIF', base64('GIF89a', [0x80, 2, 0xe0, 1], PADDING), [640, 480]],
    [
      'WebP, lossy',
      base64('RIFF\0\0\0\0WEBPVP8 ', PADDING.subarray(0, 10), [0x20, 3, 0x58, 2], PADDING),
      [800, 600],
    ],
    [
      'WebP, lossless',
      base64('RIFF\0\0\0\0WEBPVP8L', [0, 0, 0, 0, 0x2f], [0x1f, 0xc3, 0x95, 0], PADDING),
      [800, 600],
    ],
    [
      'WebP, extended',
      base64('RIFF\0\0\0\0WEBPVP8X', PADDING.subarray(0, 8), [0x1f, 3, 0, 0x57, 2, 0], PADDING),
      [800, 600],
    ],
    ['JPEG', base64([0xff, 0xd8], metadata(20), frame), [1_280, 800]],
    [
      'JPEG with long metadata',
      base64([0xff, 0xd8], metadata(30_000), metadata(30_000), frame),
      [1_280, 800],
    ],
  ] as const) {
    test(name, () => {
      expect(readImageSize(image)).toEqual({ width: size[0], height: size[1] });
    });
  }

  test('is undefined for other formats, broken headers and empty images', () => {
    expect(readImageSize('')).toBeUndefined();
    expect(readImageSize(base64('%PDF-1.4', PADDING))).toBeUndefined();
    expect(readImageSize(base64([0xff, 0xd8, 0xff]))).toBeUndefined();
    expect(readImageSize(base64('GIF89a', PADDING))).toBeUndefined();
    expect(readImageSize(base64([0xff, 0xd8], metadata(20)))).toBeUndefined();
  });

  test('of arbitrary bytes throws no error', () => {
    const magic = fc.constantFrom('', '/9j/', 'iVBORw0KGgo', 'R0lGODlh', 'UklGRgAAAABXRUJQVlA4');
    fc.assert(
      fc.property(magic, fc.base64String({ maxLength: 200 }), (start, rest) => {
        const size = readImageSize(start + rest);
        if (size) expect(size.width * size.height).toBeGreaterThan(0);
      }),
    );
  });
});
