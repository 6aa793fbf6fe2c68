/**
 * Temporary, real PostgreSQL servers for tests, of the oldest and the newest supported version.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase } from '../../db/client.ts';
import type { PostgresBinaries } from '../../db/embedded/binaries.ts';
import { majorVersion } from '../../db/embedded/initialize.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { unpackDebianPackages } from './debian-packages.ts';
import { freePort } from './ports.ts';
import { removeFolder, throwawayFolder } from './throwaway.ts';

/** 18 is the embedded version; 15 is the oldest supported by `DATABASE_URL`. */
export type PostgresVersion = 15 | 18;

export const POSTGRES_VERSIONS: readonly PostgresVersion[] = [15, 18];

export interface TestPostgres {
  /** A superuser's URL of the database `postgres`, over TCP. */
  url: string;
  /** The process id of the postmaster. */
  pid: number;
  stop(): Promise<void>;
}

const START_TRIES = 3;

const SILENT = { info() {}, warn() {}, error() {} };

/**
 * Starts a server in a temporary folder. It ends with this process. It runs without fsync, because
 * its data need not survive a power cut.
 */
export async function startTestPostgres(version: PostgresVersion): Promise<TestPostgres> {
  const binaries = version === 15 ? await findPostgres15() : undefined;
  const folder = throwawayFolder(`postgres-${version}`);
  for (let tries_left = START_TRIES - 1; ; tries_left--) {
    const port = await freePort();
    try {
      const server = await startEmbeddedPostgres({
        data_dir: folder,
        log: SILENT,
        port,
        settings: throwawaySettings(),
        ...(binaries === undefined ? {} : { binaries }),
      });
      return {
        url: await openTcp(server, port),
        pid: server.pid,
        async stop() {
          await server.stop();
          removeFolder(folder);
        },
      };
    } catch (error) {
      if (tries_left === 0) throw error;
    }
  }
}

function throwawaySettings() {
  return {
    listen_addresses: '127.0.0.1',
    max_connections: 400,
    fsync: 'off',
    full_page_writes: 'off',
    wal_level: 'minimal',
    max_wal_size: '4GB',
    checkpoint_timeout: '1h',
    autovacuum_naptime: '1min',
  };
}

/**
 * Opens TCP with a random password. Without a password, other users of the machine could become
 * superuser.
 */
async function openTcp(server: EmbeddedPostgres, port: number): Promise<string> {
  const password = randomBytes(16).toString('hex');
  const { username } = server.connection;
  const database = connectDatabase(server.connection, { pool: 'single' });
  await database.sql.unsafe(`ALTER USER ${username} PASSWORD '${password}'`);
  await database.close();
  return `postgres://${username}:${password}@127.0.0.1:${port}/postgres`;
}

/** Libraries of postgresql-15 of Debian 12 that the base system lacks; others are optional. */
const POSTGRES_15_LIBRARIES = [
  ...['libicu72', 'libldap-2.5-0', 'libsasl2-2', 'libxml2', 'libxslt1.1', 'libssl3'],
  ...['libgssapi-krb5-2', 'libkrb5-3', 'libk5crypto3', 'libkrb5support0', 'libkeyutils1'],
  ...['libcom-err2', 'liblz4-1', 'libzstd1', 'libsystemd0', 'libpam0g', 'libuuid1', 'libgcrypt20'],
];

let found_15: Promise<PostgresBinaries> | undefined;

/**
 * PostgreSQL 15: the folder of programs in `WEIR_TEST_POSTGRES_15`, else Debian's installed one,
 * else Debian's package unpacked into `.cache`.
 *
 * @throws if none of them runs, because the tests must not skip a version silently.
 */
function findPostgres15(): Promise<PostgresBinaries> {
  found_15 ??= searchPostgres15();
  return found_15;
}

async function searchPostgres15(): Promise<PostgresBinaries> {
  const named = process.env.WEIR_TEST_POSTGRES_15;
  const debian = '/usr/lib/postgresql/15/bin';
  for (const bin_dir of [named, process.env.WEIR_TEST_UNINSTALLED ? undefined : debian]) {
    if (bin_dir === undefined || !existsSync(join(bin_dir, 'initdb'))) continue;
    return checked({ bin_dir, library_dirs: [] });
  }
  try {
    const unpacked = await unpackDebianPackages(
      'postgresql-15',
      ['postgresql-15', 'libpq5'],
      POSTGRES_15_LIBRARIES,
    );
    return await checked({
      bin_dir: join(unpacked.root, debian),
      library_dirs: unpacked.library_dirs,
    });
  } catch (cause) {
    throw new Error(
      'The tests need PostgreSQL 15 beside the embedded 18. Install postgresql-15, or name the ' +
        'folder of its programs in WEIR_TEST_POSTGRES_15.',
      { cause },
    );
  }
}

async function checked(binaries: PostgresBinaries): Promise<PostgresBinaries> {
  const major = await majorVersion(binaries);
  if (major === 15) return binaries;
  throw new Error(`${binaries.bin_dir} holds PostgreSQL ${major}; the tests need 15 there.`);
}
