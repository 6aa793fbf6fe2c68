/** Whether a well-behaved client notices an attack beside it. */
import type { Attack } from './attacks.ts';

/** What one client measured. */
export interface Neighbour {
  /** Times of its answered requests, ms. */
  times_ms: number[];
  /** What was wrong with each of its other requests. */
  failures: string[];
}

/** The neighbour of one attack. */
export interface Attacked {
  attack: Attack;
  quiet: Neighbour;
  attacked: Neighbour;
  /** The largest resident memory of Weir during the attack, MB of 10^6 bytes. */
  peak_mb: number;
}

/** The neighbour may wait this many times longer during an attack, at the 99th percentile. */
const MAX_RATIO = 10;
/**
 * The most memory of Weir, MB. It is that of a Weir whose budget of bodies is full, see
 * docs/operations.md.
 */
const MAX_MEMORY_MB = 3_000;

/** Returns the time that 99 % of the requests needed at most, ms; NaN without requests. */
export function p99({ times_ms }: Neighbour): number {
  const sorted = [...times_ms].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(0.99 * sorted.length))] ?? Number.NaN;
}

/** Returns what an attack did to its neighbour or to Weir; undefined if it did nothing. */
export function harmOf(measured: Attacked, short: boolean): string | undefined {
  const { attack, quiet, attacked, peak_mb } = measured;
  const failure = quiet.failures[0] ?? attacked.failures[0];
  if (failure !== undefined) return `${attack.name}: the neighbour had a failure: ${failure}`;
  if (attacked.times_ms.length === 0) return `${attack.name}: the neighbour had no answer`;
  if (peak_mb > MAX_MEMORY_MB) {
    return `${attack.name}: Weir needed ${peak_mb} MB of memory, at most ${MAX_MEMORY_MB} are allowed`;
  }
  const ratio = ratioOf(measured);
  if (short || ratio < MAX_RATIO) return undefined;
  return `${attack.name}: the neighbour waited ${ratio.toFixed(1)} times longer, ${MAX_RATIO} is the bound`;
}

function ratioOf({ quiet, attacked }: Attacked): number {
  return p99(attacked) / p99(quiet);
}

/** The row of the table. */
export function rowOf(measured: Attacked): string {
  const { attack, quiet, attacked, peak_mb } = measured;
  const cells = [
    attack.side,
    attack.what,
    p99(quiet).toFixed(1),
    p99(attacked).toFixed(1),
    ratioOf(measured).toFixed(1),
    quiet.failures.length + attacked.failures.length,
    peak_mb,
  ];
  return `| ${cells.join(' | ')} |`;
}
