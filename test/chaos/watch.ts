/**
 * Kills the owner of a task with -9 while the task is watched: through live actors in a third
 * process, and by two clients, whose streams come from two replicas.
 */
import { connectDatabase } from '../../db/client.ts';
import { hashSnapshot } from '../../src/actors/durable/snapshot.ts';
import { TASK_KIND } from '../../src/inference/tasks/kind.ts';
import { compareBooks } from '../support/books/compare-books.ts';
import { differenceText } from '../support/books/difference.ts';
import { findMoneyNotAtRest } from '../support/books/money-at-rest.ts';
import { createVideo } from '../support/create-video.ts';
import { followEvents, type SeenEvent } from '../support/event-source.ts';
import { startFollower } from '../support/follower.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

const MODEL = 'grok-imagine-video';
/** The task must outlive its owner's lease, which ends 10 s after the kill. */
const TASK_MS = 18_000;
const KILL_AFTER_EVENTS = 4;

export interface WatchReport {
  /** The events of each client, in the order of their arrival. */
  clients: SeenEvent[][];
  /** What the watcher of the live actor got: numbers and hashes of the events. */
  watched: { seq: number; hash: string }[];
  /** The number of the event from which the watcher got all events. */
  watched_from: number;
  /** The log: numbers and stored hashes. */
  log: { seq: number; hash: string }[];
  /** How often another replica adopted the task. */
  adoptions: number;
  /** Live task actors on the surviving replica between adoption and end. */
  residents: number;
  charges: number;
  /** Differences between the books, and money that is still held. */
  money: string[];
  errors: unknown[];
}

/** Runs the whole experiment on a fresh database. The replicas talk over Redis if `redis_url` is set. */
export async function watchThroughKill(redis_url?: string): Promise<WatchReport> {
  const simulator = await startSimulator();
  const fresh = await createTestDatabase();
  const database = connectDatabase(fresh.url, { pool: 'single' });
  const channel = {
    ...{ id: 'xai', protocol: 'xai', base_url: `${simulator.url}/xai/v1`, api_key: 'sim-watch' },
    models: { [MODEL]: 'physical' },
  };
  const options = {
    config: JSON.stringify({ channels: [channel] }),
    env: {
      DATABASE_URL: fresh.url,
      WEIR_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
      ...(redis_url ? { REDIS_URL: redis_url } : {}),
    },
  };
  const owner = await startWeir(options);
  const survivor = await startWeir(options);
  const follower = await startFollower(fresh.url, redis_url);
  try {
    const id = await createVideo(owner, MODEL, TASK_MS);
    const url = (weir: RunningWeir) => `${weir.base_url}/v1/tasks/${id}/events`;
    const clients = [
      // The client of the owner goes to the other replica when its connection breaks.
      followEvents((connection) => url(connection === 0 ? owner : survivor), owner.api_key),
      followEvents(() => url(survivor), survivor.api_key),
    ];
    const watched: WatchReport['watched'] = [];
    const watch = await follower.registry.watch({ kind: TASK_KIND, id }, ({ seq, snapshot }) =>
      watched.push({ seq, hash: hashSnapshot(snapshot) }),
    );
    if (!watch) throw new Error('the task does not exist');
    await until('the task is on its way', () => watched.length >= KILL_AFTER_EVENTS);
    owner.kill('SIGKILL');
    await owner.exited;
    const adoptions = async () => {
      const [row] = await database.sql<{ epoch: number }[]>`
        select epoch from actor where id = ${id}`;
      return (row?.epoch ?? 0) - 1;
    };
    await until('the task is adopted', async () => (await adoptions()) > 0, 60_000);
    let residents = 0;
    await until('the adopted task is live', async () => {
      residents = await residentTasks(survivor);
      return residents > 0;
    });
    const seen = await Promise.all(clients);
    await until(
      'the watcher has the end',
      () => follower.registry.find({ kind: TASK_KIND, id }) === undefined,
    );
    const log = await database.sql<WatchReport['log']>`
      select seq, context_hash as hash from actor_event where actor_id = ${id} order by seq`;
    const { sql } = database;
    const [row] = await sql<{ charges: number }[]>`
      select count(*)::int4 as charges from usage_line`;
    // The only call of this experiment is the task's, so its id is the seed.
    const books = { simulator_url: simulator.url, sql, seed: id };
    const differences = (await compareBooks(books)).map(differenceText);
    const at_rest = await findMoneyNotAtRest(sql, { are_grants_returned: false });
    return {
      clients: seen,
      watched,
      watched_from: watch.seq,
      log: log.map(({ seq, hash }) => ({ seq, hash })),
      adoptions: await adoptions(),
      residents,
      charges: row?.charges ?? Number.NaN,
      money: [...differences, ...at_rest],
      errors: follower.errors,
    };
  } finally {
    await follower.stop();
    await owner.stop();
    await survivor.stop();
    await database.close();
    await fresh.drop();
    await simulator.stop();
  }
}

/** Returns what is wrong: an event that somebody missed or got twice, or money. */
export function watchViolations(report: WatchReport): string[] {
  const { clients, watched, watched_from, log } = report;
  const violations: string[] = [];
  const require = (holds: boolean, violation: string) => holds || violations.push(violation);
  const expected = log.filter(({ seq }) => seq > watched_from);
  require(JSON.stringify(watched) ===
    JSON.stringify(
      expected,
    ), 'the watcher of the live actor did not get each event of the log once, with its stored hash');
  const ids = clients.map((events) => events.map(({ id }) => id));
  for (const [client, seen] of ids.entries()) {
    require(isAscending(seen), `client ${client} got an event twice or in the wrong order`);
    require(clients[client]?.at(-1)?.event === 'completed', `client ${client} did not see the end`);
  }
  // Each stream begins with the state at its connection. From then on all clients see the same.
  const from = Math.max(...ids.map(([first = 0]) => first));
  const later = clients.map((events) =>
    JSON.stringify(events.filter(({ id }) => id > from).map(({ id, event }) => [id, event])),
  );
  require(new Set(later).size === 1, 'the clients did not see the same events');
  require(report.adoptions === 1, `the task was adopted ${report.adoptions} times`);
  require(report.residents === 1, `the survivor had ${report.residents} live actors`);
  require(report.charges === 1, `the task was charged ${report.charges} times`);
  return [...violations, ...report.money, ...report.errors.map(String)];
}

const isAscending = (numbers: readonly number[]) =>
  numbers.every((each, index) => index === 0 || each > (numbers[index - 1] ?? 0));

/** Live task actors on a replica, from its metrics. */
async function residentTasks(weir: RunningWeir): Promise<number> {
  const text = await (await fetch(`${weir.base_url}/metrics`)).text();
  return Number(/^weir_resident_actors\{kind="task"\} (\d+)$/m.exec(text)?.[1]);
}
