/**
 * One process per data folder.
 *
 * PostgreSQL's own `postmaster.pid` is a process id in a file: it cannot tell an orphan of ours from
 * the database of a running Weir, and a recycled id makes it refuse for ever. A lock of the kernel
 * has neither problem, it ends with its holder however that died, and it is seen from every
 * container that mounts the folder. SQLite, which Bun carries, takes such a lock portably.
 */
import { Database } from 'bun:sqlite';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A held lock. Releasing twice does nothing. */
export interface FolderLock {
  release(): void;
}

/** Another living process has this data folder. */
export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUseError';

  constructor(
    readonly data_dir: string,
    readonly holder_pid: string,
  ) {
    super(
      `The data folder ${data_dir} is in use by another process (pid ${holder_pid}). ` +
        'Stop that one, choose another folder with --data, or share one database through ' +
        'DATABASE_URL.',
    );
  }
}

/**
 * Takes the folder for this process.
 *
 * @throws DataFolderInUseError at once when somebody else has it.
 */
export function lockFolder(data_dir: string): FolderLock {
  const holder_file = join(data_dir, 'lock.pid');
  const database = new Database(join(data_dir, 'lock'), { create: true });
  try {
    database.run('PRAGMA busy_timeout = 0');
    // Nothing is ever stored: without a journal, a killed holder leaves nothing to roll back.
    database.run('PRAGMA journal_mode = OFF');
    database.run('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
    throw new DataFolderInUseError(data_dir, readHolder(holder_file));
  }
  writeFileSync(holder_file, `${process.pid}\n`);
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      database.close();
    },
  };
}

function readHolder(holder_file: string): string {
  try {
    return readFileSync(holder_file, 'utf8').trim() || 'unknown';
  } catch {
    return 'unknown';
  }
}
