/** Finds out whether other programs used the machine during a measurement. */
import { readdirSync, readFileSync } from 'node:fs';

/** Kernel ticks so far. */
export interface Ticks {
  /** The time of all cores, idle or not. */
  all: number;
  /** The CPU time of all programs. Interrupts are left out, because they belong to no program. */
  programs: number;
  /** The CPU time of this process with all its descendants. */
  own: number;
}

/** A process as `/proc/<pid>/stat` shows it. */
export interface ProcessTicks {
  pid: number;
  parent: number;
  /** Its CPU time, and that of its ended children. */
  ticks: number;
}

/** Above this share of all cores, other programs disturb a measurement. */
const MAX_FOREIGN_SHARE = 0.1;

/** Reads the ticks so far. */
export function readTicks(): Ticks {
  const fields = readFileSync('/proc/stat', 'utf8').split('\n')[0]?.split(/\s+/).slice(1, 9) ?? [];
  const times = fields.map(Number);
  const sum = (ticks: number[]) => ticks.reduce((total, each) => total + each, 0);
  const processes = readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) ? readProcess(name) : [],
  );
  // The first three fields are `user`, `nice` and `system` (proc_stat(5)).
  const programs = sum(times.slice(0, 3));
  return { all: sum(times), programs, own: ticksOfFamily(processes, process.pid) };
}

/** The ticks of a process and of all its descendants. */
export function ticksOfFamily(processes: readonly ProcessTicks[], root: number): number {
  const family = new Set([root]);
  let known = 0;
  while (family.size > known) {
    known = family.size;
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid);
  }
  return processes.reduce((sum, { pid, ticks }) => sum + (family.has(pid) ? ticks : 0), 0);
}

/** True if programs outside of this process's family used more than a tenth of all cores. */
export function isDisturbed(before: Ticks, after: Ticks): boolean {
  const foreign = after.programs - before.programs - (after.own - before.own);
  return foreign / (after.all - before.all) > MAX_FOREIGN_SHARE;
}

function readProcess(name: string): ProcessTicks[] {
  try {
    // The name of the program comes second, in parentheses, and may contain spaces.
    const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    return [{ pid: Number(name), parent: Number(fields[1]), ticks }];
  } catch {
    // The process has ended meanwhile.
    return [];
  }
}
