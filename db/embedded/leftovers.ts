/**
 * What a killed predecessor left in the data folder, and how it is cleared without a manual step.
 * Everything here assumes that the caller holds the folder's lock: whatever still runs is an orphan.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** How long an orphan may take after each signal before the next, harder one. */
const ORPHAN_PATIENCE_MS = 10_000;
const POLL_MS = 20;

/** Fast shutdown, immediate shutdown, and the kernel's last word. */
const ESCALATION = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const;

/**
 * Stops every process that still works in `cluster_dir`, then removes a `postmaster.pid` that no
 * living process stands behind: PostgreSQL refuses to start when the id in it belongs to anybody,
 * be it a zombie that nobody reaped or, after a reboot, a stranger.
 *
 * Removing it is safe only because nothing runs in the folder any more: backends that outlive their
 * killed postmaster are waited for, so they cannot write behind the back of the new one.
 *
 * @throws when a process survives SIGKILL for 10 s.
 */
export async function clearLeftovers(cluster_dir: string): Promise<void> {
  if (!existsSync(cluster_dir)) return;
  for (const signal of ESCALATION) {
    const found = processesIn(cluster_dir);
    if (found.length === 0) break;
    for (const pid of found) sendSignal(pid, signal);
    if (await gone(cluster_dir)) break;
  }
  const survivors = processesIn(cluster_dir);
  if (survivors.length > 0) {
    throw new Error(`Processes ${survivors.join(', ')} still use ${cluster_dir} after SIGKILL.`);
  }
  rmSync(join(cluster_dir, 'postmaster.pid'), { force: true });
}

/** The ids of living processes whose working directory is `cluster_dir`, as every server process's is. */
export function processesIn(cluster_dir: string): number[] {
  if (process.platform !== 'linux') return postmasterByFile(cluster_dir);
  const wanted = realpathSync(cluster_dir);
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    // Somebody else's process gives EACCES, a finished one ENOENT: neither is ours.
    const cwd = attempt(() => readlinkSync(`/proc/${pid}/cwd`));
    if (cwd === wanted && !isZombie(pid)) found.push(pid);
  }
  return found;
}

/** A finished process that its parent has not collected: it has an id, and does nothing. */
export function isZombie(pid: number): boolean {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === undefined) return true;
  // The name before the state may itself hold spaces and parentheses.
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

/** Without /proc: the id in `postmaster.pid`, if a program called postgres has it. */
function postmasterByFile(cluster_dir: string): number[] {
  const text = attempt(() => readFileSync(join(cluster_dir, 'postmaster.pid'), 'utf8'));
  const pid = Number(text?.split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1) return [];
  const listing = Bun.spawnSync(['ps', '-p', String(pid), '-o', 'command=']);
  return listing.stdout.toString().includes('postgres') ? [pid] : [];
}

async function gone(cluster_dir: string): Promise<boolean> {
  const deadline_ms = performance.now() + ORPHAN_PATIENCE_MS;
  while (performance.now() < deadline_ms) {
    if (processesIn(cluster_dir).length === 0) return true;
    await Bun.sleep(POLL_MS);
  }
  return false;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  attempt(() => process.kill(pid, signal));
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
