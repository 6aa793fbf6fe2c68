import { describe, expect, test } from 'bun:test';
import { RetryableUpstreamError } from '../../../src/upstreams/contract.ts';
import type { StreamProtocol } from '../../../src/upstreams/stream/event-batches.ts';
import { type EventExchange, readEvents } from '../../../src/upstreams/stream/events.ts';
import { fc } from '../../support/property.ts';
import { until } from '../../support/until.ts';

/** Returns every event unchanged. The data `end` is the terminal event; `break` throws. */
class EchoDialect implements StreamProtocol {
  private isEnded = false;
  hasEnded = () => this.isEnded;
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
    startClock: () => log.push('clock started'),
    stopClock: () => log.push('clock stopped'),
    useStallTimeout: () => undefined,
    markComplete: () => log.push('complete'),
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
    for await (const batch of readEvents(exchange, new EchoDialect())) {
      batches.push(batch.map((event) => event.text));
    }
  } catch (thrown) {
    error = thrown;
  }
  return { batches, texts: batches.flat(), error };
}

/** The bytes, cut at these positions. */
function cutAt(bytes: Uint8Array, positions: number[]): Uint8Array[] {
  const cuts = [0, ...positions.map((at) => at % bytes.length).sort((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((to, index) => bytes.slice(cuts[index], to));
}

describe('reading server-sent events', () => {
  const lines = fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n]/.test(text));
  const data = lines.filter((text) => !['end', 'break'].includes(text));

  test('returns the same events wherever the bytes are cut, also inside characters', async () => {
    const source = fc.record({
      data: fc.array(data, { minLength: 1, maxLength: 8 }),
      newline: fc.constantFrom('\n', '\r\n', '\r'),
      comment: lines,
      positions: fc.array(fc.nat(), { maxLength: 30 }),
      lastBlank: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(source, async ({ data, newline, comment, positions, lastBlank }) => {
        const all = [...data, 'end'];
        const sentLines = all.flatMap((each) => [`:${comment}`, 'event: x', `data: ${each}`, '']);
        const text = sentLines.join(newline) + (lastBlank ? newline : '');
        const { texts, error } = await read(cutAt(new TextEncoder().encode(text), positions));
        expect(error).toBeUndefined();
        expect(texts).toEqual(all.map((each) => `x|${each}`));
      }),
      { numRuns: 500 },
    );
  });

  test('returns the events of one read from the network as one batch', async () => {
    const { batches } = await read(['data: 1\n\ndata: 2\n\nda', 'ta: 3\n\n', 'data: end\n\n']);
    expect(batches).toEqual([['|1', '|2'], ['|3'], ['|end']]);
  });

  test('accepts a last event without a blank line, and joins several data lines', async () => {
    expect((await read(['data: end'])).texts).toEqual(['|end']);
    expect((await read(['data: 1\ndata: 2\n\ndata: end'])).texts).toEqual(['|1\n2', '|end']);
  });

  test('ignores everything after the terminal event', async () => {
    const { texts, error } = await read(['data: end\n\ndata: break\n\n', 'data: 3\n\n']);
    expect([texts, error]).toEqual([['|end'], undefined]);
  });

  test('returns the events before a break if a batch was already returned', async () => {
    const { texts, error } = await read(['data: 1\n\n', 'data: 2\n\ndata: break\n\ndata: 3\n\n']);
    expect(texts).toEqual(['|1', '|2']);
    expect(error).toMatchObject({ failure: 'server' });
  });

  test('P7: returns no event of a first read that contains a break, so that another channel may serve', async () => {
    const { texts, error } = await read(['data: 1\n\ndata: break\n\n']);
    expect(texts).toEqual([]);
    expect(error).toMatchObject({ failure: 'server' });
  });

  test('fails if the stream ends before the terminal event', async () => {
    const { texts, error } = await read(['data: 1\n\n', 'data: 2\n\n']);
    expect(texts).toEqual(['|1', '|2']);
    expect(error).toMatchObject({ failure: 'malformed' });
    expect((await read([])).error).toMatchObject({ failure: 'malformed' });
  });

  test('fails if an event is too long', async () => {
    const piece = 'x'.repeat(1024 * 1024);
    const { error } = await read(['data: ', piece, piece, piece, piece, piece, piece]);
    expect(error).toMatchObject({ failure: 'malformed' });
    const lines = await read([...Array(6).fill(`data: ${piece}\n`), '\n']);
    expect(lines.error).toMatchObject({ failure: 'malformed' });
  });

  test('accepts many comments, which are not one long event', async () => {
    const piece = `: ${'x'.repeat(1024 * 1024)}\n\n`;
    expect((await read([...Array(6).fill(piece), 'data: end\n\n'])).texts).toEqual(['|end']);
  });

  test('fails after too many comments, and other tasks run between them', async () => {
    const flood = ': x\n\n'.repeat(200_000);
    let turns = 0;
    const other = setInterval(() => {
      turns += 1;
    }, 0);
    const { error } = await read([...Array(20).fill(flood), 'data: end\n\n']);
    clearInterval(other);
    expect(error).toMatchObject({ failure: 'malformed' });
    // One read has a million bytes. Without turns between its slices, only 8 other tasks would run.
    expect(turns).toBeGreaterThan(20);
  });

  test('P20: between the slices of many large pieces, other tasks run', async () => {
    const large = `${'data: x\n\n'.repeat(60_000)}data: end\n\n`;
    let turns = 0;
    const other = setInterval(() => {
      turns += 1;
    }, 0);
    const streams = await Promise.all(Array.from({ length: 10 }, () => read([large])));
    clearInterval(other);
    for (const { texts } of streams) expect(texts).toHaveLength(60_001);
    // Each of the ten streams has 17 slices.
    expect(turns).toBeGreaterThan(20);
  });

  test('accepts any number of comments between events', async () => {
    const flood = `: ${'x'.repeat(6 * 1024 * 1024)}\n\n`;
    const { texts } = await read([
      flood,
      'data: 1\n\n',
      flood,
      'data: 2\n\n',
      flood,
      'data: end\n\n',
    ]);
    expect(texts).toEqual(['|1', '|2', '|end']);
  });

  test('closes a connection that sends much after the terminal event', async () => {
    const { exchange, log } = exchangeOf(
      ['data: end\n\n', ...Array(300).fill('x'.repeat(1024))].map((piece) => Buffer.from(piece)),
    );
    for await (const _ of readEvents(exchange, new EchoDialect()));
    await until('the exchange is closed', () => log.includes('close'));
    expect(log).not.toContain('complete');
  });

  test('P9: stops the clock while the client is not reading', async () => {
    const encoder = new TextEncoder();
    const { exchange, log } = exchangeOf(
      ['data: 1\n\n', 'data: 2\n\n', 'data: end\n\n'].map((text) => encoder.encode(text)),
    );
    for await (const _ of readEvents(exchange, new EchoDialect())) {
      expect(log.at(-1)).toBe('clock stopped');
    }
    await Bun.sleep(0);
    expect(log).toEqual([
      ...['clock stopped', 'clock started', 'clock stopped', 'clock started', 'clock stopped'],
      ...['complete', 'close'],
    ]);
  });

  test('closes the exchange when the loop is left early', async () => {
    const { exchange, log } = exchangeOf([new TextEncoder().encode('data: 1\n\ndata: 2\n\n')]);
    for await (const _ of readEvents(exchange, new EchoDialect())) break;
    expect(log).toEqual(['clock stopped', 'close']);
  });
});
