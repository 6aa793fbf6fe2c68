import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net';
import { eq } from 'drizzle-orm';
import { connectDatabase, type Database, POOLS, type PoolName } from '../../db/client.ts';
import { organization } from '../../db/schema.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { POSTGRES_VERSIONS } from '../support/postgres-server.ts';

describe.each([...POSTGRES_VERSIONS])('the driver on PostgreSQL %d', (version) => {
  let target: TestDatabase;
  const opened: Database[] = [];

  function connect(pool: PoolName, url = target.url): Database {
    const database = connectDatabase(url, { pool });
    opened.push(database);
    return database;
  }

  beforeAll(async () => {
    target = await createTestDatabase(version);
    await target.sql`CREATE TABLE note (value int PRIMARY KEY)`;
  });

  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await target.drop();
  });

  test('connects to the right version', async () => {
    const [row] = await target.sql`SHOW server_version_num`;
    expect(Math.floor(Number(row?.server_version_num) / 10_000)).toBe(version);
  });

  test('an int8 is written and read exactly; an inexact number throws RangeError', async () => {
    const largest = Number.MAX_SAFE_INTEGER;
    const [row] =
      await target.sql`SELECT ${largest}::int8 AS one, ${[1, -largest]}::int8[] AS many`;
    expect(row).toMatchObject({ one: largest, many: [1, -largest] });
    for (const inexact of [largest + 1, 0.5, Number.NaN, '']) {
      await expect(target.sql`SELECT ${inexact}::int8`.execute()).rejects.toThrow(RangeError);
    }
    await expect(target.sql`SELECT 9007199254740993 AS one`.execute()).rejects.toThrow(RangeError);
    // The connections still work.
    expect(await target.sql`SELECT 1 AS one`).toMatchObject([{ one: 1 }]);
  });

  test.each([
    ...['0001-01-01T00:00:00.000Z', '0028-09-10T18:22:15.635Z', '0099-12-31T23:59:59.999Z'],
    ...['1969-12-31T23:59:59.999Z', '2026-11-25T00:00:00.001Z', '9999-12-31T23:59:59.999Z'],
  ])('the timestamptz %s comes back as the same instant', async (text) => {
    const at = new Date(text);
    const [row] = await target.sql`
      select ${at}::timestamptz as at, array[${at}::timestamptz] as ats`;
    expect({ ...row }).toEqual({ at, ats: [at] });
  });

  test('a timestamptz is a Date, a jsonb is a value, through the driver and through Drizzle', async () => {
    const instant = new Date('2024-02-29T12:34:56.789Z');
    const [row] = await target.sql`
      SELECT ${instant}::timestamptz AS at, ${target.sql.array([instant], 1185)}::timestamptz[] AS ats,
             ${target.sql.json({ type: 'x', n: [1] })} AS value, ${'{"text":1}'}::jsonb AS text`;
    expect(row).toMatchObject({
      at: instant,
      ats: [instant],
      value: { type: 'x', n: [1] },
      text: { text: 1 },
    });
    const { orm } = connect('single');
    await orm.insert(organization).values({ id: 'org', name: 'Org', created_at: instant });
    const [stored] = await orm.select().from(organization).where(eq(organization.id, 'org'));
    expect(stored).toMatchObject({ created_at: instant, balance_nano_usd: 0 });
    const [raw] = await target.sql`SELECT created_at FROM organization WHERE id = 'org'`;
    expect(raw?.created_at).toEqual(instant);
  });

  test('every wait and every pool has a limit, and connections have a name', async () => {
    const { sql } = connect('lane');
    const [row] = await sql`
      SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
             current_setting('idle_in_transaction_session_timeout') AS idle,
             current_setting('application_name') AS name, current_setting('TimeZone') AS zone`;
    expect(row).toMatchObject({
      statement: '10s',
      lock: '2s',
      idle: '1s',
      name: 'weir:lane',
      zone: 'UTC',
    });
    await Promise.all(Array.from({ length: 30 }, () => sql`SELECT pg_sleep(0.01)`));
    const [count] = await sql`
      SELECT count(*)::int8 AS n FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'weir:lane'`;
    expect(count?.n).toBe(POOLS.lane);
  });

  test.each([
    ['lane', 0],
    ['requests', 5],
  ] as const)('a statement of the pool %s is planned anew %p times', async (pool, custom_plans) => {
    const { sql } = connect(pool);
    const plans = await sql.begin(async (tx) => {
      // With few values, a new plan seems cheaper than the general one.
      for (let round = 0; round < 9; round += 1) {
        await tx`select count(*) from unnest(${[1, 2]}::int4[]) as value join pg_class on oid = value`;
      }
      return tx<{ custom_plans: number }[]>`
        select custom_plans from pg_prepared_statements where statement like '%unnest%'
          and statement not like '%prepared%'`;
    });
    expect(plans[0]?.custom_plans).toBeGreaterThanOrEqual(custom_plans);
    if (custom_plans === 0) expect(plans[0]?.custom_plans).toBe(0);
  });

  test('with a transaction pooler the session gets no settings and no prepared statements', async () => {
    const { sql } = connect('single', `${target.url}?pgbouncer=true`);
    const [row] = await sql`
      SELECT current_setting('statement_timeout') AS timeout, ${1}::int AS parameter,
             (SELECT count(*)::int8 FROM pg_prepared_statements WHERE name <> '') AS prepared`;
    expect(row).toMatchObject({ timeout: '0', prepared: 0 });
  });

  test('a pool recovers from repeatedly closed connections', async () => {
    const { sql } = connect('lane');
    for (let round = 0; round < 20; round++) {
      const load = Array.from({ length: 12 }, () => sql`SELECT pg_sleep(0.002)`.catch(() => {}));
      await cut(target, 'weir:lane');
      await Promise.all(load);
    }
    // Every connection works after the last cut, and closing the pool waits for no closed connection.
    const queries = Array.from({ length: 8 }, () => retried(() => sql`SELECT pg_sleep(0.01)`));
    await Promise.all(queries);
    await sql.end();
  });

  test('a connection that is cut while it reads array types causes no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    const proxy = cuttingProxy(target.url, 'pg_catalog.pg_type');
    try {
      const { sql } = connect('single', proxy.url);
      const [row] = await retried(() => sql`SELECT ${[1, 2]}::int[] AS numbers`);
      expect(row).toMatchObject({ numbers: [1, 2] });
      expect(proxy.cuts).toBe(1);
      await Bun.sleep(0);
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
      proxy.stop();
    }
  });

  test('a transaction that lost its connection cannot write into another transaction', async () => {
    const { sql } = connect('single');
    await sql`SELECT 1`;
    const work_ended = Promise.withResolvers<unknown>();
    const lost = sql.begin(async (transaction) => {
      try {
        await transaction`INSERT INTO note VALUES (1)`;
        await cut(target, 'weir:single');
        // Now the only connection of this pool may serve another transaction.
        await retried(() => sql`INSERT INTO note VALUES (2)`);
        await transaction`INSERT INTO note VALUES (3)`;
        work_ended.resolve('undisturbed');
      } catch (error) {
        work_ended.resolve(error);
      }
    });
    await expect(lost).rejects.toThrow('CONNECTION_CLOSED');
    expect(await work_ended.promise).toMatchObject({ code: 'CONNECTION_CLOSED' });
    const rows = await target.sql`SELECT value FROM note ORDER BY value`;
    expect(rows.map((row) => row.value)).toEqual([2]);
  });
});

/** Ends every session with this name in the database, like a failover of the database. */
async function cut(target: TestDatabase, application_name: string): Promise<void> {
  await target.sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = ${application_name}
      AND pid <> pg_backend_pid()`;
}

/** A proxy before a database that cuts the first connection that sends `pattern`. */
function cuttingProxy(url: string, pattern: string) {
  const database = new URL(url);
  const state = { cuts: 0 };
  const server = createServer((client) => {
    const upstream = connectSocket(Number(database.port), database.hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    client.on('error', end).on('close', end);
    upstream.on('error', end).on('close', end);
    upstream.on('data', (bytes) => client.write(bytes));
    client.on('data', (bytes) => {
      if (state.cuts > 0 || !bytes.includes(pattern)) return upstream.write(bytes);
      state.cuts += 1;
      return end();
    });
  }).listen(0, '127.0.0.1');
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  through.hostname = '127.0.0.1';
  return {
    url: through.href,
    get cuts() {
      return state.cuts;
    },
    stop: () => server.close(),
  };
}

/** Retries a statement: after a cut it may fail once for each connection that was cut. */
async function retried<T>(statement: () => PromiseLike<T>): Promise<T> {
  for (let tries_left = 100; ; tries_left--) {
    try {
      return await statement();
    } catch (error) {
      if (tries_left === 0) throw error;
      await Bun.sleep(10);
    }
  }
}
