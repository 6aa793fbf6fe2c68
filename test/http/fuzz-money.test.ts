import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { anyJson, anyText, mutated, sometimes } from '../support/arbitrary-json.ts';
import { errorOf, nativeErrorOf } from '../support/envelope.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import type { KeyList, KeyRecord } from '../support/managed-keys.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { fc } from '../support/property.ts';
import { until } from '../support/until.ts';
import { answerOf, chunks, nativeEvents } from '../support/upstream-answers.ts';
import { streamed } from '../upstreams/upstream.ts';

/** A busy machine may need longer than the default of 5 s. */
setDefaultTimeout(60_000);

/** Slots of each channel. There are few, so the calls soon wait if slots are not freed. */
const MAX_CONCURRENCY = 60;
const AT_ONCE = 40;
const SAMPLE = { numRuns: 5_000, seed: 20_261_122 };

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ max_concurrency: MAX_CONCURRENCY });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.upstream.answer = answerOf;
});

const ROUTES = [
  { path: '/v1/chat/completions', model: 'gpt-4o-mini', errorOf, role: 'developer' },
  { path: '/v1/messages', model: 'claude-haiku-4-5', errorOf: nativeErrorOf, role: 'user' },
];

interface Balance {
  total_deposited: number;
  available: number;
  held: number;
  used: number;
}

test.each(ROUTES)(
  'P1: random bodies to $path conserve money and cause no internal error',
  async ({ path, model, role, ...route }) => {
    const anyContent = fc.oneof(
      anyText,
      fc.array(fc.oneof(fc.record({ type: fc.constant('text'), text: anyText }), anyJson), {
        maxLength: 3,
      }),
    );
    const body = mutated(
      fc.record({
        model: fc.constant(model),
        max_tokens: fc.integer({ min: 1, max: 4_000 }),
        messages: fc.array(
          fc.record({ role: fc.constantFrom('user', 'assistant', role), content: anyContent }),
          { minLength: 1, maxLength: 3 },
        ),
        stream: sometimes(fc.boolean()),
        temperature: sometimes(fc.double({ min: 0, max: 1, noNaN: true })),
        system: sometimes(anyText),
        tools: sometimes(fc.array(fc.record({ type: anyText, function: anyJson }))),
        metadata: sometimes(fc.dictionary(anyText, anyJson, { maxKeys: 3 })),
        cache_control: sometimes(fc.record({ type: fc.constantFrom('no_cache', 'ephemeral') })),
        stream_options: sometimes(fc.record({ include_usage: sometimes(fc.boolean()) })),
      }),
    );
    const bodies = fc.sample(body, SAMPLE);
    const statuses = new Map<number, number>();
    for (let start = 0; start < bodies.length; start += AT_ONCE) {
      await Promise.all(
        bodies.slice(start, start + AT_ONCE).map(async (each) => {
          const response = await gateway.post(path, each);
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
          if (response.status !== 200) return void (await route.errorOf(response, 400));
          const text = await response.text();
          expect(text).toContain('answer.');
          expect(text).not.toContain('canary');
        }),
      );
    }
    expect([...statuses.keys()].sort()).toEqual([200, 400]);
    for (const count of statuses.values()) expect(count).toBeGreaterThan(SAMPLE.numRuns / 50);
    expect(await findMoneyFaults(gateway.database.sql)).toEqual([]);
    // No client disconnected and no upstream failed, so no error may be reported.
    expect(gateway.errors).toEqual([]);
  },
);

test.each(ROUTES)(
  'P8: whenever clients of $path disconnect, their reservations and slots are freed',
  async ({ path, model }) => {
    const events = path === '/v1/messages' ? nativeEvents(model) : chunks(model);
    let turn = 0;
    gateway.upstream.answer = async (request) => {
      turn += 1;
      if (turn % 3 === 0) return answerOf(request);
      await Bun.sleep(turn % 7);
      const silence = request.aborted.then(() => new Response());
      if (!JSON.parse(request.text).stream) return silence;
      const sent = events.slice(0, turn % events.length);
      const body = new ReadableStream({
        async start(controller) {
          for (const event of sent) controller.enqueue(new TextEncoder().encode(event));
          await request.aborted;
          controller.close();
        },
      });
      return new Response(body, { headers: streamed([]).headers });
    };
    const { key } = await gateway.manage<KeyRecord>('POST', '/api-keys', { limitAmount: 50 });
    const headers = { authorization: `Bearer ${key}` };
    const messages = [{ role: 'user', content: 'hello' }];
    // On a slow machine, more clients leave before their request reaches the upstream.
    for (let round = 0; round < 8 || turn <= AT_ONCE; round += 1) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, n) => {
          const leave = new AbortController();
          setTimeout(() => leave.abort(), n);
          const body = { model, messages, max_tokens: 50, stream: n % 2 === 0 };
          await gateway
            .post(path, body, { headers, signal: leave.signal })
            .then((response) => response.text())
            .catch(() => undefined);
        }),
      );
    }
    expect(await findMoneyFaults(gateway.database.sql)).toEqual([]);
  },
);

test('P1, P8: in the end no money is held, and every slot of the channels is free', async () => {
  const { sql } = gateway.database;
  // An idle key returns its grant. A key with a call in flight is not idle.
  await until('every grant is closed', async () => {
    const [row] = await sql<{ open: number }[]>`
      select count(*)::int as open from quota_grant where status = 'open'`;
    return row?.open === 0;
  });
  expect(await findMoneyFaults(sql)).toEqual([]);
  const balance = await gateway.manage<Balance>('GET', '/balance');
  const nano = (usd: number) => Math.round(usd * 1e9);
  expect(balance.held).toBe(0);
  expect(nano(balance.used)).toBeGreaterThan(0);
  expect(nano(balance.available) + nano(balance.used)).toBe(nano(balance.total_deposited));
  const { data } = await gateway.manage<KeyList>('GET', '/api-keys');
  const used = data.reduce((sum, { used_amount }) => sum + nano(used_amount), 0);
  expect(used).toBe(nano(balance.used));
  for (const { path, model } of ROUTES) {
    // The calls run at the same time: the upstream answers when the last slot is in use.
    let arrived = 0;
    const full = Promise.withResolvers<void>();
    gateway.upstream.answer = async (request) => {
      arrived += 1;
      if (arrived === MAX_CONCURRENCY) full.resolve();
      await full.promise;
      return answerOf(request);
    };
    const messages = [{ role: 'user', content: 'hi' }];
    const answers = await Promise.all(
      Array.from({ length: MAX_CONCURRENCY }, async () => {
        const response = await gateway.post(path, { model, max_tokens: 9, messages });
        // If a slot was not freed, the other calls would wait forever.
        if (response.status !== 200) full.resolve();
        await response.text();
        return response.status;
      }),
    );
    expect(answers).toEqual(answers.map(() => 200));
  }
});
