import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Database } from '../../../db/client.ts';
import { MAX_REAPED_GRANTS } from '../../../db/ledger/rows.ts';
import { systemIdSource } from '../../../src/actors/clock.ts';
import { Lane } from '../../../src/actors/money/lane.ts';
import type { LedgerCommand } from '../../../src/actors/money/ledger-commands.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import {
  type Account,
  FUNDS,
  grant,
  hold,
  line,
  openLedger,
  type TestLedger,
} from '../../support/ledger.ts';

describe('the lane', () => {
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

  describe('grants', () => {
    test('P15: a repeated charge is booked once and answered from its row', async () => {
      const owner = await account();
      const request = grant(owner, 400);
      await lane.submit(request);
      const charge: LedgerCommand = {
        type: 'SETTLE',
        line: { ...line(owner, 70), grant_id: request.grant_id },
      };
      const answers = await Promise.all([lane.submit(charge), lane.submit(charge)]).catch(() => []);
      const again = await lane.submit(charge);
      expect([...answers, again].every((answer) => answer.type === 'settled')).toBe(true);
      const [row] = await database.sql`
        select settled_nano_usd from quota_grant where id = ${request.grant_id}`;
      expect(row?.settled_nano_usd).toBe(70);
      await books(owner);
    });

    test('a dead replica’s grant is returned once; its later charges are absorbed', async () => {
      const owner = await account();
      const request = grant(owner, 400);
      await lane.submit(request);
      const charge = (amount: number): LedgerCommand => ({
        type: 'SETTLE',
        line: { ...line(owner, amount), grant_id: request.grant_id },
      });
      await lane.submit(charge(50));
      const reap: LedgerCommand = { type: 'REAP', replica_id: owner.replica_id };
      expect(await lane.submit(reap)).toEqual({ type: 'reaped', grants: 1, more: false });
      expect(await lane.submit(reap)).toEqual({ type: 'reaped', grants: 0, more: false });
      expect(await books(owner)).toEqual({
        balance: 950,
        org_held: 0,
        settled: 50,
        used: 50,
        key_held: 0,
      });
      expect(await lane.submit(charge(60))).toMatchObject({ charged: 0, overrun: 60 });
      // A line without values that few lines have takes another path through the statement.
      const id = systemIdSource.uuid();
      const inline = { ...line(owner, 60), id, request_id: id, grant_id: request.grant_id };
      expect(await lane.submit({ type: 'SETTLE', line: inline })).toMatchObject({
        charged: 0,
        overrun: 60,
      });
      expect(await lane.submit({ ...request, expected_granted: 400 })).toEqual({ type: 'fenced' });
      expect(await lane.submit(grant(owner, 10))).toEqual({ type: 'fenced' });
      expect((await books(owner)).used).toBe(50);
    });

    const giveBack = (of: Account, grant_id: string, more: object) => ({
      ...{ type: 'RETURN' as const, ...of, grant_id, expected_granted: 400, amount: 0 },
      ...{ recall_acked: 0, close: false, ...more },
    });

    test('an open grant of a dead replica is found after any number of its closed grants', async () => {
      const of = await account();
      await database.sql`
        insert into quota_grant (id, key_id, organization_id, replica_id, status, granted_nano_usd,
          settled_nano_usd, posted_nano_usd, recall_acked, created_at, closed_at)
        select lpad(to_hex(number), 32, '0')::uuid, ${of.key_id}, ${of.organization_id},
          ${of.replica_id}, 'closed', 0, 0, 0, 0, now(), now()
        from generate_series(1, ${MAX_REAPED_GRANTS}::int) as number`;
      await lane.submit(grant(of, 400));
      const reap: LedgerCommand = { type: 'REAP', replica_id: of.replica_id };
      expect(await lane.submit(reap)).toEqual({ type: 'reaped', grants: 1, more: false });
      expect((await books(of)).balance).toBe(FUNDS);
    });

    test('a repeated grant and a repeated return move money once', async () => {
      const of = await account();
      const ask = grant(of, 400);
      const given = { type: 'granted', granted: 400, exact: true } as const;
      expect(await lane.submit({ ...ask, want: 2_000 })).toMatchObject({ granted: 400 });
      expect(await lane.submit(ask)).toMatchObject(given);
      expect((await books(of)).key_held).toBe(400);
      const back = giveBack(of, ask.grant_id, { amount: 100 });
      for (let time = 0; time < 2; time += 1) {
        expect(await lane.submit(back)).toEqual({ type: 'returned', granted: 300, closed: false });
      }
      expect((await books(of)).key_held).toBe(300);
    });

    test('a closed grant posts its charges, and never opens again', async () => {
      const of = await account();
      const ask = grant(of, 400);
      await lane.submit(ask);
      await lane.submit({ type: 'SETTLE', line: { ...line(of, 70), grant_id: ask.grant_id } });
      const back = giveBack(of, ask.grant_id, { amount: 330, close: true });
      expect(await lane.submit(back)).toEqual({ type: 'returned', granted: 70, closed: true });
      expect(await books(of)).toEqual({
        ...{ balance: 930, org_held: 0, settled: 70, used: 70, key_held: 0 },
      });
      expect(await lane.submit({ ...ask, expected_granted: 70 })).toEqual({ type: 'fenced' });
    });

    test('a repeated charge returns the amounts of its usage line; a charge without a grant is not made', async () => {
      const of = await account();
      const ask = grant(of, 400);
      await lane.submit(ask);
      const booked = { ...line(of, 70), grant_id: ask.grant_id };
      await lane.submit({ type: 'SETTLE', line: booked });
      const other = { ...booked, charged_nano_usd: 99, overrun_nano_usd: 1 };
      const answer = await lane.submit({ type: 'SETTLE', line: other });
      expect(answer).toMatchObject({ type: 'settled', charged: 70, overrun: 0 });
      const nowhere = { ...line(of, 70), grant_id: systemIdSource.uuid() };
      expect(await lane.submit({ type: 'SETTLE', line: nowhere })).toEqual({ type: 'not_found' });
    });

    test('P2: a refusal names the uncharged money of other grants and holds, and recalls no hold', async () => {
      const of = await account(400);
      const other = grant(of, 300);
      await lane.submit(other);
      await lane.submit({ type: 'SETTLE', line: { ...line(of, 100), grant_id: other.grant_id } });
      const answered = giveBack(of, other.grant_id, { expected_granted: 300, recall_acked: 5 });
      await lane.submit(answered);
      const refused = await lane.submit({ ...grant(of, 200), recall_seq: 5 });
      expect(refused).toMatchObject({ type: 'short', bound: 'key', free: 100, elsewhere: 200 });
      const held = await account(400);
      await lane.submit(hold(held, 300));
      const short = { type: 'short', bound: 'key', free: 100, elsewhere: 300 };
      expect(await lane.submit(hold(held, 200))).toMatchObject(short);
    });

    test('each commit tells which money it freed and which recall it sent', async () => {
      const of = await account(400);
      const other = grant(of, 300);
      await lane.submit(other);
      const hintsOf = async (command: LedgerCommand) => {
        const before = ledger.hints.length;
        const answer = await lane.submit(command);
        const [hints] = ledger.hints.slice(before);
        return { answer, recalls: hints?.recalls, organization_ids: hints?.organization_ids };
      };
      const { organization_id, key_id } = of;
      const contended = await hintsOf(grant(of, 200));
      const [recall] = contended.recalls ?? [];
      expect(contended.answer).toEqual({
        type: 'contended',
        recall_seq: recall?.seq ?? -1,
        free: 100,
      });
      expect(contended.organization_ids).toEqual([]);
      expect(recall).toMatchObject({ organization_id, key_id });
      const seq = recall?.seq ?? -1;
      // A lost recall is sent again with its number.
      const again = await hintsOf({ ...grant(of, 200), recall_seq: seq });
      expect(again.recalls).toEqual([{ seq, organization_id, key_id }]);
      const unchanged = { expected_granted: 300, amount: 0 };
      // An acknowledged recall wakes the waiting call, even if it frees no money.
      const acked = await hintsOf(
        giveBack(of, other.grant_id, { ...unchanged, recall_acked: seq }),
      );
      expect(acked.organization_ids).toEqual([organization_id]);
      const repeated = giveBack(of, other.grant_id, { ...unchanged, recall_acked: seq });
      expect((await hintsOf(repeated)).organization_ids).toEqual([]);
      expect((await hintsOf({ ...grant(of, 200), recall_seq: seq })).recalls).toEqual([]);
    });

    test('a cap below the granted money stops new grants; the sums stay correct', async () => {
      const owner = await account(1_000);
      const request = grant(owner, 600);
      await lane.submit(request);
      await database.sql`update api_key set limit_nano_usd = 100,
        ceiling_nano_usd = greatest(100, used_nano_usd + held_nano_usd) where id = ${owner.key_id}`;
      const more = await lane.submit({ ...request, expected_granted: 600, need: 10, want: 10 });
      expect(more.type).toBe('short');
      await lane.submit({
        type: 'RETURN',
        ...owner,
        grant_id: request.grant_id,
        expected_granted: 600,
        amount: 600,
        recall_acked: 0,
        close: true,
      });
      const [row] =
        await database.sql`select ceiling_nano_usd from api_key where id = ${owner.key_id}`;
      expect(row?.ceiling_nano_usd).toBe(100);
      await books(owner);
    });

    test('the ledger refuses a grant for a key that is not active', async () => {
      for (const status of ['inactive', 'suspended', 'revoked'] as const) {
        const owner = await account();
        await database.sql`update api_key set status = ${status} where id = ${owner.key_id}`;
        expect(await lane.submit(grant(owner, 1))).toEqual({ type: 'key_unusable', status });
      }
      const owner = await account();
      await database.sql`update api_key set expires_at = now() - interval '1 s' where id = ${owner.key_id}`;
      expect(await lane.submit(grant(owner, 1))).toEqual({
        type: 'key_unusable',
        status: 'expired',
      });
    });
  });

  test('while the database is away, a charge waits and other commands fail', async () => {
    const clock = new VirtualClock();
    let isAway = true;
    const begin = (work: (tx: unknown) => unknown) => {
      if (isAway) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
      return database.sql.begin(work as never);
    };
    const sql = Object.assign(() => undefined, { begin }) as unknown as Database['sql'];
    let unknown = 0;
    const hints = { publish: () => undefined, publishUnknown: () => void unknown++ };
    const waiting = new Lane({ sql, clock, hints, onError: () => undefined });
    const of = await account();
    const hold_id = systemIdSource.uuid();
    await lane.submit(hold(of, 300, hold_id));
    const charge = waiting.submit({ type: 'SETTLE_HOLD', hold_id, line: line(of, 120) });
    const ask = waiting.submit(grant(of, 10)).catch((error: unknown) => error);
    for (let time = 0; time < 5; time += 1) {
      await Bun.sleep(1);
      clock.advance(1_000);
    }
    expect(await ask).toMatchObject({ id: 'service_unavailable' });
    // Whether a broken commit freed money is not known before the next commit.
    expect(unknown).toBe(0);
    isAway = false;
    await Bun.sleep(1);
    clock.advance(1_000);
    expect(await charge).toEqual({
      type: 'hold_ended',
      status: 'settled',
      charged: 120,
      released: 180,
    });
    expect((await books(of)).used).toBe(120);
    expect(unknown).toBe(1);
  });

  test('a repeated deposit adds its money once', async () => {
    const owner = await account();
    const deposit: LedgerCommand = {
      type: 'DEPOSIT',
      deposit_id: systemIdSource.uuid(),
      organization_id: owner.organization_id,
      amount: 500,
      note: 'top up',
    };
    await Promise.all([lane.submit(deposit), lane.submit(deposit)]);
    await lane.submit(deposit);
    expect((await books(owner)).balance).toBe(1_500);
  });

  test('if one command of a batch fails, the others commit', async () => {
    const owner = await account();
    const request = grant(owner, 400);
    await lane.submit(request);
    const good = Array.from({ length: 30 }, () => line(owner, 1));
    const poisoned = { ...line(owner, 1), outcome: 'not-json-\u0000' as 'completed' };
    const results = await Promise.allSettled(
      [...good.slice(0, 15), poisoned, ...good.slice(15)].map((each) =>
        lane.submit({ type: 'SETTLE', line: { ...each, grant_id: request.grant_id } }),
      ),
    );
    expect(
      results.map((result) => result.status).filter((status) => status === 'rejected'),
    ).toHaveLength(1);
    const [row] = await database.sql`
      select settled_nano_usd from quota_grant where id = ${request.grant_id}`;
    expect(row?.settled_nano_usd).toBe(30);
  });
});
