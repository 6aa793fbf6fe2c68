import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connectDatabase } from '../../db/client.ts';
import type { ClosedMonth } from '../../db/retention/close.ts';
import { listPartitions } from '../../db/retention/months.ts';
import { fold } from '../../db/usage/roll-ups/fold.ts';
import { systemClock } from '../../src/actors/clock.ts';
import {
  Housekeeping,
  KEEP_EFFECTS_MS,
  KEEP_IDEMPOTENCY_KEYS_MS,
} from '../../src/actors/housekeeping.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

test('old ended effects and old requests are deleted; recent and pending ones stay', async () => {
  const { sql } = database;
  const long_ago = Date.now() - KEEP_EFFECTS_MS - 60_000;
  const effect = (name: string, at: number, status: string) => sql`
    insert into outbox (id, kind, actor_id, seq, effect, params, status)
    values (${Bun.randomUUIDv7('hex', at)}, 'task', 'a', 1, ${name}, '{}', ${status})`;
  await effect('old and done', long_ago, 'done');
  await effect('old and pending', long_ago, 'pending');
  await effect('young and done', Date.now(), 'done');
  const request = (key: string, age_ms: number) => sql`
    insert into task_request (key_id, organization_id, route, idempotency_key, body_hash, task_id, created_at)
    values ('k', 'o', '/r', ${key}, 'h', 't', now() - ${age_ms} * interval '1 millisecond')`;
  await request('old', KEEP_IDEMPOTENCY_KEYS_MS + 60_000);
  await request('young', KEEP_IDEMPOTENCY_KEYS_MS - 60_000);
  await new Housekeeping({
    sql,
    clock: systemClock,
    circuit_days: 30,
    record_days: 90,
    line_days: 400,
    onError: () => undefined,
  }).sweep();
  const effects = await sql`select effect from outbox order by effect`;
  expect(effects.map((row) => row['effect'])).toEqual(['old and pending', 'young and done']);
  const requests = await sql`select idempotency_key from task_request`;
  expect(requests.map((row) => row['idempotency_key'])).toEqual(['young']);
});

test('P7: expired calls are deleted, and bodies of organizations that keep no answers are dropped', async () => {
  const { sql } = database;
  await sql`
    insert into organization (id, name, keep_answers) values ('keeps', 'k', true), ('not', 'n', false)`;
  const call = (key_id: string, organization_id: string, left: string) => sql`
    insert into kept_answer (key_id, route, repeat_hash, organization_id, request_hash, request_id,
      replica_id, state, status, body, body_bytes, expires_at)
    values (${key_id}, '/r', 'h', ${organization_id}, 'r', ${Bun.randomUUIDv7()}, 'r', 'kept', 200,
      'body'::bytea, 4, now() + ${left}::interval)`;
  await call('young', 'keeps', '1 minute');
  await call('expired', 'keeps', '-1 minute');
  await call('unwanted', 'not', '1 minute');
  await new Housekeeping({
    sql,
    clock: systemClock,
    circuit_days: 30,
    record_days: 90,
    line_days: 400,
    onError: () => undefined,
  }).sweep();
  const rows = await sql`select key_id, state from kept_answer order by key_id`;
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { key_id: 'unwanted', state: 'dropped' },
    { key_id: 'young', state: 'kept' },
  ]);
});

test('months are made, and removed after the days of each table; 0 keeps usage lines', async () => {
  const later = connectDatabase(database.url, { pool: 'single' });
  const { sql } = later;
  const id = Bun.randomUUIDv7();
  await sql`
    insert into call_record (id, organization_id, key_id, scene, model, model_vendor, channel_id,
      outcome, status)
    values (${id}, 'o', 'k', 'chat', 'm', 'v', '', 'refused', 400)`;
  await sql`
    insert into usage_line (id, request_id, organization_id, key_id, grant_id, scene,
      access_channel, model, model_vendor, channel_id, outcome, input_tokens, cached_input_tokens,
      cache_write_tokens, output_tokens, estimated, charged_nano_usd)
    values (${id}, ${id}, 'o', 'k', ${id}, 'chat', 'platform', 'm', 'v', 'c', 'completed', 1, 0, 0,
      1, false, 7)`;
  while ((await fold(sql)).more);
  const removed: ClosedMonth[] = [];
  const sweep = async (days_later: number, line_days: number) => {
    const now = new Date(Date.now() + days_later * 86_400_000);
    await sql`select set_config('weir.now', ${now.toISOString()}, false)`;
    await new Housekeeping({
      ...{ sql, clock: systemClock, circuit_days: 30, record_days: 30, line_days },
      onRemoved: (month) => removed.push(month),
      onError: () => undefined,
    }).sweep();
    return removed.splice(0).map(({ table, rows }) => ({ table, rows }));
  };
  expect(await sweep(0, 31)).toEqual([]);
  expect(await listPartitions(sql, 'usage_line')).toHaveLength(3);
  expect(await sweep(70, 0)).toEqual([{ table: 'call_record', rows: 1 }]);
  expect(await sql`select from usage_line`).toHaveLength(1);
  expect(await sweep(70, 31)).toContainEqual({ table: 'usage_line', rows: 1 });
  expect(await sql`select from usage_line`).toHaveLength(0);
  await later.close();
});

test('sessions, attempts, begun sign-ins and links are deleted after their end', async () => {
  const { sql } = database;
  await sql`insert into person (id, name, email) values ('p', 'P', 'p@example.com')`;
  for (const [id, left] of [
    ['young', '1 minute'],
    ['old', '-1 minute'],
  ] as const) {
    await sql`
      insert into person_session (id, token, person_id, expires_at)
      values (${id}, ${id}, 'p', now() + ${left}::interval)`;
    await sql`
      insert into sign_in_state (id, identifier, value, expires_at)
      values (${id}, ${id}, '{}', now() + ${left}::interval)`;
    await sql`
      insert into sign_in_attempt (subject, count, ends_at)
      values (${id}, 1, now() + ${left}::interval)`;
    await sql`
      insert into one_time_link (id, kind, secret_hash, is_mailed, expires_at)
      values (${id}, 'operator', ${id}, false, now() - interval '90 days' + ${left}::interval)`;
  }
  await new Housekeeping({
    ...{ sql, clock: systemClock, circuit_days: 30, record_days: 90, line_days: 400 },
    onError: () => undefined,
  }).sweep();
  const tables = ['person_session', 'sign_in_state', 'sign_in_attempt', 'one_time_link'];
  for (const table of tables) {
    const id = table === 'sign_in_attempt' ? 'subject' : 'id';
    const rows = await sql`select ${sql(id)} as id from ${sql(table)}`;
    expect({ table, rows: rows.map((row) => row['id']) }).toEqual({ table, rows: ['young'] });
  }
});
