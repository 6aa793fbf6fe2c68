/**
 * Starts a real Weir, `bun src/main.ts`, as a separate process on a free port, in a temporary folder.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dieWithParentPrefix } from '../../db/embedded/privileges.ts';
import { createTestDatabase } from './postgres.ts';
import { removeFolder, throwawayFolder } from './throwaway.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const READY_LINE = 'Weir is ready';
const BASE_URL = /^Base URL +http:\/\/localhost:(\d+)$/m;
const READY_TIMEOUT_MS = 60_000;
/** This limit is longer than Weir's own drain. So a test fails if a stop hangs. */
const STOP_TIMEOUT_MS = 60_000;
const OUTPUT_MAX_CHARS = 2_000_000;

export interface WeirOptions {
  /** Another program that composes Weir; default: the product's main file. */
  main?: string;
  /** The command `bin/start` of another checkout of Weir. It takes precedence over `main`. */
  command?: string[];
  /** Overrides of the environment, e.g. `DATABASE_URL` and `REDIS_URL`. */
  env?: Record<string, string>;
  /**
   * A data folder that the caller keeps, e.g. for a second start. The default is a temporary
   * folder.
   */
  data?: string;
  /** True if Weir chooses its first-run credentials. Then they are read from `first-run.json`. */
  random_credentials?: boolean;
  /**
   * True if Weir uses a new database on the shared test server. It starts faster than an embedded
   * one.
   */
  shared_database?: boolean;
  /** The text of a `weir.yaml`. Without it, Weir runs the demo configuration. */
  config?: string;
  port?: number;
}

export interface RunningWeir {
  base_url: string;
  /** First-run credentials. They stay valid if Weir starts again on the same data. */
  api_key: string;
  management_token: string;
  operator_token: string;
  port: number;
  pid: number;
  /** The data folder of this Weir. */
  data: string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code when the process has ended, or with null after a signal. */
  exited: Promise<number | null>;
  /** Sends SIGTERM, waits for the end, and removes a temporary data folder. */
  stop(): Promise<void>;
  /** The output so far, stdout and stderr. */
  output(): string;
}

interface Credentials {
  api_key: string;
  management_token: string;
  operator_token: string;
}

/**
 * Starts Weir and waits until it prints that it is ready.
 *
 * @throws with its output if it ends, or is not ready within a minute.
 */
export async function startWeir(options: WeirOptions = {}): Promise<RunningWeir> {
  // Port 0: the system chooses a port that no other process has, and Weir prints it.
  const requested_port = options.port ?? 0;
  const own_folder = throwawayFolder('weir');
  const database = options.shared_database ? await createTestDatabase() : undefined;
  const data = options.data ?? join(own_folder, 'data');
  const credentials = options.random_credentials ? undefined : knownCredentials(options.env ?? {});
  const child = Bun.spawn(
    [
      ...dieWithParentPrefix(),
      ...(options.command ?? [process.execPath, join(ROOT, options.main ?? 'src/main.ts')]),
      ...['--port', String(requested_port), '--data', data],
    ],
    {
      cwd: own_folder,
      env: environment(options, own_folder, credentials, database?.url),
      // Weir gets its own process group, so that an interrupt of the tests does not reach it.
      detached: true,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    },
  );
  const output = collect(child);
  const exited = child.exited.then(() => child.exitCode);
  const stop = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await child.exited;
    clearTimeout(timer);
    await database?.drop();
    removeFolder(own_folder);
  };
  try {
    await output.waitFor(READY_LINE, exited);
  } catch (error) {
    await stop();
    throw error;
  }
  const port = Number(BASE_URL.exec(output.text())?.[1] ?? requested_port);
  return {
    base_url: `http://127.0.0.1:${port}`,
    ...(credentials ?? firstRun(data)),
    port,
    pid: child.pid,
    data,
    kill: (signal) => child.kill(signal),
    exited,
    stop,
    output: output.text,
  };
}

function environment(
  options: WeirOptions,
  own_folder: string,
  credentials: Credentials | undefined,
  database_url: string | undefined,
): Record<string, string | undefined> {
  const { DATABASE_URL: _database, REDIS_URL: _redis, PORT: _port, ...inherited } = process.env;
  const config = join(own_folder, 'weir.yaml');
  if (options.config !== undefined) writeFileSync(config, options.config);
  return {
    ...inherited,
    // `bun test` sets this variable, but Weir must run without it.
    NODE_ENV: undefined,
    BUN_CONFIG_MAX_HTTP_REQUESTS: '65000',
    MIMALLOC_PURGE_DELAY: '60000',
    MIMALLOC_PURGE_HOLES: '0',
    // Only the tests of the dashboard need its build.
    WEIR_DASHBOARD: 'off',
    // Most tests send the same prompt many times, and expect an upstream's answer each time.
    WEIR_CACHE: 'off',
    // Many tests send wrong keys from one address.
    WEIR_WRONG_KEYS_PER_MINUTE: '1000000',
    ...(credentials === undefined
      ? {}
      : {
          WEIR_BOOTSTRAP_API_KEY: credentials.api_key,
          WEIR_BOOTSTRAP_MANAGEMENT_TOKEN: credentials.management_token,
          WEIR_BOOTSTRAP_OPERATOR_TOKEN: credentials.operator_token,
        }),
    ...(options.config === undefined ? {} : { WEIR_CONFIG: config }),
    ...(database_url === undefined ? {} : { DATABASE_URL: database_url }),
    ...options.env,
  };
}

const remembered = {
  api_key: `sk-${randomBytes(24).toString('hex')}`,
  management_token: `mt-${randomBytes(24).toString('hex')}`,
  operator_token: `op-${randomBytes(24).toString('hex')}`,
};

/**
 * Returns the first-run credentials. A test process has one set, so that a second start on the same
 * data has the same credentials.
 */
function knownCredentials(env: Record<string, string>): Credentials {
  return {
    api_key: env.WEIR_BOOTSTRAP_API_KEY ?? remembered.api_key,
    management_token: env.WEIR_BOOTSTRAP_MANAGEMENT_TOKEN ?? remembered.management_token,
    operator_token: env.WEIR_BOOTSTRAP_OPERATOR_TOKEN ?? remembered.operator_token,
  };
}

/** Reads `first-run.json`, which only the first start of an embedded database writes. */
function firstRun(data: string): Credentials {
  return JSON.parse(readFileSync(join(data, 'first-run.json'), 'utf8')) as Credentials;
}

interface Output {
  text(): string;
  waitFor(line: string, exited: Promise<number | null>): Promise<void>;
}

function collect(child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>): Output {
  let text = '';
  const arrivals = new Set<() => void>();
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text = (text + decoder.decode(chunk, { stream: true })).slice(-OUTPUT_MAX_CHARS);
      for (const arrival of arrivals) arrival();
    }
  };
  const finished = Promise.all([read(child.stdout), read(child.stderr)]);
  return {
    text: () => text,
    async waitFor(line, exited) {
      const seen = new Promise<'seen'>((resolve) => {
        const look = () => text.includes(line) && resolve('seen');
        arrivals.add(look);
        look();
      });
      let timer: Timer | undefined;
      const silence = new Promise<'silent'>((resolve) => {
        timer = setTimeout(resolve, READY_TIMEOUT_MS, 'silent');
      });
      const ended = exited.then(() => 'ended' as const);
      const outcome = await Promise.race([seen, ended, silence]);
      clearTimeout(timer);
      arrivals.clear();
      if (outcome === 'seen') return;
      if (outcome === 'ended') await finished;
      throw new Error(`Weir is not ready (${outcome}). It printed:\n${text}`);
    },
  };
}
