/** What the cache saved, by model and day: the sums agree with the records, and no hit counts in a model's health. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type CachedWeir, startCachedWeir } from '../../support/cached-weir.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

/** A hit of this model costs a tenth of the first answer. */
const SHARED_MODEL = 'tenth-price';
const SHARE = 0.1;

let database: TestDatabase;
let world: CachedWeir;
beforeAll(async () => {
  database = await createTestDatabase();
  const price = { input_usd_per_mtok: 3, output_usd_per_mtok: 7, cached_answer_share: SHARE };
  world = await startCachedWeir(
    {},
    ({ channels, models }) => ({
      channels: channels.map((channel) =>
        channel.models['gpt-4o'] === undefined
          ? channel
          : { ...channel, models: { ...channel.models, [SHARED_MODEL]: 'gpt-4o' } },
      ),
      models: [
        ...(models ?? []),
        { id: SHARED_MODEL, category: 'chat', owned_by: 'test', family: 'openai-chat', price },
      ],
    }),
    { DATABASE_URL: database.url },
  );
});
afterAll(async () => {
  await world.stop();
  await database.drop();
});

interface Sums {
  total: { value: number | null };
  series: { group: string; value: number | null; values: (number | null)[] }[];
}
const sums = (metric: string, more = '') =>
  world.manage<Sums>('GET', `/usage/query?metric=${metric}&group=logical_model${more}`);
const byModel = ({ series }: Sums) =>
  Object.fromEntries(series.filter(({ value }) => value).map((each) => [each.group, each.value]));

interface Call {
  outcome: string;
  cache: string | null;
  logical_model: string;
  amount: number;
  saved?: number;
  cache_age_s?: number;
}

/** How often each question is asked, by model: the first time is a miss. */
const ASKED: Record<string, readonly number[]> = {
  'gpt-4o': [1, 3, 4],
  'claude-haiku-4-5': [2],
  [SHARED_MODEL]: [3],
};

test('hits, look-ups and savings by model and day agree with the records', async () => {
  const found: Record<string, { hit: number; miss: number }> = {};
  for (const [model, times] of Object.entries(ASKED)) {
    const counts = { hit: 0, miss: 0 };
    found[model] = counts;
    for (const [question, asked] of times.entries()) {
      for (let time = 0; time < asked; time += 1) {
        const messages = [{ role: 'user', content: `Question ${question}` }];
        const body = { model, messages, stream: time % 2 === 1 };
        const { cache } = await world.post('/v1/chat/completions', body);
        counts[cache as 'hit' | 'miss'] += 1;
      }
    }
    // A call that bypasses the cache is no look-up.
    await world.post('/v1/chat/completions', {
      ...{ model, messages: [{ role: 'user', content: 'Question 0' }] },
      cache_control: { type: 'no_cache' },
    });
  }
  expect(found).toEqual({
    'gpt-4o': { hit: 5, miss: 3 },
    'claude-haiku-4-5': { hit: 1, miss: 1 },
    [SHARED_MODEL]: { hit: 2, miss: 1 },
  });

  const embed = { model: 'text-embedding-3-small', input: 'words' };
  for (const cache of ['miss', 'hit']) {
    expect((await world.post('/v1/embeddings', embed)).cache).toBe(cache);
  }

  let calls: Call[] = [];
  await until('all calls are on record', async () => {
    ({ data: calls } = await world.manage<{ data: Call[] }>('GET', '/requests?limit=100'));
    return calls.length === 18;
  });
  const ofCache = (state: string | null) => calls.filter(({ cache }) => cache === state);
  expect([ofCache('hit').length, ofCache('miss').length, ofCache(null).length]).toEqual([9, 6, 3]);
  expect(
    ofCache('hit').every(
      ({ outcome, cache_age_s }) => outcome === 'cached' && cache_age_s !== undefined,
    ),
  ).toBe(true);

  const saved: Record<string, number> = {};
  for (const { logical_model, saved: own = 0 } of ofCache('hit')) {
    saved[logical_model] = (saved[logical_model] ?? 0) + own;
  }
  const found_saved = byModel(await sums('saved'));
  expect(Object.keys(found_saved).sort()).toEqual(Object.keys(saved).sort());
  for (const [model, usd] of Object.entries(saved)) {
    expect(usd).toBeGreaterThan(0);
    expect(found_saved[model]).toBeCloseTo(usd, 9);
  }
  // A hit that costs a part saves the rest.
  const [paid] = calls.filter(
    ({ logical_model, cache }) => logical_model === SHARED_MODEL && cache === 'miss',
  );
  for (const hit of ofCache('hit').filter((each) => each.logical_model === SHARED_MODEL)) {
    expect(hit.amount + (hit.saved ?? 0)).toBeCloseTo(paid?.amount ?? 0, 9);
    expect(hit.amount).toBeCloseTo(SHARE * (paid?.amount ?? 0), 8);
  }
  expect(byModel(await sums('cache_hits'))).toEqual({
    ...{ 'gpt-4o': 5, 'claude-haiku-4-5': 1, [SHARED_MODEL]: 2, 'text-embedding-3-small': 1 },
  });
  expect(byModel(await sums('cache_lookups'))).toEqual({
    ...{ 'gpt-4o': 8, 'claude-haiku-4-5': 2, [SHARED_MODEL]: 3, 'text-embedding-3-small': 2 },
  });
  const rates = byModel(await sums('cache_hit_rate'));
  expect(rates['gpt-4o']).toBeCloseTo(5 / 8, 12);
  expect((await sums('cache_hit_rate')).total.value).toBeCloseTo(9 / 15, 12);
  // All of it was today.
  const today = await sums('cache_hits', '&bucket=day');
  expect(today.series[0]?.values.at(-1)).toBe(5);
  // The same count from the outcomes.
  expect(byModel(await sums('requests', '&outcome=cached'))).toEqual(
    byModel(await sums('cache_hits')),
  );
});

test('a hit counts in no health of a model, and in no ranking', async () => {
  const before = await world.upstreamCalls();
  const outcomes = async () => {
    const [row] = await database.sql<{ succeeded: number; failed: number }[]>`
      select coalesce(sum(succeeded), 0)::int4 as succeeded, coalesce(sum(failed), 0)::int4 as failed
      from outcome_minute`;
    return row;
  };
  // Outcomes are written in their order, so those of hits would come before that of the last call.
  await world.post('/v1/chat/completions', {
    ...{ model: 'gpt-4o', messages: [{ role: 'user', content: 'The last one' }] },
  });
  await until('the outcomes are written', async () => {
    return ((await outcomes())?.succeeded ?? 0) > before;
  });
  expect(await outcomes()).toEqual({ succeeded: await world.upstreamCalls(), failed: 0 });
});
