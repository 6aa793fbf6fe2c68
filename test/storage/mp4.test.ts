import { describe, expect, test } from 'bun:test';
import { Mp4Reader } from '../../src/storage/mp4.ts';
import { box, type FilmOptions, filmOf } from '../support/mp4.ts';
import { fc } from '../support/property.ts';

/** Reads a file in pieces of this size. */
function measure(file: Uint8Array, piece_bytes = file.length) {
  const reader = new Mp4Reader();
  for (let at = 0; at < file.length; at += piece_bytes) {
    reader.push(file.subarray(at, at + piece_bytes));
  }
  return reader.measures;
}

const film = fc.record<FilmOptions>({
  seconds: fc.integer({ min: 1, max: 3_600_000 }).map((ms) => ms / 1_000),
  width: fc.integer({ min: 1, max: 8_192 }),
  height: fc.integer({ min: 1, max: 8_192 }),
  version: fc.constantFrom(0, 1),
  is_header_last: fc.boolean(),
  has_large_box: fc.boolean(),
});

describe('the length and size of an MP4 file', () => {
  test('of a real file', async () => {
    const file = new URL('../../simulator/tasks/media/video.mp4', import.meta.url);
    expect(measure(await Bun.file(file).bytes())).toEqual({ seconds: 1, width: 128, height: 72 });
  });

  test('are found in pieces of any size', () => {
    fc.assert(
      fc.property(film, fc.integer({ min: 1, max: 5_000 }), (options, piece_bytes) => {
        const { seconds, width, height } = options;
        expect(measure(filmOf(options), piece_bytes)).toEqual({ seconds, width, height });
      }),
    );
  });

  test('are not known of any other file, and no file is an error', () => {
    const bytes = fc.uint8Array({ maxLength: 400 });
    const broken = fc
      .tuple(film, fc.nat(), fc.nat(255))
      .map(([options, at, value]) => filmOf(options).with(at % 600, value));
    fc.assert(
      fc.property(
        fc.oneof(bytes, broken),
        fc.integer({ min: 1, max: 400 }),
        (file, piece_bytes) => {
          const measures = measure(file, piece_bytes);
          if (measures) expect(measures.seconds).toBeGreaterThan(0);
        },
      ),
    );
    expect(measure(Buffer.from('bytes of a video'))).toBeUndefined();
    expect(measure(new Uint8Array())).toBeUndefined();
  });

  test('are not known if the file is cut before its header ends', () => {
    const file = filmOf({ seconds: 5, width: 1_280, height: 720, is_header_last: true });
    expect(measure(file.subarray(0, file.length - 1))).toBeUndefined();
  });

  test('are not known if the header has no length, or is too large', () => {
    expect(measure(filmOf({ seconds: 0, width: 1_280, height: 720 }))).toBeUndefined();
    const header = filmOf({ seconds: 5, width: 1_280, height: 720 });
    const large = box('moov', Buffer.alloc(9 * 1_024 * 1_024));
    expect(measure(Buffer.concat([large, header]))).toBeUndefined();
  });
});
