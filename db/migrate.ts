/**
 * Migrates the tables to this version of Weir. The migration runs at every start; several replicas
 * may start at once.
 */
import { fileURLToPath } from 'node:url';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import type { Sql, TransactionSql } from './client.ts';

/** The folder of the migrations that Drizzle Kit generated. The folder is part of the source. */
export const MIGRATIONS_DIR: string = fileURLToPath(new URL('./migrations', import.meta.url));

/** The number of the advisory lock. Any constant works. */
const MIGRATION_LOCK = 0x57_65_69_72;
/** How long a replica waits while another replica migrates the tables. */
const LOCK_TIMEOUT_MS = 300_000;

/** `applied`: the number of migrations that this call applied; 0 if the database was current. */
export interface MigrationResult {
  applied: number;
}

/**
 * Applies all missing migrations in one transaction, under an advisory lock. If several replicas
 * start, one replica migrates and the others wait. If the process crashes during the migration, the
 * tables keep the old version. The lock belongs to the transaction, so it also works with a
 * transaction pooler. Drizzle's own table names the applied migrations.
 *
 * A database with *more* migrations stays unchanged: during a rolling upgrade an old replica works
 * with the new version's tables.
 *
 * @throws if an applied migration has a different text now.
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
    const applied = await readAppliedMigrations(transaction);
    const missing = migrations.filter((migration) => !isApplied(migration, applied));
    for (const migration of missing) await apply(transaction, migration);
    return { applied: missing.length };
  });
}

/**
 * Returns the hash of each applied migration. The map's key is the time when the migration was
 * generated.
 */
async function readAppliedMigrations(transaction: TransactionSql): Promise<Map<number, string>> {
  await transaction.unsafe('CREATE SCHEMA IF NOT EXISTS drizzle');
  await transaction.unsafe(
    `CREATE TABLE IF NOT EXISTS drizzle.__drizzle_migrations
       (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint)`,
  );
  const rows = await transaction<{ hash: string; created_at: number }[]>`
    SELECT hash, created_at FROM drizzle.__drizzle_migrations`;
  return new Map(rows.map((row) => [Number(row.created_at), row.hash]));
}

function isApplied(migration: MigrationMeta, applied: Map<number, string>): boolean {
  const hash = applied.get(migration.folderMillis);
  if (hash === undefined) return false;
  if (hash === migration.hash) return true;
  const generatedAt = new Date(migration.folderMillis).toISOString();
  throw new Error(
    `The migration generated at ${generatedAt} was changed after it had been applied to this database. ` +
      'Add a new migration instead.',
  );
}

async function apply(transaction: TransactionSql, migration: MigrationMeta): Promise<void> {
  for (const statement of migration.sql) await transaction.unsafe(statement);
  await transaction`
    INSERT INTO drizzle.__drizzle_migrations (hash, created_at)
    VALUES (${migration.hash}, ${migration.folderMillis})`;
}
