/**
 * Streams over a real connection. A record of the calls replaces the ledger's side of a
 * reservation.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ChannelActor } from '../../../src/actors/channels/channel.ts';
import { type Consumption, Reservation } from '../../../src/actors/money/reservation.ts';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { Catalogue, type ChatModel } from '../../../src/catalogue/catalogue.ts';
import { Budget, FIRST_STREAM_TOKENS } from '../../../src/inference/budget/budget.ts';
import type { Lookup } from '../../../src/inference/cache/answer-cache.ts';
import type { KeptAnswer } from '../../../src/inference/cache/kept-answer.ts';
import type { InferenceCall } from '../../../src/inference/call.ts';
import { openStream } from '../../../src/inference/streaming/open-stream.ts';
import { StreamRun } from '../../../src/inference/streaming/stream.ts';
import { protocolFor } from '../../../src/upstreams/chat/protocols.ts';
import { RetryableUpstreamError } from '../../../src/upstreams/contract.ts';
import { REPLAYS } from '../../../src/upstreams/replay/protocols.ts';
import { eventsIn } from '../../../src/upstreams/replay/replay.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { channelActor, channelConfig } from '../../support/channels.ts';
import { until } from '../../support/until.ts';
import { startUpstream, streamed, type Upstream } from '../../upstreams/upstream.ts';

const MODEL = new Catalogue(builtInModels()).find('gpt-4o-mini') as ChatModel;
const protocol = protocolFor('openai', 'openai');

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

function chunk(content: string, finish_reason: string | null = null, more: object = {}): string {
  const choices = [{ index: 0, delta: { content }, finish_reason }];
  const common = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'physical' };
  return `data: ${JSON.stringify({ ...common, choices, ...more })}\n\n`;
}
const role = chunk('').replace('"content":""', '"role":"assistant"');
const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const end = (reported: object = { usage }) =>
  `${chunk('', 'stop')}data: ${JSON.stringify({
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'physical' },
    ...{ choices: [], ...reported },
  })}\n\ndata: [DONE]\n\n`;

interface Settled extends Consumption {
  actual: number;
}

/** Returns a stream of the answer's bytes, and what happened to its money and to its channel. */
async function scene(
  answer: () => Response,
  {
    extend = (amount: number) => amount,
    settle = async () => {},
    more = {},
    keep,
  }: {
    extend?: (amount: number) => number;
    settle?: () => Promise<void>;
    more?: object;
    /** Gets the answer for the cache. */
    keep?: (answer: KeptAnswer) => void;
  } = {},
) {
  upstream.answer = answer;
  const clock = new VirtualClock();
  const config = channelConfig('a', { base_url: upstream.url, timeout_ms: 1_500 });
  const channel = channelActor(config, clock);
  const seen = { settled: [] as Settled[], released: 0, extended: [] as number[] };
  const owner = {
    extend: async (_: string, { amount }: { amount: number }) => {
      seen.extended.push(amount);
      return extend(amount);
    },
    settle: async (_: string, _reserved: number, line: Consumption, actual: number) => {
      seen.settled.push({ ...line, actual });
      await settle();
      return { charged: actual, overrun: 0 };
    },
    release: () => {
      seen.released += 1;
    },
    takeBack: () => undefined,
  };
  const body = { model: MODEL.id, stream: true, messages: [{ role: 'user', content: 'Hi' }] };
  const body_text = JSON.stringify({ ...body, ...more });
  const call: InferenceCall = {
    protocol: 'openai',
    request_id: crypto.randomUUID(),
    key: { id: 'key', organization_id: 'org', models: [] },
    model: MODEL,
    body: JSON.parse(body_text),
    body_text,
    stream: true,
    headers: {},
    signal: new AbortController().signal,
  };
  const budget = new Budget(call);
  const reservation = new Reservation(owner, 'grant', budget.amountToReserve(true));
  const permit = channel.tryAcquire();
  if (!permit) throw new Error('a fresh channel has room');
  const errors: unknown[] = [];
  const begin = async (clamp?: number) => {
    const open = await openStream(call, permit, protocol, clamp);
    const onError = (error: unknown) => errors.push(error);
    const lookup = keep && ({ keep } as Lookup);
    return new StreamRun({ call, open, reservation, budget, lookup, onError }).body();
  };
  return { begin, channel, clock, seen, errors };
}

const read = (body: ReadableStream) => new Response(body).text();
const aborted = () => upstream.asked.at(-1)?.aborted;
const failures = (channel: ChannelActor) => channel.snapshot.context.consecutive_failures;
const roomLeft = (channel: ChannelActor) => channel.tryAcquire() !== null;

describe('a complete stream', () => {
  /** Reads a stream whose charge is committed later. */
  async function readWhileCharged(pieces: (string | Promise<string>)[]) {
    const committed = Promise.withResolvers<void>();
    const { begin, ...rest } = await scene(() => streamed(pieces), {
      settle: () => committed.promise,
    });
    const reader = (await begin()).getReader() as ReadableStreamDefaultReader<string | Uint8Array>;
    const got: string[] = [];
    const done = (async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        got.push(typeof value === 'string' ? value : new TextDecoder().decode(value));
      }
    })();
    return { ...rest, got, commit: committed.resolve, done };
  }

  test('P4: is charged by the reported usage, before its end is sent', async () => {
    const rest = Promise.withResolvers<string>();
    const reading = await readWhileCharged([role, chunk('one two'), rest.promise]);
    const { seen, got } = reading;
    await until('the text is sent', () => got.join('').includes('one two'));
    rest.resolve(end());
    await until('the charge has begun', () => seen.settled.length > 0);
    await Bun.sleep(20);
    expect(got.join('')).not.toContain('[DONE]');
    expect(got.join('')).not.toContain('"stop"');
    reading.commit();
    await reading.done;
    expect(got.join('')).toContain('"role":"assistant"');
    expect(got.join('')).toEndWith('data: [DONE]\n\n');
    expect(seen.settled).toMatchObject([
      { outcome: 'completed', estimated: false, input_tokens: 11, output_tokens: 7 },
    ]);
    expect(seen.settled[0]?.actual).toBe(11 * 150 + 7 * 600);
    expect(failures(reading.channel)).toBe(0);
  });

  test('P4: that arrives at once is sent at once, after its charge', async () => {
    const { got, seen, ...reading } = await readWhileCharged([role + chunk('one two') + end()]);
    await until('the charge has begun', () => seen.settled.length > 0);
    await Bun.sleep(20);
    expect(got).toEqual([]);
    reading.commit();
    await reading.done;
    expect(got).toHaveLength(1);
    expect(got[0]).toMatch(/"role":"assistant".*"one two".*"stop".*\[DONE\]\n\n$/s);
  });

  test('that arrives without its last events is sent at once', async () => {
    const last = Promise.withResolvers<string>();
    const finished = chunk('one two') + chunk('', 'stop');
    const { got, seen, ...reading } = await readWhileCharged([role + finished, last.promise]);
    await until('the text is sent', () => got.join('').includes('one two'));
    expect([got.join('').includes('"stop"'), seen.settled]).toEqual([false, []]);
    last.resolve(end());
    reading.commit();
    await reading.done;
    expect(got.join('')).toMatch(/"role":"assistant".*"one two".*"stop".*\[DONE\]\n\n$/s);
  });

  test('P12: without reported usage its tokens are counted, and the usage line is marked as estimated', async () => {
    const { begin, seen } = await scene(() => streamed([chunk('one two'), end({})]));
    await read(await begin());
    expect(seen.settled).toMatchObject([{ estimated: true, output_tokens: 2 }]);
  });

  test('P4: if its charge fails, the stream ends with an error event', async () => {
    const { begin, errors } = await scene(() => streamed([chunk('one'), end()]), {
      settle: () => Promise.reject(new Error('the ledger is away')),
    });
    const text = await read(await begin());
    expect(text).toContain('"error":{');
    expect(text).not.toContain('"stop"');
    expect(errors).toMatchObject([{ message: 'the ledger is away' }]);
  });

  test('P4: if the charge of an answer that arrives at once fails, its text is still sent', async () => {
    const { begin } = await scene(() => streamed([chunk('one') + end()]), {
      settle: () => Promise.reject(new Error('the ledger is away')),
    });
    const text = await read(await begin());
    expect(text).toMatch(/"one".*"error":\{/s);
    expect(text).not.toContain('"stop"');
  });
});

describe('the answer that the cache keeps of a stream', () => {
  const words = ['one', ' two', ' three', ' four', ' five', ' six'];
  const events = [role, ...words.map((word) => chunk(word)), ...end().split(/(?<=\n\n)/)];

  test('is what the client got, wherever the stream pauses', async () => {
    for (let first = 0; first <= events.length; first += 1) {
      const second = Math.min(events.length, first + 3);
      const cuts = [events.slice(0, first), events.slice(first, second), events.slice(second)];
      const pieces = cuts.map((part) => part.join('')).filter((piece) => piece !== '');
      const kept: KeptAnswer[] = [];
      const { begin } = await scene(() => streamed(pieces), { keep: (each) => kept.push(each) });
      const text = await read(await begin());
      const answer = REPLAYS.openai.assemble(eventsIn(text));
      expect(answer?.['choices']).toMatchObject([{ message: { content: words.join('') } }]);
      expect(kept.map((each) => REPLAYS.openai.assemble(eventsIn(each.text)))).toEqual([answer]);
    }
  });

  test('does not repeat what its events have in common', async () => {
    const kept: KeptAnswer[] = [];
    const { begin } = await scene(() => streamed([events.join('')]), {
      keep: (each) => kept.push(each),
    });
    const text = await read(await begin());
    expect(text.split('"delta"')).toHaveLength(9);
    // The role, all texts, and the end.
    expect(kept[0]?.text.split('"delta"')).toHaveLength(4);
  });
});

describe('a stream that breaks off', () => {
  test('P12: is charged for the delivered output, counts against its channel, and ends with an error event', async () => {
    const report = chunk(' two', null, { usage });
    const { begin, seen, channel } = await scene(() => streamed([chunk('one'), report], true));
    const text = await read(await begin());
    expect(text).toContain('"error":{');
    expect(seen.settled).toMatchObject([{ outcome: 'partial', estimated: true, output_tokens: 2 }]);
    expect(failures(channel)).toBe(1);
  });

  test('is stopped at the upstream if its connection stays open', async () => {
    const { begin } = await scene(
      () =>
        new Response(endless('word ', 'data: {"choices": nonsense}\n\n'), {
          headers: { 'content-type': 'text/event-stream' },
        }),
    );
    expect(await read(await begin())).toContain('"error":{');
    await aborted();
  });

  test('P12: is free if it produced no output', async () => {
    const { begin, seen } = await scene(() => streamed([end({})]));
    await read(await begin());
    expect([seen.settled, seen.released]).toEqual([[], 1]);
  });

  test('P8: if the client leaves, the upstream stops, the output so far is charged, and no channel fails', async () => {
    const { begin, seen, channel } = await scene(
      () => new Response(endless('word '), { headers: { 'content-type': 'text/event-stream' } }),
    );
    const reader = (await begin()).getReader();
    await reader.read();
    await reader.cancel();
    await aborted();
    while (seen.settled.length === 0) await Bun.sleep(1);
    expect(seen.settled).toMatchObject([{ outcome: 'partial', estimated: true }]);
    expect(seen.settled[0]?.actual).toBeGreaterThan(0);
    expect(failures(channel)).toBe(0);
    expect(roomLeft(channel)).toBe(true);
  });
});

describe('a stream that outgrows its reservation', () => {
  const long = 'word '.repeat(100);
  const pieces = (count: number) => [...Array.from({ length: count }, () => chunk(long)), end()];

  test('doubles the number of tokens that it has money for, each time, and goes on', async () => {
    const { begin, seen } = await scene(() => streamed(pieces(30)));
    const text = await read(await begin());
    expect(text).toEndWith('data: [DONE]\n\n');
    // Each extension pays for as many output tokens as the reservation already covers.
    expect(seen.extended).toEqual([FIRST_STREAM_TOKENS * 600, 2 * FIRST_STREAM_TOKENS * 600]);
  });

  test('P2: ends cleanly if no money is left, and is charged for its output', async () => {
    const { begin, seen, channel } = await scene(() => streamed(pieces(60)), { extend: () => 0 });
    const text = await read(await begin());
    expect(text).toContain('"finish_reason":"length"');
    expect(text).toEndWith('data: [DONE]\n\n');
    const [line] = seen.settled;
    expect(line).toMatchObject({ outcome: 'partial', estimated: true });
    expect(line?.output_tokens).toBeLessThanOrEqual(FIRST_STREAM_TOKENS + 200);
    expect(line?.output_tokens).toBeGreaterThan(FIRST_STREAM_TOKENS - 300);
    await aborted();
    expect(failures(channel)).toBe(0);
  });

  test('reserves no more if the client’s own token limit is reached first', async () => {
    const { begin, seen } = await scene(() => streamed(pieces(5)), { more: { max_tokens: 100 } });
    await read(await begin());
    expect(seen.extended).toEqual([]);
  });
});

describe('the beginning of a stream', () => {
  test('is its first token: an upstream that sends only the role is late', async () => {
    const answer = () => streamed([role, ...Array.from({ length: 80 }, () => ': still here\n\n')]);
    const { begin } = await scene(() => slowly(answer()));
    const error = await begin().catch((each: unknown) => each);
    expect(error).toBeInstanceOf(RetryableUpstreamError);
    expect((error as RetryableUpstreamError).failure).toBe('timeout');
  });

  test('is its first token: an upstream that sends thousands of empty events is broken', async () => {
    const { begin } = await scene(() => streamed([role.repeat(2_000)]));
    expect(await begin().catch((each: unknown) => each)).toMatchObject({ failure: 'malformed' });
    const { begin: patient } = await scene(() => streamed([role.repeat(500), chunk('one'), end()]));
    expect((await read(await patient())).split('"role":"assistant"')).toHaveLength(501);
  });

  test('ends the time limit: the rest may take longer, and does not count as latency', async () => {
    const { begin, channel, clock } = await scene(() =>
      slowly(
        streamed([role, chunk('one'), ...Array.from({ length: 45 }, () => chunk('.')), end()]),
      ),
    );
    const body = await begin();
    clock.advance(5_000);
    const text = await read(body);
    // The events before the first token are sent together with it.
    expect(text).toContain('"role":"assistant"');
    expect(text).toEndWith('data: [DONE]\n\n');
    expect(channel.latency.mean_ms).toBe(0);
  });

  test('sends the limit of output tokens to the upstream', async () => {
    const { begin } = await scene(() => streamed([chunk('one'), end()]));
    await read(await begin(77));
    const { max_completion_tokens } = JSON.parse(upstream.asked.at(-1)?.text ?? '{}');
    expect(max_completion_tokens).toBe(77);
  });
});

/** Returns the same bytes, with 40 ms between two pieces. */
function slowly(response: Response): Response {
  const body = response.body?.pipeThrough(
    new TransformStream({
      async transform(piece, out) {
        await Bun.sleep(40);
        out.enqueue(piece);
      },
    }),
  );
  return new Response(body, response);
}

/**
 * Sends a word every 5 ms. If `then` is given, it follows the third word, and nothing follows
 * `then`.
 */
function endless(word: string, then?: string): ReadableStream {
  let words = 0;
  return new ReadableStream({
    async pull(client) {
      await Bun.sleep(words > 3 && then ? 60_000 : 5);
      words += 1;
      client.enqueue(words === 4 && then ? then : chunk(word));
    },
  });
}
