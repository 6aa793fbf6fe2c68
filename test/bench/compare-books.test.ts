/**
 * Compares real books: of a Weir process and of the simulator. Then each kind of difference is
 * planted in Weir's books, and must be found.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Sql } from '../../db/client.ts';
import { type BookComparison, compareBooks } from '../support/books/compare-books.ts';
import type { DifferenceKind } from '../support/books/difference.ts';
import type { Witness } from '../support/books/pairing.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
let database: TestDatabase;
let weir: RunningWeir;
const witnesses: Witness[] = [];

beforeAll(async () => {
  [simulator, database] = await Promise.all([startSimulator(), createTestDatabase()]);
  weir = await startWeir({ config: configFor(simulator.url), env: { DATABASE_URL: database.url } });
  for (const [index, { stream, words, model = 'gpt-4o-mini' }] of CALLS.entries()) {
    witnesses.push(await call(`call-${index}`, { model, stream, content: words }));
  }
  await leave('leaver');
  for (const [path, model] of JOBS) await createJob(path, model);
  await until('every task has ended', async () => {
    const [row] = await database.sql<{ done: number }[]>`
      select count(*)::int4 as done from task where status = 'completed'`;
    return row?.done === JOBS.length;
  });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await database.drop();
});

const CALLS: { words: string; stream: boolean; model?: string }[] = [
  { words: 'One [[sim tokens=11]]', stream: false },
  { words: 'Two [[sim tokens=12]]', stream: true },
  { words: 'Three, from the cache [[sim tokens=13 cached=5]]', stream: false },
  { words: 'Four, without usage [[sim tokens=14 no_usage=1]]', stream: true },
  {
    words: 'Five, by the other channel [[sim tokens=15]] [[sim channel=main status=500]]',
    stream: true,
  },
  { words: 'Six, lost and repeated [[sim tokens=16]] [[sim channel=main lose=1]]', stream: false },
  { words: 'Seven [[sim tokens=17]]', stream: false, model: 'claude-haiku-4-5' },
];

const JOBS = [
  ['images', 'dall-e-3'],
  ['images', 'gpt-image-1'],
  ['videos', 'grok-imagine-video'],
] as const;

function configFor(url: string): string {
  const chat = (id: string, priority: number) => ({
    ...{ id, protocol: 'openai', base_url: `${url}/openai/v1`, api_key: `sim-${id}`, priority },
    models: { 'gpt-4o-mini': 'small' },
  });
  const channels = [
    chat('main', 0),
    chat('spare', 1),
    {
      ...{ id: 'other', protocol: 'anthropic', base_url: `${url}/anthropic`, api_key: 'sim-other' },
      models: { 'claude-haiku-4-5': 'haiku' },
    },
    {
      ...{ id: 'xai', protocol: 'xai', base_url: `${url}/xai/v1`, api_key: 'sim-xai' },
      models: { 'grok-imagine-video': 'video' },
    },
    {
      id: 'pictures',
      ...{ protocol: 'openai-images', base_url: `${url}/openai/v1`, api_key: 'sim-pictures' },
      models: { 'dall-e-3': 'dall-e-3', 'gpt-image-1': 'gpt-image-1' },
    },
  ];
  return JSON.stringify({ channels });
}

const post = (path: string, body: object, signal?: AbortSignal) =>
  fetch(weir.base_url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

const requestIdOf = (response: Response) =>
  response.headers.get('x-request-id')?.replace('req_', '');

async function call(
  reference: string,
  { model, stream, content }: { model: string; stream: boolean; content: string },
): Promise<Witness> {
  const messages = [{ role: 'user', content }];
  const response = await post('/v1/chat/completions', { model, stream, messages, user: reference });
  const text = await response.text();
  expect({ content, status: response.status, text }).toMatchObject({ status: 200 });
  return { reference, request_id: requestIdOf(response), outcome: 'whole', model };
}

/** A client that reads the first part of a stream. */
async function leave(reference: string): Promise<void> {
  const leaving = new AbortController();
  const messages = [{ role: 'user', content: 'Slowly [[sim tokens=50 chunk_ms=30]]' }];
  const body = { model: 'gpt-4o-mini', stream: true, messages, user: reference };
  const response = await post('/v1/chat/completions', body, leaving.signal);
  const reader = response.body?.getReader();
  for (let reads = 0; reads < 4; reads += 1) await reader?.read();
  leaving.abort();
  witnesses.push({ reference, request_id: requestIdOf(response), outcome: 'broken' });
  await until('the part is charged', async () => {
    const [row] = await database.sql<{ parts: number }[]>`
      select count(*)::int4 as parts from usage_line where outcome = 'partial'`;
    return row?.parts === 1;
  });
}

async function createJob(scene: string, model: string): Promise<void> {
  const prompt = 'A lighthouse [[sim task_ms=50]]';
  const response = await post(`/v1/${scene}/generations`, { model, prompt });
  expect({ model, ok: response.ok, text: await response.text() }).toMatchObject({ ok: true });
}

class Undo extends Error {}

/** Compares after `plant` has changed Weir's books, and takes the change back. */
async function differencesAfter(
  plant: (sql: Sql) => Promise<unknown>,
  options: Partial<BookComparison> = { witnesses },
) {
  const printed: string[] = [];
  let kinds: DifferenceKind[] = [];
  await database.sql
    .begin(async (transaction) => {
      const sql = transaction as unknown as Sql;
      await plant(sql);
      const found = await compareBooks({
        ...{ simulator_url: simulator.url, sql, seed: 417, print: (text) => printed.push(text) },
        ...options,
      });
      kinds = found.map(({ kind }) => kind);
      throw new Undo();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error;
    });
  return { kinds, printed };
}

const nothing = async () => undefined;
/** The line of the first call. */
const first = () => witnesses[0]?.request_id ?? '';
const COLUMNS = `request_id, organization_id, key_id, grant_id, hold_id, scene, access_channel, model,
  model_vendor, channel_id, outcome, input_tokens, cached_input_tokens, cache_write_tokens,
  output_tokens, estimated, charged_nano_usd, overrun_nano_usd, created_at`;

describe('books without a difference', () => {
  test('agree: calls, streams, caches, failovers, lost answers, a client that left, and jobs', async () => {
    expect(await differencesAfter(nothing)).toEqual({ kinds: [], printed: [] });
  });

  test('agree without what the clients know, if all but one answer arrived', async () => {
    const answers = CALLS.length;
    expect((await differencesAfter(nothing, { answers })).kinds).toEqual([]);
  });
});

describe('a planted difference is found, and printed with the seed and the ids of both sides', () => {
  const planted: [string, DifferenceKind[], (sql: Sql) => Promise<unknown>][] = [
    [
      'a missing line',
      ['missing line'],
      (sql) => sql`delete from usage_line where request_id = ${first()}::uuid`,
    ],
    [
      'a doubled line',
      ['doubled line'],
      (sql) =>
        sql.unsafe(`insert into usage_line (id, ${COLUMNS}) select gen_random_uuid(), ${COLUMNS}
          from usage_line where request_id = '${first()}'`),
    ],
    [
      'a line without a call',
      ['line without call'],
      (sql) =>
        sql.unsafe(`insert into usage_line (id, ${COLUMNS}) select gen_random_uuid(),
          ${COLUMNS.replace('request_id', 'gen_random_uuid()')}
          from usage_line where request_id = '${first()}'`),
    ],
    [
      'wrong tokens at the right price',
      ['wrong tokens'],
      (sql) => sql`update usage_line set output_tokens = output_tokens + 1
        where request_id = ${first()}::uuid`,
    ],
    [
      'a price that is a nano-USD too low',
      ['wrong price'],
      (sql) => sql`update usage_line set charged_nano_usd = charged_nano_usd - 1
        where request_id = ${first()}::uuid`,
    ],
    [
      'another model',
      ['wrong model', 'wrong price'],
      (sql) => sql`update usage_line set model = 'gpt-4o' where request_id = ${first()}::uuid`,
    ],
    [
      'a part that is charged as completed',
      ['wrong outcome'],
      (sql) => sql`update usage_line set outcome = 'completed' where outcome = 'partial'`,
    ],
    [
      'reported usage that is marked as estimated',
      ['wrong outcome'],
      (sql) => sql`update usage_line set estimated = true where request_id = ${first()}::uuid`,
    ],
    [
      'counted usage that is not marked as estimated',
      ['wrong outcome'],
      (sql) => sql`update usage_line set estimated = false
        where estimated and outcome = 'completed' and scene = 'chat'`,
    ],
    [
      'a part with more tokens than were delivered',
      ['wrong tokens'],
      (sql) => sql`update usage_line set output_tokens = 51 where outcome = 'partial'`,
    ],
    [
      'a part that is free although its tokens were delivered',
      ['missing line'],
      (sql) => sql`delete from usage_line where outcome = 'partial'`,
    ],
    [
      'a charge for the answer that was lost',
      ['charged without delivery'],
      (sql) => sql`update usage_line set channel_id = 'main'
        where request_id = ${witnesses[5]?.request_id ?? ''}::uuid`,
    ],
    [
      'a video at another price',
      ['wrong price'],
      (sql) => sql`update usage_line set charged_nano_usd = 1 where scene = 'video'`,
    ],
    [
      'an image with other tokens',
      ['wrong tokens'],
      (sql) => sql`update usage_line set output_tokens = 1 where model = 'gpt-image-1'`,
    ],
    [
      'a job that is not charged',
      ['missing line'],
      (sql) => sql`with gone as (delete from usage_line where scene = 'video')
        update task set billing_id = null, status = 'processing', ended_at = null
        where scene = 'video'`,
    ],
  ];

  test.each(planted)('%s', async (_, kinds, plant) => {
    const found = await differencesAfter(plant);
    expect(found.kinds.toSorted()).toEqual(kinds.toSorted());
    expect(found.printed).toHaveLength(kinds.length);
    for (const text of found.printed)
      expect(text).toMatch(/^BOOKS DIFFER \(seed 417\): .*\[provider/);
  });

  test('without what the clients know: an answer that is not charged, and a wrong price', async () => {
    const answers = CALLS.length;
    const missing = (sql: Sql) => sql`delete from usage_line where request_id = ${first()}::uuid`;
    expect((await differencesAfter(missing, { answers })).kinds).toEqual(['missing line']);
    const wrong = (sql: Sql) => sql`update usage_line set charged_nano_usd = charged_nano_usd + 1
      where request_id = ${first()}::uuid`;
    expect((await differencesAfter(wrong, { answers })).kinds).toEqual(['wrong price']);
  });

  test('calls that the simulator has forgotten', async () => {
    const work = { calls: [], jobs: [], forgotten: 7 };
    const found = await differencesAfter((sql) => sql`delete from usage_line`, { work });
    expect(found.kinds).toEqual(['forgotten calls']);
  });
});
