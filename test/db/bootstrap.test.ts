import { afterEach, describe, expect, test } from 'bun:test';
import { bootstrap } from '../../db/bootstrap.ts';
import { connectDatabase, type Database } from '../../db/client.ts';
import { findKeyByHash } from '../../db/keys.ts';
import { findTokenByHash, readBalance } from '../../db/organizations.ts';
import { hashCredential, newCredential, shownPrefix } from '../../db/secrets.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  opened.push({ close: () => database.drop() });
  return database;
}

function replicaOf({ url }: TestDatabase): Database {
  const replica = connectDatabase(url, { pool: 'single' });
  opened.push(replica);
  return replica;
}

const BALANCE = { balance_nano_usd: 100_000_000_000 };

describe('the first run', () => {
  test('creates an organization with money, and credentials that work', async () => {
    const { orm, sql } = replicaOf(await freshDatabase());
    const first = await bootstrap(orm, BALANCE);
    if (!first) throw new Error('no first run');
    expect(first.api_key).toMatch(/^sk-[\w-]{43}$/);
    expect(first.management_token).toMatch(/^mt-[\w-]{43}$/);
    expect(first.operator_token).toMatch(/^op-[\w-]{43}$/);

    const key = await findKeyByHash(orm, hashCredential(first.api_key));
    expect(key).toMatchObject({ status: 'active', models: [], role: 'standard' });
    const management = await findTokenByHash(orm, hashCredential(first.management_token));
    expect(management).toMatchObject({
      kind: 'management',
      organization_id: key?.organization_id ?? '',
    });
    const operator = await findTokenByHash(orm, hashCredential(first.operator_token));
    expect(operator).toMatchObject({ kind: 'operator', organization_id: null });
    expect(await readBalance(orm, key?.organization_id ?? '')).toEqual({
      deposited: 100_000_000_000,
      available: 100_000_000_000,
      held: 0,
      settled: 0,
      credit: 0,
    });
    expect(await findMoneyFaults(sql)).toEqual([]);
  });

  test('uses the given credentials', async () => {
    const { orm } = replicaOf(await freshDatabase());
    const wishes = {
      api_key: 'sk-chosen-by-hand',
      management_token: 'mt-chosen-by-hand',
      operator_token: 'op-chosen-by-hand',
    };
    expect(await bootstrap(orm, { ...wishes, ...BALANCE })).toEqual(wishes);
    expect(await findKeyByHash(orm, hashCredential(wishes.api_key))).toBeDefined();
  });

  test('stores only hashes of credentials', async () => {
    const { orm, sql } = replicaOf(await freshDatabase());
    const first = await bootstrap(orm, BALANCE);
    const rows = [
      ...(await sql`select * from api_key`),
      ...(await sql`select * from access_token`),
    ];
    const stored = JSON.stringify(rows);
    for (const secret of Object.values(first ?? {})) expect(stored).not.toContain(secret);
  });

  test('makes no deposit if the balance is 0', async () => {
    const { orm, sql } = replicaOf(await freshDatabase());
    expect(await bootstrap(orm, { balance_nano_usd: 0 })).toBeDefined();
    expect([...(await sql`select * from deposit`)]).toEqual([]);
  });

  test('runs once, even if a later start names other credentials', async () => {
    const { orm, sql } = replicaOf(await freshDatabase());
    await bootstrap(orm, BALANCE);
    expect(await bootstrap(orm, { ...BALANCE, api_key: 'sk-too-late-now' })).toBeUndefined();
    expect(await findKeyByHash(orm, hashCredential('sk-too-late-now'))).toBeUndefined();
    expect([...(await sql`select id from organization`)]).toHaveLength(1);
  });

  test('runs once, even if many replicas start at the same time', async () => {
    const database = await freshDatabase();
    const replicas = Array.from({ length: 8 }, () => replicaOf(database));
    const runs = await Promise.all(replicas.map(({ orm }) => bootstrap(orm, BALANCE)));
    expect(runs.filter((run) => run !== undefined)).toHaveLength(1);
    const [counts] = await database.sql`select
      (select count(*)::int from organization) as organizations,
      (select count(*)::int from api_key) as keys,
      (select count(*)::int from access_token) as tokens,
      (select count(*)::int from deposit) as deposits`;
    expect(counts).toEqual({ organizations: 1, keys: 1, tokens: 2, deposits: 1 });
  });
});

describe('a credential', () => {
  test('has 256 random bits after its kind', () => {
    const many = new Set(Array.from({ length: 1_000 }, () => newCredential('sk')));
    expect(many.size).toBe(1_000);
    for (const credential of many) expect(credential).toMatch(/^sk-[A-Za-z0-9_-]{43}$/);
  });

  test('is shown by its first characters, and a short credential only by its kind', () => {
    expect(shownPrefix('sk-AbCdEfGhIjKlMnOpQrStUvWx')).toBe('sk-AbCdE…');
    expect(shownPrefix('sk-secret')).toBe('sk-…');
  });
});
