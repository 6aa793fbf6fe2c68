/**
 * The folder of the server's unix socket: the only way in, so it is closed to everybody else.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The kernel takes 107 bytes on Linux and 103 on macOS. */
const SOCKET_PATH_MAX_BYTES = 100;

/** What PostgreSQL calls its socket for a port. */
export function socketPath(folder: string, port: number): string {
  return join(folder, `.s.PGSQL.${port}`);
}

/**
 * Makes an empty folder, mode 0700: `<data_dir>/run`, or one with a random name among the temporary
 * files when that path is too long for a socket. The latter is noted in `data_dir`, so that the next
 * start removes it if this one is killed.
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
  writeFileSync(note(data_dir), elsewhere);
  return elsewhere;
}

/** Removes what {@link makeSocketFolder} made, by this process or by a killed one. */
export function removeSocketFolder(data_dir: string): void {
  rmSync(join(data_dir, 'run'), { recursive: true, force: true });
  const elsewhere = readNote(data_dir);
  if (elsewhere !== undefined) rmSync(elsewhere, { recursive: true, force: true });
  rmSync(note(data_dir), { force: true });
}

function note(data_dir: string): string {
  return join(data_dir, 'socket-folder');
}

function readNote(data_dir: string): string | undefined {
  try {
    const folder = readFileSync(note(data_dir), 'utf8').trim();
    // Whatever else the file may say, nothing but a folder of ours is ever removed.
    return /\/weir-pg-\w+$/.test(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

function shortTemporaryFolder(): string {
  return Buffer.byteLength(tmpdir()) <= SOCKET_PATH_MAX_BYTES / 2 ? tmpdir() : '/tmp';
}
