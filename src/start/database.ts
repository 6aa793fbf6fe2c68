import { join } from 'node:path';
import type { Logger } from 'pino';
import { connectDatabase, type Database, type DatabaseSource } from '../../db/client.ts';
import { startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { migrateDatabase } from '../../db/migrate.ts';
import { addMonths } from '../../db/retention/months.ts';
import { numberRestoredUsage } from '../../db/usage/restored.ts';
import { ConfigurationError } from '../config/environment.ts';

/** Time limit of a NOTIFY statement. A message that takes longer arrives too late to be useful. */
const BUS_STATEMENT_TIMEOUT_MS = 2_000;

/** The migrated database of this replica, with one pool per purpose. */
export interface Databases {
  requests: Database;
  lane: Database;
  /**
   * The pool for transactions of durable actors. The lane, the queue that commits ledger commands,
   * has another pool. So neither waits for a connection of the other.
   */
  durable: Database;
  background: Database;
  /** Opens the pool of the bus: one connection for NOTIFY, and one connection for LISTEN. */
  connectBus: () => Database;
  /**
   * Opens the connection of the heartbeat. Its commits do not wait for the disk. A crash of the
   * database may therefore undo the last renewal of the lease, which does no harm.
   */
  connectHeartbeat: () => Database;
  /** True if no other process can use this database. */
  exclusive: boolean;
  /** Closes all pools and stops the embedded server. */
  close(): Promise<void>;
}

/**
 * Connects to `url`, or starts the embedded server in the data folder. Then migrates the database.
 * Throws ConfigurationError if `url` is a transaction pooler.
 */
export async function openDatabases(
  url: string | undefined,
  dataDir: string,
  log: Logger,
): Promise<Databases> {
  if (url && /[?&]pgbouncer=true/.test(url)) {
    throw new ConfigurationError(
      'DATABASE_URL names a transaction pooler, which does not support LISTEN. ' +
        'Connect directly or through a session pooler.',
    );
  }
  const embedded = url
    ? undefined
    : await startEmbeddedPostgres({ data_dir: join(dataDir, 'postgres'), log });
  const source: DatabaseSource = url ?? embedded?.connection ?? '';
  const pools = {
    requests: connectDatabase(source, { pool: 'requests' }),
    lane: connectDatabase(source, { pool: 'lane' }),
    durable: connectDatabase(source, { pool: 'lane' }),
    background: connectDatabase(source, { pool: 'background' }),
  };
  const single = connectDatabase(source, { pool: 'single' });
  try {
    await migrateDatabase(single.sql);
    if (await numberRestoredUsage(single.sql)) log.info('numbered the usage of a restored dump');
    await addMonths(single.sql);
  } finally {
    await single.close();
  }
  return {
    ...pools,
    connectBus: () =>
      connectDatabase(source, {
        pool: 'single',
        statement_timeout_ms: BUS_STATEMENT_TIMEOUT_MS,
        is_volatile: true,
      }),
    connectHeartbeat: () => connectDatabase(source, { pool: 'heartbeat', is_volatile: true }),
    exclusive: embedded !== undefined,
    async close() {
      await Promise.all(Object.values(pools).map((pool) => pool.close()));
      await embedded?.stop();
    },
  };
}
