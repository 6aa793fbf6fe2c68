import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { Books, type Call, newCall, totalsOf } from '../../simulator/shared/books.ts';
import { fc } from '../support/property.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { ACCOUNT, at, chat, eventsIn, type Json, message, user } from './ask.ts';

let simulator: RunningSimulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.stop());

/** Reads `events` events of a stream, disconnects, and returns the events. */
async function leaveAfter(events: number, ask: (signal: AbortSignal) => Promise<Response>) {
  const leaving = new AbortController();
  const response = await ask(leaving.signal);
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (eventsIn(text).length >= events) leaving.abort();
    }
  } catch {
    return eventsIn(text);
  }
  throw new Error('the stream ended before it was left');
}

describe('the books', () => {
  test('record the delivered tokens in both protocols, streamed or not', async () => {
    const seen: Json[] = [];
    const text = 'Hello there [[sim cached=3]]';
    for (const stream of [false, true]) {
      const include = stream ? { stream_options: { include_usage: true } } : {};
      const mine = { messages: user(text), stream };
      const openai = await chat(simulator, { ...mine, ...include, user: 'ada' }, 'one');
      const body = await openai.text();
      const usage = stream
        ? eventsIn(body).findLast((event) => event.usage)?.usage
        : (JSON.parse(body) as Json).usage;
      seen.push({
        id: openai.headers.get('x-request-id'),
        account: 'one',
        protocol: 'openai',
        model: 'gpt-4o',
        prompt_tokens: at(usage, 'prompt_tokens'),
        cached_tokens: at(usage, 'prompt_tokens_details.cached_tokens'),
        completion_tokens: at(usage, 'completion_tokens'),
        delivered_tokens: at(usage, 'completion_tokens'),
      });
      const native = await message(simulator, { ...mine, metadata: { user_id: 'ada' } }, 'two');
      const native_body = await native.text();
      const native_usage = stream
        ? eventsIn(native_body).findLast((event) => event.usage)?.usage
        : (JSON.parse(native_body) as Json).usage;
      seen.push({
        id: native.headers.get('request-id'),
        account: 'two',
        protocol: 'anthropic',
        model: 'claude-sonnet-5',
        prompt_tokens: Number(at(native_usage, 'input_tokens')) + 3,
        cached_tokens: at(native_usage, 'cache_read_input_tokens'),
        completion_tokens: at(native_usage, 'output_tokens'),
        delivered_tokens: at(native_usage, 'output_tokens'),
      });
    }
    const { calls, totals } = await simulator.closedBooks();
    expect(calls).toMatchObject(
      seen.map((call) => ({ ...call, outcome: 'whole', status: 200, client_reference: 'ada' })),
    );
    expect(calls.map(({ stream }) => stream)).toEqual([false, false, true, true]);
    expect(totals).toMatchObject({ calls: 4, outcomes: { whole: 4 } });
    expect(totals.prompt_tokens).toBe(calls.reduce((sum, call) => sum + call.prompt_tokens, 0));
  });

  test('can be filtered by account and call, reduced to totals, and emptied', async () => {
    const ids: (string | null)[] = [];
    for (const account of ['a', 'b', 'a', 'b']) {
      const { headers } = await chat(simulator, { messages: user('Hi') }, account);
      ids.push(headers.get('x-request-id'));
    }
    const [, second, third, fourth] = ids;
    expect((await simulator.books({ account: 'b' })).calls.map(({ id }) => id)).toEqual([
      second ?? '',
      fourth ?? '',
    ]);
    const since = await simulator.books({ since: second ?? '' });
    expect(since.calls.map(({ id }) => id)).toEqual([third ?? '', fourth ?? '']);
    expect(since.totals.calls).toBe(2);
    const totals = (await (await fetch(`${simulator.url}/_sim/books?calls=0`)).json()) as Json;
    expect(Object.keys(totals)).toEqual(['totals', 'forgotten']);
    await fetch(`${simulator.url}/_sim/books`, { method: 'DELETE' });
    expect((await simulator.books()).calls).toEqual([]);
  });

  test('record refused calls with their status, also without an account', async () => {
    await chat(simulator, { messages: [] });
    await fetch(`${simulator.openai_url}/chat/completions`, { method: 'POST', body: '{}' });
    expect((await simulator.books()).calls).toMatchObject([
      { account: ACCOUNT, status: 400, outcome: 'refused', completion_tokens: 0 },
      { account: '', status: 401, outcome: 'refused', completion_tokens: 0 },
    ]);
  });

  test('record a client that disconnects from a stream, with the tokens delivered so far', async () => {
    const text = '[[sim tokens=500 chunk_ms=5]]';
    const chunks = await leaveAfter(6, (signal) =>
      chat(simulator, { messages: user(text), stream: true }, ACCOUNT, signal),
    );
    const events = await leaveAfter(8, (signal) =>
      message(simulator, { messages: user(text), stream: true }, ACCOUNT, signal),
    );
    const { calls } = await simulator.closedBooks();
    const received = [
      chunks.filter((chunk) => at(chunk, 'choices.0.delta.content')).length,
      events.filter((event) => at(event, 'delta.text')).length,
    ];
    for (const [index, call] of calls.entries()) {
      expect(call).toMatchObject({ outcome: 'aborted', completion_tokens: 500 });
      expect(call.aborted_at_ms).toBeWithin(1, 2_500);
      expect(call.delivered_tokens).toBeWithin(received[index] ?? 0, 500);
    }
    expect(calls).toHaveLength(2);
  });

  test('record a client that disconnects before the answer', async () => {
    const leaving = new AbortController();
    const body = { messages: user('[[sim latency_ms=60000]]') };
    const answer = chat(simulator, body, ACCOUNT, leaving.signal).catch(() => 'left');
    await until('the call runs', async () => {
      return (await simulator.books()).totals.outcomes.running === 1;
    });
    leaving.abort();
    expect(await answer).toBe('left');
    const { calls } = await simulator.closedBooks();
    expect(calls).toMatchObject([{ outcome: 'aborted', delivered_tokens: 0 }]);
    const { accounts } = (await (await fetch(`${simulator.url}/_sim/accounts`)).json()) as {
      accounts: Json[];
    };
    expect(accounts.find(({ id }) => id === ACCOUNT)).toMatchObject({ running: 0 });
  });

  test('keep only the last calls of each account in memory, in their order', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c')), (accounts) => {
        const books = new Books(5);
        const calls = accounts.map((account, index) => newCall(`call-${index}`, account, 'openai'));
        for (const call of calls) books.open(call);
        const of = (name: string) => calls.filter(({ account }) => account === name);
        const kept = new Set(['a', 'b', 'c'].flatMap((name) => of(name).slice(-5)));
        expect(books.list({})).toEqual(calls.filter((call) => kept.has(call)));
        expect(books.forgotten()).toBe(calls.length - kept.size);
        expect(books.list({ account: 'a' })).toEqual(of('a').slice(-5));
        expect(books.forgotten('a')).toBe(Math.max(0, of('a').length - 5));
        const last = [...kept]
          .map(({ id }) => id)
          .sort((x, y) => Number(x.slice(5)) - Number(y.slice(5)));
        const [since = ''] = last;
        expect(books.list({ since }).map(({ id }) => id)).toEqual(last.slice(1));
        expect(totalsOf(books.list({})).outcomes.running).toBe(kept.size);
      }),
    );
  });

  test('give away each ended call once, whenever they are taken', () => {
    const step = fc.constantFrom('open', 'end', 'take', 'other');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const books = new Books(100);
        const [running, ended, taken]: Call[][] = [[], [], []];
        for (const [index, step] of steps.entries()) {
          const call = newCall(`call-${index}`, step === 'other' ? 'b' : 'a', 'openai');
          if (step === 'other' || step === 'open') books.open(call);
          if (step === 'open') running?.push(call);
          const last = step === 'end' ? running?.shift() : undefined;
          if (last) ended?.push(Object.assign(last, { outcome: 'whole' }));
          if (step === 'take') taken?.push(...books.take('a').calls);
        }
        taken?.push(...books.take('a').calls);
        expect(taken).toEqual(ended as Call[]);
        expect(books.list({ account: 'a' })).toEqual(running as Call[]);
        expect(books.list({ account: 'b' })).toHaveLength(
          steps.filter((s) => s === 'other').length,
        );
      }),
    );
  });
});

describe('long answers', () => {
  test('of a megabyte arrive completely, streamed or not', async () => {
    const messages = user('[[sim tokens=200000]]');
    const [body, stream] = [
      (await (await chat(simulator, { messages })).json()) as Json,
      await (await chat(simulator, { messages, stream: true })).text(),
    ];
    const whole = String(at(body, 'choices.0.message.content'));
    expect(whole.length).toBeGreaterThan(1_000_000);
    const streamed = eventsIn(stream).map((event) => at(event, 'choices.0.delta.content') ?? '');
    expect(streamed.join('') === whole).toBe(true);
    const { calls } = await simulator.closedBooks();
    expect(calls.map(({ outcome }) => outcome)).toEqual(['whole', 'whole']);
    expect(calls.map((call) => call.delivered_tokens)).toEqual([200_000, 200_000]);
  });

  test('are not created faster than the client reads', async () => {
    const body = JSON.stringify({
      model: 'gpt-4o',
      stream: true,
      messages: user('[[sim tokens=900000]]'),
    });
    const socket = connect(Number(new URL(simulator.url).port), '127.0.0.1');
    socket.pause();
    socket.write(
      `POST /openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sim-slow\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until('the call runs', async () => {
      return (await simulator.books()).totals.outcomes.running === 1;
    });
    // 200 MB of events: the simulator must not create more than the system's buffers hold.
    for (let call = 0; call < 400; call += 1) await chat(simulator, { messages: user('Hi') });
    const running = (await simulator.books({ account: 'slow' })).calls[0];
    expect(running?.outcome).toBe('running');
    socket.destroy();
    const { calls } = await simulator.closedBooks({ account: 'slow' });
    expect(calls[0]).toMatchObject({ outcome: 'aborted', completion_tokens: 900_000 });
    expect(calls[0]?.delivered_tokens).toBeLessThan(200_000);
  });
});
