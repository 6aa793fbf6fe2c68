import { readFileSync, writeFileSync } from 'node:fs';

/** Kernel ticks in a second: 100 on every Linux that Bun runs on. */
const TICKS = 100;
const BYTES_PER_MB = 1e6;

/** CPU time of a process so far, user and system, in seconds. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Resident memory of a process, in MB of 10^6 bytes. */
export function residentMb(pid: number): number {
  return memoryMb(pid, 'VmRSS');
}

/** Forgets the largest resident memory of a process so far (Linux man pages: proc_pid_clear_refs). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/**
 * The largest resident memory that a process had since its start or the last `resetPeak`, in MB of
 * 10^6 bytes.
 */
export function peakMb(pid: number): number {
  return memoryMb(pid, 'VmHWM');
}

function memoryMb(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kb = new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1];
  return Math.round((Number(kb) * 1024) / BYTES_PER_MB);
}
