import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { RetryableUpstreamError } from '../../../src/upstreams/contract.ts';
import type { Dialect } from '../../../src/upstreams/stream/event-batches.ts';
import { type EventExchange, readEvents } from '../../../src/upstreams/stream/events.ts';

/** Gives every event on, and ends with the data `end`. */
class Plain implements Dialect {
  private isEnded = false;
  ended = () => this.isEnded;
  take({ event, data }: { event?: string | undefined; data: string }) {
    if (data === 'break') throw new RetryableUpstreamError('server', 'broken');
    if (data === 'end') this.isEnded = true;
    return { text: `${event ?? ''}|${data}`, produced: '', final: this.isEnded };
  }
  atEnd(): never {
    throw new RetryableUpstreamError('malformed', 'cut');
  }
}

function exchangeOf(pieces: Uint8Array[]): { exchange: EventExchange; log: string[] } {
  const log: string[] = [];
  let next = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces[next];
      next += 1;
      if (piece) controller.enqueue(piece);
      else controller.close();
    },
  });
  const exchange: EventExchange = {
    response: new Response(body),
    startClock: () => log.push('waiting'),
    stopClock: () => log.push('heard'),
    useStallTimeout: () => undefined,
    markComplete: () => log.push('finished'),
    close: () => log.push('close'),
    toUpstreamError: (error) => error,
  };
  return { exchange, log };
}

async function read(pieces: (Uint8Array | string)[]) {
  const encoder = new TextEncoder();
  const { exchange } = exchangeOf(
    pieces.map((piece) => (typeof piece === 'string' ? encoder.encode(piece) : piece)),
  );
  const batches: string[][] = [];
  let error: unknown;
  try {
    for await (const batch of readEvents(exchange, new Plain())) {
      batches.push(batch.map((event) => event.text));
    }
  } catch (thrown) {
    error = thrown;
  }
  return { batches, texts: batches.flat(), error };
}

/** The bytes cut at these places. */
function cutAt(bytes: Uint8Array, places: number[]): Uint8Array[] {
  const cuts = [0, ...places.map((at) => at % bytes.length).sort((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((to, index) => bytes.slice(cuts[index], to));
}

describe('reading server-sent events', () => {
  const lines = fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n]/.test(text));
  const data = lines.filter((text) => !['end', 'break'].includes(text));

  test('gives the same events wherever the bytes are cut, inside characters too', async () => {
    const source = fc.record({
      data: fc.array(data, { minLength: 1, maxLength: 8 }),
      newline: fc.constantFrom('\n', '\r\n', '\r'),
      comment: lines,
      places: fc.array(fc.nat(), { maxLength: 30 }),
      lastBlank: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(source, async ({ data, newline, comment, places, lastBlank }) => {
        const all = [...data, 'end'];
        const wire = all.flatMap((each) => [`:${comment}`, 'event: x', `data: ${each}`, '']);
        const text = wire.join(newline) + (lastBlank ? newline : '');
        const { texts, error } = await read(cutAt(new TextEncoder().encode(text), places));
        expect(error).toBeUndefined();
        expect(texts).toEqual(all.map((each) => `x|${each}`));
      }),
      { numRuns: 500 },
    );
  });

  test('gives what one piece from the network held as one batch', async () => {
    const { batches } = await read(['data: 1\n\ndata: 2\n\nda', 'ta: 3\n\n', 'data: end\n\n']);
    expect(batches).toEqual([['|1', '|2'], ['|3'], ['|end']]);
  });

  test('takes an event without its blank line, and joins the lines of one', async () => {
    expect((await read(['data: end'])).texts).toEqual(['|end']);
    expect((await read(['data: 1\ndata: 2\n\ndata: end'])).texts).toEqual(['|1\n2', '|end']);
  });

  test('takes nothing after the terminal event', async () => {
    const { texts, error } = await read(['data: end\n\ndata: break\n\n', 'data: 3\n\n']);
    expect([texts, error]).toEqual([['|end'], undefined]);
  });

  test('gives out what came before a break, once something was given out', async () => {
    const { texts, error } = await read(['data: 1\n\n', 'data: 2\n\ndata: break\n\ndata: 3\n\n']);
    expect(texts).toEqual(['|1', '|2']);
    expect(error).toMatchObject({ failure: 'server' });
  });

  test('P7: gives out nothing of a first piece that holds a break: another channel may serve', async () => {
    const { texts, error } = await read(['data: 1\n\ndata: break\n\n']);
    expect(texts).toEqual([]);
    expect(error).toMatchObject({ failure: 'server' });
  });

  test('a stream that ends in the middle is cut off', async () => {
    const { texts, error } = await read(['data: 1\n\n', 'data: 2\n\n']);
    expect(texts).toEqual(['|1', '|2']);
    expect(error).toMatchObject({ failure: 'malformed' });
    expect((await read([])).error).toMatchObject({ failure: 'malformed' });
  });

  test('an event without end is not collected for ever', async () => {
    const piece = 'x'.repeat(1024 * 1024);
    const { error } = await read(['data: ', piece, piece, piece, piece, piece, piece]);
    expect(error).toMatchObject({ failure: 'malformed' });
    const lines = await read([...Array(6).fill(`data: ${piece}\n`), '\n']);
    expect(lines.error).toMatchObject({ failure: 'malformed' });
  });

  test('comments alone are no event without end', async () => {
    const piece = `: ${'x'.repeat(1024 * 1024)}\n\n`;
    expect((await read([...Array(6).fill(piece), 'data: end\n\n'])).texts).toEqual(['|end']);
  });

  test('P9: the clock stands while the reader of the events is not reading', async () => {
    const encoder = new TextEncoder();
    const { exchange, log } = exchangeOf(
      ['data: 1\n\n', 'data: 2\n\n', 'data: end\n\n'].map((text) => encoder.encode(text)),
    );
    for await (const _ of readEvents(exchange, new Plain())) {
      expect(log.at(-1)).toBe('heard');
    }
    await Bun.sleep(0);
    expect(log).toEqual([
      ...['heard', 'waiting', 'heard', 'waiting', 'heard'],
      ...['finished', 'close'],
    ]);
  });

  test('leaving early closes the exchange', async () => {
    const { exchange, log } = exchangeOf([new TextEncoder().encode('data: 1\n\ndata: 2\n\n')]);
    for await (const _ of readEvents(exchange, new Plain())) break;
    expect(log).toEqual(['heard', 'close']);
  });
});
