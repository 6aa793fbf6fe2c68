/** Quota actors when the day of their organization ends: a call counts in the day of its reservation. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Clock, systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import { Quotas } from '../../../src/actors/money/quotas.ts';
import { makeBudget, readWindows, setDatabaseClock } from '../../support/budgets.ts';
import { type Account, grant, line, openLedger, type TestLedger } from '../../support/ledger.ts';
import { findMoneyFaults } from '../../support/money-faults.ts';

setDefaultTimeout(60_000);

/** In Berlin, the clocks change in this night; the day has 25 hours. */
const BEFORE_MIDNIGHT = Date.parse('2026-10-25T22:59:50Z');

let ledger: TestLedger;
let offset_ms = 0;
/** Runs as fast as the system's clock, and can be set forward with the database's clock. */
const clock: Clock = { ...systemClock, now: () => systemClock.now() + offset_ms };

beforeAll(async () => {
  ledger = await openLedger('single');
});
afterAll(() => ledger.close());

const ask = (amount: number, wait_ms = 5_000) => ({ amount, minimum: () => amount, wait_ms });
const usage = (of: Account) => {
  const { charged_nano_usd: _, overrun_nano_usd: __, ...rest } = line(of, 0);
  return rest;
};

/** An account in Berlin, ten seconds before midnight, with a budget of 100 a day. */
async function beforeMidnight() {
  const of = await ledger.account();
  const { sql } = ledger.database;
  await sql`update organization set time_zone = 'Europe/Berlin' where id = ${of.organization_id}`;
  await setDatabaseClock(sql, BEFORE_MIDNIGHT);
  await makeBudget(sql, of, 'day', 100);
  const quotas = new Quotas({
    ...{ lane: ledger.lane, clock, ids: systemIdSource, replica_id: () => of.replica_id },
    ...{ mayAdmit: () => true, onFenced: () => undefined },
  });
  return { of, quotas, quota: quotas.getOrCreate({ id: of.key_id, ...of }) };
}

async function passMidnight(): Promise<void> {
  offset_ms += 20_000;
  await setDatabaseClock(ledger.database.sql, BEFORE_MIDNIGHT + 20_000);
}

/** The windows of an account, after all grants were returned. */
async function windowsOf({ of, quotas }: { of: Account; quotas: Quotas }) {
  expect(await findMoneyFaults(ledger.database.sql, { memory: [{ ...of, quotas }] })).toEqual([]);
  await quotas.close();
  const windows = await readWindows(ledger.database.sql, of.organization_id);
  return windows.map(({ starts_on, used, held }) => ({ starts_on, used, held }));
}

describe('when the day ends', () => {
  test('a call in flight counts in its day, and the next call in the new one', async () => {
    const world = await beforeMidnight();
    const { of, quota } = world;
    const early = await quota.reserve(ask(60));
    await expect(quota.reserve(ask(60, 300))).rejects.toMatchObject({ id: 'quota_in_flight' });
    await passMidnight();
    const late = await quota.reserve(ask(90));
    expect(await early.extend(ask(30))).toBe(30);
    await late.settle(usage(of), 80);
    await early.settle(usage(of), 90);
    await expect(quota.reserve(ask(30))).rejects.toMatchObject({ id: 'quota_exceeded' });
    expect(await windowsOf(world)).toEqual([
      { starts_on: '2026-10-25', used: 90, held: 0 },
      { starts_on: '2026-10-26', used: 80, held: 0 },
    ]);
  });

  test('a call that waits for the money of the day gets that of the next day', async () => {
    const world = await beforeMidnight();
    const { of, quota } = world;
    const early = await quota.reserve(ask(100));
    const waiting = quota.reserve(ask(70));
    await passMidnight();
    const late = await waiting;
    expect(late.amount).toBe(70);
    await early.settle(usage(of), 100);
    await late.settle(usage(of), 70);
    expect(await windowsOf(world)).toEqual([
      { starts_on: '2026-10-25', used: 100, held: 0 },
      { starts_on: '2026-10-26', used: 70, held: 0 },
    ]);
  });

  test('the grant of the day gets more money for a call in flight, and none for a new call', async () => {
    const { of, quotas } = await beforeMidnight();
    const { lane } = ledger;
    const first = grant(of, 40);
    expect(await lane.submit(first)).toMatchObject({ type: 'granted', granted: 40 });
    await passMidnight();
    const more = { ...first, expected_granted: 40 };
    expect(await lane.submit(more)).toMatchObject({ type: 'granted', granted: 40 });
    expect(await lane.submit({ ...more, in_flight: true })).toMatchObject({ granted: 80 });
    await quotas.close();
  });

  test('a key whose budget was spent is admitted at once', async () => {
    const world = await beforeMidnight();
    const { of, quota } = world;
    await (await quota.reserve(ask(100))).settle(usage(of), 100);
    await expect(quota.reserve(ask(10))).rejects.toMatchObject({
      id: 'quota_exceeded',
      message: 'The budget of this API key for today is spent.',
      details: { retry_after: 10, hint: expect.stringContaining('next day') },
    });
    await passMidnight();
    const late = await quota.reserve(ask(10));
    late.release();
    expect(await windowsOf(world)).toEqual([
      { starts_on: '2026-10-25', used: 100, held: 0 },
      { starts_on: '2026-10-26', used: 0, held: 0 },
    ]);
  });

  test('an overrun of a call in flight is covered by its own day only', async () => {
    const world = await beforeMidnight();
    const { of, quota } = world;
    const early = await quota.reserve(ask(60));
    await passMidnight();
    (await quota.reserve(ask(10))).release();
    expect(await early.settle(usage(of), 130)).toEqual({ charged: 100, overrun: 30 });
    expect(await windowsOf(world)).toEqual([
      { starts_on: '2026-10-25', used: 100, held: 0 },
      { starts_on: '2026-10-26', used: 0, held: 0 },
    ]);
  });
});

test('a budget of the organization limits all its keys together', async () => {
  const of = await ledger.account();
  const { sql } = ledger.database;
  await setDatabaseClock(sql, BEFORE_MIDNIGHT);
  const other = `key_${crypto.randomUUID()}`;
  await sql`
    insert into api_key (id, organization_id, name, key_hash, key_prefix)
    values (${other}, ${of.organization_id}, 'second', ${other}, 'sk-')`;
  await makeBudget(sql, { ...of, key_id: null }, 'month', 100);
  const quotas = new Quotas({
    ...{ lane: ledger.lane, clock, ids: systemIdSource, replica_id: () => of.replica_id },
    ...{ mayAdmit: () => true, onFenced: () => undefined },
  });
  const [first, second] = [of.key_id, other].map((id) => quotas.getOrCreate({ id, ...of }));
  await (await first?.reserve(ask(60)))?.settle(usage(of), 60);
  // The recall that a ledger command starts reaches no actor in this test, so the money is returned here.
  await first?.close();
  await expect(second?.reserve(ask(60, 300))).rejects.toMatchObject({
    message: expect.stringContaining('budget of the organization for this month'),
  });
  await (await second?.reserve(ask(40)))?.settle({ ...usage(of), key_id: other }, 40);
  expect(await windowsOf({ of, quotas })).toEqual([
    { starts_on: '2026-10-01', used: 100, held: 0 },
  ]);
});
