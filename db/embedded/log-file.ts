/**
 * The server's log: a file in the data folder that it writes to directly, so that neither a busy
 * nor a dead parent can block it, and that cannot grow without bound.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs';

/** One file of this size and one older copy are kept. */
const LOG_MAX_BYTES = 10_000_000;
const CHECK_EVERY_MS = 10_000;

/** An open log. */
export interface LogFile {
  path: string;
  /** For the child's stderr. Opened for appending, so truncating never leaves a hole. */
  fd: number;
  close(): void;
}

/** Opens the log at `path` and keeps it below {@link LOG_MAX_BYTES}, checked every 10 s. */
export function openLogFile(path: string, max_bytes: number = LOG_MAX_BYTES): LogFile {
  const fd = openSync(path, 'a', 0o600);
  rotateWhenFull(path, max_bytes);
  const timer = setInterval(() => rotateWhenFull(path, max_bytes), CHECK_EVERY_MS);
  timer.unref();
  return {
    path,
    fd,
    close() {
      clearInterval(timer);
      closeSync(fd);
    },
  };
}

/** Moves a full log aside by copying: the server keeps its descriptor. */
export function rotateWhenFull(path: string, max_bytes: number): void {
  try {
    if (!existsSync(path) || statSync(path).size < max_bytes) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path, 0);
  } catch {
    // A full disk or a removed folder: the database's own errors will tell.
  }
}

/** The last lines of the log, for an error message. */
export function logTail(path: string, lines = 10): string {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '(no log)';
  }
}
