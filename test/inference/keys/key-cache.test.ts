import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { hashCredential, newCredential, newId } from '../../../db/secrets.ts';
import { readApiKey } from '../../../src/http/auth/credentials.ts';
import { KeyCache } from '../../../src/inference/keys/key-cache.ts';
import { LruCache } from '../../../src/inference/keys/lru-cache.ts';
import { SharedLookups } from '../../../src/inference/keys/shared-lookups.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

describe('the LRU cache', () => {
  test('evicts the least recently used entry, and calls onRemoved', () => {
    const removed: string[] = [];
    const lru = new LruCache<string, string>(2, (value) => removed.push(value));
    lru.set('a', 'A');
    lru.set('b', 'B');
    expect(lru.get('a')).toBe('A');
    lru.set('c', 'C');
    expect(removed).toEqual(['B']);
    expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual(['A', undefined, 'C']);
    expect(lru.size).toBe(2);
  });

  test('calls onRemoved for entries that are replaced, deleted and cleared', () => {
    const removed: string[] = [];
    const lru = new LruCache<string, string>(9, (value) => removed.push(value));
    lru.set('a', 'A');
    lru.set('a', 'A2');
    lru.delete('a');
    lru.delete('a');
    lru.set('b', 'B');
    lru.clear();
    expect(removed).toEqual(['A', 'A2', 'B']);
    expect(lru.size).toBe(0);
  });
});

describe('lookups under way', () => {
  test('are shared while they run; after the end of a lookup, the next call starts a new one', async () => {
    const lookups = new SharedLookups<number>(10);
    const { promise, resolve } = Promise.withResolvers<number>();
    let loads = 0;
    const load = () => {
      loads += 1;
      return promise;
    };
    const both = Promise.all([lookups.run('x', load), lookups.run('x', load)]);
    resolve(5);
    expect(await both).toEqual([5, 5]);
    expect(loads).toBe(1);
    await lookups.run('x', load);
    expect(loads).toBe(2);
  });

  test('that fail are not kept: the next call starts a new one', async () => {
    const lookups = new SharedLookups<number>(1);
    expect(lookups.run('x', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await Bun.sleep(0);
    expect(await lookups.run('x', async () => 1)).toBe(1);
  });

  test('are limited: one lookup too many is refused with 503 and a time to wait', () => {
    const lookups = new SharedLookups<number>(1);
    lookups.run('x', () => new Promise(() => undefined));
    expect(() => lookups.run('y', async () => 1)).toThrow(
      expect.objectContaining({ id: 'service_unavailable', details: { retry_after: 1 } }),
    );
  });
});

describe('the key cache', () => {
  let database: TestDatabase;
  let pool: Database;
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = connectDatabase(database.url, { pool: 'requests' });
    await database.sql`insert into organization (id, name) values ('org_1', 'one')`;
  });
  afterAll(async () => {
    await pool.close();
    await database.drop();
  });

  async function addKey() {
    const [id, secret] = [newId('key'), newCredential('sk')];
    await database.sql`insert into api_key ${database.sql({
      id,
      organization_id: 'org_1',
      name: 'n',
      key_hash: hashCredential(secret),
      key_prefix: 'sk-…',
    })}`;
    const headers = { authorization: `Bearer ${secret}` };
    return { id, request: new Request('http://weir', { headers }) };
  }

  test('reads the database once for many requests at the same time', async () => {
    const { request } = await addKey();
    let queries = 0;
    const counting = connectDatabase(database.url, { pool: 'single' });
    counting.sql.options.debug = (_connection, query) => {
      if (query.includes('api_key')) queries += 1;
    };
    const keys = new KeyCache(counting.orm, Date.now);
    await Promise.all(
      Array.from({ length: 50 }, () => keys.authenticate(readApiKey(request, 'openai'))),
    );
    await keys.authenticate(readApiKey(request, 'openai'));
    expect(queries).toBe(1);
    await counting.close();
  });

  test('does not cache a record if a change of its key is announced while the record is read', async () => {
    const { id, request } = await addKey();
    const keys = new KeyCache(pool.orm, Date.now);
    const blocker = await database.sql.reserve();
    await blocker`begin`;
    await blocker`lock table api_key in access exclusive mode`;
    const before_change = keys.authenticate(readApiKey(request, 'openai'));
    await until('the lookup waits for the table', async () => {
      const [row] = await database.sql`
        select count(*)::int as waiting from pg_locks join pg_class on pg_class.oid = relation
        where relname = 'api_key' and not granted`;
      return row?.['waiting'] === 1;
    });
    keys.invalidate(id);
    await blocker`commit`;
    expect((await before_change).status).toBe('active');
    await blocker`update api_key set status = 'suspended' where id = ${id}`;
    blocker.release();
    await expect(keys.authenticate(readApiKey(request, 'openai'))).rejects.toMatchObject({
      id: 'access_denied',
    });
  });

  test('returns the current record of a changed key', async () => {
    const { id, request } = await addKey();
    const keys = new KeyCache(pool.orm, Date.now);
    await keys.authenticate(readApiKey(request, 'openai'));
    await database.sql`update api_key set status = 'revoked' where id = ${id}`;
    expect((await keys.onKeyChanged(id))?.status).toBe('revoked');
    expect(await keys.onKeyChanged('key_none')).toBeUndefined();
  });

  test('reads every key again after announcements may have been lost', async () => {
    const { id, request } = await addKey();
    const keys = new KeyCache(pool.orm, Date.now);
    await keys.authenticate(readApiKey(request, 'openai'));
    await database.sql`update api_key set status = 'revoked' where id = ${id}`;
    expect((await keys.authenticate(readApiKey(request, 'openai'))).status).toBe('active');
    keys.invalidateAll();
    await expect(keys.authenticate(readApiKey(request, 'openai'))).rejects.toMatchObject({
      id: 'expired_api_key',
    });
  });
});
