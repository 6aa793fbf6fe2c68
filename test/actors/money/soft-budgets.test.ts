/**
 * Soft budgets and quota actors: no call is refused. What calls without a notice spend never exceeds the limit,
 * and the used amount is what the books have.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { findImbalances } from '../../../db/ledger/audit.ts';
import { systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import type { QuotaActor } from '../../../src/actors/money/quota.ts';
import { Quotas } from '../../../src/actors/money/quotas.ts';
import { makeBudget, readWindows } from '../../support/budgets.ts';
import {
  type Account,
  grant,
  hold,
  line,
  openLedger,
  type TestLedger,
} from '../../support/ledger.ts';
import { findMoneyFaults } from '../../support/money-faults.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(120_000);

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

const WARN = { when_reached: 'warn' as const, move_to: null };
const MOVE = { when_reached: 'move' as const, move_to: 'cheap' };
const ask = (amount: number) => ({ amount, minimum: () => amount, wait_ms: 5_000 });
const usage = (of: Account) => {
  const { charged_nano_usd: _, overrun_nano_usd: __, ...rest } = line(of, 0);
  return rest;
};

/** A replica's quota actors. Recalls and returned money reach the actors, as over the bus. */
function replicaOf(of: Account): Quotas {
  return new Quotas({
    ...{ lane: ledger.lane, clock: systemClock, ids: systemIdSource },
    ...{ replica_id: () => of.replica_id, mayAdmit: () => true, onFenced: () => undefined },
  });
}

async function world(limit: number, choice: typeof WARN | typeof MOVE = WARN) {
  const of = await ledger.account();
  const budget_id = await makeBudget(ledger.database.sql, of, 'month', limit, choice);
  const quotas = replicaOf(of);
  return { of, budget_id, quotas, quota: quotas.getOrCreate({ id: of.key_id, ...of }) };
}

const spend = async (quota: QuotaActor, of: Account, amount: number, charge = amount) => {
  const reservation = await quota.reserve(ask(amount));
  await reservation.settle(usage(of), charge);
  return reservation.reached.map(({ when_reached, is_spent }) => [when_reached, is_spent]);
};

async function usedOf(of: Account): Promise<number[]> {
  const windows = await readWindows(ledger.database.sql, of.organization_id);
  return windows.map(({ used, held }) => used + held);
}

describe('a soft budget', () => {
  test('admits calls beyond its limit and names itself; the used amount goes on', async () => {
    const { of, quota, quotas } = await world(100);
    expect(await spend(quota, of, 60)).toEqual([]);
    // It does not fit any more, and nothing else is held.
    expect(await spend(quota, of, 60)).toEqual([['warn', false]]);
    expect(await spend(quota, of, 10)).toEqual([['warn', true]]);
    expect(await spend(quota, of, 10)).toEqual([['warn', true]]);
    await quotas.close();
    expect(await usedOf(of)).toEqual([140]);
    expect(await findMoneyFaults(ledger.database.sql)).toEqual([]);
  });

  test('a call that uses the limit up exactly does not exceed it', async () => {
    const { of, quota, quotas } = await world(100);
    expect(await spend(quota, of, 40)).toEqual([]);
    expect(await spend(quota, of, 60)).toEqual([]);
    expect(await spend(quota, of, 1)).toEqual([['warn', true]]);
    await quotas.close();
    expect(await usedOf(of)).toEqual([101]);
  });

  test('a call that is cheaper than it might be gives room back to the next one', async () => {
    const { of, quota, quotas } = await world(100);
    expect(await spend(quota, of, 90, 10)).toEqual([]);
    expect(await spend(quota, of, 95, 10)).toEqual([['warn', false]]);
    expect(await spend(quota, of, 80, 10)).toEqual([]);
    await quotas.close();
  });

  test('the actor knows a spent budget that moves calls without the ledger, until a recall', async () => {
    const { of, quota, quotas, budget_id } = await world(0, MOVE);
    expect(quota.spentBudgets).toEqual([]);
    expect(await spend(quota, of, 10)).toEqual([['move', true]]);
    expect(quota.spentBudgets).toMatchObject([
      { id: budget_id, when_reached: 'move', move_to: 'cheap', period: 'month' },
    ]);
    expect(quota.spentBudgets[0]?.resets_in_ms).toBeGreaterThan(0);
    quota.onRecall(1_000_000);
    expect(quota.spentBudgets).toEqual([]);
    await quotas.close();
  });

  test('a hard budget beside it refuses as before', async () => {
    const { of, quota, quotas } = await world(0);
    await makeBudget(ledger.database.sql, of, 'day', 100);
    expect(await spend(quota, of, 100)).toEqual([['warn', true]]);
    await expect(quota.reserve(ask(10))).rejects.toMatchObject({ id: 'quota_exceeded' });
    await quotas.close();
    expect(await usedOf(of)).toEqual([100, 100]);
  });
});

test('the ledger recalls unused money once before a soft budget of two keys is exceeded', async () => {
  const of = await ledger.account();
  const { sql } = ledger.database;
  const other = { ...of, key_id: `key_${crypto.randomUUID()}` };
  await sql`
    insert into api_key (id, organization_id, name, key_hash, key_prefix)
    values (${other.key_id}, ${of.organization_id}, 'second', ${other.key_id}, 'sk-')`;
  const budget_id = await makeBudget(sql, { ...of, key_id: null }, 'week', 100, WARN);
  const first = grant(of, 80, systemIdSource.uuid());
  expect(await ledger.lane.submit(first)).toMatchObject({ type: 'granted', granted: 80 });
  const second = grant(other, 30, systemIdSource.uuid());
  const contended = await ledger.lane.submit(second);
  if (contended.type !== 'contended') throw new Error(contended.type);
  const { recall_seq } = contended;
  // Nobody returns anything, and the call does not wait for that.
  expect(await ledger.lane.submit({ ...second, recall_seq })).toMatchObject({
    ...{ type: 'granted', granted: 30, exact: true },
    reached: [{ id: budget_id, period: 'week', key_id: null, is_spent: false }],
  });
  // A call that runs is never recalled for.
  const more = { ...second, expected_granted: 30, in_flight: true };
  expect(await ledger.lane.submit(more)).toMatchObject({ type: 'granted', granted: 60 });
});

test('a task may ask first whether its hold exceeds a soft budget: then nothing is set aside', async () => {
  const { of, budget_id } = await world(100);
  const [first, second] = [systemIdSource.uuid(), systemIdSource.uuid()];
  const ask_first = { stop_at_soft: true };
  expect(await ledger.lane.submit({ ...hold(of, 60, first), ...ask_first })).toEqual({
    type: 'held',
  });
  expect(await ledger.lane.submit({ ...hold(of, 60, second), ...ask_first })).toMatchObject({
    ...{ type: 'over_soft', reached: [{ id: budget_id, when_reached: 'warn', is_spent: false }] },
  });
  expect(await usedOf(of)).toEqual([60]);
  expect(await findImbalances(ledger.database.sql)).toEqual([]);
  expect(await ledger.lane.submit(hold(of, 60, second))).toEqual({ type: 'held' });
  expect(await usedOf(of)).toEqual([120]);
  // No task has these holds.
  for (const hold_id of [first, second]) {
    await ledger.lane.submit({ type: 'RELEASE_HOLD', hold_id });
  }
});

test('what calls without a notice spend never exceeds the limit, on two replicas, and the used amount is exact', async () => {
  const call = fc.record({
    replica: fc.nat(1),
    amount: fc.integer({ min: 1, max: 40 }),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 150 }),
      fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 }),
      async (limit, rounds) => {
        const { of, quotas, quota } = await world(limit);
        const second = { ...of, replica_id: `replica_${crypto.randomUUID()}` };
        await ledger.database.sql`
          insert into replica (id, lease_until) values (${second.replica_id}, now() + interval '1 h')`;
        const others = replicaOf(second);
        const actors = [quota, others.getOrCreate({ id: of.key_id, ...of })];
        let spent = 0;
        let unnoticed = 0;
        for (const round of rounds) {
          await Promise.all(
            round.map(async ({ replica, amount, part }) => {
              const reservation = await (actors[replica] as QuotaActor).reserve(ask(amount));
              const charge = Math.round(amount * part);
              await reservation.settle(usage(of), charge);
              spent += charge;
              if (reservation.reached.length === 0) unnoticed += charge;
            }),
          );
        }
        expect(unnoticed).toBeLessThanOrEqual(limit);
        await quotas.close();
        await others.close();
        expect(await usedOf(of)).toEqual([spent]);
        expect(await findMoneyFaults(ledger.database.sql)).toEqual([]);
      },
    ),
    { numRuns: 25 },
  );
});
