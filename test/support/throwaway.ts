/**
 * Folders that live as long as the process that made them.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'weir-test-';

let swept = false;

/**
 * Makes an empty folder among the system's temporary files. Whoever makes one removes it; what a
 * killed run left is removed by the next one, since the name tells whose it was.
 */
export function throwawayFolder(purpose: string): string {
  if (!swept) {
    swept = true;
    sweep();
  }
  return mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-${purpose}-`));
}

/** Removes a folder, even one that a process which was just killed still writes to. */
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
      // Another user's.
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
