/**
 * A replica or the database is paused (SIGSTOP), not killed: its connections stay open, and its
 * locks stay held until somebody ends its session.
 */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import { configOf, type KeyAnswer } from '../support/installation.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { pauseDatabase, pauseProcess } from '../support/pauses.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres-server.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(240_000);

const PAUSE_MS = 20_000;
/** Longer than a lease. So every lease is over when the database comes back. */
const DATABASE_PAUSE_MS = 25_000;
/** How soon calls must be admitted after the database came back. */
const BACK_WITHIN_MS = 5_000;

interface Trio {
  postgres: TestPostgres;
  simulator: RunningSimulator;
  database: Database;
  replicas: [RunningWeir, RunningWeir, RunningWeir];
}

let trio: Trio | undefined;
/** Undoes a pause, also if the test failed. */
let resume: (() => void) | undefined;

async function startTrio(): Promise<Trio> {
  const [postgres, simulator] = await Promise.all([startTestPostgres(18), startSimulator()]);
  const options = {
    config: configOf(simulator.url),
    env: {
      DATABASE_URL: postgres.url,
      WEIR_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    },
  };
  const first = await startWeir(options);
  const [second, third] = await Promise.all([startWeir(options), startWeir(options)]);
  const database = connectDatabase(postgres.url, { pool: 'single' });
  trio = { postgres, simulator, database, replicas: [first, second, third] };
  return trio;
}

afterEach(async () => {
  resume?.();
  resume = undefined;
  await Promise.all(trio?.replicas.map((replica) => replica.stop()) ?? []);
  await trio?.database.close();
  await trio?.simulator.stop();
  await trio?.postgres.stop();
  trio = undefined;
});

async function newKey(weir: RunningWeir): Promise<string> {
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'test' }),
  });
  return ((await response.json()) as KeyAnswer).key;
}

function chat(weir: RunningWeir, key: string): Promise<Response> {
  return fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Say it [[sim tokens=10]]' }],
    }),
  });
}

async function replicaRows({ database }: Trio) {
  const rows = await database.sql<{ id: string; status: string }[]>`
    select id, status from replica order by id`;
  return [...rows];
}

const isReady = async (weir: RunningWeir) => (await fetch(`${weir.base_url}/readyz`)).ok;

/**
 * Pauses the replica at a moment when one of its transactions holds locks of money. Each new key
 * needs a grant, and each grant locks the row of the organization.
 */
async function pauseWithLocks({ database }: Trio, victim: RunningWeir): Promise<() => void> {
  const [before] = await database.sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  expect(before).toBeDefined();
  let isBusy = true;
  const clients = Array.from({ length: 4 }, async () => {
    while (isBusy) {
      const answer = await chat(victim, await newKey(victim)).catch(() => undefined);
      await answer?.text().catch(() => undefined);
    }
  });
  void Promise.all(clients).catch(() => undefined);
  return until('the replica is paused inside a transaction', async () => {
    await Bun.sleep(5 + Math.random() * 40);
    const undo = pauseProcess(victim.pid);
    await Bun.sleep(5);
    const [row] = await database.sql<{ n: number }[]>`
      select count(*)::int4 as n from pg_locks join pg_stat_activity using (pid)
      where relation = 'organization'::regclass and mode = 'RowShareLock'
        and application_name = 'weir:lane' and xact_start is not null
        and (state = 'idle in transaction' or wait_event = 'ClientRead')`;
    if (row?.n) {
      isBusy = false;
      return undo;
    }
    undo();
    return undefined;
  });
}

test('P16: while a replica that holds locks of money is paused, the others keep their leases and serve', async () => {
  const all = await startTrio();
  const [first, second, victim] = all.replicas;
  // Only the victim takes part in the load, so its sessions are the ones that hold locks.
  const calm = await newKey(first);
  resume = await pauseWithLocks(all, victim);
  const registered = (await replicaRows(all)).length;
  expect(registered).toBe(3);
  const deadline = performance.now() + PAUSE_MS;
  const answers: string[] = [];
  let missed = 0;
  while (performance.now() < deadline) {
    for (const weir of [first, second]) {
      if (!(await isReady(weir))) missed += 1;
      const answer = await chat(weir, calm);
      const text = await answer.text();
      // The text says why a call was refused.
      answers.push(answer.ok ? 'served' : text);
    }
    await Bun.sleep(250);
  }
  expect(missed).toBe(0);
  const rows = await replicaRows(all);
  // The paused one is declared dead; nobody else is, so nobody registered again.
  expect(rows).toHaveLength(3);
  expect(rows.filter(({ status }) => status === 'dead')).toHaveLength(1);
  // A call may wait a moment for the lock of the silent session, which the server ends.
  expect(answers.slice(-20).filter((answer) => answer !== 'served')).toEqual([]);
  resume();
  resume = undefined;
  await until('the paused replica serves again', async () => {
    const answer = await chat(victim, calm);
    await answer.text();
    return answer.status === 200;
  });
  const after = await replicaRows(all);
  expect(after.filter(({ status }) => status === 'dead')).toHaveLength(1);
  expect(after).toHaveLength(4);
  await until(
    'nothing is held',
    async () => {
      const [row] = await all.database.sql<{ held: number }[]>`
        select sum(held_nano_usd)::int8 as held from organization`;
      return row?.held === 0;
    },
    60_000,
  );
  expect(await findMoneyFaults(all.database.sql)).toEqual([]);
});

test('P16: a database that was paused for longer than a lease fences no replica, and calls are admitted within 5 s', async () => {
  const all = await startTrio();
  const key = await newKey(all.replicas[0]);
  for (const weir of all.replicas) expect((await chat(weir, key)).status).toBe(200);
  resume = pauseDatabase(all.postgres.pid);
  await Bun.sleep(DATABASE_PAUSE_MS);
  resume();
  resume = undefined;
  await Promise.all(
    all.replicas.map((weir) =>
      until(
        'calls are admitted again',
        async () => {
          const answer = await chat(weir, key);
          await answer.text();
          return answer.status === 200;
        },
        BACK_WITHIN_MS,
      ),
    ),
  );
  // Longer than a lease, so that a reaper that judged too early would be seen.
  await Bun.sleep(15_000);
  expect((await replicaRows(all)).map(({ status }) => status)).toEqual(['alive', 'alive', 'alive']);
  expect(await findMoneyFaults(all.database.sql)).toEqual([]);
});
