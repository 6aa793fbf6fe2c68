/** The migration `0009_actor_history` fills the new columns of rows that existed before it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readHistory } from '../../db/actors/history.ts';
import { MIGRATIONS_DIR, migrateDatabase } from '../../db/migrate.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';

/** The number of migrations before `0009_actor_history`. */
const EARLIER_MIGRATIONS = 9;
const MOVED_AT = new Date('2026-01-02T03:04:05.678Z');

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
  const folder = throwawayFolder('earlier-migrations');
  try {
    cpSync(MIGRATIONS_DIR, folder, { recursive: true });
    const journal = join(folder, 'meta/_journal.json');
    const { entries, ...rest } = JSON.parse(readFileSync(journal, 'utf8'));
    const earlier = { ...rest, entries: entries.slice(0, EARLIER_MIGRATIONS) };
    writeFileSync(journal, JSON.stringify(earlier));
    await migrateDatabase(database.sql, folder);
  } finally {
    removeFolder(folder);
  }
});

afterAll(() => database.drop());

test('rows of an earlier version get their state, their organization and their time', async () => {
  const { sql } = database;
  await sql.unsafe(`
    insert into organization (id, name) values ('org', 'o');
    insert into api_key (id, organization_id, name, key_hash, key_prefix)
      values ('key', 'org', 'k', 'h', 'sk-');
    insert into task (id, organization_id, key_id, request_id, scene, model, hold_id,
        hold_nano_usd, submission_key, deadline_at)
      values ('t', 'org', 'key', gen_random_uuid(), 'video', 'm', gen_random_uuid(), 1,
        gen_random_uuid(), now());
    insert into webhook_delivery (task_id, organization_id, url) values ('t', 'org', 'u');
    insert into message_batch (id, organization_id, key_id, headers, expires_at)
      values ('b', 'org', 'key', '{}', now());`);
  const insert = (kind: string, id: string, value: unknown) => sql`
    insert into actor (kind, id, machine_version, snapshot, seq, updated_at)
    values (${kind}, ${id}, 1, ${sql.json({ value, context: {} } as never)}, 1, ${MOVED_AT})`;
  await insert('task', 't', { processing: { unknown: 'asking' } });
  await insert('task', 'unknown', 'failed');
  await insert('batch', 'b', { in_progress: 'working' });
  await insert('webhook', 't', 'delivering');
  await sql`
    insert into actor_event (kind, actor_id, seq, command_id, event, from_state, to_state, taken)
    values ('task', 't', 1, gen_random_uuid(), '{"type": "LOST"}', 'a', 'b', true)`;

  expect((await migrateDatabase(sql)).applied).toBeGreaterThan(0);

  const actors = await sql`
    select kind, id, organization_id, state, since from actor order by kind, id`;
  expect(actors.map((row) => ({ ...row }))).toEqual(
    [
      { kind: 'batch', id: 'b', organization_id: 'org', state: 'in_progress.working' },
      { kind: 'task', id: 't', organization_id: 'org', state: 'processing.unknown.asking' },
      { kind: 'task', id: 'unknown', organization_id: null, state: 'failed' },
      { kind: 'webhook', id: 't', organization_id: 'org', state: 'delivering' },
    ].map((row) => ({ ...row, since: MOVED_AT })),
  );
  expect(await readHistory(sql, 'task', 't', 0)).toMatchObject([
    { seq: 1, machine_version: 1, context_hash: null, money: null },
  ]);
});

test('a replica of the earlier version can still create actors and append events', async () => {
  const { sql } = database;
  await sql`
    insert into actor (kind, id, machine_version, snapshot) values ('task', 'old', 1, '{}')`;
  await sql`
    insert into actor_event (kind, actor_id, seq, command_id, event, from_state, to_state, taken)
    values ('task', 'old', 1, gen_random_uuid(), '{"type": "LOST"}', 'a', 'b', true)`;
  const [row] = await sql`select state, organization_id from actor where id = 'old'`;
  expect({ ...row }).toEqual({ state: '', organization_id: null });
});
