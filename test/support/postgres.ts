/**
 * Gives each test file its own database in about 50 ms: a copy of a template that was migrated
 * once per server.
 */
import { createHash, randomBytes } from 'node:crypto';
import { connectDatabase, type Database, type Sql } from '../../db/client.ts';
import { MIGRATIONS_DIR, migrateDatabase } from '../../db/migrate.ts';
import { type PostgresVersion, startTestPostgres } from './postgres-server.ts';

export interface TestDatabase {
  /** URL for `connectDatabase` or `DATABASE_URL`. */
  url: string;
  name: string;
  /** A pool of 16 connections, opened on first use and closed by {@link TestDatabase.drop}. */
  readonly sql: Sql;
  /** Ends all connections to the database and removes the database. */
  drop(): Promise<void>;
}

/**
 * The number of an advisory lock. Any number works, but all test processes must use the same one.
 */
const TEMPLATE_LOCK = 0x74_65_73_74;

interface Server {
  admin_url: string;
  template: string;
}

const servers = new Map<PostgresVersion, Promise<Server>>();

/** Creates a migrated database on the shared test server of a version. */
export async function createTestDatabase(version: PostgresVersion = 18): Promise<TestDatabase> {
  const { admin_url, template } = await serverOf(version);
  return createDatabase(admin_url, `TEMPLATE ${template}`);
}

/** Creates a database without tables. */
export async function createEmptyDatabase(version: PostgresVersion = 18): Promise<TestDatabase> {
  const { admin_url } = await serverOf(version);
  return createDatabase(admin_url, 'TEMPLATE template0');
}

async function createDatabase(admin_url: string, clause: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Without fsync, a plain copy of the files takes a third of the time.
  const statement = `CREATE DATABASE ${name} ${clause} STRATEGY FILE_COPY`;
  await withAdmin(admin_url, (sql) => sql.unsafe(statement));
  const url = inDatabase(admin_url, name);
  let database: Database | undefined;
  return {
    url,
    name,
    get sql() {
      database ??= connectDatabase(url, { pool: 'requests' });
      return database.sql;
    },
    async drop() {
      await database?.close();
      await withAdmin(admin_url, (sql) =>
        sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      );
    },
  };
}

/** `bin/test` names its servers in the environment; a plain `bun test` starts what it needs. */
function serverOf(version: PostgresVersion): Promise<Server> {
  let server = servers.get(version);
  if (server === undefined) {
    server = findServer(version);
    servers.set(version, server);
  }
  return server;
}

async function findServer(version: PostgresVersion): Promise<Server> {
  const given = process.env[`WEIR_TEST_DATABASE_URL_${version}`];
  const admin_url = given ?? (await startTestPostgres(version)).url;
  return { admin_url, template: await ensureTemplate(admin_url) };
}

/**
 * Creates the template once. If several test processes need it, one creates it and the others wait.
 */
async function ensureTemplate(admin_url: string): Promise<string> {
  const template = `weir_${await migrationsFingerprint()}`;
  await withAdmin(admin_url, async (sql) => {
    await sql.unsafe('SET lock_timeout = 0');
    await sql`SELECT pg_advisory_lock(${TEMPLATE_LOCK})`;
    const found = await sql`SELECT 1 FROM pg_database WHERE datname = ${template}`;
    if (found.length > 0) return;
    const unfinished = `${template}_unfinished`;
    await sql.unsafe(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
    await sql.unsafe(`CREATE DATABASE ${unfinished}`);
    await withAdmin(inDatabase(admin_url, unfinished), (inside) => migrateDatabase(inside));
    await sql.unsafe(`ALTER DATABASE ${unfinished} RENAME TO ${template}`);
  });
  return template;
}

async function migrationsFingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const files = [...new Bun.Glob('**/*.{sql,json}').scanSync(MIGRATIONS_DIR)].sort();
  for (const file of files) hash.update(await Bun.file(`${MIGRATIONS_DIR}/${file}`).bytes());
  return hash.digest('hex').slice(0, 12);
}

async function withAdmin<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const database = connectDatabase(url, { pool: 'single' });
  try {
    return await work(database.sql);
  } finally {
    // This ends the session, which also releases the advisory lock.
    await database.close();
  }
}

function inDatabase(url: string, name: string): string {
  const copy = new URL(url);
  copy.pathname = `/${name}`;
  return copy.toString();
}
