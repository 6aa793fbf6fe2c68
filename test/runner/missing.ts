/**
 * What could not be installed. Test processes append to a file that the environment names; the
 * runner reads it at the end.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

export interface Missing {
  /** For example `prettier@3.6.2`. */
  what: string;
  why: string;
}

/** The file that missing programs are written to. */
export const MISSING_FILE = 'WEIR_TEST_MISSING_FILE';
/** Set if tests of a missing program are skipped instead of failing. */
export const ALLOW_MISSING = 'WEIR_TEST_ALLOW_MISSING';

export function recordMissing(missing: Missing, file = process.env[MISSING_FILE]): void {
  if (file) appendFileSync(file, `${JSON.stringify(missing)}\n`);
}

/** Each missing program once, in the order in which they were noticed. */
export function readMissing(file: string): Missing[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const byName = new Map<string, Missing>();
  for (const line of lines) {
    const missing = JSON.parse(line) as Missing;
    if (!byName.has(missing.what)) byName.set(missing.what, missing);
  }
  return [...byName.values()];
}
