/**
 * Creates a database cluster. If the process is killed while it creates the cluster, the next start
 * removes the incomplete cluster.
 */
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { type PostgresBinaries, postgresEnvironment } from './binaries.ts';
import { dieWithParentPrefix, launchPlan } from './privileges.ts';

/**
 * The superuser of the cluster. The server trusts this user on the private socket. The user has no
 * password for TCP.
 */
export const CLUSTER_USER = 'weir';

const INIT_TIMEOUT_MS = 120_000;

/**
 * Returns the cluster's folder in `data_dir`, and creates the cluster on first use. `initdb` works
 * in a folder with another name. That folder is renamed when the cluster is complete.
 *
 * @throws if the cluster was created by another major version of PostgreSQL than `binaries`.
 */
export async function ensureCluster(data_dir: string, binaries: PostgresBinaries): Promise<string> {
  mkdirSync(data_dir, { recursive: true, mode: 0o700 });
  const cluster_dir = join(data_dir, 'cluster');
  for (const name of readdirSync(data_dir)) {
    if (name.startsWith('cluster.init-')) {
      rmSync(join(data_dir, name), { recursive: true, force: true });
    }
  }
  if (existsSync(cluster_dir)) {
    await checkVersion(cluster_dir, binaries);
    changeOwner(cluster_dir, launchPlan().owner_uid);
    return cluster_dir;
  }
  const unfinished = join(data_dir, `cluster.init-${process.pid}`);
  await initdb(unfinished, binaries);
  renameSync(unfinished, cluster_dir);
  return cluster_dir;
}

async function initdb(folder: string, binaries: PostgresBinaries): Promise<void> {
  const child = Bun.spawn(
    [
      ...launchPlan().prefix,
      ...dieWithParentPrefix(),
      join(binaries.bin_dir, 'initdb'),
      ...['-D', folder, '-U', CLUSTER_USER, '-E', 'UTF8', '--no-locale', '--no-instructions'],
      ...['--auth-local=trust', '--auth-host=scram-sha-256', '--data-checksums'],
    ],
    {
      env: postgresEnvironment(binaries),
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
      timeout: INIT_TIMEOUT_MS,
    },
  );
  const [exit_code, stderr] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  if (exit_code === 0) return;
  rmSync(folder, { recursive: true, force: true });
  throw new Error(`initdb failed in ${folder} (exit ${exit_code}): ${stderr.trim()}`);
}

async function checkVersion(cluster_dir: string, binaries: PostgresBinaries): Promise<void> {
  const cluster_major = readFileSync(join(cluster_dir, 'PG_VERSION'), 'utf8').trim();
  const major = await majorVersion(binaries);
  if (String(major) === cluster_major) return;
  throw new Error(
    `${cluster_dir} was created by PostgreSQL ${cluster_major}; this Weir contains ${major}. ` +
      'Dump the database with the old version, or set DATABASE_URL to a server of your own.',
  );
}

/** Returns the major version that `postgres --version` prints. Throws if the program does not run. */
export async function majorVersion(binaries: PostgresBinaries): Promise<number> {
  const child = Bun.spawn([join(binaries.bin_dir, 'postgres'), '--version'], {
    env: postgresEnvironment(binaries),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const major = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
  if (major === undefined) {
    throw new Error(`${binaries.bin_dir}/postgres cannot be run: ${stderr.trim() || stdout}`);
  }
  return Number(major);
}

/**
 * Makes `uid` the owner of the cluster. Root may have created the cluster inside a user namespace,
 * and a later start may have to run the server as `nobody`. If this process does not run as root,
 * the owner is right already, and nothing is changed.
 */
function changeOwner(folder: string, uid: number): void {
  if (process.getuid?.() !== 0 || statSync(folder).uid === uid) return;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    chownSync(join(entry.parentPath, entry.name), uid, uid);
  }
  chownSync(folder, uid, uid);
}
