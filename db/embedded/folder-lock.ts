/**
 * A lock that lets only one process use a data folder.
 *
 * PostgreSQL's own `postmaster.pid` holds a process id. The id does not distinguish an orphan from
 * the database of a running Weir. If another process reuses the id, PostgreSQL never starts again.
 * A kernel lock has neither problem. The lock always ends with its process, and every container
 * that mounts the folder sees the lock. SQLite, which is part of Bun, takes such a lock on every
 * platform.
 */
import { Database } from 'bun:sqlite';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A held lock. A second call of `release` does nothing. */
export interface FolderLock {
  release(): void;
}

/** Thrown if another running process holds the lock of this data folder. */
export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUseError';

  constructor(
    readonly data_dir: string,
    readonly holder_pid: string,
  ) {
    super(
      `The data folder ${data_dir} is in use by another process (pid ${holder_pid}). ` +
        'Stop that process, choose another folder with --data, or share one database through ' +
        'DATABASE_URL.',
    );
  }
}

/**
 * Locks the folder for this process.
 *
 * @throws DataFolderInUseError at once if another process holds the lock.
 */
export function lockFolder(data_dir: string): FolderLock {
  const holder_file = join(data_dir, 'lock.pid');
  const database = new Database(join(data_dir, 'lock'), { create: true });
  try {
    database.run('PRAGMA busy_timeout = 0');
    // The file stores no data. Without a journal, a killed process leaves nothing to roll back.
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
