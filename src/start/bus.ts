import type { Logger } from 'pino';
import { readDatabaseIdentity } from '../../db/replicas.ts';
import { Bus } from '../actors/bus/bus.ts';
import { inProcessTransport } from '../actors/bus/in-process.ts';
import { PostgresTransport } from '../actors/bus/postgres.ts';
import type { Transport } from '../actors/bus/transport.ts';
import { systemClock, systemIdSource } from '../actors/clock.ts';
import type { MoneyHintPublisher } from '../actors/money/money-hints.ts';
import type { Databases } from './database.ts';

/** The settings and parts that decide how replicas reach each other. */
export interface BusParts {
  readonly databases: Pick<Databases, 'background' | 'connectBus' | 'exclusive'>;
  readonly redis_url: string | undefined;
  readonly replica_id: () => string;
  readonly log: Logger;
}

/**
 * Returns the bus of this replica. The caller must start it. If a Redis is configured, messages go
 * over Redis. Otherwise they go over the database. If no other process can use the database, they
 * stay within this process.
 */
export async function createBus({ databases, redis_url, replica_id, log }: BusParts): Promise<Bus> {
  return new Bus({
    transport: await transportOf(databases, redis_url, log),
    clock: systemClock,
    ids: systemIdSource,
    replica_id,
    onError: (error) => log.warn({ error: String(error) }, 'the bus between replicas fails'),
  });
}

async function transportOf(
  databases: BusParts['databases'],
  redis_url: string | undefined,
  log: Logger,
): Promise<Transport> {
  if (redis_url !== undefined) {
    // Several installations may share a Redis.
    const identity = await readDatabaseIdentity(databases.background.sql);
    // Most installations have no Redis, and its client takes a tenth of the start.
    const { RedisTransport } = await import('../actors/bus/redis.ts');
    return new RedisTransport(redis_url, `weir_bus:${identity}`, (error) =>
      log.debug({ error: error.message }, 'the bus cannot reach Redis'),
    );
  }
  return databases.exclusive ? inProcessTransport : new PostgresTransport(databases.connectBus);
}

/** Returns a publisher that sends the hints of the ledger over the bus. */
export function moneyHintsOver(bus: Bus): MoneyHintPublisher {
  return {
    publish({ recalls, organization_ids }) {
      for (const recall of recalls) bus.publish('recall', recall);
      for (const organization_id of organization_ids) bus.publish('money', { organization_id });
    },
    // A lost recall needs no gap: the call that waits for the money sends the recall again.
    publishUnknown: () => bus.publishGap('money'),
  };
}
