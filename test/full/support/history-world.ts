/**
 * Two replicas of a real Weir on a fresh database, with real processes of simulated providers. A
 * replica can be killed and restarted, and the clock of the database can be moved.
 */
import type { Sql } from '../../../db/client.ts';
import { Load } from '../../chaos/load.ts';
import { TaskLoad } from '../../chaos/task-load.ts';
import { freePort } from '../../support/ports.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { type RunningWeir, startWeir, type WeirOptions } from '../../support/weir.ts';

/** A key of the organization. */
export interface HistoryKey {
  readonly id: string;
  readonly key: string;
}

/** Weir with the minutes of its housekeeping shortened. */
const QUICK = 'test/full/support/quick-minutes.ts';
/** Beyond the days of the months of a history that crosses a month's end. */
const LATER_DAYS = 100;
const LINE_DAYS = '31';

export class HistoryWorld {
  readonly keys: HistoryKey[] = [];
  /** When replicas were killed and were ready again, in ms of `performance.now()`. */
  readonly kills: { at: number; from_ms: number; until_ms: number }[] = [];
  readonly streams: Load;
  readonly images: TaskLoad;

  private constructor(
    readonly simulator: RunningSimulator,
    private readonly database: TestDatabase,
    private readonly options: readonly WeirOptions[],
    private replicas: RunningWeir[],
    seed: number,
  ) {
    const first = this.replica(0);
    this.streams = new Load(first, seed);
    this.images = new TaskLoad(this.replica(1), seed);
  }

  static async start(seed: number): Promise<HistoryWorld> {
    const [simulator, database, ...ports] = await Promise.all([
      ...([startSimulator(), createTestDatabase()] as const),
      ...[freePort(), freePort()],
    ]);
    const options = ports.map((port) => ({
      port,
      config: configOf(simulator.url),
      env: {
        DATABASE_URL: database.url,
        WEIR_SECRET_KEY: 'the same on both replicas of this test',
        WEIR_BOOTSTRAP_BALANCE_USD: '100000',
      },
    }));
    // The first start makes the organization.
    const [first, second] = options;
    if (!first || !second) throw new Error('there are two replicas');
    const replicas = [await startWeir(first), await startWeir(second)];
    const world = new HistoryWorld(simulator, database, options, replicas, seed);
    for (const name of ['one', 'two', 'without a limit']) {
      world.keys.push(await world.manage<HistoryKey>('/api-keys', 'POST', { name }));
    }
    return world;
  }

  get sql(): Sql {
    return this.database.sql;
  }

  replica(at: number): RunningWeir {
    const found = this.replicas[at];
    if (!found) throw new Error(`there is no replica ${at}`);
    return found;
  }

  /**
   * Kills a replica with -9 and starts it again on the same port. `due_ms` is before the last step before
   * the kill: a commit that began earlier may take as long as this step on a busy machine.
   */
  async killAndRestart(at: number, due_ms: number): Promise<void> {
    const kill = { at, from_ms: due_ms, until_ms: Number.POSITIVE_INFINITY };
    this.kills.push(kill);
    const victim = this.replica(at);
    victim.kill('SIGKILL');
    await victim.exited;
    this.replicas[at] = await startWeir(this.options[at]);
    kill.until_ms = performance.now();
  }

  /** Sends a request with the management token, and returns the response. */
  async fetchManaged(path: string, method = 'GET', body?: object): Promise<Response> {
    const dead = this.kills.find(({ until_ms }) => until_ms === Number.POSITIVE_INFINITY);
    const { base_url, management_token } = this.replica(dead?.at === 0 ? 1 : 0);
    const response = await fetch(`${base_url}/v1/management${path}`, {
      ...{ method, body: body === undefined ? null : JSON.stringify(body) },
      headers: {
        authorization: `Bearer ${management_token}`,
        'content-type': 'application/json',
      },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  async manage<Answer>(path: string, method = 'GET', body?: object): Promise<Answer> {
    return (await this.fetchManaged(path, method, body)).json() as Promise<Answer>;
  }

  /** Stops all replicas. */
  async stopReplicas(): Promise<void> {
    await Promise.all(this.replicas.map((each) => each.stop()));
    this.replicas = [];
  }

  /** Moves the clock of the database, for all who connect to it from now on. */
  async passMonths(): Promise<void> {
    await this.sql`
      create or replace function weir_now() returns timestamptz language sql stable
      as ${this.sql.unsafe(`$$ select clock_timestamp() + interval '${LATER_DAYS} days' $$`)}`;
  }

  /** Starts one replica, which removes the months that are over. */
  async startRemoving(): Promise<void> {
    const [options] = this.options;
    const env = {
      ...options?.env,
      ...{ WEIR_USAGE_LINE_DAYS: LINE_DAYS, WEIR_CALL_RECORD_DAYS: LINE_DAYS },
    };
    this.replicas = [await startWeir({ ...options, main: QUICK, env })];
  }

  /**
   * Kills the replica that removes months with -9, `after_ms` after the totals of a month are written
   * in a transaction that cannot end, because a reader has a lock.
   */
  async killWhileRemoving(after_ms: number): Promise<void> {
    await this.sql.begin(async (reader) => {
      await reader`lock table usage_line in access share mode`;
      const started = this.startRemoving();
      // The server ends a session that is silent in a transaction, so the reader asks.
      for (let waiting = 0; waiting === 0; await Bun.sleep(5)) {
        const [row] = await reader<{ count: number }[]>`
          select count(*)::int4 as count from pg_locks
          where database = (select oid from pg_database where datname = current_database())
            and relation::regclass::text like 'usage_line_%' and granted
            and mode = 'ShareRowExclusiveLock'`;
        waiting = row?.count ?? 0;
      }
      await started;
      await Bun.sleep(after_ms);
      const removing = this.replica(0);
      removing.kill('SIGKILL');
      await removing.exited;
    });
    this.replicas = [];
  }

  async stop(): Promise<void> {
    await Promise.allSettled([this.streams.stop(), this.images.stop()]);
    await this.stopReplicas();
    await this.simulator.stop();
    await this.database.drop();
  }
}

function configOf(url: string): string {
  const channel = (id: string, protocol: string, path: string, models: object, priority = 0) => ({
    ...{ id, protocol, priority, base_url: url + path, api_key: `sim-${id}`, models },
    max_concurrency: 1_000,
  });
  const small = { 'gpt-4o-mini': 'small', 'text-embedding-3-small': 'vectors' };
  const haiku = { 'claude-haiku-4-5': 'haiku' };
  const channels = [
    channel('openai', 'openai', '/openai/v1', small),
    channel('openai-spare', 'openai', '/openai/v1', small, 1),
    channel('anthropic', 'anthropic', '/anthropic', haiku),
    channel('anthropic-spare', 'anthropic', '/anthropic', haiku, 1),
    channel('images', 'midjourney', '/midjourney/mj', { midjourney: 'MID_JOURNEY' }),
    channel('videos', 'kling', '/kling', { 'kling-3.0': 'kling-v3' }),
    channel('late', 'xai', '/xai/v1', { 'grok-imagine-video': 'video' }),
    channel('runway', 'runway', '/runway', { 'runway-gen4.5': 'gen4.5' }),
  ];
  return JSON.stringify({ channels, roles: { standard: 10_000_000 } });
}
