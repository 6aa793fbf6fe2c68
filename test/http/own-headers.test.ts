/**
 * Many responses share their headers. What is of one call alone, its ids and what is left of its limit, must be in the
 * response to this call, and in no other one.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, setSystemTime, test } from 'bun:test';
import { IdsAndLimit } from '../../src/http/own-headers.ts';
import type { RateLimitState } from '../../src/http/rate-limit-headers.ts';
import { SharedHeaders } from '../../src/inference/shared-headers.ts';
import { type CachedWeir, startCachedWeir } from '../support/cached-weir.ts';
import { fc } from '../support/property.ts';

setDefaultTimeout(60_000);

let world: CachedWeir;
/** Keys with limits of their own. */
const keys = new Map<number, string>();
beforeAll(async () => {
  world = await startCachedWeir();
  for (const limit of [5_001, 5_002]) {
    const body = { name: `limit ${limit}`, requests_per_minute: limit };
    const created = await world.manage<{ key: string }>('POST', '/api-keys', body);
    keys.set(limit, created.key);
  }
});
afterAll(() => world.stop());

interface Sent {
  readonly path: string;
  readonly body: object;
  readonly names: readonly string[];
}

const OPENAI = ['limit', 'remaining', 'reset'].map((name) => `x-ratelimit-${name}-requests`);
const ANTHROPIC = ['limit', 'remaining', 'reset'].map(
  (name) => `anthropic-ratelimit-requests-${name}`,
);
const gemini = (method: string) => `/v1beta/models/gemini-2.5-flash:${method}`;

/** A call of each protocol. */
const CALLS: Record<string, (content: string, stream: boolean) => Sent> = {
  chat: (content, stream) => ({
    path: '/v1/chat/completions',
    body: { model: 'gpt-4o', messages: [{ role: 'user', content }], stream },
    names: OPENAI,
  }),
  messages: (content, stream) => ({
    path: '/v1/messages',
    body: { model: 'gpt-4o', max_tokens: 9, messages: [{ role: 'user', content }], stream },
    names: ANTHROPIC,
  }),
  responses: (input, stream) => ({
    path: '/v1/responses',
    body: { model: 'gpt-4o', input, stream },
    names: OPENAI,
  }),
  gemini: (text, stream) => ({
    path: gemini(stream ? 'streamGenerateContent?alt=sse' : 'generateContent'),
    body: { contents: [{ role: 'user', parts: [{ text }] }] },
    names: [],
  }),
};

test('every response has the ids and the limit of its own call, whatever else runs', async () => {
  const seen = new Map<string, Set<string>>();
  const call = fc.record({
    kind: fc.constantFrom(...Object.keys(CALLS)),
    stream: fc.boolean(),
    prompt: fc.integer({ min: 0, max: 3 }),
    limit: fc.constantFrom(...[5_001, 5_002]),
    outcome: fc.constantFrom('answered', 'answered', 'answered', 'bypass', 'refused', 'repeatable'),
    encoding: fc.constantFrom('identity', 'gzip'),
  });
  const states = new Set<string | null>();
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 12, maxLength: 24 }), async (calls) => {
      await Promise.all(
        calls.map(async ({ kind, stream, prompt, limit, outcome, encoding }) => {
          const make = CALLS[kind] as (typeof CALLS)['chat'];
          const { path, body, names } = make(`Shared ${prompt} [[sim tokens=3]]`, stream);
          const headers = {
            'accept-encoding': encoding,
            ...(outcome === 'bypass' ? { 'x-weir-cache-control': 'no_cache' } : {}),
            ...(outcome === 'repeatable' ? { 'idempotency-key': crypto.randomUUID() } : {}),
          };
          const sent = outcome === 'refused' ? { ...body, cache_control: { type: 'x' } } : body;
          const key = keys.get(limit) ?? '';
          const answered = await world.post(path, sent, { headers, key });
          expect(answered.status).toBe(outcome === 'refused' ? 400 : 200);
          states.add(answered.cache);
          const id = answered.headers.get('x-request-id') ?? '';
          expect(id).toStartWith('req_');
          expect(answered.headers.get('request-id')).toBe(id);
          // An answer has the id of its request.
          if (answered.status === 200) expect(answered.text).toContain(id.slice('req_'.length));
          const shown = [...answered.headers.keys()].filter((name) => name.includes('ratelimit'));
          expect(shown.sort()).toEqual([...names].sort());
          const [ofLimit = '', ofRemaining = ''] = names;
          if (names.length > 0) expect(answered.headers.get(ofLimit)).toBe(String(limit));
          for (const unique of [id, `${limit} ${answered.headers.get(ofRemaining || 'x')}`]) {
            if (unique.endsWith('null')) continue;
            const before = seen.get(unique) ?? new Set();
            // The window of a minute may end: then the same number is left a second time.
            expect(before.size).toBeLessThan(unique === id ? 1 : 2);
            seen.set(unique, before.add(id));
          }
        }),
      );
    }),
    { numRuns: 15 },
  );
  expect(states).toEqual(new Set(['hit', 'miss', 'bypass', null]));
});

test('shared headers keep nothing of an earlier call', () => {
  // Anthropic's header has the time at which the window ends.
  setSystemTime(new Date('2026-01-31T12:00:00Z'));
  const state = fc.option(
    fc.record({ limit: fc.nat(), remaining: fc.nat(), reset_ms: fc.nat({ max: 60_000 }) }),
    { nil: undefined },
  );
  const family = fc.constantFrom('openai' as const, 'native' as const, 'gemini' as const);
  const calls = fc.array(fc.record({ state, hasOwn: fc.boolean() }), { minLength: 1 });
  fc.assert(
    fc.property(family, calls, (format, all) => {
      const shared = new SharedHeaders(new Headers({ age: '7' }));
      const responses = all.map(({ state: rate_limit, hasOwn }, at) =>
        shared.respond('x', hasOwn ? ownOf(at, rate_limit, format) : undefined),
      );
      // A response keeps its headers when those of later ones are set.
      for (const [at, { state: rate_limit, hasOwn }] of all.entries()) {
        const expected = new Headers({ age: '7' });
        if (hasOwn) ownOf(at, rate_limit, format).setIn(expected);
        expect([...(responses[at]?.headers ?? [])]).toEqual([...expected]);
      }
    }),
  );
  setSystemTime();
});

/** The own headers of a request with a number. */
function ownOf(
  number: number,
  rate_limit: RateLimitState | undefined,
  family: 'openai' | 'native' | 'gemini',
): IdsAndLimit {
  const request = new Request('http://localhost/');
  const more = rate_limit ? { rate_limit } : {};
  return new IdsAndLimit({ request, request_id: `req_${number}`, ...more }, () => family);
}
