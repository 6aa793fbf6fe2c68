/** Every transaction that moves money locks its rows in one order, so none ever fails in a deadlock. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connectDatabase } from '../../../db/client.ts';
import { systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import { Lane } from '../../../src/actors/money/lane.ts';
import { Random } from '../../sim/random.ts';
import {
  type Account,
  grant,
  hold,
  line,
  openLedger,
  type TestLedger,
} from '../../support/ledger.ts';
import { noHints } from '../../support/money-hints.ts';
import { beginSilent } from '../../support/silent-transaction.ts';
import { until } from '../../support/until.ts';

let ledger: TestLedger;
const databases: { close(): Promise<void> }[] = [];
const errors: { code?: string }[] = [];

beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(async () => {
  for (const database of databases) await database.close();
  await ledger.close();
});

/** A lane of another process. */
async function openLane(url: string): Promise<Lane> {
  const database = connectDatabase(url, { pool: 'lane' });
  databases.push(database);
  const onError = (error: unknown) => void errors.push(error as { code?: string });
  return new Lane({ sql: database.sql, clock: systemClock, hints: noHints, onError });
}

async function urlOf(): Promise<string> {
  const { options } = ledger.database.sql;
  const [host] = options.host;
  const [port] = options.port;
  return `postgres://${options.user}:${options.pass ?? ''}@${host}:${port}/${options.database}`;
}

const settle = (of: Account, grant_id: string, amount = 1) =>
  ({ type: 'SETTLE', line: { ...line(of, amount), grant_id } }) as const;

test('a batch of charges and returns waits for a reaping, and neither fails', async () => {
  const { sql } = ledger.database;
  const of = await ledger.account();
  const ask = grant(of, 400);
  const lane = await openLane(await urlOf());
  const reaper = await openLane(await urlOf());
  await lane.submit(ask);
  const [locked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const blocked = beginSilent(sql, async (tx) => {
    await tx`select 1 from organization where id = ${of.organization_id} for update`;
    locked.resolve();
    await gate.promise;
  });
  await locked.promise;
  const waiters = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int4 as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    return row?.count ?? 0;
  };
  const reaping = reaper.submit({ type: 'REAP', replica_id: of.replica_id });
  await until('the reaping waits', async () => (await waiters()) === 1);
  const mixed = [lane.submit(settle(of, ask.grant_id)), lane.submit(hold(of, 10))];
  await until('the batch waits', async () => (await waiters()) === 2);
  gate.resolve();
  await blocked;
  expect((await reaping).type).toBe('reaped');
  expect((await Promise.all(mixed)).map(({ type }) => type)).toEqual(['settled', 'held']);
  expect(errors).toEqual([]);
});

test('P1: random batches of three replicas that reap each other never meet a deadlock', async () => {
  const { sql } = ledger.database;
  const random = new Random(20_261_122);
  const accounts = await Promise.all(Array.from({ length: 4 }, () => ledger.account()));
  const lanes = await Promise.all(
    [urlOf(), urlOf(), urlOf()].map(async (url) => openLane(await url)),
  );
  const ids = lanes.map((_, number) => `${systemIdSource.uuid()}-${number}`);
  const names = [...ids];
  const rename = async (at: number) => {
    names[at] = `${ids[at]}-${systemIdSource.uuid()}`;
    await sql`insert into replica (id, lease_until) values (${names[at] ?? ''}, now() + interval '1 h')`;
  };
  for (const at of names.keys()) await rename(at);
  const holds: string[] = [];
  const open: { of: Account; grant_id: string }[][] = lanes.map(() => []);
  for (let round = 0; round < 60; round += 1) {
    await Promise.all(
      lanes.map(async (lane, at) => {
        const known = open[at] ?? [];
        const commands = Array.from({ length: 6 }, () => {
          const of = random.pick(accounts);
          const mine = known.length > 0 ? random.pick(known) : undefined;
          const others = open[(at + 1) % lanes.length] ?? [];
          const hold_id = systemIdSource.uuid();
          switch (random.below(8)) {
            case 0:
              if (holds.length > 0)
                return lane.submit({
                  type: 'SETTLE_HOLD',
                  hold_id: random.pick(holds),
                  line: line(of, 3),
                });
              return lane.submit(hold(of, 2, hold_id)).then(() => void holds.push(hold_id));
            case 1: {
              const victim = (at + 1) % lanes.length;
              const replica_id = names[victim] ?? '';
              return rename(victim).then(() => lane.submit({ type: 'REAP', replica_id }));
            }
            case 2: {
              const grant_id = systemIdSource.uuid();
              const ask = { ...grant(of, 5, grant_id), replica_id: names[at] ?? '' };
              return lane.submit(ask).then(() => void known.push({ of, grant_id }));
            }
            case 3:
              return lane.submit({
                ...{ type: 'RETURN', ...(mine?.of ?? of), amount: 0, recall_acked: round },
                ...{ grant_id: mine?.grant_id ?? hold_id, expected_granted: 5, close: false },
              });
            default: {
              // Two processes may charge one grant if the connection of one broke.
              const target = random.chance(0.3) && others.length > 0 ? random.pick(others) : mine;
              return target && lane.submit(settle(target.of, target.grant_id, 0));
            }
          }
        });
        await Promise.allSettled(commands);
      }),
    );
  }
  expect(errors.filter(({ code }) => code === '40P01')).toEqual([]);
}, 60_000);
