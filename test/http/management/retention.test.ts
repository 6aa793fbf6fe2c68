/**
 * What an owner reads of a month before and after its lines were removed. OpenAI's SDK makes the calls;
 * the removal runs as another replica would run it two months later.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import OpenAI from 'openai';
import { connectDatabase } from '../../../db/client.ts';
import { closeMonth } from '../../../db/retention/close.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

let fresh: TestDatabase;
let weir: RunningWeir;
beforeAll(async () => {
  fresh = await createTestDatabase();
  weir = await startWeir({ env: { DATABASE_URL: fresh.url } });
});
afterAll(async () => {
  await weir.stop();
  await fresh.drop();
});

const get = (path: string) =>
  fetch(`${weir.base_url}/v1/management${path}`, {
    headers: { authorization: `Bearer ${weir.management_token}` },
  });

async function makeCalls(): Promise<void> {
  const openai = new OpenAI({
    baseURL: `${weir.base_url}/v1`,
    apiKey: weir.api_key,
    maxRetries: 0,
  });
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  await openai.chat.completions.create({ model: 'gpt-4o-mini', messages });
  const stream = await openai.chat.completions.create({
    ...{ model: 'gpt-4o-mini', messages, stream: true as const },
  });
  for await (const _ of stream);
  await openai.embeddings.create({ model: 'text-embedding-3-small', input: 'Hello' });
  await openai.chat.completions.create({ model: 'gpt-4o-mni', messages }).catch(() => undefined);
}

/** All rows are written and in the sums. */
async function folded(): Promise<void> {
  await until('the sums of all calls', async () => {
    const [row] = await fresh.sql<{ count: number }[]>`
      select coalesce(sum(requests), 0)::int4 as count from usage_day
      join usage_series on id = series_id and scope = 'total'`;
    return row?.count === 4;
  });
}

async function removeMonths(): Promise<void> {
  const other = connectDatabase(fresh.url, { pool: 'single' });
  const later = new Date(Date.now() + 70 * 86_400_000).toISOString();
  await other.sql`select set_config('weir.now', ${later}, false)`;
  expect(await closeMonth(other.sql, 'usage_line', 31)).toMatchObject({ rows: 3 });
  expect(await closeMonth(other.sql, 'call_record', 31)).toMatchObject({ rows: 1 });
  await other.close();
}

async function bodyOf(path: string): Promise<Record<string, unknown>> {
  const response = await get(path);
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

test('bills, statements and sums stay; lists say since when lines exist', async () => {
  const month = new Date().toISOString().slice(0, 7);
  const [empty] = [await bodyOf('/usage')];
  await makeCalls();
  await folded();
  const keys = (await bodyOf('/api-keys'))['data'] as { id: string; used_amount: number }[];
  const key_id = keys[0]?.id;
  // A range without an end ends now, in 15 minutes of which this test removes the rows.
  const today = new Date().toISOString().slice(0, 10);
  const range = `startDate=${month}-01&endDate=${today}`;
  const sums = [
    ...['/balance', '/api-keys', '/billing', `/api-keys/${key_id}/billing`, `/statements/${month}`],
    `/usage/query?metric=cost&group=logical_model&${range}`,
    `/usage/query?metric=requests&group=api_key_id&subgroup=logical_model&${range}`,
    `/usage/query?metric=latency_p95&bucket=15min&startDate=${today}&endDate=${today}`,
  ];
  const read = () =>
    Promise.all(
      sums.map(async (path) => {
        const { as_of: _, until: __, ...body } = await bodyOf(path);
        return body;
      }),
    );
  const before = await read();
  const listed = await bodyOf('/usage');
  const [line] = listed['data'] as { request_id: string }[];
  expect(listed['total']).toBe(3);
  expect(listed['lines_since']).toBeUndefined();
  await removeMonths();
  expect(await read()).toEqual(before);
  expect(keys[0]?.used_amount).toBeGreaterThan(0);

  const end = new Date();
  const since = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1)).toISOString();
  const after = await bodyOf('/usage');
  expect(after).toMatchObject({ data: [], total: 0, has_more: false, lines_since: since });
  const ofKey = await bodyOf(`/api-keys/${key_id}/usage?startDate=${month}-01`);
  expect(ofKey).toMatchObject({ data: [], total: 0, lines_since: since });
  const requests = await bodyOf('/requests');
  expect(requests).toMatchObject({ data: [], lines_since: since, records_since: since });
  const exported = await get('/usage/export?format=ndjson');
  expect(exported.headers.get('x-weir-lines-since')).toBe(since);
  expect(await exported.text()).toBe('');
  expect((await get(`/requests/${line?.request_id}`)).status).toBe(404);
  // The first page was listed before any call was made.
  const old = await get(`/usage?as_of=${encodeURIComponent(String(empty?.['as_of']))}`);
  expect(old.status).toBe(400);
  expect(await old.json()).toMatchObject({ error: { param: 'as_of' } });
  const partly = await bodyOf(`/billing?startDate=${month}-01T00:00:01Z`);
  expect(partly['lines_since']).toBe(since);

  const books = await fetch(`${weir.base_url}/v1/operator/books`, {
    headers: { authorization: `Bearer ${weir.operator_token}` },
  });
  expect(await books.json()).toMatchObject({ conservation: { imbalances: 0 } });
});
