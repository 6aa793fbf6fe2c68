/**
 * The embedded database: a real PostgreSQL as a child process of Weir, on a private unix socket in
 * the data folder. The driver, the SQL and the migrations are the same as with an external
 * database.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import postgres from 'postgres';
import type { PostgresConnection } from '../client.ts';
import { findEmbeddedBinaries, type PostgresBinaries, postgresEnvironment } from './binaries.ts';
import { type FolderLock, lockFolder } from './folder-lock.ts';
import { CLUSTER_USER, ensureCluster } from './initialize.ts';
import { clearLeftovers } from './leftovers.ts';
import { type LogFile, logTail, openLogFile } from './log-file.ts';
import { dieWithParentPrefix, launchPlan } from './privileges.ts';
import { EMBEDDED_SETTINGS, type PostgresSettings, settingArguments } from './settings.ts';
import { makeSocketFolder, removeSocketFolder, socketPath } from './socket-folder.ts';

/** The logger of the supervisor, e.g. a pino logger. */
interface EmbeddedLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface EmbeddedPostgresOptions {
  /** The data folder. One process uses it at a time. The folder is created if it is missing. */
  data_dir: string;
  log: EmbeddedLog;
  /** The PostgreSQL programs. Default: the npm package of this platform. */
  binaries?: PostgresBinaries;
  /** Settings that override {@link EMBEDDED_SETTINGS}; for tests only. */
  settings?: PostgresSettings;
  /**
   * A number in the socket's name; default 5432. The server opens a TCP port only if `settings` say
   * so.
   */
  port?: number;
}

/** An unexpected end of the server. Weir then restarts the server. */
interface UnexpectedExit {
  pid: number;
  exit_code: number | null;
  signal: string | null;
}

/** A running embedded database. */
export interface EmbeddedPostgres {
  /** The address for `connectDatabase`. The address stays the same across restarts. */
  connection: PostgresConnection;
  /** The postmaster's process id; changes with each restart. */
  readonly pid: number;
  /** Registers a callback for each unexpected end of the server. */
  onExit(callback: (exit: UnexpectedExit) => void): void;
  /** Ends the server (fast shutdown), then unlocks the folder. A second call does nothing more. */
  stop(): Promise<void>;
}

const DATABASE_NAME = 'weir';
const POLL_MS = 10;
/**
 * How long the server may take to start. Crash recovery is much shorter, because it replays at most
 * `max_wal_size`.
 */
const START_TIMEOUT_MS = 300_000;
const FAST_SHUTDOWN_MS = 30_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const FIRST_START_TRIES = 3;
const RESTART_DELAY_MIN_MS = 50;
const RESTART_DELAY_MAX_MS = 5_000;

/**
 * Starts the server in `data_dir`. Creates the cluster on first use, and removes what a killed Weir
 * left. If the server ends later, Weir restarts it until it runs, with a growing delay. Until then,
 * queries fail. The caller has nothing to do.
 *
 * @throws DataFolderInUseError if another running process holds the folder's lock.
 * @throws Error with the tail of the server's log if the server does not start.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const data_dir = resolve(options.data_dir);
  mkdirSync(data_dir, { recursive: true, mode: 0o700 });
  const lock = lockFolder(data_dir);
  try {
    const binaries = options.binaries ?? findEmbeddedBinaries(join(data_dir, 'lib'));
    await clearLeftovers(join(data_dir, 'cluster'));
    const cluster_dir = await ensureCluster(data_dir, binaries);
    const port = options.port ?? 5432;
    const server = new Supervisor(options, data_dir, cluster_dir, binaries, port, lock);
    await server.start();
    return server;
  } catch (error) {
    lock.release();
    throw error;
  }
}

class Supervisor implements EmbeddedPostgres {
  readonly connection: PostgresConnection;
  readonly #socket_dir: string;
  readonly #log_file: LogFile;
  readonly #listeners: ((exit: UnexpectedExit) => void)[] = [];
  #child: Bun.Subprocess | undefined;
  #stopping = false;
  #stopped: Promise<void> | undefined;
  #supervision: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: EmbeddedPostgresOptions,
    private readonly data_dir: string,
    private readonly cluster_dir: string,
    private readonly binaries: PostgresBinaries,
    private readonly port: number,
    private readonly lock: FolderLock,
  ) {
    this.#socket_dir = makeSocketFolder(data_dir, port);
    this.#log_file = openLogFile(join(data_dir, 'postgres.log'));
    this.connection = {
      host: this.#socket_dir,
      port,
      username: CLUSTER_USER,
      database: DATABASE_NAME,
    };
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  onExit(callback: (exit: UnexpectedExit) => void): void {
    this.#listeners.push(callback);
  }

  async start(): Promise<void> {
    try {
      await this.#startWithRetries();
      await this.#createDatabase();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#supervision = this.#supervise();
  }

  stop(): Promise<void> {
    this.#stopping = true;
    this.#stopped ??= this.#shutDown();
    return this.#stopped;
  }

  async #startWithRetries(): Promise<void> {
    for (let tries_left = FIRST_START_TRIES - 1; ; tries_left--) {
      try {
        return await this.#launch();
      } catch (error) {
        if (tries_left === 0) throw error;
        this.options.log.warn({ err: error }, 'the embedded database did not start; trying again');
        await clearLeftovers(this.cluster_dir);
      }
    }
  }

  /** Starts the server and returns when it takes connections. */
  async #launch(): Promise<void> {
    // A killed server leaves this lock file with its process id. If an unrelated process has that
    // id now, PostgreSQL would not start.
    rmSync(`${socketPath(this.#socket_dir, this.port)}.lock`, { force: true });
    const child = Bun.spawn(
      [
        ...launchPlan().prefix,
        ...dieWithParentPrefix(),
        join(this.binaries.bin_dir, 'postgres'),
        ...['-D', this.cluster_dir],
        ...['-c', `unix_socket_directories=${this.#socket_dir}`, '-c', `port=${this.port}`],
        ...settingArguments(EMBEDDED_SETTINGS, this.options.settings ?? {}),
      ],
      {
        env: postgresEnvironment(this.binaries),
        // The server has its own session, so that Ctrl-C at the terminal reaches only Weir. Weir
        // still has to settle and needs the server.
        detached: true,
        stdin: 'ignore',
        stdout: this.#log_file.fd,
        stderr: this.#log_file.fd,
      },
    );
    this.#child = child;
    const deadline_ms = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < deadline_ms) {
      if (child.exitCode !== null || child.signalCode !== null) throw this.#startFailure(child);
      if (this.#isReady(child.pid)) return;
      await Bun.sleep(POLL_MS);
    }
    await endProcess(child);
    throw this.#startFailure(child);
  }

  /**
   * True if the eighth line of the postmaster's lock file is `ready`. `pg_ctl` reads the same line.
   */
  #isReady(pid: number): boolean {
    try {
      const lines = readFileSync(join(this.cluster_dir, 'postmaster.pid'), 'utf8').split('\n');
      return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
    } catch {
      return false;
    }
  }

  #startFailure(child: Bun.Subprocess): Error {
    return new Error(
      `The embedded PostgreSQL did not start (exit ${child.exitCode ?? child.signalCode}). ` +
        `The end of ${this.#log_file.path}:\n${logTail(this.#log_file.path)}`,
    );
  }

  async #createDatabase(): Promise<void> {
    const sql = postgres({
      ...this.connection,
      database: 'postgres',
      max: 1,
      connect_timeout: 10,
      onnotice: () => {},
    });
    try {
      const found = await sql`SELECT 1 FROM pg_database WHERE datname = ${DATABASE_NAME}`;
      if (found.length === 0) await sql.unsafe(`CREATE DATABASE ${DATABASE_NAME}`);
    } finally {
      await sql.end();
    }
  }

  async #supervise(): Promise<void> {
    while (!this.#stopping && this.#child) {
      const child = this.#child;
      await child.exited;
      if (this.#stopping) return;
      this.#announce({
        pid: child.pid,
        exit_code: child.exitCode,
        signal: child.signalCode === null ? null : String(child.signalCode),
      });
      await this.#restart();
    }
  }

  #announce(exit: UnexpectedExit): void {
    this.options.log.error(exit, 'the embedded database ended unexpectedly; restarting it');
    for (const listener of this.#listeners) {
      try {
        listener(exit);
      } catch (error) {
        this.options.log.error({ err: error }, 'a listener of onExit failed');
      }
    }
  }

  async #restart(): Promise<void> {
    for (let delay_ms = RESTART_DELAY_MIN_MS; !this.#stopping; delay_ms *= 2) {
      try {
        await clearLeftovers(this.cluster_dir);
        if (this.#stopping) return;
        await this.#launch();
        this.options.log.info({ pid: this.pid }, 'the embedded database was restarted');
        return;
      } catch (error) {
        if (this.#stopping) return;
        this.options.log.error({ err: error }, 'the embedded database could not be restarted');
        await Bun.sleep(Math.min(delay_ms, RESTART_DELAY_MAX_MS));
      }
    }
  }

  async #shutDown(): Promise<void> {
    if (this.#child) await endProcess(this.#child);
    await this.#supervision;
    // A restart that ran when stop() was called may have launched another server.
    if (this.#child) await endProcess(this.#child);
    this.#log_file.close();
    removeSocketFolder(this.data_dir);
    this.lock.release();
  }
}

/**
 * Ends a server with a fast shutdown, then an immediate shutdown, then SIGKILL. Resolves when the
 * server has ended.
 */
async function endProcess(child: Bun.Subprocess): Promise<void> {
  for (const [signal, timeout_ms] of [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    child.kill(signal);
    if (await endedWithin(child, timeout_ms)) return;
  }
  child.kill('SIGKILL');
  await child.exited;
}

async function endedWithin(child: Bun.Subprocess, timeout_ms: number): Promise<boolean> {
  let timer: Timer | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, timeout_ms, false);
  });
  const hasEnded = await Promise.race([child.exited.then(() => true), timeout]);
  clearTimeout(timer);
  return hasEnded;
}
