import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS_DIR } from '../../db/migrate.ts';
import { throwawayFolder } from './throwaway.ts';

/**
 * Copies the migrations into a temporary folder, with a journal of the chosen ones: those of an earlier
 * version. `choose` gets their names in order. The caller removes the folder.
 */
export function earlierMigrations(choose: (tags: readonly string[]) => readonly string[]): string {
  const folder = throwawayFolder('migrations');
  cpSync(MIGRATIONS_DIR, folder, { recursive: true });
  const journal = join(folder, 'meta/_journal.json');
  const { entries, ...rest } = JSON.parse(readFileSync(journal, 'utf8')) as {
    entries: { tag: string }[];
  };
  const chosen = new Set(choose(entries.map(({ tag }) => tag)));
  const kept = entries.filter(({ tag }) => chosen.has(tag));
  writeFileSync(journal, JSON.stringify({ ...rest, entries: kept }));
  return folder;
}
