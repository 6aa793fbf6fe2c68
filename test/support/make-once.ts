/** Makes folders once, even if several processes need them at the same time. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LOOK_EVERY_MS = 100;

/**
 * Makes `folder` unless it is complete. A second process waits for the first one. A folder that a
 * killed process left unfinished is removed.
 *
 * @throws what `make` throws. The folder is removed then.
 */
export async function makeOnce(folder: string, make: () => Promise<void>): Promise<void> {
  const complete = join(folder, '.complete');
  const lock = `${folder}.lock`;
  mkdirSync(dirname(folder), { recursive: true });
  while (!existsSync(complete)) {
    if (!takeLock(lock)) {
      await Bun.sleep(LOOK_EVERY_MS);
      continue;
    }
    try {
      if (existsSync(complete)) return;
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      await make();
      writeFileSync(complete, '');
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    } finally {
      rmSync(lock, { force: true });
    }
  }
}

/**
 * Creates the lock file, which names its process. The lock of a killed process is removed, so the
 * next attempt creates it.
 */
function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const owner = ownerOf(lock);
  if (owner !== undefined && !isAlive(owner)) rmSync(lock, { force: true });
  return false;
}

function ownerOf(lock: string): number | undefined {
  try {
    return Number(readFileSync(lock, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
