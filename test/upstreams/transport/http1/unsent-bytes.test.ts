import { describe, expect, test } from 'bun:test';
import { UnsentBytes } from '../../../../src/upstreams/transport/http1/unsent-bytes.ts';
import { fc } from '../../../support/property.ts';

const HEAD = 'POST / HTTP/1.1\r\nX-Name: é\r\n\r\n';
const SLICE_UNITS = 256 * 1024;

/** A socket that accepts as many bytes of each write as `accepts` says, over and over. */
class SlowSocket {
  readonly pieces: Buffer[] = [];
  largest_write = 0;
  private at = 0;

  constructor(private readonly accepts: readonly number[]) {}

  write(bytes: unknown): number {
    const given = bytes as Uint8Array;
    this.largest_write = Math.max(this.largest_write, given.byteLength);
    const most = this.accepts[this.at++ % this.accepts.length] ?? 0;
    const accepted = Math.min(most, given.byteLength);
    this.pieces.push(Buffer.from(given.subarray(0, accepted)));
    // A socket that was closed answers -1.
    return accepted === 0 ? -1 : accepted;
  }
}

function sendAll(unsent: UnsentBytes, accepts: readonly number[]): SlowSocket {
  const socket = new SlowSocket(accepts);
  while (!unsent.isEmpty) unsent.writeTo(socket);
  return socket;
}

const accepted = fc
  .array(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 6 })
  .filter((all) => all.some((bytes) => bytes > 20_000));

describe('the unsent bytes of a request', () => {
  test('a text arrives whole, wherever slices and writes are cut', () => {
    const unit = fc.constantFrom('a', 'é', '語', '😀', '\ud800');
    const parameters = [fc.array(unit, { minLength: 1, maxLength: 7 }), accepted] as const;
    fc.assert(
      fc.property(...parameters, fc.integer({ min: 0, max: 3 }), (units, accepts, shift) => {
        const piece = units.join('');
        // The pieces end at different places around the end of a slice.
        const count = Math.ceil((SLICE_UNITS * 1.3) / piece.length);
        const content = 'x'.repeat(shift) + piece.repeat(count);
        const sent = Buffer.concat(sendAll(new UnsentBytes(HEAD, content), accepts).pieces);
        const expected = Buffer.concat([Buffer.from(HEAD, 'latin1'), Buffer.from(content)]);
        expect(sent.equals(expected)).toBeTrue();
      }),
      { numRuns: 40 },
    );
  });

  test('bytes arrive whole, and without those that were written before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: SLICE_UNITS * 2 + 1 }),
        accepted,
        fc.integer({ min: 0, max: HEAD.length }),
        (bytes, accepts, written) => {
          const content = Buffer.alloc(bytes, 'body');
          const unsent = new UnsentBytes(HEAD, content).dropStart(written);
          const sent = Buffer.concat(sendAll(unsent, accepts).pieces);
          const all = Buffer.concat([Buffer.from(HEAD, 'latin1'), content]);
          expect(sent.equals(all.subarray(written))).toBeTrue();
        },
      ),
      { numRuns: 40 },
    );
  });

  test('P20: no write has more than one slice', () => {
    const content = '語'.repeat(SLICE_UNITS * 4);
    const socket = sendAll(new UnsentBytes(HEAD, content), [Number.POSITIVE_INFINITY]);
    expect(socket.pieces.length).toBe(4);
    expect(socket.largest_write).toBeLessThanOrEqual(HEAD.length + SLICE_UNITS * 3);
  });
});
