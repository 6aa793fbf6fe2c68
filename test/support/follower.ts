import pino from 'pino';
import { connectDatabase } from '../../db/client.ts';
import { systemClock } from '../../src/actors/clock.ts';
import { InspectionFeed } from '../../src/actors/durable/inspection.ts';
import { Registry } from '../../src/actors/durable/registry.ts';
import type { TaskEffectDeps } from '../../src/inference/tasks/deps.ts';
import { TASK_KIND, taskKind } from '../../src/inference/tasks/kind.ts';
import { RunningSubmissions } from '../../src/inference/tasks/running.ts';
import { subscribeActors } from '../../src/start/announcements.ts';
import { createBus } from '../../src/start/bus.ts';

/** The live actors of a process that owns no actor and runs no effect. It only watches. */
export interface Follower {
  readonly registry: Registry;
  readonly errors: unknown[];
  stop(): Promise<void>;
}

/** Starts live actors in this process, on the database and the bus of other replicas. */
export async function startFollower(url: string, redis_url?: string): Promise<Follower> {
  const database = connectDatabase(url, { pool: 'background' });
  const replica_id = () => 'follower';
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const bus = await createBus({
    databases: {
      background: database,
      connectBus: () => connectDatabase(url, { pool: 'single' }),
      exclusive: false,
    },
    redis_url,
    replica_id,
    log: pino({ enabled: false }),
  });
  const registry = new Registry({
    sql: database.sql,
    clock: systemClock,
    // A follower applies events, but never runs an effect, so its kind needs no dependencies.
    kinds: new Map([[TASK_KIND, taskKind({} as TaskEffectDeps, new RunningSubmissions())]]),
    feed: new InspectionFeed(),
    replica_id,
    onError,
  });
  subscribeActors(bus, registry, replica_id);
  await bus.start();
  registry.start();
  return {
    registry,
    errors,
    async stop() {
      await registry.stop();
      await bus.stop();
      await database.close();
    },
  };
}
