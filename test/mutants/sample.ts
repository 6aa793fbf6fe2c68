import { spawnSync } from 'node:child_process';
import { ROOT } from '../runner/bun-test.ts';

/** Option of `bin/test --mutants`: `--sample=200` applies about 200 mutants, spread over the whole list. */
export const SAMPLE = '--sample=';

/**
 * Every n-th of `all`, so that about `size` are left and each part of the list has its share. `turn`
 * decides where it begins: n turns in a row cover everything.
 */
export function sampleOf<Item>(all: readonly Item[], size: number, turn: number): Item[] {
  const step = Math.max(1, Math.ceil(all.length / size));
  return all.filter((_, at) => at % step === turn % step);
}

/** The number of commits up to this one, so that each commit has another sample; 0 outside of git. */
export function turnOfCommit(): number {
  const { stdout } = spawnSync('git', ['rev-list', '--count', 'HEAD'], { cwd: ROOT });
  return Number(String(stdout ?? '').trim()) || 0;
}
