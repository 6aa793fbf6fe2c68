/**
 * Calls whose key's cap counts the list price, while the organization pays a fee: used money of a key is
 * what is counted, and settled money of its organization is what is charged (P1, P2).
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { findImbalances } from '../../../db/ledger/audit.ts';
import { findQuickImbalances } from '../../../db/ledger/quick-audit.ts';
import { readBalance } from '../../../db/organizations.ts';
import { systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import type { LedgerCommand } from '../../../src/actors/money/ledger-commands.ts';
import { Quotas } from '../../../src/actors/money/quotas.ts';
import type { Reservation } from '../../../src/actors/money/reservation.ts';
import { readWholeLinesAudit } from '../../support/counted-audit.ts';
import {
  type Account,
  FUNDS,
  hold,
  line,
  openLedger,
  type TestLedger,
} from '../../support/ledger.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(120_000);

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

const submit = (command: LedgerCommand) => ledger.lane.submit(command);

/** The quota actors of the replica of an account. */
const quotasOf = ({ replica_id }: Account) =>
  new Quotas({
    ...{ lane: ledger.lane, clock: systemClock, ids: systemIdSource },
    ...{ replica_id: () => replica_id, mayAdmit: () => true, onFenced: () => undefined },
  });

const consumption = (of: Account) => {
  const { charged_nano_usd: _, overrun_nano_usd: __, ...rest } = line(of, 0);
  return { ...rest, access_channel: 'byok' as const };
};
const ask = (amount: number) => ({ amount, minimum: () => amount, wait_ms: 1_000 });

/** What the views and the rows say of an account, with charges that are not posted. */
async function moneyOf({ key_id, organization_id }: Account) {
  const { sql, orm } = ledger.database;
  const [key] = await sql<{ used: number; uncharged: number }[]>`
    select (used_nano_usd + coalesce((select sum(settled_nano_usd - posted_nano_usd) from quota_grant
        where quota_grant.key_id = api_key.id and status = 'open'), 0))::int8 as used,
      uncharged_nano_usd as uncharged
    from api_key where id = ${key_id}`;
  const balance = await readBalance(orm, organization_id);
  return { used: key?.used, settled: balance?.settled, available: balance?.available, ...balance };
}

async function expectBooks(): Promise<void> {
  const { sql } = ledger.database;
  expect(await findImbalances(sql)).toEqual([]);
  expect(await findQuickImbalances(sql)).toEqual([]);
  expect(await readWholeLinesAudit(sql)).toBe('right');
}

describe('a call that counts more than it is charged', () => {
  test('P1: the key has used what is counted, the organization pays the charge', async () => {
    const of = await ledger.account(500);
    const quotas = quotasOf(of);
    const reservation = await quotas.getOrCreate({ id: of.key_id, ...of }).reserve(ask(300));
    expect(await reservation.settle(consumption(of), 20, 300)).toEqual({ charged: 20, overrun: 0 });
    expect(await moneyOf(of)).toMatchObject({ used: 300, settled: 20, deposited: FUNDS });
    await expectBooks();
    await quotas.close();
    const after = await ledger.books(of);
    expect(after).toMatchObject({ balance: FUNDS - 20, settled: 20, used: 300 });
    expect(after).toMatchObject({ org_held: 0, key_held: 0 });
    const [row] = await ledger.database.sql`
      select charged_nano_usd as charged, counted_nano_usd as counted from usage_line
      where key_id = ${of.key_id}`;
    expect(row).toMatchObject({ charged: 20, counted: 300 });
  });

  test('P2: the cap ends it, although nothing is charged', async () => {
    const of = await ledger.account(500);
    const quotas = quotasOf(of);
    const quota = quotas.getOrCreate({ id: of.key_id, ...of });
    await (await quota.reserve(ask(400))).settle(consumption(of), 0, 400);
    await expect(quota.reserve(ask(200))).rejects.toMatchObject({ id: 'quota_exceeded' });
    await (await quota.reserve(ask(100))).settle(consumption(of), 0, 100);
    await quotas.close();
    expect(await ledger.books(of)).toMatchObject({ balance: FUNDS, settled: 0, used: 500 });
  });

  test('the money that is not charged serves the next calls', async () => {
    const of = await ledger.account();
    const quotas = quotasOf(of);
    const quota = quotas.getOrCreate({ id: of.key_id, ...of });
    for (let calls = 0; calls < 5; calls += 1) {
      await (await quota.reserve(ask(FUNDS - 50))).settle(consumption(of), 10, FUNDS - 50);
    }
    await quotas.close();
    const used = 5 * (FUNDS - 50);
    expect(await ledger.books(of)).toMatchObject({ balance: FUNDS - 50, settled: 50, used });
  });

  test('what exceeds the reservation and the cap is absorbed, and not counted', async () => {
    const of = await ledger.account(100);
    const quotas = quotasOf(of);
    const quota = quotas.getOrCreate({ id: of.key_id, ...of });
    const reservation = await quota.reserve(ask(100));
    expect(await reservation.settle(consumption(of), 120, 400)).toEqual({
      charged: 100,
      overrun: 20,
    });
    await quotas.close();
    expect(await ledger.books(of)).toMatchObject({ settled: 100, used: 100 });
  });

  test('a hold, too', async () => {
    const of = await ledger.account(700);
    const hold_id = systemIdSource.uuid();
    await submit(hold(of, 600, hold_id));
    const settled = { ...line(of, 30), counted_nano_usd: 500 };
    await submit({ type: 'SETTLE_HOLD', hold_id, line: settled });
    await submit({ type: 'SETTLE_HOLD', hold_id, line: settled });
    expect(await ledger.books(of)).toMatchObject({ balance: FUNDS - 30, settled: 30, used: 500 });
    await expectBooks();
  });

  test('of a dead replica: what was not posted is posted once, the rest is freed', async () => {
    const of = await ledger.account();
    const quotas = quotasOf(of);
    const quota = quotas.getOrCreate({ id: of.key_id, ...of });
    const running: Reservation = await quota.reserve(ask(200));
    await (await quota.reserve(ask(300))).settle(consumption(of), 7, 300);
    await submit({ type: 'REAP', replica_id: of.replica_id });
    expect(await ledger.books(of)).toMatchObject({ balance: FUNDS - 7, settled: 7, used: 300 });
    await running.settle(consumption(of), 5, 200);
    expect(await ledger.books(of)).toMatchObject({ balance: FUNDS - 7, settled: 7, used: 300 });
    const [late] = await ledger.database.sql`
      select charged_nano_usd as charged, counted_nano_usd as counted, overrun_nano_usd as overrun
      from usage_line where key_id = ${of.key_id} order by id desc limit 1`;
    expect([late?.['charged'], late?.['counted']]).toEqual([0, null]);
    await expectBooks();
  });

  test('P1, P2: for any calls in any order, all sums are right', async () => {
    const call = fc.record({
      list: fc.integer({ min: 1, max: 400 }),
      fee: fc.nat({ max: 100 }),
      isOwn: fc.boolean(),
      ends: fc.constantFrom('settled', 'released', 'over'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 8 }),
        fc.integer({ min: 300, max: 2_000 }),
        async (calls, cap) => {
          const of = await ledger.account(cap);
          const quotas = quotasOf(of);
          const quota = quotas.getOrCreate({ id: of.key_id, ...of });
          await Promise.all(
            calls.map(async ({ list, fee, isOwn, ends }) => {
              const reservation = await quota.reserve(ask(list)).catch(() => undefined);
              if (!reservation) return;
              if (ends === 'released') return reservation.release();
              const counted = ends === 'over' ? list * 2 : list;
              const charged = isOwn ? Math.min(fee, counted) : counted;
              await reservation.settle(consumption(of), charged, counted);
            }),
          );
          await quotas.close();
          const { used = 0, settled = 0, balance = 0, ...held } = await ledger.books(of);
          expect(held).toEqual({ org_held: 0, key_held: 0 });
          expect(used).toBeLessThanOrEqual(cap);
          expect(settled).toBeLessThanOrEqual(used);
          expect(balance + settled).toBe(FUNDS);
          const [sums] = await ledger.database.sql<{ counted: number; charged: number }[]>`
          select coalesce(sum(coalesce(counted_nano_usd, charged_nano_usd)), 0)::int8 as counted,
            coalesce(sum(charged_nano_usd), 0)::int8 as charged
          from usage_line where key_id = ${of.key_id}`;
          expect({ ...sums }).toEqual({ counted: used, charged: settled });
        },
      ),
      { numRuns: 40 },
    );
    await expectBooks();
  });
});
