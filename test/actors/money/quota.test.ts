import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import { Lane } from '../../../src/actors/money/lane.ts';
import { QuotaMachine } from '../../../src/actors/money/quota-machine.ts';
import { Quotas } from '../../../src/actors/money/quotas.ts';
import { usageOf } from '../../sim/calls.ts';
import { findMoneyFaults } from '../../support/money-faults.ts';
import { hintsTo } from '../../support/money-hints.ts';
import { createTestDatabase } from '../../support/postgres.ts';

describe('the quota actor', () => {
  let database: Database;
  let drop: () => Promise<void>;
  const worlds: { replica_id: string; quotas: Quotas }[] = [];

  beforeAll(async () => {
    const fresh = await createTestDatabase();
    drop = fresh.drop;
    database = connectDatabase(fresh.url, { pool: 'lane' });
  });

  afterAll(async () => {
    expect(await findMoneyFaults(database.sql, { memory: worlds })).toEqual([]);
    await database.close();
    await drop();
  });

  async function account(limit: number | null) {
    const { sql } = database;
    const id = `key_${crypto.randomUUID()}`;
    const organization_id = id.replace('key', 'org');
    const replica_id = id.replace('key', 'replica');
    await sql`insert into organization (id, name) values (${organization_id}, 'test')`;
    await sql`insert into api_key
      (id, organization_id, name, key_hash, key_prefix, limit_nano_usd, ceiling_nano_usd)
      values (${id}, ${organization_id}, 'test', ${id}, 'sk-', ${limit}, ${limit})`;
    await sql`insert into replica (id, lease_until) values (${replica_id}, now() + interval '1 h')`;
    const created: Quotas[] = [];
    const hints = hintsTo(() => created);
    const lane = new Lane({ sql, clock: systemClock, hints, onError: () => undefined });
    const deposit = {
      deposit_id: systemIdSource.uuid(),
      organization_id,
      amount: 1_000_000,
      note: '',
    };
    await lane.submit({ type: 'DEPOSIT', ...deposit });
    const quotas = new Quotas({
      lane,
      clock: systemClock,
      ids: systemIdSource,
      replica_id: () => replica_id,
      mayAdmit: () => true,
      onFenced: () => undefined,
    });
    created.push(quotas);
    worlds.push({ replica_id, quotas });
    return { quota: quotas.getOrCreate({ id, organization_id }), quotas, id, organization_id };
  }

  async function heldBy(id: string): Promise<number> {
    const [row] = await database.sql<{ held: number }[]>`
      select held_nano_usd as held from api_key where id = ${id}`;
    return row?.held ?? Number.NaN;
  }

  const ask = (amount: number, wait_ms = 60_000) => ({ amount, minimum: () => amount, wait_ms });

  test('P1: a reservation ends once; later attempts fail', async () => {
    const { quota, id, organization_id } = await account(null);
    const reservation = await quota.reserve(ask(100));
    await reservation.settle(usageOf(organization_id, id), 60);
    reservation.release();
    expect(reservation.settle(usageOf(organization_id, id), 60)).rejects.toThrow('already ended');
    await quota.close();
    expect(await heldBy(id)).toBe(0);
  });

  test('a call that waits while its organization is suspended is refused for that reason', async () => {
    const { quota } = await account(null);
    const all = await quota.reserve(ask(1_000_000));
    const refused = quota.reserve(ask(100)).catch((error: { id: string }) => error.id);
    quota.onOrganizationChanged('suspended');
    all.release();
    expect(await refused).toBe('organization_suspended');
    // The calls that wait when the organization is active again are not refused.
    quota.onOrganizationChanged('active');
    expect(quota.snapshot.value).not.toBe('suspended');
    (await quota.reserve(ask(100))).release();
    await quota.close();
  });

  test('a charge that the database rejects is not made, and its money is freed', async () => {
    const { quota, id, organization_id } = await account(null);
    const reservation = await quota.reserve(ask(100));
    const poisoned = { ...usageOf(organization_id, id), model: 'nul \u0000' };
    const failure = await reservation.settle(poisoned, 60).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    await quota.close();
    expect(await heldBy(id)).toBe(0);
  });

  test('if calls in flight hold the money, the refusal names a retry time', async () => {
    const { quota } = await account(100);
    const running = await quota.reserve(ask(100));
    const refused = await quota.reserve(ask(50, 200)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ id: 'quota_in_flight', details: { retry_after: 2 } });
    running.release();
    expect((await quota.reserve(ask(50))).amount).toBe(50);
  });

  test('if all money is spent, the refusal comes at once and names the limit', async () => {
    const { quota, id, organization_id } = await account(100);
    await (await quota.reserve(ask(100))).settle(usageOf(organization_id, id), 100);
    const refused = await quota.reserve(ask(1, 60_000)).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      ...{ id: 'quota_exceeded', message: 'The usage limit of this API key is reached.' },
      details: { balance_usd: 0, estimated_cost_usd: 1e-9 },
    });
    const rich = await account(null);
    const tooMuch = await rich.quota.reserve(ask(2_000_000)).catch((error: unknown) => error);
    expect(tooMuch).toMatchObject({
      id: 'insufficient_balance',
      details: { balance_usd: expect.any(Number), estimated_cost_usd: 0.002 },
    });
  });

  test('if no other call is in flight, a call that extends gets the money that is left', async () => {
    const { quota, id } = await account(100);
    const running = await quota.reserve(ask(80));
    const more = { amount: 50, minimum: () => 10, wait_ms: 60_000 };
    expect(await running.extend(more)).toBe(20);
    expect(running.amount).toBe(100);
    running.release();
    await quota.close();
    expect(await heldBy(id)).toBe(0);
  });

  test('a key that returned its grant gets a new grant', async () => {
    const { quota } = await account(null);
    for (let time = 0; time < 2; time += 1) {
      (await quota.reserve(ask(100))).release();
      await quota.close();
      expect(quota.isEmpty).toBe(true);
    }
  });

  test('each call that ends admits one waiting call, without an event for the others', async () => {
    const { quota, id } = await account(null);
    const running = await Promise.all(
      Array.from({ length: 10 }, () => quota.reserve(ask(100_000, 10_000))),
    );
    const waiting = Array.from({ length: 50 }, () => quota.reserve(ask(100_000, 10_000)));
    const sent = spyOn(QuotaMachine.prototype, 'send');
    for (const reservation of running) reservation.release();
    expect(sent.mock.calls.filter(([{ type }]) => type === 'RESERVE')).toHaveLength(10);
    sent.mockRestore();
    for (const reservation of waiting) (await reservation).release();
    await quota.close();
    expect(await heldBy(id)).toBe(0);
  });

  test('P16: what the actors believe to hold is in the rows of their grants', async () => {
    const { quota, quotas, id, organization_id } = await account(null);
    expect(quotas.heldByMemory()).toMatchObject([{ granted: 0, settled: 0, busy: false }]);
    const running = await quota.reserve(ask(100));
    const settling = running.settle(usageOf(organization_id, id), 60);
    expect(quotas.heldByMemory()).toMatchObject([{ settled: 60, busy: true }]);
    await settling;
    await Bun.sleep(1);
    const rows = await database.sql`
      select id as grant_id, granted_nano_usd as granted, settled_nano_usd as settled, false as busy
      from quota_grant where key_id = ${id} and status = 'open'`;
    expect(quotas.heldByMemory()).toEqual([...rows] as never);
    await quota.close();
    expect(await heldBy(id)).toBe(0);
  });

  test('if a client leaves, its waiting call is rejected', async () => {
    const { quota } = await account(100);
    await quota.reserve(ask(100));
    const leaving = new AbortController();
    const waiting = quota.reserve({ ...ask(50, 60_000), signal: leaving.signal });
    leaving.abort(new Error('left'));
    expect(await waiting.catch((error: unknown) => error)).toMatchObject({ message: 'left' });
  });

  test('a reported status counts only until the key is authenticated again', async () => {
    const { quota } = await account(null);
    quota.onKeyChanged('suspended');
    expect((await quota.reserve(ask(10))).amount).toBe(10);
    quota.onKeyChanged('revoked');
    expect(() => quota.tryReserve(1)).toThrow('revoked');
  });
});
