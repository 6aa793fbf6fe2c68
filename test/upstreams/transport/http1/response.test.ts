import { describe, expect, test } from 'bun:test';
import { Http1Response } from '../../../../src/upstreams/transport/http1/response.ts';
import { ResponseHeaders } from '../../../../src/upstreams/transport/http1/response-headers.ts';
import { fc } from '../../../support/property.ts';

const HEAD = {
  status: 200,
  headers: new ResponseHeaders('HTTP/1.1 200 OK'),
  body_bytes: undefined,
};
const nothing = () => undefined;

/**
 * A response whose body arrives in these pieces. Each piece is a range inside larger received
 * bytes.
 */
function responseOf(pieces: Uint8Array[]) {
  const response = new Http1Response(HEAD, { pause: nothing, resume: nothing, abort: nothing });
  const push = () => {
    for (const piece of pieces) {
      response.push(
        Buffer.concat([Buffer.from('<'), piece, Buffer.from('>')]),
        1,
        piece.length + 1,
      );
    }
    response.end();
    response.wake();
  };
  return { response, push };
}

/** Bytes, valid UTF-8 or not, with zero, one or two byte order marks before them. */
const bytes = fc
  .tuple(
    fc.constantFrom('', '', '\ufeff', '\ufeff\ufeff'),
    fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 64 }).map((random) => Buffer.from(random)),
    ),
  )
  .map(([mark, rest]) => new Uint8Array(Buffer.concat([Buffer.from(mark), rest])));
const cuts = fc.array(fc.nat({ max: 64 }), { maxLength: 4 });

function cutAt(all: Uint8Array, positions: number[]): Uint8Array[] {
  const edges = [...positions.filter((at) => at > 0 && at < all.length), all.length];
  const sorted = [...new Set(edges)].sort((a, b) => a - b);
  return sorted
    .map((to, index) => all.subarray(sorted[index - 1] ?? 0, to))
    .filter((p) => p.length);
}

describe('the body of a response', () => {
  test('is the same text as the platform decodes, cut anywhere, read before or after it arrived', () =>
    fc.assert(
      fc.asyncProperty(bytes, cuts, fc.boolean(), async (all, positions, hasArrived) => {
        const { response, push } = responseOf(cutAt(all, positions));
        if (hasArrived) push();
        const text = response.text();
        if (!hasArrived) push();
        expect(await text).toBe(new TextDecoder().decode(all));
      }),
      { numRuns: 2_000 },
    ));

  test('is returned unchanged, small pieces joined and large ones one by one', async () => {
    const small = [1, 2, 3].map((value) => new Uint8Array(100).fill(value));
    const large = [4, 5].map((value) => new Uint8Array(20_000).fill(value));
    const { response, push } = responseOf([...small, ...large]);
    push();
    const sizes: number[] = [];
    const read: Uint8Array[] = [];
    for (;;) {
      const { done, value } = await response.read();
      if (done) break;
      sizes.push(value.byteLength);
      read.push(value);
    }
    expect(sizes).toEqual([100, 100, 100, 20_000, 20_000]);
    expect(Buffer.concat(read).equals(Buffer.concat([...small, ...large]))).toBe(true);

    const joined = responseOf(small);
    joined.push();
    expect(await joined.response.read()).toEqual({
      done: false,
      value: Buffer.concat(small) as Uint8Array<ArrayBuffer>,
    });
    expect(await joined.response.read()).toEqual({ done: true });
  });
});
