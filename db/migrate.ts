/**
 * Brings the tables up to this version. Runs at every start, in as many replicas as start at once.
 */
import { fileURLToPath } from 'node:url';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import type { Sql, TransactionSql } from './client.ts';

/** What Drizzle Kit generated; part of the source. */
export const MIGRATIONS_DIR: string = fileURLToPath(new URL('./migrations', import.meta.url));

/** Any constant: the name of this lock among the database's advisory locks. */
const MIGRATION_LOCK = 0x57_65_69_72;
/** How long a replica waits for another one that is migrating. */
const LOCK_TIMEOUT_MS = 300_000;

/** How many migrations this call applied; 0 when the database was up to date. */
export interface MigrationResult {
  applied: number;
}

/**
 * Applies each migration that the database has not seen, all in one transaction behind an advisory
 * lock: of several replicas one migrates, the others wait and find nothing to do, and a crash leaves
 * the old version. The lock belongs to the transaction, so it also works through a transaction
 * pooler. The bookkeeping table is Drizzle's own.
 *
 * A database that knows *more* migrations is left alone: during a rolling upgrade an old replica
 * meets the new version's tables.
 *
 * @throws when a migration that was applied has a different text now.
 */
export async function migrateDatabase(
  sql: Sql,
  migrations_dir: string = MIGRATIONS_DIR,
): Promise<MigrationResult> {
  const migrations = readMigrationFiles({ migrationsFolder: migrations_dir });
  return sql.begin(async (transaction) => {
    await transaction.unsafe(`SET LOCAL statement_timeout = 0`);
    await transaction.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    const seen = await seenMigrations(transaction);
    const missing = migrations.filter((migration) => !isApplied(migration, seen));
    for (const migration of missing) await apply(transaction, migration);
    return { applied: missing.length };
  });
}

async function seenMigrations(transaction: TransactionSql): Promise<Map<number, string>> {
  await transaction.unsafe('CREATE SCHEMA IF NOT EXISTS drizzle');
  await transaction.unsafe(
    `CREATE TABLE IF NOT EXISTS drizzle.__drizzle_migrations
       (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint)`,
  );
  const rows = await transaction<{ hash: string; created_at: number }[]>`
    SELECT hash, created_at FROM drizzle.__drizzle_migrations`;
  return new Map(rows.map((row) => [Number(row.created_at), row.hash]));
}

function isApplied(migration: MigrationMeta, seen: Map<number, string>): boolean {
  const hash = seen.get(migration.folderMillis);
  if (hash === undefined) return false;
  if (hash === migration.hash) return true;
  const made = new Date(migration.folderMillis).toISOString();
  throw new Error(
    `The migration generated at ${made} was changed after it had been applied to this database. ` +
      'Add a new migration instead.',
  );
}

async function apply(transaction: TransactionSql, migration: MigrationMeta): Promise<void> {
  for (const statement of migration.sql) await transaction.unsafe(statement);
  await transaction`
    INSERT INTO drizzle.__drizzle_migrations (hash, created_at)
    VALUES (${migration.hash}, ${migration.folderMillis})`;
}
