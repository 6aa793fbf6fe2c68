/**
 * Creations with an `Idempotency-Key` happen once (IETF draft-ietf-httpapi-idempotency-key-header-07:
 * a repeat gets the first result, another payload gets 422).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { deleteExpiredChanges } from '../../../db/repeats/kept-changes.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { ManagedKeys, record } from '../../support/managed-keys.ts';

let app: TestApp;
const keys = new ManagedKeys(() => app);
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

let counter = 0;
const newHeader = () => {
  counter += 1;
  return { 'idempotency-key': `test-${counter}` };
};
const named = async (name: string) => (await keys.list()).data.filter((key) => key.name === name);

describe('Idempotency-Key', () => {
  test('200: a repeat gets the first answer with the same secret, and creates nothing', async () => {
    const header = newHeader();
    const [first, repeat] = [
      await keys.create({ name: 'repeated' }, header),
      await keys.create({ name: 'repeated' }, header),
    ];
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    for (const { headers } of [first, repeat]) {
      // RFC 9111, 5.2.2.5: no cache keeps an answer with a secret.
      expect(headers.get('cache-control')).toBe('no-store');
    }
    expect(repeat.headers.get('idempotent-replayed')).toBe('true');
    expect(repeat.headers.get('etag')).toBe(first.headers.get('etag') ?? 'missing');
    expect(repeat.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    const key = await record(first);
    expect(key.key).toMatch(/^sk-/);
    expect(await record(repeat)).toEqual(key);
    expect(await named('repeated')).toHaveLength(1);
  });

  test('200: of many requests at once, one creates, and all get its answer', async () => {
    const header = newHeader();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => keys.create({ name: 'at once' }, header)),
    );
    const records = await Promise.all(answers.map(record));
    expect(new Set(records.map(({ key }) => key)).size).toBe(1);
    expect(await named('at once')).toHaveLength(1);
    const replayed = answers.filter(({ headers }) => headers.has('idempotent-replayed'));
    expect(replayed).toHaveLength(19);
  });

  test('422: the same value with another body', async () => {
    const header = newHeader();
    await keys.create({ name: 'first' }, header);
    const error = await errorOf(await keys.create({ name: 'other' }, header), 422);
    expect(error).toMatchObject({ code: 'idempotency_key_reused', param: 'Idempotency-Key' });
    expect(await named('other')).toEqual([]);
  });

  test('400: a value that no proxy carries unchanged', async () => {
    const error = await errorOf(await keys.create({}, { 'idempotency-key': 'ä b' }), 400);
    expect(error.param).toBe('Idempotency-Key');
  });

  test('200: an error is not kept: after it is mended, the same request works', async () => {
    const header = newHeader();
    const { id } = await keys.add({ external_id: 'in the way' });
    await errorOf(await keys.create({ external_id: 'in the way' }, header), 409);
    await keys.remove(id);
    expect((await keys.create({ external_id: 'in the way' }, header)).status).toBe(200);
  });

  test('200: a rotation whose answer was lost can be repeated', async () => {
    const header = newHeader();
    const { id } = await keys.add();
    const first = await record(await keys.rotate(id, { grace_s: 5 }, header));
    expect(await record(await keys.rotate(id, { grace_s: 5 }, header))).toEqual(first);
    const used = await app.fetch('/v1/models', {
      headers: { authorization: `Bearer ${first.key}` },
    });
    expect(used.status).toBe(200);
    const other = await keys.add();
    await errorOf(await keys.rotate(other.id, { grace_s: 5 }, header), 422);
  });

  test('P6: the value of another organization is another value', async () => {
    const header = newHeader();
    const { token } = await keys.addStranger();
    const mine = await record(await keys.create({ name: 'n' }, header));
    const response = await fetch(`${app.base_url}/v1/management/api-keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...header },
      body: JSON.stringify({ name: 'n' }),
    });
    expect(response.headers.get('idempotent-replayed')).toBeNull();
    expect((await record(response)).key).not.toBe(mine.key);
  });

  test('the database has no secret in plain, and nothing after a day', async () => {
    const header = newHeader();
    const { key } = await record(await keys.create({ name: 'sealed' }, header));
    const { sql } = app.database;
    const rows = await sql<{ answer: Buffer; hours: number }[]>`
      select answer, extract(epoch from expires_at - now())::float8 / 3600 as hours from kept_change`;
    expect(rows.length).toBeGreaterThan(0);
    for (const { answer, hours } of rows) {
      expect(answer.length).toBeGreaterThan(0);
      expect(answer.toString('latin1')).not.toContain(key as string);
      expect(hours).toBeGreaterThan(23.5);
      expect(hours).toBeLessThanOrEqual(24);
    }
    await sql`update kept_change set expires_at = now() - interval '1 second'`;
    const anew = await record(await keys.create({ name: 'sealed' }, header));
    expect(anew.key).not.toBe(key as string);
    await deleteExpiredChanges(sql);
    expect(await sql`select 1 from kept_change`).toHaveLength(1);
  });

  test('no table has a secret that a creation or a rotation returned', async () => {
    const made = await record(await keys.create({}, newHeader()));
    const next = await record(await keys.rotate(made.id, {}, newHeader()));
    const response = await app.manage(
      'POST',
      '/tokens',
      { name: 'x', scopes: ['read'] },
      newHeader(),
    );
    const { token } = (await response.json()) as { token: string };
    const { sql } = app.database;
    const tables = await sql<{ name: string }[]>`
      select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;
    let rows = 0;
    for (const { name } of tables) {
      for (const row of await sql`select to_jsonb(t)::text as text from ${sql(name)} t`) {
        rows += 1;
        for (const secret of [made.key, next.key, token]) {
          // Behind the shown start of a secret. Bytes are shown in hex.
          const rest = (secret ?? '').slice(10);
          expect(row['text']).not.toContain(rest);
          expect(row['text']).not.toContain(Buffer.from(rest).toString('hex'));
        }
      }
    }
    expect(rows).toBeGreaterThan(10);
  });

  test('429: more answers than an organization may have kept', async () => {
    const crowded = await startTestApp();
    const header = newHeader();
    const create = () => crowded.manage('POST', '/api-keys', {}, header);
    const first = await record(await create());
    await crowded.database.sql`
      insert into kept_change
      select ${crowded.organization_id}, 'a', 'r', n::text, '', '', now() + interval '1 hour'
      from generate_series(1, 10000) n`;
    expect((await record(await create())).key).toBe(first.key as string);
    const error = await errorOf(await crowded.manage('POST', '/api-keys', {}, newHeader()), 429);
    expect(error).toMatchObject({ param: 'Idempotency-Key', retry_after: 600 });
    expect((await crowded.manage('POST', '/api-keys', {})).status).toBe(200);
    await crowded.stop();
  });

  test('410: an answer that cannot be decrypted is not invented, and the change stays', async () => {
    const header = newHeader();
    const { id } = await record(await keys.create({ name: 'undecryptable' }, header));
    await app.database.sql`
      update kept_change set answer = set_byte(answer, 40, get_byte(answer, 40) # 1)`;
    const error = await errorOf(await keys.create({ name: 'undecryptable' }, header), 410);
    expect(error.code).toBe('idempotent_answer_not_kept');
    expect((await named('undecryptable')).map((key) => key.id)).toEqual([id]);
  });

  test('503: after a commit whose outcome is unknown, the repeat gets the key that was made', async () => {
    const header = newHeader();
    const { sql } = app.database;
    // The server ends the session after the commit has begun: the client of the database cannot know.
    await sql`create function end_creation() returns trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`;
    await sql`create constraint trigger ends after insert on api_key deferrable initially deferred
      for each row when (new.name = 'cut') execute function end_creation()`;
    await errorOf(await keys.create({ name: 'cut' }, header), 503);
    await sql`drop trigger ends on api_key`;
    expect((await keys.create({ name: 'cut' }, header)).status).toBe(200);
    expect(await named('cut')).toHaveLength(1);
  });
});
