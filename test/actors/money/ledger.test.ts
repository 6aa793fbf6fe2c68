import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { findImbalances } from '../../../db/ledger/audit.ts';
import type { UsageLine } from '../../../db/ledger/settle.ts';
import { systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import { Lane } from '../../../src/actors/money/lane.ts';
import type { LedgerAnswer, LedgerCommand } from '../../../src/actors/money/ledger-commands.ts';
import { createTestDatabase } from '../../support/postgres.ts';

const FUNDS = 1_000;

describe('the lane', () => {
  let database: Database;
  let drop: () => Promise<void>;
  let lane: Lane;

  beforeAll(async () => {
    const fresh = await createTestDatabase();
    drop = fresh.drop;
    database = connectDatabase(fresh.url, { pool: 'lane' });
    lane = new Lane({ sql: database.sql, clock: systemClock, onError: () => undefined });
  });

  afterAll(async () => {
    await database.close();
    await drop();
  });

  /** An organization with 1,000 nano-USD, one key with a cap, one live replica. */
  async function account(limit: number | null = null) {
    const id = crypto.randomUUID();
    const names = {
      key_id: `key_${id}`,
      organization_id: `org_${id}`,
      replica_id: `replica_${id}`,
    };
    const { sql } = database;
    await sql`insert into organization (id, name) values (${names.organization_id}, 'test')`;
    await sql`insert into api_key
      (id, organization_id, name, key_hash, key_prefix, limit_nano_usd, ceiling_nano_usd)
      values (${names.key_id}, ${names.organization_id}, 'test', ${id}, 'sk-', ${limit}, ${limit})`;
    await sql`insert into replica (id, lease_until) values (${names.replica_id}, now() + interval '1 h')`;
    await lane.submit({
      type: 'DEPOSIT',
      deposit_id: systemIdSource.uuid(),
      organization_id: names.organization_id,
      amount: FUNDS,
      note: '',
    });
    return names;
  }
  type Account = Awaited<ReturnType<typeof account>>;

  async function books({ key_id, organization_id }: Account) {
    const [row] = await database.sql<
      { balance: number; org_held: number; settled: number; used: number; key_held: number }[]
    >`select balance_nano_usd as balance, organization.held_nano_usd as org_held,
        settled_nano_usd as settled, used_nano_usd as used, api_key.held_nano_usd as key_held
      from organization, api_key where organization.id = ${organization_id} and api_key.id = ${key_id}`;
    expect(await findImbalances(database.sql)).toEqual([]);
    return { ...row };
  }

  function hold(
    owner: Account,
    amount: number,
    hold_id: string = systemIdSource.uuid(),
  ): LedgerCommand {
    const { key_id, organization_id } = owner;
    const expires_at = '2100-01-01T00:00:00Z';
    return {
      type: 'HOLD',
      hold_id,
      key_id,
      organization_id,
      amount,
      reference: 'task',
      expires_at,
    };
  }

  function line(owner: Account, charged: number): UsageLine {
    return {
      id: systemIdSource.uuid(),
      request_id: systemIdSource.uuid(),
      organization_id: owner.organization_id,
      key_id: owner.key_id,
      scene: 'video',
      access_channel: 'platform',
      model: 'm',
      model_vendor: 'v',
      channel_id: 'c',
      outcome: 'completed',
      input_tokens: 0,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
      estimated: false,
      charged_nano_usd: charged,
      overrun_nano_usd: 0,
    };
  }

  function grant(owner: Account, need: number, grant_id: string = systemIdSource.uuid()) {
    return {
      type: 'GRANT' as const,
      ...owner,
      grant_id,
      expected_granted: 0,
      need,
      want: need,
      recall_seq: null,
    };
  }

  describe('durable holds', () => {
    test('P1: a hold settles once: the charge is booked, the rest is freed, a repetition changes nothing', async () => {
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
      const ended: LedgerAnswer = { type: 'hold_ended', status: 'settled', charged: 120 };
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
          });
        }
        const late = await lane.submit({ type: 'SETTLE_HOLD', hold_id, line: line(owner, 10) });
        expect(late).toEqual({ type: 'hold_ended', status, charged: 0 });
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
      expect(answers.find((answer) => answer.type === 'short')).toEqual({
        type: 'short',
        bound: 'key',
        free: 100,
        elsewhere: 900,
      });
      expect((await books(owner)).key_held).toBe(900);
    });

    test('an extension names a total, so a repetition changes nothing; above the funds it is refused', async () => {
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

    test('P12: a charge above the hold is cut to the hold; the platform absorbs the rest as an overrun', async () => {
      const owner = await account();
      const hold_id = systemIdSource.uuid();
      await lane.submit(hold(owner, 300, hold_id));
      await lane.submit({ type: 'SETTLE_HOLD', hold_id, line: line(owner, 450) });
      expect(await books(owner)).toEqual({
        balance: 700,
        org_held: 0,
        settled: 300,
        used: 300,
        key_held: 0,
      });
      const [row] = await database.sql`
        select charged_nano_usd, overrun_nano_usd from usage_line where hold_id = ${hold_id}`;
      expect({ ...row }).toEqual({ charged_nano_usd: 300, overrun_nano_usd: 150 });
    });
  });

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
      expect(await lane.submit(charge(60))).toEqual({ type: 'settled', charged: 0, overrun: 60 });
      expect(await lane.submit({ ...request, expected_granted: 400 })).toEqual({ type: 'fenced' });
      expect(await lane.submit(grant(owner, 10))).toEqual({ type: 'fenced' });
      expect((await books(owner)).used).toBe(50);
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

  test('a deposit counts once', async () => {
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
