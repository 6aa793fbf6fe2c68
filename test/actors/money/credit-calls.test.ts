/** Calls of two replicas, while an operator lends and takes back money, and suspends (P1, P2, P16). */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import { Lane } from '../../../src/actors/money/lane.ts';
import { applyMoneyCommands, type MoneyCommand } from '../../../src/actors/money/ledger.ts';
import { Quotas } from '../../../src/actors/money/quotas.ts';
import { usageOf } from '../../sim/calls.ts';
import { findMoneyFaults } from '../../support/money-faults.ts';
import { hintsTo } from '../../support/money-hints.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(120_000);

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const fresh = await createTestDatabase();
  drop = fresh.drop;
  database = connectDatabase(fresh.url, { pool: 'lane' });
});
afterAll(async () => {
  await database.close();
  await drop();
});

const PAID = 300_000;
const KEYS = 2;
/**
 * Why a call may be refused here. While a recall runs, a call that stops waiting does not know yet which
 * of its two limits is too low.
 */
const REFUSALS = [
  ...['insufficient_balance', 'balance_in_flight', 'quota_in_flight', 'organization_suspended'],
];

type Status = 'active' | 'suspended';

/** An organization with two keys, on two replicas. */
async function openWorld() {
  const { sql } = database;
  const organization_id = `org_${crypto.randomUUID()}`;
  await sql`insert into organization (id, name) values (${organization_id}, 'test')`;
  const keys = Array.from({ length: KEYS }, () => `key_${crypto.randomUUID()}`);
  for (const id of keys) {
    await sql`insert into api_key (id, organization_id, name, key_hash, key_prefix)
      values (${id}, ${organization_id}, 'test', ${id}, 'sk-')`;
  }
  const all: Quotas[] = [];
  const hints = hintsTo(() => all);
  const replicas = [1, 2].map(() => {
    const replica_id = `replica_${crypto.randomUUID()}`;
    const lane = new Lane({ sql, clock: systemClock, hints, onError: () => undefined });
    const quotas = new Quotas({
      ...{ lane, clock: systemClock, ids: systemIdSource, replica_id: () => replica_id },
      ...{ mayAdmit: () => true, onFenced: () => undefined },
    });
    all.push(quotas);
    return { replica_id, quotas };
  });
  for (const { replica_id } of replicas) {
    await sql`insert into replica (id, lease_until) values (${replica_id}, now() + interval '1 h')`;
  }

  /** Moves money in a transaction of its own, as the routes of operators do. */
  async function move(command: MoneyCommand): Promise<void> {
    const moved = await sql.begin(async (tx) => {
      await tx`select from organization where id = ${organization_id} for no key update`;
      return applyMoneyCommands(tx, [command]);
    });
    hints.publish(moved.hints);
  }

  return {
    ...{ organization_id, replicas, move },
    deposit: (amount: number) =>
      move({
        ...{ type: 'DEPOSIT', deposit_id: systemIdSource.uuid(), organization_id, amount },
        note: '',
      }),
    async setStatus(status: Status) {
      await sql`update organization set status = ${status} where id = ${organization_id}`;
      for (const { quotas } of replicas) quotas.onOrganizationChanged(organization_id, status);
    },
    /** Makes a call, and returns its charge: 0 if it was refused. */
    async call(replica: number, key: number, { amount, actual, took_ms }: Call): Promise<number> {
      const id = keys[key] ?? '';
      const quota = replicas[replica]?.quotas.getOrCreate({ id, organization_id });
      if (!quota) throw new Error('no replica');
      try {
        const request = { amount, minimum: () => amount, wait_ms: 300 };
        const reservation = await quota.reserve(request);
        await Bun.sleep(took_ms);
        if (actual === 0) reservation.release();
        else return (await reservation.settle(usageOf(organization_id, id), actual)).charged;
      } catch (error) {
        expect(REFUSALS).toContain((error as { id?: string }).id ?? String(error));
      }
      return 0;
    },
  };
}

interface Call {
  amount: number;
  actual: number;
  took_ms: number;
}

const call = fc.record({
  amount: fc.integer({ min: 1, max: 120_000 }),
  actual: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 130_000 })),
  took_ms: fc.nat(15),
});
const at_ms = fc.nat(60);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ do: fc.constant('call' as const), at_ms, call },
      ...{ replica: fc.nat(1), key: fc.nat(KEYS - 1) },
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ do: fc.constant('lend' as const), at_ms },
      limit: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 400_000 })),
    }),
  },
  fc.record({
    ...{ do: fc.constant('pay' as const), at_ms },
    amount: fc.integer({ min: 1, max: 99_999 }),
  }),
  fc.record({
    ...{ do: fc.constant('set' as const), at_ms },
    status: fc.constantFrom<Status>('active', 'suspended'),
  }),
);

test('P1, P2, P16: whatever happens at once, the books balance and no money stays held', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const world = await openWorld();
      await world.deposit(PAID);
      let paid = PAID;
      let charged = 0;
      await Promise.all(
        steps.map(async (next) => {
          await Bun.sleep(next.at_ms);
          if (next.do === 'call') {
            const charge = await world.call(next.replica, next.key, next.call);
            charged += charge;
          } else if (next.do === 'set') await world.setStatus(next.status);
          else if (next.do === 'pay') {
            paid += next.amount;
            await world.deposit(next.amount);
          } else {
            const { organization_id } = world;
            await world.move({ type: 'CREDIT', organization_id, limit: next.limit });
          }
        }),
      );
      for (const { quotas } of world.replicas) await quotas.close();
      expect(await findMoneyFaults(database.sql, { memory: world.replicas })).toEqual([]);
      const [row] = await database.sql<
        { balance: number; held: number; settled: number; line: number; credit: number }[]
      >`select balance_nano_usd as balance, held_nano_usd as held, settled_nano_usd as settled,
          credit_limit_nano_usd as line, credit_nano_usd as credit
        from organization where id = ${world.organization_id}`;
      if (!row) throw new Error('no organization');
      expect(row).toMatchObject({ held: 0, settled: charged });
      // What is above the line is owed: paid and credit together are spent.
      expect(row.credit).toBe(Math.max(row.line, Math.min(row.credit, charged - paid)));
      expect(row.balance).toBe(paid + row.credit - charged);
    }),
    { numRuns: 20, endOnFailure: true },
  );
});
