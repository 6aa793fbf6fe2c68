import { join } from 'node:path';
import type { Logger } from 'pino';
import { connectDatabase, type Database, type DatabaseSource } from '../../db/client.ts';
import { startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { migrateDatabase } from '../../db/migrate.ts';
import { ConfigurationError } from '../config/environment.ts';

/** The database of this replica, migrated; one pool per purpose. */
export interface Databases {
  requests: Database;
  lane: Database;
  /** Of durable actors, so that neither their batches nor those of the lane wait for each other. */
  durable: Database;
  background: Database;
  /** True if no other process can use this database. */
  exclusive: boolean;
  close(): Promise<void>;
}

/** Connects to `url`, or starts the embedded server in the data folder (design 6). */
export async function openDatabases(
  url: string | undefined,
  dataDir: string,
  log: Logger,
): Promise<Databases> {
  if (url && /[?&]pgbouncer=true/.test(url)) {
    throw new ConfigurationError(
      'DATABASE_URL leads to a transaction pooler, through which replicas cannot hear each other ' +
        '(LISTEN). Connect directly or through a session pooler.',
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
  } finally {
    await single.close();
  }
  return {
    ...pools,
    exclusive: embedded !== undefined,
    async close() {
      await Promise.all(Object.values(pools).map((pool) => pool.close()));
      await embedded?.stop();
    },
  };
}
