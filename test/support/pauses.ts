/**
 * Pauses of real processes: SIGSTOP and later SIGCONT. A paused process keeps its connections open
 * and says nothing, as a suspended virtual machine does.
 */
import { readFileSync } from 'node:fs';

/** Stops one process. Returns the function that lets it run again. */
export function pauseProcess(pid: number): () => void {
  process.kill(pid, 'SIGSTOP');
  return () => signal(pid, 'SIGCONT');
}

/**
 * Stops a PostgreSQL server: its postmaster first, so that no new process starts, then the
 * processes of all sessions. Returns the function that lets them run again.
 */
export function pauseDatabase(postmaster: number): () => void {
  signal(postmaster, 'SIGSTOP');
  const children = childrenOf(postmaster);
  for (const pid of children) signal(pid, 'SIGSTOP');
  return () => {
    for (const pid of [...children, postmaster]) signal(pid, 'SIGCONT');
  };
}

/** A session may end between the list of the processes and the signal. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}
