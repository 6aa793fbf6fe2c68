import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { bootstrap } from '../../db/bootstrap.ts';
import { connectDatabase, type Database } from '../../db/client.ts';
import { newId } from '../../db/secrets.ts';
import {
  endToken,
  findToken,
  hasLastingOperator,
  hasManyTokens,
  insertToken,
  listTokens,
  type NewToken,
  storeTokenUses,
  updateToken,
} from '../../db/tokens.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

describe.each([18, 15] as const)('the queries about tokens on PostgreSQL %i', (version) => {
  let database: TestDatabase;
  let pool: Database;
  let home = '';
  const away = 'org_away';
  beforeAll(async () => {
    database = await createTestDatabase(version);
    pool = connectDatabase(database.url, { pool: 'requests' });
    await bootstrap(pool.orm, { balance_nano_usd: 5 });
    const [row] = await pool.sql`select id from organization`;
    home = row?.['id'] as string;
    await pool.sql`insert into organization (id, name) values (${away}, 'away')`;
  });
  afterAll(async () => {
    await pool.close();
    await database.drop();
  });

  function add(owner: string | null, more: Partial<NewToken> = {}) {
    const id = newId('token');
    return pool.sql.begin((tx) =>
      insertToken(tx, owner, {
        ...{ id, name: 'n', scopes: ['read'], expires_at: null, token_hash: id, token_prefix: '…' },
        ...{ created_by: 'token_creator', replaces: null },
        ...more,
      }),
    );
  }
  const idsOf = async (owner: string | null) =>
    (await listTokens(pool.sql, owner, undefined, { limit: 100 })).rows.map(({ id }) => id);

  test('P6: reach the tokens of one owner only', async () => {
    const [mine, theirs, operated] = [await add(home), await add(away), await add(null)];
    for (const [owner, own] of [
      [home, mine],
      [away, theirs],
      [null, operated],
    ] as const) {
      for (const { id } of [mine, theirs, operated]) {
        const isOwn = id === own.id;
        expect((await findToken(pool.sql, owner, id)) !== undefined).toBe(isOwn);
        expect((await idsOf(owner)).includes(id)).toBe(isOwn);
        if (isOwn) continue;
        await pool.sql
          .begin((tx) => updateToken(tx, owner, id, { name: 'stolen', scopes: ['admin'] }))
          .catch(() => undefined);
        await pool.sql.begin((tx) => endToken(tx, owner, id, 0)).catch(() => undefined);
      }
    }
    for (const [owner, { id }] of [
      [home, mine],
      [away, theirs],
      [null, operated],
    ] as const) {
      expect(await findToken(pool.sql, owner, id)).toMatchObject({
        ...{ name: 'n', scopes: ['read'], status: 'active', revoked_at: null },
      });
    }
  });

  test('show the status of a token', async () => {
    const [active, expired, rotated, revoked] = [
      await add(away, { expires_at: new Date(Date.now() + 60_000) }),
      await add(away, { expires_at: new Date(Date.now() - 1) }),
      await add(away),
      await add(away, { expires_at: new Date(Date.now() - 1) }),
    ];
    const end = (id: string, grace_s: number) =>
      pool.sql.begin((tx) => endToken(tx, away, id, grace_s));
    await end(rotated.id, 600);
    expect((await end(revoked.id, 0)).status).toBe('revoked');
    const status = async ({ id }: { id: string }) => (await findToken(pool.sql, away, id))?.status;
    expect(await Promise.all([active, expired, rotated, revoked].map(status))).toEqual([
      ...(['active', 'expired', 'active', 'revoked'] as const),
    ]);
    const { rows } = await listTokens(pool.sql, away, 'expired', { limit: 100 });
    expect(rows.map(({ id }) => id)).toEqual([expired.id]);
    // A later end does not replace an earlier one.
    const [first, later] = [await end(rotated.id, 5), await end(rotated.id, 600)];
    expect(later.revoked_at).toEqual(first.revoked_at);
  });

  test('count the valid tokens of an owner, and those that have ended', async () => {
    const owner = 'org_crowded';
    await pool.sql`insert into organization (id, name) values (${owner}, 'crowded')`;
    const fill = (from: number, to: number, revoked_at: Date | null) => pool.sql`
      insert into access_token (id, kind, organization_id, token_hash, token_prefix, revoked_at)
      select 't_' || n, 'management', ${owner}, 'h' || n, 'mt-…', ${revoked_at}::timestamptz
      from generate_series(${from}::int4, ${to}::int4) n`;
    const isFull = () => pool.sql.begin((tx) => hasManyTokens(tx, owner));
    await fill(1, 999, null);
    await fill(1_000, 2_000, new Date(Date.now() - 1_000));
    expect(await isFull()).toBe(false);
    await fill(2_001, 2_001, null);
    expect(await isFull()).toBe(true);
    await pool.sql`update access_token set revoked_at = now() where organization_id = ${owner}`;
    await fill(2_002, 99_999, new Date(Date.now() - 1_000));
    expect(await isFull()).toBe(false);
    await fill(100_000, 100_000, new Date(Date.now() - 1_000));
    expect(await isFull()).toBe(true);
  });

  test('know whether an operator token stays that may do everything', async () => {
    const has = () => pool.sql.begin((tx) => hasLastingOperator(tx));
    expect(await has()).toBe(true);
    await pool.sql`update access_token set expires_at = now() + interval '1 day'
      where kind = 'operator' and 'admin' = any(scopes)`;
    expect(await has()).toBe(false);
    await add(home, { scopes: ['admin'] });
    expect(await has()).toBe(false);
    await add(null, { scopes: ['read', 'admin'] });
    expect(await has()).toBe(true);
  });

  test('store many uses with one statement, and ignore tokens that are gone', async () => {
    const made = [await add(home), await add(home)];
    const uses = made.map(({ id }, index) => ({ id, age_ms: index * 10_000.4 }));
    await storeTokenUses(pool.sql, [...uses, { id: 'token_gone', age_ms: 0 }]);
    const [one, two] = await Promise.all(
      made.map(async ({ id }) => Number((await findToken(pool.sql, home, id))?.last_used_at)),
    );
    // The database has microseconds, and a Date whole milliseconds of both.
    expect(Math.abs((one ?? 0) - (two ?? 0) - 10_000.4)).toBeLessThan(2);
  });
});
