/** What the simulator of mishaps found, one by one: each with the least that shows it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { systemIdSource } from '../../../src/actors/clock.ts';
import type { Reservation } from '../../../src/actors/money/reservation.ts';
import { usageOf } from '../../sim/calls.ts';
import { FragileReplica } from '../../sim/fragile-replica.ts';
import { applyHints } from '../../sim/hints.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { type Account, openLedger, type TestLedger } from '../../support/ledger.ts';

/** After this time an idle actor was swept twice. */
const SWEPT_MS = 15_000;

describe('after a mishap', () => {
  let ledger: TestLedger;
  let fault: 'none' | 'before' | 'after' = 'none';
  let clock = new VirtualClock();
  let replicas: FragileReplica[] = [];

  beforeAll(async () => {
    ledger = await openLedger();
  });
  afterAll(() => ledger.close());

  /** Starts a replica under an id that is registered already. */
  function replicaOf(id: string): FragileReplica {
    const replica = new FragileReplica(
      {
        sql: ledger.database.sql,
        clock,
        ...systemIdSource,
        faultAt: (point) => (fault === point ? 'cut' : 'none'),
        log: () => undefined,
        publish(from, hints) {
          for (const recall of hints?.recalls ?? [])
            for (const { quotas } of replicas) applyHints(quotas, { type: 'recall', from, recall });
        },
      },
      'A',
      id,
    );
    replicas.push(replica);
    return replica;
  }

  async function open(limit?: number) {
    clock = new VirtualClock();
    replicas = [];
    fault = 'none';
    const account = await ledger.account(limit);
    return { account, replica: replicaOf(account.replica_id) };
  }

  const quotaOf = (replica: FragileReplica, of: Account) =>
    replica.quotas.getOrCreate({ id: of.key_id, organization_id: of.organization_id });
  const lineOf = (of: Account, id: string = systemIdSource.uuid()) => ({
    ...usageOf(of.organization_id, of.key_id),
    id,
  });

  /** Runs transactions and timers until `promise` has its answer; `ms` = for so long. */
  async function drive<Answer>(promise: Promise<Answer>): Promise<Answer>;
  async function drive(ms: number): Promise<void>;
  async function drive(goal: Promise<unknown> | number): Promise<unknown> {
    let hasEnded = false;
    const end = typeof goal === 'number' ? clock.now() + goal : Number.POSITIVE_INFINITY;
    if (typeof goal !== 'number') {
      const stop = () => {
        hasEnded = true;
      };
      goal.then(stop, stop);
    }
    for (let step = 0; step < 2_000 && !hasEnded && clock.now() < end; step += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (hasEnded) break;
      const waiting = replicas.find(({ hasStep }) => hasStep);
      if (waiting) await waiting.runStep();
      else clock.fireNext();
    }
    return typeof goal === 'number' ? undefined : goal;
  }

  async function expectNothingHeld(of: Account): Promise<void> {
    await drive(SWEPT_MS);
    expect(await ledger.books(of)).toMatchObject({ key_held: 0, org_held: 0 });
    for (const { quotas } of replicas) {
      for (const { granted } of quotas.heldByMemory()) expect(granted).toBe(0);
    }
  }

  for (const when of ['before', 'after'] as const) {
    test(`P16: a return whose answer is lost ${when} its commit, for longer than the lane waits, is sent again`, async () => {
      const { account, replica } = await open();
      (
        await drive(quotaOf(replica, account).reserve({ amount: 100, minimum: () => 100 }))
      ).release();
      fault = when;
      await drive(SWEPT_MS);
      expect(replica.quotas.size).toBe(1);
      fault = 'none';
      await expectNothingHeld(account);
      expect(replica.quotas.size).toBe(0);
    });

    test(`P16: a grant whose answer is lost ${when} its commit is found by the sweep of a key without calls`, async () => {
      const { account, replica } = await open();
      fault = when;
      const call = quotaOf(replica, account).reserve({ amount: 100, minimum: () => 100 });
      const refused = await drive(call.catch((error: unknown) => error));
      expect(refused).toMatchObject({ id: 'service_unavailable' });
      fault = 'none';
      await expectNothingHeld(account);
      // The next call opens a grant as usual.
      await drive(quotaOf(replica, account).reserve({ amount: 100, minimum: () => 100 }));
    });
  }

  test('calls that wait behind a return are refused with 503, not with “in flight”', async () => {
    const { account, replica } = await open();
    const quota = quotaOf(replica, account);
    const running = await drive(quota.reserve({ amount: 100, minimum: () => 100 }));
    fault = 'before';
    running.settle(lineOf(account), 100).catch(() => undefined);
    quota.onKeyChanged('active');
    await drive(100);
    const started = clock.now();
    const call = quota.reserve({ amount: 900, minimum: () => 900 });
    const refused = await drive(call.catch((error: unknown) => error));
    expect(refused).toMatchObject({ id: 'service_unavailable' });
    expect(clock.now() - started).toBeLessThan(5_000);
    fault = 'none';
    await expectNothingHeld(account);
  });

  test('P16: a line that another grant paid moves no memory, and a line that two calls share is charged once', async () => {
    const { account, replica } = await open();
    const other_id = `${account.replica_id}-2`;
    await ledger.database.sql`
      insert into replica (id, lease_until) values (${other_id}, now() + interval '1 h')`;
    const other = replicaOf(other_id);
    const id = systemIdSource.uuid();
    for (const each of [replica, other, other]) {
      const quota = quotaOf(each, account);
      const call = await drive(quota.reserve({ amount: 60, minimum: () => 60 }));
      const settled = await drive(call.settle(lineOf(account, id), 50));
      expect(settled).toEqual({ charged: 50, overrun: 0 });
    }
    expect(other.quotas.heldByMemory()).toMatchObject([{ settled: 0 }]);
    await expectNothingHeld(account);
    expect(await ledger.books(account)).toMatchObject({ used: 50 });
  });

  describe('a charge above its reservation', () => {
    const charge = async (of: Account, call: Reservation, actual: number) =>
      drive(call.settle(lineOf(of), actual));

    test('P12: takes free money, also if the key may make no more calls', async () => {
      const { account, replica } = await open();
      const quota = quotaOf(replica, account);
      const call = await drive(quota.reserve({ amount: 100, minimum: () => 100 }));
      await ledger.database.sql`
        update api_key set status = 'revoked' where id = ${account.key_id}`;
      expect(await charge(account, call, 950)).toEqual({ charged: 950, overrun: 0 });
      await expectNothingHeld(account);
    });

    test('P12: is absorbed only beyond the cap, and beyond the balance', async () => {
      for (const { limit, charged } of [
        { limit: 400, charged: 400 },
        { limit: undefined, charged: 1_000 },
      ]) {
        const { account, replica } = await open(limit);
        const quota = quotaOf(replica, account);
        const call = await drive(quota.reserve({ amount: 100, minimum: () => 100 }));
        expect(await charge(account, call, 5_000)).toEqual({ charged, overrun: 5_000 - charged });
        await expectNothingHeld(account);
      }
    });

    test('P12: leaves the money of calls in flight, and takes the unused money of other replicas', async () => {
      const { account, replica } = await open();
      const other_id = `${account.replica_id}-2`;
      await ledger.database.sql`
        insert into replica (id, lease_until) values (${other_id}, now() + interval '1 h')`;
      const other = replicaOf(other_id);
      const call = await drive(
        quotaOf(replica, account).reserve({ amount: 10, minimum: () => 10 }),
      );
      const busy = await drive(quotaOf(other, account).reserve({ amount: 20, minimum: () => 20 }));
      expect(await charge(account, call, 5_000)).toEqual({ charged: 980, overrun: 4_020 });
      busy.release();
      await expectNothingHeld(account);
    });

    test('P12: is not lost while the database is away', async () => {
      const { account, replica } = await open();
      const quota = quotaOf(replica, account);
      const call = await drive(quota.reserve({ amount: 10, minimum: () => 10 }));
      fault = 'before';
      const settled = call.settle(lineOf(account), 900);
      await drive(7_000);
      fault = 'none';
      expect(await drive(settled)).toEqual({ charged: 900, overrun: 0 });
      await expectNothingHeld(account);
    });
  });

  test('P16: a grant that is requested while the replica registers anew is not orphaned', async () => {
    // 0 to 3 steps of the registration happen before the request is sent, the others after. The
    // actor of the key exists before them, or not.
    for (const [before, isKnown] of [0, 1, 2, 3].flatMap((steps) => [
      [steps, true] as const,
      [steps, false] as const,
    ])) {
      const { account, replica } = await open();
      if (isKnown) quotaOf(replica, account);
      replica.doom();
      await ledger.lane.submit({ type: 'REAP', replica_id: replica.id });
      for (let step = 0; step < before; step += 1) await replica.registerAnew();
      const quota = quotaOf(replica, account);
      quota.machine.send({ type: 'REFILL' });
      // A refill needs no call, so it is sent even if no call may be admitted.
      (quota as unknown as { sync: { refill(amount: number): void } }).sync.refill(160);
      await new Promise((resolve) => setImmediate(resolve));
      for (let step = before; step < 3; step += 1) {
        await replica.registerAnew();
        if (replica.hasStep && step === 1) await replica.runStep();
      }
      await expectNothingHeld(account);
    }
  });

  test('P16: an extension that was admitted just before the client left is given back', async () => {
    const { account, replica } = await open();
    const quota = quotaOf(replica, account);
    for (const end of ['settle', 'release'] as const) {
      const call = await drive(quota.reserve({ amount: 20, minimum: () => 20 }));
      const extended = call.extend({ amount: 30, minimum: () => 30 });
      const settled = end === 'settle' ? call.settle(lineOf(account), 20) : call.release();
      expect(await drive(extended)).toBe(0);
      if (settled) await drive(settled);
      expect(quota.snapshot.context.reserved).toBe(0);
    }
    await expectNothingHeld(account);
  });

  test('P16: an extension that waits while the grant of its ended call is closed reserves nothing', async () => {
    const { account, replica } = await open(150);
    const other_id = `${account.replica_id}-2`;
    await ledger.database.sql`
      insert into replica (id, lease_until) values (${other_id}, now() + interval '1 h')`;
    const elsewhere = replicaOf(other_id);
    const other = await drive(
      quotaOf(elsewhere, account).reserve({ amount: 60, minimum: () => 60 }),
    );
    const quota = quotaOf(replica, account);
    const call = await drive(quota.reserve({ amount: 60, minimum: () => 60 }));
    // The other call has the money, so the extension waits.
    const extended = call.extend({ amount: 90, minimum: () => 90, wait_ms: 60_000 });
    await drive(50);
    call.release();
    quota.onRecall(1_000_000);
    await drive(500);
    other.release();
    expect(await drive(extended)).toBe(0);
    expect(quota.snapshot.context.reserved).toBe(0);
    await expectNothingHeld(account);
  });
});
