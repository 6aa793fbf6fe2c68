/**
 * The embedded default: a real PostgreSQL as a child process of Weir, on a private unix socket in
 * the data folder (design 6). Same driver, same SQL, same migrations as in production.
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

/** What the supervisor tells about its work; a pino logger fits. */
interface EmbeddedLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface EmbeddedPostgresOptions {
  /** Belongs to one process at a time; created if missing. */
  data_dir: string;
  log: EmbeddedLog;
  /** Default: the npm package of this platform. */
  binaries?: PostgresBinaries;
  /** Laid over {@link EMBEDDED_SETTINGS}; only tests have reason to. */
  settings?: PostgresSettings;
  /** Names the socket; nothing listens on TCP unless `settings` say so. Default 5432. */
  port?: number;
}

/** The server ended without being asked to. A new one is being started. */
interface UnexpectedExit {
  pid: number;
  exit_code: number | null;
  signal: string | null;
}

export interface EmbeddedPostgres {
  /** For `connectDatabase`. Stays the same across restarts. */
  connection: PostgresConnection;
  /** The postmaster's process id; changes when it is restarted. */
  readonly pid: number;
  /** Called each time the server dies while it should run. */
  onExit(callback: (exit: UnexpectedExit) => void): void;
  /** Ends the server (fast shutdown), then gives the folder free. Safe to call twice. */
  stop(): Promise<void>;
}

const DATABASE_NAME = 'weir';
const POLL_MS = 10;
/** Crash recovery replays at most `max_wal_size`; this is far beyond it. */
const START_TIMEOUT_MS = 300_000;
const FAST_SHUTDOWN_MS = 30_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const FIRST_START_TRIES = 3;
const RESTART_DELAY_MIN_MS = 50;
const RESTART_DELAY_MAX_MS = 5_000;

/**
 * Starts the server in `data_dir`, creating the cluster on first use and clearing whatever a killed
 * predecessor left. When the server dies later it is started again, for as long as it takes, with
 * a growing delay: callers see failing queries for a moment and need do nothing else.
 *
 * @throws DataFolderInUseError when another living process has the folder.
 * @throws Error with the tail of the server's log when it does not come up.
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
    // Like postmaster.pid: a lock by process id, which a stranger may have by now.
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
        // A session of its own: Ctrl-C at the terminal is for Weir, which still has to settle.
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

  /** The postmaster writes its state into the eighth line of its lock file, as `pg_ctl` reads it. */
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
    this.options.log.error(exit, 'the embedded database ended unexpectedly; starting it again');
    for (const listener of this.#listeners) {
      try {
        listener(exit);
      } catch (error) {
        this.options.log.error({ err: error }, 'a listener for the end of the database failed');
      }
    }
  }

  async #restart(): Promise<void> {
    for (let delay_ms = RESTART_DELAY_MIN_MS; !this.#stopping; delay_ms *= 2) {
      try {
        await clearLeftovers(this.cluster_dir);
        if (this.#stopping) return;
        await this.#launch();
        this.options.log.info({ pid: this.pid }, 'the embedded database is back');
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
    // A restart that was under way when stop() came may have launched one more.
    if (this.#child) await endProcess(this.#child);
    this.#log_file.close();
    removeSocketFolder(this.data_dir);
    this.lock.release();
  }
}

/** Fast shutdown, then immediate, then SIGKILL; returns when the process is gone. */
async function endProcess(child: Bun.Subprocess): Promise<void> {
  for (const [signal, patience_ms] of [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    child.kill(signal);
    if (await endedWithin(child, patience_ms)) return;
  }
  child.kill('SIGKILL');
  await child.exited;
}

async function endedWithin(child: Bun.Subprocess, patience_ms: number): Promise<boolean> {
  let timer: Timer | undefined;
  const patience = new Promise<boolean>((give_up) => {
    timer = setTimeout(give_up, patience_ms, false);
  });
  const ended = await Promise.race([child.exited.then(() => true), patience]);
  clearTimeout(timer);
  return ended;
}
