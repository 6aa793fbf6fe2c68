import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import { Quotas } from '../../../src/actors/money/quotas.ts';
import { compareGrants, UnownedWatch } from '../../../src/actors/money/unowned.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { type Account, grant, hold, openLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
let of: Account;
beforeEach(async () => {
  ledger = await openLedger();
  of = await ledger.account();
});
afterEach(() => ledger.close());

interface Found {
  what: string;
  id: string;
}

function watchOf(known: ConstructorParameters<typeof UnownedWatch>[0]['known']) {
  const found: Found[] = [];
  const watch = new UnownedWatch({
    sql: ledger.database.sql,
    clock: new VirtualClock(),
    lane: ledger.lane,
    replica_id: () => of.replica_id,
    known,
    onFound: (each) => found.push(...each.map(({ what, id }) => ({ what, id }))),
    onError: (error) => {
      throw error;
    },
  });
  return { watch, found };
}

describe('P16: money without a living owner', () => {
  test('a grant that its actor knows is right, and so are an idle and a busy actor', async () => {
    const quotas = new Quotas({
      lane: ledger.lane,
      clock: systemClock,
      ids: systemIdSource,
      replica_id: () => of.replica_id,
      mayAdmit: () => true,
      onFenced: () => undefined,
    });
    const { watch, found } = watchOf(() => quotas.heldByMemory());
    expect(watch.unowned).toBeUndefined();
    await watch.run();
    const quota = quotas.getOrCreate({ id: of.key_id, organization_id: of.organization_id });
    const call = await quota.reserve({ amount: 100, minimum: () => 100, wait_ms: 60_000 });
    for (let turn = 0; turn < 2; turn += 1) await watch.run();
    expect(watch.unowned).toBe(0);
    call.release();
    await quotas.close();
    for (let turn = 0; turn < 2; turn += 1) await watch.run();
    expect(watch.unowned).toBe(0);
    expect(found).toEqual([]);
    await watch.stop();
  });

  test('an open grant that no actor knows counts when it is seen twice, and is then returned', async () => {
    const grant_id = systemIdSource.uuid();
    await ledger.lane.submit(grant(of, 300, grant_id));
    const { watch, found } = watchOf(() => []);
    await watch.run();
    expect(watch.unowned).toBeUndefined();
    await watch.run();
    expect(watch.unowned).toBe(1);
    expect(found).toEqual([{ what: 'grant that no actor knows', id: grant_id }]);
    expect(await ledger.books(of)).toMatchObject({ org_held: 0, key_held: 0 });
    await watch.run();
    expect(watch.unowned).toBe(0);
    await watch.stop();
  });

  test('a grant whose row differs from its actor counts, unless a command is under way', async () => {
    const grant_id = systemIdSource.uuid();
    await ledger.lane.submit(grant(of, 300, grant_id));
    const known = { grant_id, granted: 200, settled: 0, busy: true };
    const { watch, found } = watchOf(() => [{ ...known }]);
    for (let turn = 0; turn < 2; turn += 1) await watch.run();
    expect(watch.unowned).toBe(0);
    known.busy = false;
    for (let turn = 0; turn < 2; turn += 1) await watch.run();
    expect(watch.unowned).toBe(1);
    expect(found).toEqual([{ what: 'grant that differs from its actor', id: grant_id }]);
    await watch.stop();
  });

  test('a grant of a replica whose lease ended long ago counts, and a hold without an actor', async () => {
    const grant_id = systemIdSource.uuid();
    const other = await ledger.account();
    await ledger.lane.submit(grant(other, 300, grant_id));
    const hold_id = systemIdSource.uuid();
    await ledger.lane.submit(hold(of, 300, hold_id));
    const { sql } = ledger.database;
    await sql`update replica set lease_until = now() - interval '30 s' where id = ${other.replica_id}`;
    const { watch, found } = watchOf(() => []);
    for (let turn = 0; turn < 2; turn += 1) await watch.run();
    expect(found).toEqual([{ what: 'hold without an actor', id: hold_id }]);
    await sql`update replica set lease_until = now() - interval '70 s' where id = ${other.replica_id}`;
    await sql`insert into actor (kind, id, machine_version, snapshot, state, seq, live, epoch)
      values ('task', 'task', 1, '{}', 'x', 1, true, 1)`;
    found.length = 0;
    for (let turn = 0; turn < 2; turn += 1) await watch.run();
    expect(found).toEqual([{ what: 'grant of a dead replica', id: grant_id }]);
    await sql`update replica set lease_until = now() + interval '1 h' where id = ${other.replica_id}`;
    await watch.stop();
  });

  test('an actor that changes while the rows are read is not compared', () => {
    const known = { grant_id: 'g', granted: 5, settled: 1, busy: false };
    expect(compareGrants([known], [], [known])).toMatchObject([{ id: 'g', nano_usd: -5 }]);
    expect(compareGrants([known], [], [{ ...known, settled: 2 }])).toEqual([]);
    expect(compareGrants([known], [], [])).toEqual([]);
    expect(compareGrants([], [], [known])).toEqual([]);
  });
});
