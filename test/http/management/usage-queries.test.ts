/** `GET /v1/management/usage/queries` of a real Weir: each answer is that of `usage/query` in the same state. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Value } from '@sinclair/typebox/value';
import { UsageQueriesSchema } from '../../../src/http/management/usage/explore-answer.ts';
import { errorOf } from '../../support/envelope.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
  for (const model of ['gpt-4o-mini', 'no-such-model']) {
    await fetch(`${weir.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    });
  }
});
afterAll(() => weir.stop());

const get = (path: string, query: Record<string, string> | URLSearchParams) =>
  fetch(`${weir.base_url}/v1/management/usage/${path}?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${weir.management_token}` },
  });

const QUERIES: readonly Record<string, string>[] = [
  { metric: 'cost', bucket: 'day' },
  { metric: 'error_rate', bucket: 'none', compare: 'previous' },
  { metric: 'latency_p95', bucket: 'none', compare: 'previous' },
  { metric: 'saved', bucket: 'none', compare: 'previous' },
  { metric: 'requests', bucket: 'none', group: 'logical_model', top: '5' },
  { metric: 'cost', bucket: 'none', group: 'logical_model', top: '5' },
  { metric: 'cost', bucket: 'hour', timeZone: 'Asia/Kathmandu', startDate: '2026-11-01' },
];

function several(
  queries: readonly Record<string, string>[],
  common: Record<string, string> = {},
): URLSearchParams {
  const parameters = new URLSearchParams(common);
  for (const query of queries) parameters.append('query', String(new URLSearchParams(query)));
  return parameters;
}

test('each answer is that of its query in the same state, with what is sent for all', async () => {
  const common = { timeZone: 'Europe/Berlin' };
  const answer = await get('queries', several(QUERIES, common));
  expect(answer.status).toBe(200);
  const list = Value.Decode(UsageQueriesSchema, await answer.json());
  const { as_of } = list;
  for (const [at, query] of QUERIES.entries()) {
    const alone = await get('query', { ...common, ...query, as_of });
    expect(list.data[at]).toEqual((await alone.json()) as never);
  }
  const again = await get('queries', several(QUERIES, { ...common, as_of }));
  expect((await again.json()) as typeof list).toEqual(list);
});

test('a wrong request names what is wrong', async () => {
  const cost = { metric: 'cost' };
  const cases: [URLSearchParams, string][] = [
    [several([]), 'query'],
    [several(Array(11).fill(cost)), 'query'],
    [several([cost, { metric: 'profit' }]), 'metric'],
    [several([{ ...cost, as_of: 'now' }]), 'as_of'],
    [several([cost], { as_of: 'now' }), 'as_of'],
    [several([cost], { sql: '1' }), 'sql'],
    [several([{ ...cost, timeZone: 'Mars/Olympus' }]), 'timeZone'],
  ];
  for (const [query, param] of cases) {
    expect(await errorOf(await get('queries', query), 400)).toMatchObject({ param });
  }
});
