import { join } from 'node:path';
import type { Sql } from 'postgres';
import { connectDatabase } from '../../db/client.ts';
import { startEmbeddedPostgres } from '../../db/embedded/server.ts';

const NULL_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Opens the database of a stopped Weir and runs `work` with it. */
export async function withDatabaseOf<Found>(
  data: string,
  work: (sql: Sql) => Promise<Found>,
): Promise<Found> {
  const server = await startEmbeddedPostgres({ data_dir: join(data, 'postgres'), log: NULL_LOG });
  const database = connectDatabase(server.connection, { pool: 'single' });
  try {
    return await work(database.sql);
  } finally {
    await database.close();
    await server.stop();
  }
}
