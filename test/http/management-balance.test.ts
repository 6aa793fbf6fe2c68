import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newId } from '../../db/secrets.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

interface Balance {
  total_deposited: number;
  available: number;
  held: number;
  used: number;
}

async function balance(): Promise<Balance> {
  return (await (await app.manage('GET', '/balance')).json()) as Balance;
}

describe('GET /v1/management/balance', () => {
  test('200: the first deposit', async () => {
    expect((await balance()) as unknown).toEqual({
      object: 'balance',
      currency: 'USD',
      total_deposited: 100,
      available: 100,
      held: 0,
      used: 0,
      credit: 0,
    });
  });

  test('200: P1: a settled charge on an open grant counts as used, not as held', async () => {
    const { sql } = app.database;
    const [key] = await sql`select id from api_key`;
    const replica = newId('replica');
    await sql`insert into replica (id, lease_until) values (${replica}, now() + interval '1 h')`;
    // The grant is 50 USD. 20 USD of it are settled, and 5 of these 20 USD are posted.
    await sql`update organization set
      balance_nano_usd = 50000000000, held_nano_usd = 45000000000, settled_nano_usd = 5000000000`;
    await sql`insert into quota_grant ${sql({
      id: Bun.randomUUIDv7(),
      key_id: key?.['id'],
      organization_id: app.organization_id,
      replica_id: replica,
      granted_nano_usd: 50_000_000_000,
      settled_nano_usd: 20_000_000_000,
      posted_nano_usd: 5_000_000_000,
    })}`;
    const body = await balance();
    expect(body).toMatchObject({ total_deposited: 100, available: 50, held: 30, used: 20 });
    expect(body.total_deposited).toBe(body.available + body.held + body.used);
  });

  test('401: without a management token', async () => {
    await errorOf(await app.fetch('/v1/management/balance'), 401);
  });
});
