/**
 * The server's log, a file of bounded size in the data folder. The server writes to it directly, so
 * that neither a busy nor a dead parent process blocks the server.
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

/** The largest size of the log, bytes. Weir also keeps one older copy. */
const LOG_MAX_BYTES = 10_000_000;
const CHECK_EVERY_MS = 10_000;

/** An open log. */
export interface LogFile {
  path: string;
  /**
   * The file descriptor for the server's stderr. The file is opened for appending, so that
   * truncation leaves no hole.
   */
  fd: number;
  close(): void;
}

/** Opens the log at `path`. Now and every 10 s, rotates the log if it exceeds `max_bytes`. */
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

/**
 * If the log is full, copies it to `path.1` and truncates the log. The log is not renamed, because
 * the server keeps the file open.
 */
export function rotateWhenFull(path: string, max_bytes: number): void {
  try {
    if (!existsSync(path) || statSync(path).size < max_bytes) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path, 0);
  } catch {
    // The disk is full or the folder is gone. The database reports such errors itself.
  }
}

/** Returns the last lines of the log, for an error message. */
export function logTail(path: string, lines = 10): string {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '(no log)';
  }
}
