/**
 * Usage and billing on the public interface only. Calls of every kind come through the packages of
 * OpenAI, Anthropic and Google. Each is found by the request id that its package shows. The month is
 * exported, summed by another program, and compared with the books of the simulated providers and
 * with prices that do not come from Weir.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'csv-parse/sync';
import { compareBooks } from '../support/books/compare-books.ts';
import { findMoneyNotAtRest } from '../support/books/money-at-rest.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import {
  anthropicCalls,
  googleCalls,
  type Keys,
  openaiCalls,
  otherCalls,
  type RecordedCall,
} from '../support/recorded-calls.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

let simulator: RunningSimulator;
let database: TestDatabase;
let weir: RunningWeir;
let calls: RecordedCall[] = [];

function configOf(url: string): string {
  const channel = (id: string, protocol: string, path: string, models: string[], priority = 0) => ({
    ...{ id, protocol, priority, base_url: url + path, api_key: `sim-${id}` },
    models: Object.fromEntries(
      models.map((model) => [model, model === 'midjourney' ? 'MID_JOURNEY' : `canary-${model}`]),
    ),
  });
  const channels = [
    channel('openai-main', 'openai', '/openai/v1', ['gpt-4o', 'text-embedding-3-small']),
    channel('openai-spare', 'openai', '/openai/v1', ['gpt-4o'], 1),
    channel('anthropic-main', 'anthropic', '/anthropic', ['claude-haiku-4-5']),
    channel('anthropic-spare', 'anthropic', '/anthropic', ['claude-haiku-4-5'], 1),
    channel('gemini-main', 'gemini', '/google/v1beta', ['gemini-2.5-flash']),
    channel('gemini-spare', 'gemini', '/google/v1beta', ['gemini-2.5-flash'], 1),
    channel('images-main', 'midjourney', '/midjourney/mj', ['midjourney']),
  ];
  return JSON.stringify({ channels, roles: { standard: 1_000_000 } });
}

async function manage<Answer>(path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${weir.base_url}/v1/management${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

beforeAll(async () => {
  [simulator, database] = await Promise.all([startSimulator(), createTestDatabase()]);
  weir = await startWeir({
    config: configOf(simulator.url),
    env: { DATABASE_URL: database.url },
  });
  const key = async (name: string, more: object = {}) =>
    (await manage<{ key: string }>('/api-keys', { name, ...more })).key;
  const keys: Keys = {
    rich: await key('Rich'),
    poor: await key('Poor', { limitAmount: 0.000_000_001 }),
    narrow: await key('Narrow', { models: ['midjourney'] }),
  };
  const made = await Promise.all([
    openaiCalls(weir.base_url, keys),
    anthropicCalls(weir.base_url, keys),
    googleCalls(weir.base_url, keys),
    otherCalls(weir.base_url, keys),
  ]);
  calls = made.flat();
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await database.drop();
});

interface Shown {
  request_id: string;
  outcome: string;
  amount: number;
  timeline: { stage: string; at_ms: number; until_ms?: number | null; result?: string | null }[];
}

/** Returns the record of a call. A record without a charge is written shortly after its call. */
const find = (request_id: string) =>
  until(`the record of ${request_id}`, () =>
    manage<Shown>(`/requests/${request_id}`).catch(() => undefined),
  );

describe('GET /v1/management/requests/{id}', () => {
  test('every call is found by the id that its package shows, with its outcome and fault', async () => {
    expect(calls.length).toBe(34);
    for (const { name, request_id, record } of calls) {
      expect(request_id, name).toStartWith('req_');
      expect(await find(request_id), name).toMatchObject({ request_id, ...record });
    }
  });

  test('every timeline has the stages of its call, in order', async () => {
    for (const { name, request_id, stages } of calls) {
      const { timeline } = await find(request_id);
      expect([name, ...timeline.map(({ stage }) => stage)]).toEqual([name, ...stages]);
      const times = timeline.flatMap(({ at_ms, until_ms }) => [at_ms, until_ms ?? at_ms]);
      expect([name, ...times]).toEqual([name, ...times.toSorted((a, b) => a - b)]);
    }
  });

  test('a call that moved names the class of each failure, and no channel', async () => {
    for (const { name, request_id, results } of calls) {
      const shown = await find(request_id);
      expect(JSON.stringify(shown), name).not.toMatch(
        /canary|-main|-spare|MID_JOURNEY|127\.0\.0\.1/,
      );
      const attempts = shown.timeline.filter(({ stage }) => stage.startsWith('attempt'));
      if (results) expect(attempts.map(({ result = null }) => result)).toEqual(results);
    }
  });

  test('the list has every call once', async () => {
    const listed: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await manage<{ data: Shown[]; next_cursor: string | null }>(
        `/requests?limit=7${cursor}`,
      );
      listed.push(...page.data.map(({ request_id }) => request_id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(listed.toSorted()).toEqual(calls.map(({ request_id }) => request_id).toSorted());
  });
});

/** An amount of an answer, a JSON number, as whole nano-USD. */
const nano = (usd: number) => BigInt(usd.toFixed(9).replace('.', ''));
const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, each) => sum + each, 0n);

/** Sums a column of a CSV in nano-USD. A double is exact for the sums of this test. */
const AWK = `
  BEGIN { FS = "," }
  { sub(/\\r$/, "") }
  NR == 1 { for (i = 1; i <= NF; i++) if ($i == "amount_usd") column = i; next }
  { split($column, parts, "."); sum += parts[1] * 1000000000 + parts[2] }
  END { printf "%.0f %d", sum, NR - 1 }`;

/** Returns the sum and the number of lines that awk finds. */
async function byAwk(csv: string): Promise<{ sum: bigint; lines: number }> {
  const awk = Bun.spawn(['awk', AWK], { stdin: new Blob([csv]), stdout: 'pipe' });
  const [sum = '', lines = ''] = (await new Response(awk.stdout).text()).split(' ');
  return { sum: BigInt(sum), lines: Number(lines) };
}

async function exportOf(month: string, format: 'csv' | 'ndjson'): Promise<string> {
  const response = await fetch(
    `${weir.base_url}/v1/management/usage/export?startDate=${month}-01&format=${format}`,
    { headers: { authorization: `Bearer ${weir.management_token}` } },
  );
  expect(response.status).toBe(200);
  return response.text();
}

test('no call is left running, and no money is held', async () => {
  const { total, held } = await manage<{ total: number; held: number }>('/calls');
  expect({ total, held }).toEqual({ total: 0, held: 0 });
});

test('the exported month is the sum of lines, breakdowns, keys, balance and statement', async () => {
  const month = new Date().toISOString().slice(0, 7);
  const csv = await exportOf(month, 'csv');
  // The csv-parse package and awk are the other programs.
  const rows = parse(csv, { columns: true }) as Record<string, string>[];
  const sum = sumOf(rows.map(({ amount_usd = '' }) => BigInt(amount_usd.replace('.', ''))));
  expect(sum).toBeGreaterThan(0n);
  expect(await byAwk(csv)).toEqual({ sum, lines: rows.length });
  const paid = await paidIds();
  expect(rows.map(({ request_id }) => request_id).toSorted()).toEqual(paid);
  const objects = (await exportOf(month, 'ndjson'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { request_id: string; amount_nano_usd: number });
  expect(objects.map(({ request_id }) => request_id).toSorted()).toEqual(paid);

  const lines: bigint[] = [];
  for (let page = 1, more = true; more; page += 1) {
    const answer = await manage<{ data: Shown[]; has_more: boolean }>(
      `/usage?limit=4&page=${page}`,
    );
    lines.push(...answer.data.map(({ amount }) => nano(amount)));
    more = answer.has_more;
  }
  const billing = await manage<Record<string, { amount: number }[]>>('/billing');
  const statement = await manage<Record<string, { amount: number }[]>>(`/statements/${month}`);
  const { data: keys } = await manage<{ data: { used_amount: number }[] }>('/api-keys');
  const balance = await manage<{ used: number }>('/balance');
  const totals: Record<string, bigint> = {
    lines: sumOf(lines),
    ndjson: sumOf(objects.map(({ amount_nano_usd }) => BigInt(amount_nano_usd))),
    billing: nano((billing['total'] as unknown as { amount: number }).amount),
    statement: nano((statement['charged'] as unknown as { amount: number }).amount),
    keys: sumOf(keys.map(({ used_amount }) => nano(used_amount))),
    used: nano(balance.used),
  };
  const groups = ['by_day', 'by_model', 'by_vendor', 'by_scene', 'by_access_channel'];
  for (const [name, answer, members] of [
    ['billing', billing, groups],
    ['statement', statement, [...groups, 'by_api_key']],
  ] as const) {
    for (const member of members) {
      const group = answer[member];
      if (!group) throw new Error(`${name} has no ${member}`);
      totals[`${name} ${member}`] = sumOf(group.map(({ amount }) => nano(amount)));
    }
  }
  expect(totals).toEqual(Object.fromEntries(Object.keys(totals).map((name) => [name, sum])));
});

/** The ids of the calls that cost something, as their records say. */
async function paidIds(): Promise<string[]> {
  const shown = await Promise.all(calls.map(({ request_id }) => find(request_id)));
  return shown.flatMap(({ amount, request_id }) => (amount > 0 ? [request_id] : [])).toSorted();
}

test('the lines agree with the books of the providers, at independent prices', async () => {
  // Google's calls name no end user, and a task is known by its job. Their lines are compared too:
  // they are paired by job, or by channel and tokens.
  const witnesses = calls
    .filter(({ name }) => !/^google|task$|^batch$/.test(name))
    .map(({ name, request_id, record }) => ({
      ...{ reference: name, request_id: request_id.replace('req_', '') },
      outcome: record['outcome'] === 'completed' ? ('whole' as const) : ('broken' as const),
    }));
  const found = await compareBooks({
    ...{ simulator_url: simulator.url, sql: database.sql, seed: 'none', witnesses },
  });
  expect(found).toEqual([]);
  expect(await findMoneyNotAtRest(database.sql, { are_grants_returned: false })).toEqual([]);
});
