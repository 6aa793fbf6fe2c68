import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Database } from '../../../db/client.ts';
import { systemIdSource } from '../../../src/actors/clock.ts';
import type { Lane } from '../../../src/actors/money/lane.ts';
import type { LedgerAnswer, LedgerCommand } from '../../../src/actors/money/ledger-commands.ts';
import {
  type Account,
  FUNDS,
  hold,
  line,
  openLedger,
  type TestLedger,
} from '../../support/ledger.ts';

describe('durable holds', () => {
  let ledger: TestLedger;
  let database: Database;
  let lane: Lane;
  const account = (limit?: number) => ledger.account(limit);
  const books = (of: Account) => ledger.books(of);

  beforeAll(async () => {
    ledger = await openLedger();
    ({ database, lane } = ledger);
  });
  afterAll(() => ledger.close());

  test('P1: a hold settles once, the rest is freed, and a repeated settlement changes nothing', async () => {
    const owner = await account();
    const hold_id = systemIdSource.uuid();
    expect(await lane.submit(hold(owner, 300, hold_id))).toEqual({ type: 'held' });
    expect(await books(owner)).toEqual({
      balance: 700,
      org_held: 300,
      settled: 0,
      used: 0,
      key_held: 300,
    });
    const settle: LedgerCommand = { type: 'SETTLE_HOLD', hold_id, line: line(owner, 120) };
    const ended: LedgerAnswer = {
      type: 'hold_ended',
      status: 'settled',
      charged: 120,
      released: 180,
    };
    expect(await lane.submit(settle)).toEqual(ended);
    expect(await lane.submit(settle)).toEqual(ended);
    expect(await lane.submit({ type: 'RELEASE_HOLD', hold_id })).toEqual(ended);
    expect(await books(owner)).toEqual({
      balance: 880,
      org_held: 0,
      settled: 120,
      used: 120,
      key_held: 0,
    });
  });

  test('P1: a released or expired hold is freed completely, once', async () => {
    const owner = await account();
    for (const type of ['RELEASE_HOLD', 'EXPIRE_HOLD'] as const) {
      const hold_id = systemIdSource.uuid();
      await lane.submit(hold(owner, 300, hold_id));
      const status = type === 'RELEASE_HOLD' ? 'released' : 'expired';
      for (let time = 0; time < 2; time += 1) {
        expect(await lane.submit({ type, hold_id })).toEqual({
          type: 'hold_ended',
          status,
          charged: 0,
          released: 300,
        });
      }
      const late = await lane.submit({ type: 'SETTLE_HOLD', hold_id, line: line(owner, 10) });
      expect(late).toEqual({ type: 'hold_ended', status, charged: 0, released: 300 });
    }
    expect(await books(owner)).toEqual({
      balance: FUNDS,
      org_held: 0,
      settled: 0,
      used: 0,
      key_held: 0,
    });
  });

  test('a repeated hold is answered from its row', async () => {
    const owner = await account();
    const command = hold(owner, 300);
    await Promise.all([lane.submit(command), lane.submit(command), lane.submit(command)]);
    expect((await books(owner)).key_held).toBe(300);
  });

  test('P2: holds in one batch never exceed the cap together', async () => {
    const owner = await account(1_000);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => lane.submit(hold(owner, 150))),
    );
    expect(answers.filter((answer) => answer.type === 'held')).toHaveLength(6);
    expect(answers.find((answer) => answer.type === 'short')).toMatchObject({
      type: 'short',
      bound: 'key',
      free: 100,
      elsewhere: 900,
    });
    expect((await books(owner)).key_held).toBe(900);
  });

  test('a repeated extension of a hold changes nothing, and an extension above the funds is refused', async () => {
    const owner = await account();
    const hold_id = systemIdSource.uuid();
    await lane.submit(hold(owner, 300, hold_id));
    for (let time = 0; time < 2; time += 1) {
      await lane.submit({ type: 'EXTEND_HOLD', hold_id, amount: 500 });
    }
    expect((await books(owner)).key_held).toBe(500);
    const refused = await lane.submit({ type: 'EXTEND_HOLD', hold_id, amount: 2_000 });
    expect(refused.type).toBe('short');
    expect((await books(owner)).key_held).toBe(500);
  });

  test('P12: a charge above the hold takes free money first, inside the cap and the balance', async () => {
    for (const { limit, charge, charged } of [
      { limit: undefined, charge: 450, charged: 450 },
      { limit: 400, charge: 450, charged: 400 },
      { limit: 5_000, charge: 1_200, charged: 1_000 },
      { limit: 300, charge: 310, charged: 300 },
    ]) {
      const owner = await account(limit);
      const hold_id = systemIdSource.uuid();
      await lane.submit(hold(owner, 300, hold_id));
      const settle: LedgerCommand = { type: 'SETTLE_HOLD', hold_id, line: line(owner, charge) };
      const ended = { type: 'hold_ended', status: 'settled', charged, released: 0 };
      const added = charged > 300 ? { added: charged - 300 } : {};
      expect<unknown>(await lane.submit(settle)).toEqual({ ...ended, ...added });
      expect<unknown>(await lane.submit(settle)).toEqual(ended);
      expect(await books(owner)).toEqual({
        balance: FUNDS - charged,
        org_held: 0,
        settled: charged,
        used: charged,
        key_held: 0,
      });
      const [row] = await database.sql`
        select charged_nano_usd, overrun_nano_usd from usage_line where hold_id = ${hold_id}`;
      const overrun = charge - charged;
      expect({ ...row }).toEqual({ charged_nano_usd: charged, overrun_nano_usd: overrun });
    }
  });
});
