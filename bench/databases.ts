/** A PostgreSQL server as Weir embeds it, with several databases. */
import { join } from 'node:path';
import { connectDatabase, type Sql } from '../db/client.ts';
import { startEmbeddedPostgres } from '../db/embedded/server.ts';

/** Copying or cloning takes longer than a statement of Weir may take. */
const STATEMENT_TIMEOUT_MS = 10 * 60_000;
const NULL_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A running server. Commits are durable (fsync on), as in production. */
export interface Databases {
  /** The `DATABASE_URL` of a database. */
  url(name: string): string;
  /** Creates an empty database, or a copy of `template`, to which no connection may be open. */
  create(name: string, template?: string): Promise<void>;
  drop(name: string): Promise<void>;
  /** Runs `work` with one connection to a database. */
  use<Found>(name: string, work: (sql: Sql) => Promise<Found>): Promise<Found>;
  stop(): Promise<void>;
}

/** Starts a server with its data in `folder`. It ends with this process. */
export async function startDatabases(folder: string): Promise<Databases> {
  const server = await startEmbeddedPostgres({ data_dir: join(folder, 'postgres'), log: NULL_LOG });
  const { host, port, username } = server.connection;
  const use: Databases['use'] = async (name, work) => {
    const options = { pool: 'single', statement_timeout_ms: STATEMENT_TIMEOUT_MS } as const;
    const database = connectDatabase({ ...server.connection, database: name }, options);
    try {
      return await work(database.sql);
    } finally {
      await database.close();
    }
  };
  const administer = (statement: string) =>
    use('postgres', (sql) => sql.unsafe(statement)).then(() => undefined);
  return {
    url: (name) =>
      `postgres://${username}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    async create(name, template = 'template0') {
      await administer(`create database ${name} template ${template} strategy file_copy`);
      // The files are written to the disk now, and not during the measurement.
      await administer('checkpoint');
    },
    drop: (name) => administer(`drop database if exists ${name} with (force)`),
    use,
    stop: () => server.stop(),
  };
}
