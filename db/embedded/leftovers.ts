/**
 * Removes the processes and files that a killed Weir left in the data folder. The caller must hold
 * the folder's lock, so every process that still runs there is an orphan.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** How long an orphan may take to end after a signal, ms. Then the next signal is sent. */
const ORPHAN_PATIENCE_MS = 10_000;
const POLL_MS = 20;

/** The signals in order: a fast shutdown, an immediate shutdown, and a kill by the kernel. */
const ESCALATION = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const;

/**
 * Stops every process in `cluster_dir`, then removes `postmaster.pid`. PostgreSQL refuses to start
 * if any process has the id in that file, e.g. a zombie or, after a reboot, an unrelated process.
 *
 * Removing the file is safe only because no process runs in the folder any more. Backends can
 * outlive a killed postmaster, so they are stopped first and cannot write beside the new server.
 *
 * @throws if a process survives SIGKILL for 10 s.
 */
export async function clearLeftovers(cluster_dir: string): Promise<void> {
  if (!existsSync(cluster_dir)) return;
  for (const signal of ESCALATION) {
    const found = processesIn(cluster_dir);
    if (found.length === 0) break;
    for (const pid of found) sendSignal(pid, signal);
    if (await waitUntilGone(cluster_dir)) break;
  }
  const survivors = processesIn(cluster_dir);
  if (survivors.length > 0) {
    throw new Error(
      `Processes ${survivors.join(', ')} still use ${cluster_dir} after SIGKILL. ` +
        'End them, then start Weir again.',
    );
  }
  rmSync(join(cluster_dir, 'postmaster.pid'), { force: true });
}

/**
 * Returns the ids of running processes whose working directory is `cluster_dir`. These are
 * processes of a PostgreSQL server.
 */
export function processesIn(cluster_dir: string): number[] {
  if (process.platform !== 'linux') return postmasterByFile(cluster_dir);
  const wanted = realpathSync(cluster_dir);
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    // EACCES: a process of another user. ENOENT: the process has ended. Both are skipped.
    const cwd = resultOrUndefined(() => readlinkSync(`/proc/${pid}/cwd`));
    if (cwd === wanted && !hasEnded(pid)) found.push(pid);
  }
  return found;
}

/**
 * True if the process has ended. A zombie (a process whose parent has not collected it yet) counts
 * as ended.
 */
export function hasEnded(pid: number): boolean {
  const stat = resultOrUndefined(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === undefined) return true;
  // The process name before the state may contain spaces and parentheses.
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

/**
 * Used on systems without /proc. Returns the id in `postmaster.pid` if a process called postgres
 * has that id.
 */
function postmasterByFile(cluster_dir: string): number[] {
  const text = resultOrUndefined(() => readFileSync(join(cluster_dir, 'postmaster.pid'), 'utf8'));
  const pid = Number(text?.split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1) return [];
  const listing = Bun.spawnSync(['ps', '-p', String(pid), '-o', 'command=']);
  return listing.stdout.toString().includes('postgres') ? [pid] : [];
}

async function waitUntilGone(cluster_dir: string): Promise<boolean> {
  const deadline_ms = performance.now() + ORPHAN_PATIENCE_MS;
  while (performance.now() < deadline_ms) {
    if (processesIn(cluster_dir).length === 0) return true;
    await Bun.sleep(POLL_MS);
  }
  return false;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  resultOrUndefined(() => process.kill(pid, signal));
}

function resultOrUndefined<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
