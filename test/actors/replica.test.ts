import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { lockLiveReplica } from '../../db/actors/store.ts';
import { connectDatabase, type Database } from '../../db/client.ts';
import { HeartbeatLine } from '../../db/heartbeat-line.ts';
import {
  declareExpiredDead,
  endSilentSessions,
  heartbeat,
  retireReplica,
} from '../../db/replicas.ts';
import { Lane } from '../../src/actors/money/lane.ts';
import { Replica } from '../../src/actors/replica.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { hintsTo } from '../support/money-hints.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { startSilentClient } from '../support/silent-client.ts';
import { until } from '../support/until.ts';

const LEASE_MS = 10_000;
const FRESH_MS = 3_000;

describe('the lease of a replica', () => {
  let fresh: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await createTestDatabase();
    database = connectDatabase(fresh.url, { pool: 'requests' });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  /** A registered replica whose lease ends in `lease_s` seconds. */
  async function register(lease_s: number): Promise<string> {
    const id = `replica-${crypto.randomUUID()}`;
    await database.sql`insert into replica (id, lease_until)
      values (${id}, now() + ${lease_s} * interval '1 second')`;
    return id;
  }

  async function statusOf(id: string): Promise<string | undefined> {
    const [row] = await database.sql<{ status: string }[]>`
      select status from replica where id = ${id}`;
    return row?.status;
  }

  const judge = (id: string) => declareExpiredDead(database.sql, id, LEASE_MS, FRESH_MS);

  /** Holds the lock of a transaction of a durable actor until the returned function is called. */
  async function lockLive(id: string): Promise<() => Promise<void>> {
    const locked = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const done = database.sql.begin(async (tx) => {
      await lockLiveReplica(tx, id);
      locked.resolve();
      await end.promise;
    });
    await locked.promise;
    return async () => {
      end.resolve();
      await done;
    };
  }

  test('is renewed while a transaction of its durable actors is open', async () => {
    const id = await register(5);
    const line = connectDatabase(fresh.url, { pool: 'heartbeat' });
    const unlock = await lockLive(id);
    expect(await heartbeat(line.sql, id, LEASE_MS)).toBe(true);
    await unlock();
    await line.close();
  });

  test('if it ended, the replica is declared dead, but not in the middle of its transaction', async () => {
    const own = await register(LEASE_MS / 1_000);
    const late = await register(-1);
    const unlock = await lockLive(late);
    expect(await judge(own)).toEqual([]);
    await unlock();
    expect(await judge(own)).toEqual([late]);
    expect(await statusOf(late)).toBe('dead');
    expect(await heartbeat(database.sql, late, LEASE_MS)).toBe(false);
  });

  test('is judged only by a replica that has just renewed its own', async () => {
    const late = await register(-1);
    // Such a judge was paused, or the database was away, after its last heartbeat.
    for (const lease_s of [-1, 1, 6.5]) expect(await judge(await register(lease_s))).toEqual([]);
    const dead = await register(LEASE_MS / 1_000);
    await retireReplica(database.sql, dead);
    expect(await judge(dead)).toEqual([]);
    expect(await statusOf(late)).toBe('alive');
    await retireReplica(database.sql, late);
  });

  test('is judged only after the judge itself has beaten for a whole lease without a gap', async () => {
    const clock = new VirtualClock();
    const errors: unknown[] = [];
    const lane = new Lane({
      sql: database.sql,
      clock,
      hints: hintsTo(() => []),
      onError: (error) => errors.push(error),
    });
    const replica = new Replica({
      sql: database.sql,
      connectHeartbeat: () => connectDatabase(fresh.url, { pool: 'heartbeat' }),
      clock,
      lane,
      exclusive: false,
      onFenced: () => errors.push('fenced'),
      onError: (error) => errors.push(error),
    });
    await replica.start();
    /** Lets the next heartbeat run, and waits for its end: another one is scheduled. */
    const beat = async (after_ms: number) => {
      clock.advance(after_ms);
      await until('the next heartbeat is scheduled', () => clock.nextInMs === 2_000);
      await Bun.sleep(50);
    };
    const first = await register(-1);
    for (let at_ms = 2_000; at_ms < LEASE_MS; at_ms += 2_000) await beat(2_000);
    expect(await statusOf(first)).toBe('alive');
    await beat(2_000);
    await until('the late replica is dead', async () => (await statusOf(first)) === 'dead');
    // A pause of this process or of the database.
    const second = await register(-1);
    clock.advance(30_000);
    await until('the heartbeat before the pause has failed', () => clock.nextInMs === 500);
    expect(errors.splice(0).map(String)).toEqual([expect.stringContaining('did not answer')]);
    await beat(500);
    expect(replica.lapses).toBe(1);
    for (let at_ms = 2_000; at_ms < LEASE_MS; at_ms += 2_000) await beat(2_000);
    expect(await statusOf(second)).toBe('alive');
    await beat(2_000);
    await until('the late replica is dead', async () => (await statusOf(second)) === 'dead');
    expect(errors).toEqual([]);
    expect(replica.fenced).toBe(0);
    await replica.stop();
  });

  test('P16: is renewed while the reaping waits for the lock of a silent session', async () => {
    const clock = new VirtualClock();
    const lane = new Lane({
      sql: connectDatabase(fresh.url, { pool: 'lane' }).sql,
      clock,
      hints: hintsTo(() => []),
      onError: () => undefined,
    });
    const replica = new Replica({
      sql: database.sql,
      connectHeartbeat: () => connectDatabase(fresh.url, { pool: 'heartbeat' }),
      clock,
      lane,
      exclusive: false,
      onFenced: () => undefined,
      onError: () => undefined,
    });
    await replica.start();
    const { sql } = database;
    const dead = await register(-1);
    await sql`insert into organization (id, name, deposited_nano_usd, held_nano_usd)
      values ('held', 'test', 5, 5)`;
    await sql`insert into api_key (id, organization_id, name, key_hash, key_prefix, held_nano_usd)
      values ('held', 'held', 'test', 'held', 'sk-', 5)`;
    await sql`insert into quota_grant (id, key_id, organization_id, replica_id, granted_nano_usd)
      values (${crypto.randomUUID()}, 'held', 'held', ${dead}, 5)`;
    await retireReplica(sql, dead);
    // This session has no time-out, as if it belonged to another program.
    const holder = connectDatabase(fresh.url, { pool: 'single' });
    const end = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = holder.sql.begin(async (tx) => {
      await tx`select 1 from organization where id = 'held' for update`;
      locked.resolve();
      await end.promise;
    });
    await locked.promise;
    const leaseOf = async () => {
      const [row] = await sql<{ until: Date }[]>`
        select lease_until as until from replica where id = ${replica.id}`;
      return row?.until.getTime() ?? 0;
    };
    for (let turn = 0; turn < 3; turn += 1) {
      const before = await leaseOf();
      clock.advance(2_000);
      await until('the lease is renewed', async () => (await leaseOf()) > before, 1_500);
      await Bun.sleep(200);
    }
    end.resolve();
    await holding;
    await until('the grant of the dead replica is returned', async () => {
      clock.advance(500);
      const [row] = await sql<{ held: number }[]>`
        select held_nano_usd as held from api_key where id = 'held'`;
      return row?.held === 0;
    });
    await replica.stop();
    await holder.close();
  });

  test('P16: a session that is silent in the middle of a statement loses its locks, a busy one does not', async () => {
    const { sql } = database;
    await sql`insert into organization (id, name) values ('silent', 'test')`;
    const silent = await startSilentClient(fresh.url, 'select 1 from organization for update');
    const busy = connectDatabase(fresh.url, { pool: 'lane' });
    const work = busy.sql`select pg_sleep(3)`.execute();
    const isFree = () =>
      sql`select 1 from organization where id = 'silent' for update nowait`.then(
        () => true,
        () => false,
      );
    // Longer than every time-out of such a session, but the one of statements: 1.5 s.
    await Bun.sleep(2_500);
    expect(await isFree()).toBe(false);
    await endSilentSessions(sql);
    await until('the lock is free', isFree);
    await work;
    silent.end();
    await busy.close();
  });

  test('a heartbeat that gets no answer drops its connection, and the next one opens another', async () => {
    const clock = new VirtualClock();
    let opened = 0;
    const line = new HeartbeatLine(() => {
      opened += 1;
      return connectDatabase(fresh.url, { pool: 'heartbeat', statement_timeout_ms: 60_000 });
    }, clock.after.bind(clock));
    await line.run((sql) => sql`select 1`.execute());
    const silent = line.run((sql) => sql`select pg_sleep(50)`.execute());
    clock.advance(3_000);
    await expect(silent).rejects.toThrow('did not answer');
    expect(await line.run(async (sql) => (await sql`select 1 as one`)[0]?.['one'])).toBe(1);
    expect(opened).toBe(2);
    line.close();
  });
});
