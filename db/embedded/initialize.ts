/**
 * Makes a database cluster, or nothing: a start that is killed half-way leaves no half cluster.
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

/** The superuser of the cluster. Trusted on the private socket, without a password on TCP. */
export const CLUSTER_USER = 'weir';

const INIT_TIMEOUT_MS = 120_000;

/**
 * Returns the cluster's folder below `data_dir`, created on first use: `initdb` works in a folder
 * of another name, which is renamed when it is complete.
 *
 * @throws when the cluster belongs to another major version of PostgreSQL than `binaries`.
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
    giveTo(cluster_dir, launchPlan().owner_uid);
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
  const [exit_code, complaint] = await Promise.all([child.exited, child.stderr.text()]);
  if (exit_code === 0) return;
  rmSync(folder, { recursive: true, force: true });
  throw new Error(`initdb failed in ${folder} (exit ${exit_code}): ${complaint.trim()}`);
}

async function checkVersion(cluster_dir: string, binaries: PostgresBinaries): Promise<void> {
  const cluster_major = readFileSync(join(cluster_dir, 'PG_VERSION'), 'utf8').trim();
  const major = await majorVersion(binaries);
  if (String(major) === cluster_major) return;
  throw new Error(
    `${cluster_dir} was made by PostgreSQL ${cluster_major}; this Weir carries ${major}. ` +
      'Dump it with the old version, or point DATABASE_URL at a server of your own.',
  );
}

/** The major version of an installation, as its `postgres --version` says. */
export async function majorVersion(binaries: PostgresBinaries): Promise<number> {
  const child = Bun.spawn([join(binaries.bin_dir, 'postgres'), '--version'], {
    env: postgresEnvironment(binaries),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [answer, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const major = /\(PostgreSQL\) (\d+)/.exec(answer)?.[1];
  if (major === undefined) {
    throw new Error(`${binaries.bin_dir}/postgres does not run: ${complaint.trim() || answer}`);
  }
  return Number(major);
}

/**
 * Hands the cluster to `uid` if somebody else owns it: a folder made by root inside a user namespace
 * may meet a start that has to run as `nobody`. Only root can do this, and only root needs it.
 */
function giveTo(folder: string, uid: number): void {
  if (process.getuid?.() !== 0 || statSync(folder).uid === uid) return;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    chownSync(join(entry.parentPath, entry.name), uid, uid);
  }
  chownSync(folder, uid, uid);
}
