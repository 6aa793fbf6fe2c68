import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { bootstrap } from '../../db/bootstrap.ts';
import { connectDatabase, type Database } from '../../db/client.ts';
import { findKeyByHash, findKeyById, findRestrictedKeys } from '../../db/keys.ts';
import {
  deleteKey,
  findManagedKey,
  insertKey,
  type KeyChanges,
  listKeys,
  lockManagedKey,
  type NewKey,
  replaceKeySecret,
  updateKey,
} from '../../db/managed-keys.ts';
import { findTokenByHash, readBalance } from '../../db/organizations.ts';
import { hashCredential, newId } from '../../db/secrets.ts';
import { readMoneyState } from '../../db/usage/state.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

describe.each([18, 15] as const)('the queries about keys on PostgreSQL %i', (version) => {
  let database: TestDatabase;
  let pool: Database;
  let organization_id = '';
  beforeAll(async () => {
    database = await createTestDatabase(version);
    pool = connectDatabase(database.url, { pool: 'requests' });
    const first = await bootstrap(pool.orm, { balance_nano_usd: 5 });
    const key = await findKeyByHash(pool.orm, hashCredential(first?.api_key ?? ''));
    organization_id = key?.organization_id ?? '';
  });
  afterAll(async () => {
    await pool.close();
    await database.drop();
  });

  async function addKey(more: Partial<NewKey> = {}): Promise<string> {
    const id = newId('key');
    await pool.sql.begin((tx) =>
      insertKey(tx, {
        ...{ id, organization_id, name: 'n', key_hash: id, key_prefix: 'sk-…' },
        ...{
          cap_counts: 'charged',
          limit_nano_usd: null,
          models: [],
          tags: [],
          call_tags: {},
          external_id: null,
          timeout_ms: null,
        },
        ...{ image_response_format: null, expires_at: null, requests_per_minute: null, limits: [] },
        ...more,
      }),
    );
    return id;
  }
  const update = (id: string, changes: KeyChanges, owner = organization_id) =>
    pool.sql.begin((tx) => updateKey(tx, owner, id, changes));

  test('find a key by its hash and by its id, with the role of its organization', async () => {
    const expires_at = new Date('2031-01-01T00:00:00.123Z');
    const id = await addKey({ models: ['a', 'b,"{}'], expires_at });
    const record = await findKeyByHash(pool.orm, id);
    expect(record).toEqual({
      id,
      organization_id,
      status: 'active',
      models: ['a', 'b,"{}'],
      expires_at,
      requests_per_minute: null,
      limits: [],
      call_tags: {},
      timeout_ms: null,
      image_response_format: null,
      role: 'standard',
      organization_status: 'active',
      organization_requests_per_minute: null,
      cap_counts: 'charged',
      cache_scope: 'organization',
      is_previous_secret: false,
    });
    expect(await findKeyById(pool.orm, id)).toEqual(record as NonNullable<typeof record>);
    expect(await findKeyByHash(pool.orm, 'unknown')).toBeUndefined();
    expect(await findTokenByHash(pool.orm, 'unknown')).toBeUndefined();
  });

  test('find a key by its previous secret, which has its own end', async () => {
    const expires_at = new Date(Date.now() + 1_000_000);
    const id = await addKey({ expires_at });
    const rotate = (key_hash: string, grace_s: number) =>
      pool.sql.begin((tx) =>
        replaceKeySecret(tx, organization_id, id, { key_hash, key_prefix: 'sk-…', grace_s }),
      );
    await rotate(`${id}-2`, 500);
    const until = (await findManagedKey(pool.sql, organization_id, id))?.previous_until as Date;
    expect(Math.abs(Number(until) - Date.now() - 500_000)).toBeLessThan(60_000);
    expect(await findKeyByHash(pool.orm, id)).toMatchObject({
      ...{ id, is_previous_secret: true, expires_at: until },
    });
    const current = { id, is_previous_secret: false, expires_at };
    expect(await findKeyByHash(pool.orm, `${id}-2`)).toMatchObject(current);
    expect(await findKeyById(pool.orm, id)).toMatchObject(current);
    await rotate(`${id}-3`, 5_000);
    // A secret does not outlive its key.
    expect(await findKeyByHash(pool.orm, `${id}-2`)).toMatchObject({ expires_at });
    expect(await findKeyByHash(pool.orm, id)).toBeUndefined();
  });

  test('show a key to its own organization only', async () => {
    const id = await addKey();
    expect((await findManagedKey(pool.sql, organization_id, id))?.id).toBe(id);
    expect(await findManagedKey(pool.sql, 'org_other', id)).toBeUndefined();
    expect(await pool.sql.begin((tx) => lockManagedKey(tx, 'org_other', id))).toBeUndefined();
    expect(await listKeys(pool.sql, 'org_other', {})).toEqual([]);
    await update(id, { name: 'theirs' }, 'org_other');
    expect((await findManagedKey(pool.sql, organization_id, id))?.name).toBe('n');
  });

  test('show a deleted key as revoked for an hour to readers of the live state', async () => {
    const [kept, deleted, forgotten] = [await addKey(), await addKey(), await addKey()];
    for (const id of [deleted, forgotten]) {
      await pool.sql.begin((tx) => deleteKey(tx, organization_id, id));
    }
    await pool.sql`update api_key set deleted_at = now() - interval '61 minutes'
      where id = ${forgotten}`;
    const { keys } = await readMoneyState(pool.sql, organization_id);
    const status = (id: string) => keys.find(({ key_id }) => key_id === id)?.status;
    expect([kept, deleted, forgotten].map(status)).toEqual(['active', 'revoked', undefined]);
  });

  test('keep the enforced ceiling at the used and held money until it is returned', async () => {
    const id = await addKey({ limit_nano_usd: 100 });
    await database.sql`update api_key set used_nano_usd = 20, held_nano_usd = 30 where id = ${id}`;
    const ceilings = [];
    for (const limit_nano_usd of [40, 50, 60, null, 0]) {
      await update(id, { limit_nano_usd });
      const [row] = await database.sql`select ceiling_nano_usd from api_key where id = ${id}`;
      ceilings.push(row?.['ceiling_nano_usd']);
    }
    expect(ceilings).toEqual([50, 50, 60, null, 50]);
  });

  test('find the keys whose grants must shrink', async () => {
    const fine = await addKey({ limit_nano_usd: 100 });
    const unlimited = await addKey();
    const suspended = await addKey();
    const lowered = await addKey({ limit_nano_usd: 100 });
    await database.sql`update api_key set held_nano_usd = 30 where id = any(${[fine, lowered]})`;
    await update(suspended, { status: 'suspended' });
    await update(fine, { limit_nano_usd: 30 });
    await update(lowered, { limit_nano_usd: 29 });
    const ids = [fine, unlimited, suspended, lowered, 'key_unknown'];
    const found = await findRestrictedKeys(pool.orm, ids);
    expect(new Map(found.map(({ id, status }) => [id, status]))).toEqual(
      new Map([
        [suspended, 'suspended'],
        [lowered, 'active'],
      ]),
    );
    expect(await findRestrictedKeys(pool.orm, [])).toEqual([]);
  });

  test('read the balance', async () => {
    expect(await readBalance(pool.orm, organization_id)).toEqual({
      deposited: 5,
      available: 5,
      held: 0,
      settled: 0,
      credit: 0,
    });
    expect(await readBalance(pool.orm, 'org_unknown')).toBeUndefined();
  });
});
