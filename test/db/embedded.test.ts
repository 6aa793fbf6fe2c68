import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase, type Database, type PostgresConnection } from '../../db/client.ts';
import { DataFolderInUseError } from '../../db/embedded/folder-lock.ts';
import { hasEnded, processesIn } from '../../db/embedded/leftovers.ts';
import { openLogFile, rotateWhenFull } from '../../db/embedded/log-file.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { type PreparedCluster, prepareCluster } from '../support/prepared-cluster.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { until } from '../support/until.ts';
import { startHolder } from './holder.ts';

const log = { info() {}, warn() {}, error() {} };
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
  const made = throwawayFolder('embedded');
  cleanups.push(() => removeFolder(made));
  return made;
}

/** A data folder whose database was started before. */
function preparedFolder(): string {
  const made = folder();
  prepared.copyTo(made);
  return made;
}

async function start(data_dir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ data_dir, log });
  cleanups.push(() => server.stop());
  return server;
}

function connect(connection: PostgresConnection): Database {
  const database = connectDatabase(connection, { pool: 'lane' });
  cleanups.push(() => database.close());
  return database;
}

describe('the embedded PostgreSQL', () => {
  test('starts in an empty folder, keeps committed rows, and leaves no process after stop', async () => {
    const data_dir = folder();
    const first = await start(data_dir);
    const database = connect(first.connection);
    await database.sql`CREATE TABLE note (text text)`;
    await database.sql`INSERT INTO note VALUES ('kept')`;
    await database.close();
    await first.stop();
    expect(processesIn(join(data_dir, 'cluster'))).toEqual([]);
    expect(existsSync(join(data_dir, 'run'))).toBe(false);

    const second = await start(data_dir);
    const [row] = await connect(second.connection).sql`SELECT text FROM note`;
    expect(row?.text).toBe('kept');
  });

  test('is durable, has no TCP port, and its socket is closed to other users', async () => {
    const server = await start(preparedFolder());
    const { sql } = connect(server.connection);
    const settings = await sql<{ name: string; setting: string }[]>`
      SELECT name, setting FROM pg_settings WHERE name IN
        ('fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses', 'data_checksums')`;
    expect(Object.fromEntries(settings.map((row) => [row.name, row.setting]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      listen_addresses: '',
      data_checksums: 'on',
    });
    expect(statSync(server.connection.host).mode & 0o777).toBe(0o700);
  });

  test('refuses a folder that a running process uses, and names the process', async () => {
    const data_dir = preparedFolder();
    await start(data_dir);
    const second = startEmbeddedPostgres({ data_dir, log });
    await expect(second).rejects.toThrow(DataFolderInUseError);
    const other_process = startHolder(data_dir);
    await expect(other_process).rejects.toThrow(`in use by another process (pid ${process.pid})`);
  });

  test('restarts by itself after a kill, with every committed row', async () => {
    const server = await start(preparedFolder());
    const { sql } = connect(server.connection);
    await sql`CREATE TABLE entry (id int PRIMARY KEY)`;
    const killed: number[] = [];
    server.onExit((exit) => killed.push(exit.pid));
    const acknowledged: number[] = [];
    for (let round = 0; round < 3; round++) {
      const victim = server.pid;
      const first = acknowledged.length;
      let failures = 0;
      while (failures === 0 || acknowledged.length - first < 200) {
        const id = acknowledged.length + failures + round * 1_000_000;
        if (failures === 0 && acknowledged.length - first === 100) process.kill(victim, 'SIGKILL');
        const stored = await sql`INSERT INTO entry VALUES (${id})`.then(
          () => true,
          () => false,
        );
        if (stored) acknowledged.push(id);
        else failures += 1;
        if (!stored) await Bun.sleep(5);
      }
      expect(server.pid).not.toBe(victim);
    }
    const rows = await sql<{ id: number }[]>`SELECT id FROM entry`;
    const present = new Set(rows.map((row) => row.id));
    expect(acknowledged.filter((id) => !present.has(id))).toEqual([]);
    expect(killed).toHaveLength(3);
  });

  test('stops in the middle of a restart', async () => {
    const data_dir = preparedFolder();
    const server = await start(data_dir);
    const died = new Promise((resolve) => server.onExit(resolve));
    process.kill(server.pid, 'SIGKILL');
    await died;
    await server.stop();
    expect(processesIn(join(data_dir, 'cluster'))).toEqual([]);
  });

  test('runs in its own session, so Ctrl-C at the terminal does not reach it', async () => {
    const server = await start(preparedFolder());
    const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]?.split(' ');
    // The fields are the state, the parent, the process group and the session.
    expect(Number(fields?.[2])).toBe(server.pid);
    expect(Number(fields?.[3])).toBe(server.pid);
  });

  test('works in a folder whose path is too long for a socket', async () => {
    const data_dir = join(folder(), 'long'.repeat(30));
    const server = await start(data_dir);
    const [row] = await connect(server.connection).sql`SELECT 1 AS one`;
    expect(row?.one).toBe(1);
    expect(server.connection.host.startsWith(data_dir)).toBe(false);
    await server.stop();
    expect(existsSync(server.connection.host)).toBe(false);
  });

  test('writes neither statements nor row contents into its log', async () => {
    const data_dir = preparedFolder();
    const { sql } = connect((await start(data_dir)).connection);
    await sql`CREATE TABLE secret (value text PRIMARY KEY)`;
    await sql`INSERT INTO secret VALUES ('hush-hush')`;
    await sql`INSERT INTO secret VALUES ('hush-hush')`.catch(() => {});
    await sql.unsafe(`INSERT INTO secret VALUES ('hush-hush') RETURNING nonsense`).catch(() => {});
    const written = readFileSync(join(data_dir, 'postgres.log'), 'utf8');
    expect(written).toContain('duplicate key');
    expect(written).not.toContain('hush');
  });

  test('limits the size of its log', () => {
    const path = join(folder(), 'postgres.log');
    const file = openLogFile(path);
    cleanups.push(() => file.close());
    for (let round = 0; round < 5; round++) {
      writeSync(file.fd, 'x'.repeat(600));
      rotateWhenFull(path, 1_000);
    }
    expect(statSync(path).size).toBeLessThan(1_000);
    expect(statSync(`${path}.1`).size).toBeLessThan(2_000);
  });

  test('reports why it cannot start', async () => {
    const data_dir = preparedFolder();
    const settings = { shared_buffers: 'nonsense' };
    const starting = startEmbeddedPostgres({ data_dir, log, settings });
    await expect(starting).rejects.toThrow('invalid value for parameter "shared_buffers"');
    // The failed start unlocked the folder.
    await start(data_dir);
  });

  test('a zombie counts as dead', async () => {
    // The shell becomes `sleep`, which never collects the child of the shell.
    const parent = Bun.spawn(['sh', '-c', 'sleep 0.5 & echo $!; exec sleep 60'], {
      stdout: 'pipe',
    });
    cleanups.push(() => parent.kill('SIGKILL'));
    const reader = parent.stdout.getReader();
    const pid = Number(new TextDecoder().decode((await reader.read()).value));
    await until('the child has ended', () => hasEnded(pid));
    expect(readdirSync('/proc')).toContain(String(pid));
  });
});
