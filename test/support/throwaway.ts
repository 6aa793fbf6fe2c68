/**
 * Temporary folders of one process.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'weir-test-';

let swept = false;

/**
 * Creates an empty temporary folder. The caller removes it. The next run removes folders of a
 * killed run, because the name contains the process id.
 */
export function throwawayFolder(purpose: string): string {
  if (!swept) {
    swept = true;
    sweep();
  }
  return mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-${purpose}-`));
}

/** Removes a folder, even if a killed process still writes to it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      removeFolder(join(tmpdir(), name));
    } catch {
      // The folder belongs to another user.
    }
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
