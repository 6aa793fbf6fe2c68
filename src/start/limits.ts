import type { Sql } from '../../db/client.ts';
import { readSeenReplicas } from '../../db/replicas.ts';
import { type Clock, systemClock } from '../actors/clock.ts';
import { CallLimits } from '../inference/limits/call-limits.ts';
import { MemoryStore } from '../inference/limits/memory-store.ts';
import { RedisStore } from '../inference/limits/redis-store.ts';
import { Shares } from '../inference/limits/shares.ts';

interface LimitParts {
  readonly sql: Sql;
  readonly redis_url: string | undefined;
  readonly exclusive: boolean;
  readonly replica_id: () => string;
  readonly onError: (error: unknown) => void;
}

/** Starts the limits of keys. They count in Redis if there is one, else a share on each replica. */
export async function startLimits(parts: LimitParts, clock: Clock = systemClock) {
  const { sql, redis_url, exclusive, replica_id, onError } = parts;
  const readReplicas = (ago_ms: number) => readSeenReplicas(sql, ago_ms);
  const shares = new Shares({ clock, replica_id, readReplicas, exclusive, onError });
  const memory = new MemoryStore(
    () => clock.now(),
    (limit) => shares.of(limit),
  );
  if (redis_url === undefined) {
    return { limits: new CallLimits(memory, shares), stop: () => shares.stop() };
  }
  const { Redis } = await import('ioredis');
  const redis = new Redis(redis_url, { enableAutoPipelining: true, maxRetriesPerRequest: 1 });
  redis.on('error', () => undefined);
  const store = new RedisStore({ redis, clock, fallback: memory });
  return {
    limits: new CallLimits(store, shares),
    stop() {
      shares.stop();
      store.stop();
      redis.disconnect();
    },
  };
}
