/**
 * The folder of the server's unix socket. The socket is the only access to the server, so the folder
 * is closed to other users.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The longest path of a socket, bytes. The kernel's limit is 107 bytes on Linux and 103 bytes on
 * macOS.
 */
const SOCKET_PATH_MAX_BYTES = 100;

/** Returns the path of PostgreSQL's socket for a port. */
export function socketPath(folder: string, port: number): string {
  return join(folder, `.s.PGSQL.${port}`);
}

/**
 * Creates an empty folder with mode 0700 and returns its path. The path is `<data_dir>/run`. If
 * that path is too long for a socket, the folder is a temporary folder elsewhere. Then a file in
 * `data_dir` names the temporary folder, so that the next start can remove it.
 */
export function makeSocketFolder(data_dir: string, port: number): string {
  removeSocketFolder(data_dir);
  const inside = join(data_dir, 'run');
  if (Buffer.byteLength(socketPath(inside, port)) <= SOCKET_PATH_MAX_BYTES) {
    mkdirSync(inside, { mode: 0o700 });
    chmodSync(inside, 0o700);
    return inside;
  }
  const elsewhere = mkdtempSync(join(shortTemporaryFolder(), 'weir-pg-'));
  chmodSync(elsewhere, 0o700);
  writeFileSync(noteFile(data_dir), elsewhere);
  return elsewhere;
}

/** Removes the folder that {@link makeSocketFolder} created in this or a killed process. */
export function removeSocketFolder(data_dir: string): void {
  rmSync(join(data_dir, 'run'), { recursive: true, force: true });
  const elsewhere = readNote(data_dir);
  if (elsewhere !== undefined) rmSync(elsewhere, { recursive: true, force: true });
  rmSync(noteFile(data_dir), { force: true });
}

function noteFile(data_dir: string): string {
  return join(data_dir, 'socket-folder');
}

function readNote(data_dir: string): string | undefined {
  try {
    const folder = readFileSync(noteFile(data_dir), 'utf8').trim();
    // The file may contain any path, so only a folder with Weir's prefix is removed.
    return /\/weir-pg-\w+$/.test(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

function shortTemporaryFolder(): string {
  return Buffer.byteLength(tmpdir()) <= SOCKET_PATH_MAX_BYTES / 2 ? tmpdir() : '/tmp';
}
