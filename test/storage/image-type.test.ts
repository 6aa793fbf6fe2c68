import { expect, test } from 'bun:test';
import { imageTypeOf } from '../../src/storage/image-type.ts';

/** The first bytes that each format's specification requires. */
test.each([
  ['PNG, 5.2: PNG signature', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0], 'image/png'],
  ['JPEG, B.1.1.3: SOI and a marker', [0xff, 0xd8, 0xff, 0xe0, 0, 0x10], 'image/jpeg'],
  ['WebP, RFC 9649 2.4', [...Buffer.from('RIFF\u0001\u0002\u0003\u0004WEBPVP8 ')], 'image/webp'],
  ['GIF89a', [...Buffer.from('GIF89a\u0001')], 'image/gif'],
  ['GIF87a', [...Buffer.from('GIF87a')], 'image/gif'],
  ['RIFF with sound', [...Buffer.from('RIFF\u0001\u0002\u0003\u0004WAVEfmt ')], undefined],
  ['a text', [...Buffer.from('<svg></svg>')], undefined],
  ['nothing', [], undefined],
])('%s', (_, bytes, type) => {
  expect(imageTypeOf(Uint8Array.from(bytes))).toBe(type);
});
