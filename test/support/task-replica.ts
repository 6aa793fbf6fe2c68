/**
 * The durable actors of Weir in this process, composed as in production, on a real database and
 * with providers that a test scripts.
 */
import { randomUUID } from 'node:crypto';
import { bootstrap } from '../../db/bootstrap.ts';
import { connectDatabase, type Database } from '../../db/client.ts';
import { retireReplica } from '../../db/replicas.ts';
import { Channels } from '../../src/actors/channels/channels.ts';
import { systemClock, systemIdSource } from '../../src/actors/clock.ts';
import { InspectionFeed } from '../../src/actors/durable/inspection.ts';
import type { CommittedElsewhere } from '../../src/actors/durable/registry.ts';
import { Lane } from '../../src/actors/money/lane.ts';
import { Quotas } from '../../src/actors/money/quotas.ts';
import { Replica } from '../../src/actors/replica.ts';
import type { GenerationModel } from '../../src/catalogue/catalogue.ts';
import { demoInstallation } from '../../src/config/demo.ts';
import type { CreateTask, TaskView } from '../../src/inference/tasks/port.ts';
import { composeTasks, type RunningTasks } from '../../src/start/tasks.ts';
import type { ChannelConfig } from '../../src/upstreams/contract.ts';
import type { GenerationProtocol } from '../../src/upstreams/generation/contract.ts';
import { BodyBudget } from '../../src/upstreams/transport/body-budget.ts';
import { channelConfig } from './channels.ts';
import { findMoneyFaults } from './money-faults.ts';
import { hintsTo } from './money-hints.ts';
import { createTestDatabase } from './postgres.ts';
import { until } from './until.ts';

const VIDEO = 'veo-3.1';
export const IMAGE = 'dall-e-3';
const MAX_BODY_BYTES = 512 * 1024 * 1024;

export interface TaskWorld {
  database: Database;
  /** Creates an organization with this balance, and a key of it with this cap. */
  newKey(balance_usd: number, limit_usd?: number): Promise<{ id: string; organization_id: string }>;
  replica(options: ReplicaOptions): Promise<TaskReplica>;
  /** Returns the faults of the books; empty if all is right (P1, P15, P16). */
  imbalances(): Promise<object[]>;
  stop(): Promise<void>;
}

interface ReplicaOptions {
  /**
   * Receives the events that the replica committed. If missing, other replicas must poll the rows.
   */
  announceEvents?: (events: readonly CommittedElsewhere[]) => void;
  /** One channel for each protocol, in order of priority. */
  protocols: readonly GenerationProtocol[];
  channel?: Partial<ChannelConfig>;
  deadline_ms?: number;
  /** Replaces the fetch of a result; default: a few bytes. */
  fetchResult?: () => Promise<{ stream: ReadableStream; content_type: string }>;
}

interface TaskReplica extends RunningTasks {
  replica: Replica;
  quotas: Quotas;
  lane: Lane;
  /** Stored files, by name. */
  files: Map<string, string>;
  announced: string[];
  errors: unknown[];
  create(
    key: { id: string; organization_id: string },
    ask?: Partial<CreateTask> & { name?: string },
  ): Promise<TaskView>;
  /** Waits for the end of a task and returns its view. */
  ended(id: string, organization_id: string): Promise<TaskView>;
  isClosed(): boolean;
  /** Stops everything and returns the grants. */
  close(): Promise<void>;
  /** Stops all work, as a crash does, and declares the replica dead. */
  crash(): Promise<void>;
}

export async function startTaskWorld(): Promise<TaskWorld> {
  const fresh = await createTestDatabase();
  const database = connectDatabase(fresh.url, { pool: 'requests' });
  await bootstrap(database.orm, { balance_nano_usd: 0 });
  const replicas: TaskReplica[] = [];
  const { sql } = database;
  return {
    database,
    async newKey(balance_usd, limit_usd) {
      const id = `key_${randomUUID()}`;
      const organization_id = `org_${randomUUID()}`;
      const balance = Math.round(balance_usd * 1e9);
      const limit = limit_usd === undefined ? null : Math.round(limit_usd * 1e9);
      await sql`insert into organization (id, name, deposited_nano_usd, balance_nano_usd)
        values (${organization_id}, 'test', ${balance}, ${balance})`;
      await sql`insert into deposit (id, organization_id, amount_nano_usd)
        values (${randomUUID()}, ${organization_id}, ${balance})`;
      await sql`insert into api_key (id, organization_id, name, key_hash, key_prefix, limit_nano_usd,
        ceiling_nano_usd) values (${id}, ${organization_id}, 'k', ${id}, 'sk-', ${limit}, ${limit})`;
      return { id, organization_id };
    },
    async replica(options) {
      const replica = await startReplica(database, fresh.url, options);
      replicas.push(replica);
      return replica;
    },
    imbalances: () =>
      findMoneyFaults(sql, {
        memory: replicas
          .filter((each) => !each.isClosed())
          .map(({ replica, quotas }) => ({ replica_id: replica.id, quotas })),
      }),
    async stop() {
      for (const replica of replicas) await replica.close();
      await database.close();
      await fresh.drop();
    },
  };
}

async function startReplica(
  database: Database,
  url: string,
  options: ReplicaOptions,
): Promise<TaskReplica> {
  const { sql } = database;
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const created: Quotas[] = [];
  const hints = hintsTo(() => created);
  const lane = new Lane({ sql, clock: systemClock, hints, onError });
  let isStarted = false;
  const replica: Replica = new Replica({
    sql,
    connectHeartbeat: () => connectDatabase(url, { pool: 'heartbeat', is_volatile: true }),
    clock: systemClock,
    lane,
    exclusive: false,
    onFenced: () => {
      quotas.fence();
      running.registry.onFenced();
    },
    onAdopted: () => isStarted && running.registry.onAdopted(),
    onError,
  });
  await replica.start();
  const quotas: Quotas = new Quotas({
    lane,
    clock: systemClock,
    ids: systemIdSource,
    replica_id: () => replica.id,
    mayAdmit: () => true,
    onFenced: () => undefined,
  });
  created.push(quotas);
  const { catalogue } = demoInstallation('http://unused.invalid');
  const configs = options.protocols.map((_, index) =>
    channelConfig(`channel-${index}`, {
      protocol: 'fal',
      priority: index,
      models: { [VIDEO]: 'physical-video', [IMAGE]: 'physical-image' },
      ...options.channel,
    }),
  );
  const channels = new Channels(
    configs.map((config, index) => ({ ...config, protocol: `p${index}` as 'fal' })),
    systemClock,
  );
  const files = new Map<string, string>();
  const announced: string[] = [];
  const running = composeTasks({
    feed: new InspectionFeed(),
    retention: { circuit_days: 30, record_days: 90, line_days: 400 },
    announceEvents: options.announceEvents ?? (() => undefined),
    requests: sql,
    durable: sql,
    background: sql,
    clock: systemClock,
    ids: systemIdSource,
    random: Math.random,
    hints,
    channels,
    catalogue: () => catalogue,
    replica,
    protocols: Object.fromEntries(options.protocols.map((each, index) => [`p${index}`, each])),
    storage: {
      async put(name, bytes) {
        files.set(name, await new Response(bytes as ReadableStream).text());
      },
    },
    fetchResult:
      options.fetchResult ??
      (async () => ({
        stream: new Response('bytes of a video').body ?? new ReadableStream(),
        content_type: 'video/mp4',
      })),
    bodies: new BodyBudget(MAX_BODY_BYTES),
    announce: async (id) => void announced.push(id),
    onError,
  });
  running.start();
  isStarted = true;
  let closed = false;
  return {
    ...running,
    replica,
    quotas,
    lane,
    files,
    announced,
    errors,
    create: (key, { name = VIDEO, ...ask } = {}) => {
      const found = catalogue.find(name) as GenerationModel;
      const model =
        options.deadline_ms === undefined ? found : { ...found, deadline_ms: options.deadline_ms };
      return running.tasks.create({
        key: { ...key, models: [] } as unknown as CreateTask['key'],
        request_id: randomUUID(),
        model,
        input: ask.input ?? model.contract.accept({ model: name, prompt: 'a cat' }),
        wait: false,
        body_hash: 'hash',
        route: '/v1/videos/generations',
        signal: new AbortController().signal,
        ...ask,
      });
    },
    ended: (id, organization_id) =>
      until(`task ${id} ends`, async () => {
        const view = await running.tasks.find(id, organization_id);
        return view && ['completed', 'failed'].includes(view.status) ? view : undefined;
      }),
    isClosed: () => closed,
    async close() {
      if (closed) return;
      closed = true;
      await running.stop();
      await quotas.close();
      await lane.drain();
      await replica.stop();
    },
    async crash() {
      closed = true;
      // From now on the replica's pollers find no work, and commits of its running work are
      // refused.
      await retireReplica(sql, replica.id);
      await replica.stop();
      await running.timers.stop();
    },
  };
}
