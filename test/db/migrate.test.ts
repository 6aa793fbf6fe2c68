import { afterEach, describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { connectDatabase, type Database } from '../../db/client.ts';
import { MIGRATIONS_DIR, migrateDatabase } from '../../db/migrate.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { POSTGRES_VERSIONS } from '../support/postgres-server.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';

const ROOT = join(import.meta.dir, '../..');
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function folder(): string {
  const made = throwawayFolder('migrations');
  cleanups.push(() => removeFolder(made));
  return made;
}

/** Creates a folder of migrations as Drizzle Kit writes it. */
function migrations(...statements: string[]): string {
  const made = folder();
  mkdirSync(join(made, 'meta'));
  const entries = statements.map((text, index) => {
    writeFileSync(join(made, `${index}.sql`), text);
    return { idx: index, version: '7', when: 1_000 + index, tag: String(index), breakpoints: true };
  });
  writeFileSync(join(made, 'meta/_journal.json'), JSON.stringify({ entries }));
  return made;
}

describe.each([...POSTGRES_VERSIONS])('migrations on PostgreSQL %d', (version) => {
  async function emptyDatabase(): Promise<TestDatabase> {
    const made = await createEmptyDatabase(version);
    cleanups.push(() => made.drop());
    return made;
  }

  test('if four replicas start at the same time, one migrates', async () => {
    const { url, sql } = await emptyDatabase();
    const replicas: Database[] = Array.from({ length: 4 }, () =>
      connectDatabase(url, { pool: 'single' }),
    );
    cleanups.push(() => Promise.all(replicas.map((replica) => replica.close())));
    const results = await Promise.all(replicas.map((replica) => migrateDatabase(replica.sql)));
    const [recorded] = await sql`SELECT count(*)::int8 AS n FROM drizzle.__drizzle_migrations`;
    expect(results.map((result) => result.applied).sort()).toEqual([0, 0, 0, recorded?.n ?? -1]);
    expect(recorded?.n).toBeGreaterThan(0);
    expect(await migrateDatabase(sql)).toEqual({ applied: 0 });
  });

  test('a migration that fails leaves nothing behind', async () => {
    const { sql } = await emptyDatabase();
    const broken = migrations('CREATE TABLE one (id int);', 'CREATE TABLE nonsense (');
    await expect(migrateDatabase(sql, broken)).rejects.toThrow('syntax error');
    const tables = await sql`SELECT 1 FROM pg_tables WHERE schemaname IN ('public', 'drizzle')`;
    expect(tables.length).toBe(0);
  });

  test('only missing migrations are applied, and a newer database stays unchanged', async () => {
    const { sql } = await emptyDatabase();
    const old_version = migrations('CREATE TABLE one (id int);');
    const new_version = migrations('CREATE TABLE one (id int);', 'CREATE TABLE two (id int);');
    expect(await migrateDatabase(sql, old_version)).toEqual({ applied: 1 });
    expect(await migrateDatabase(sql, new_version)).toEqual({ applied: 1 });
    expect(await migrateDatabase(sql, old_version)).toEqual({ applied: 0 });
  });

  test('a migration that was edited after it had been applied is refused', async () => {
    const { sql } = await emptyDatabase();
    await migrateDatabase(sql, migrations('CREATE TABLE one (id int);'));
    const edited = migrations('CREATE TABLE one (id int8);');
    await expect(migrateDatabase(sql, edited)).rejects.toThrow('was changed after');
  });
});

test('an idempotency key of a task belongs to the API key of the task after the migration', async () => {
  const { sql, drop } = await createEmptyDatabase();
  cleanups.push(() => drop());
  // The migrations as they were before.
  const before = join(folder(), 'migrations');
  cpSync(MIGRATIONS_DIR, before, { recursive: true });
  const journal = join(before, 'meta/_journal.json');
  const { entries, ...rest } = JSON.parse(readFileSync(journal, 'utf8')) as {
    entries: { tag: string }[];
  };
  const since = entries.findIndex(({ tag }) => tag.endsWith('_kept_answers'));
  writeFileSync(journal, JSON.stringify({ ...rest, entries: entries.slice(0, since) }));
  await migrateDatabase(sql, before);
  await sql`insert into organization (id, name) values ('org', 'o')`;
  await sql`
    insert into api_key (id, organization_id, name, key_hash, key_prefix)
    values ('key', 'org', 'k', 'h', 'sk-')`;
  const id = Bun.randomUUIDv7();
  await sql`
    insert into task (id, organization_id, key_id, request_id, scene, model, hold_id, hold_nano_usd,
      submission_key, deadline_at)
    values ('task', 'org', 'key', ${id}, 'image', 'm', ${id}, 1, ${id}, now())`;
  await sql`
    insert into task_request (organization_id, route, idempotency_key, body_hash, task_id)
    values ('org', '/r', 'of a task', 'h', 'task'), ('org', '/r', 'of a lost task', 'h', 'lost')`;
  await migrateDatabase(sql);
  const rows = await sql`select key_id, idempotency_key from task_request`;
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { key_id: 'key', idempotency_key: 'of a task' },
  ]);
});

test('the migrations create exactly the tables of the schema', async () => {
  const copy = join(folder(), 'migrations');
  cpSync(MIGRATIONS_DIR, copy, { recursive: true });
  const child = Bun.spawn(
    [
      ...[process.execPath, join(ROOT, 'node_modules/drizzle-kit/bin.cjs'), 'generate'],
      ...['--dialect', 'postgresql', '--schema', './db/**/schema.ts'],
      // Drizzle Kit accepts only a relative folder.
      ...['--out', relative(ROOT, copy)],
    ],
    { cwd: ROOT, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  );
  const output = await child.stdout.text();
  expect(await child.exited, output).toBe(0);
  // If the schema differs, the output names the migration that is missing.
  expect(output).toContain('No schema changes');
});
