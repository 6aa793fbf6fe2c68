import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { bootstrap, type FirstRun } from '../../db/bootstrap.ts';
import { Audit } from '../actors/audit.ts';
import { Channels } from '../actors/channels.ts';
import { systemClock, systemIds } from '../actors/clock.ts';
import { Lane } from '../actors/lane.ts';
import { Quotas } from '../actors/quotas.ts';
import { Replica } from '../actors/replica.ts';
import { demoInstallation } from '../config/demo.ts';
import { ConfigurationError, type Environment } from '../config/environment.ts';
import { type Installation, installationOf } from '../config/installation.ts';
import { parseWeirYaml } from '../config/weir-yaml.ts';
import { WeirError } from '../errors/weir-error.ts';
import { createApp } from '../http/app.ts';
import { KeyRing } from '../http/auth/key-ring.ts';
import { RateLimit } from '../http/rate-limit.ts';
import { Inference } from '../inference/inference.ts';
import { type Databases, openDatabases } from './database.ts';
import { listenToHints } from './hints.ts';
import { startSimulator } from './simulator.ts';

/** Requests in flight get this long to end when the process is asked to. */
const DRAIN_MS = 30_000;
const NANO_PER_USD = 1_000_000_000;
const DEFAULT_CONFIG = './weir.yaml';

/** A running Weir. */
export interface Weir {
  base_url: string;
  /** The credentials of the first start on an empty database. */
  first_run: FirstRun | undefined;
  embedded: boolean;
  /** Takes no new request, lets the running ones end, gives its grants back. */
  stop(): Promise<void>;
}

/** The composition: config → database → actors → http → listen (design 2, floor 6). */
export async function startWeir(environment: Environment, log: Logger): Promise<Weir> {
  mkdirSync(environment.WEIR_DATA, { recursive: true });
  const undo: (() => unknown)[] = [];
  try {
    const { installation, stopUpstream } = await openInstallation(environment.WEIR_CONFIG);
    undo.unshift(stopUpstream);
    const databases = await openDatabases(environment.DATABASE_URL, environment.WEIR_DATA, log);
    undo.unshift(() => databases.close());
    const first_run = await firstRun(environment, databases);
    const actors = await startActors(databases, installation, log);
    undo.unshift(() => actors.stop());
    const redis = connectRedis(environment.REDIS_URL, log);
    undo.unshift(() => redis?.disconnect());
    const app = createApp({
      ...actors,
      orm: databases.requests.orm,
      rateLimit: new RateLimit(installation.roles, redis),
      catalogue: () => installation.catalogue,
      inference: () => actors.inference,
      isReady: () => actors.replica.isAlive(),
      onError: (error, requestId) => logError(log, error, requestId),
    }).listen(environment.PORT);
    const server = app.server;
    if (!server) throw new Error('the server did not start');
    undo.unshift(() => drain(server));
    return {
      base_url: `http://localhost:${server.port}`,
      first_run,
      embedded: databases.exclusive,
      stop: () => runAll(undo),
    };
  } catch (error) {
    await runAll(undo);
    throw error;
  }
}

async function openInstallation(configured: string | undefined) {
  const file = configured ?? (existsSync(DEFAULT_CONFIG) ? DEFAULT_CONFIG : undefined);
  if (file) {
    const installation = installationOf(parseWeirYaml(readConfig(file), process.env, file));
    return { installation, stopUpstream: async () => undefined };
  }
  const simulator = await startSimulator();
  return { installation: demoInstallation(simulator.url), stopUpstream: () => simulator.stop() };
}

function readConfig(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigurationError(`WEIR_CONFIG cannot be read: ${(error as Error).message}`);
  }
}

function firstRun(environment: Environment, databases: Databases): Promise<FirstRun | undefined> {
  return bootstrap(databases.background.orm, {
    api_key: environment.WEIR_BOOTSTRAP_API_KEY,
    management_token: environment.WEIR_BOOTSTRAP_MANAGEMENT_TOKEN,
    operator_token: environment.WEIR_BOOTSTRAP_OPERATOR_TOKEN,
    balance_nano_usd: Math.round(environment.WEIR_BOOTSTRAP_BALANCE_USD * NANO_PER_USD),
  });
}

async function startActors(databases: Databases, installation: Installation, log: Logger) {
  const onError = (error: unknown) => logError(log, error);
  const lane = new Lane({ sql: databases.lane.sql, clock: systemClock, onError });
  const replica: Replica = new Replica({
    sql: databases.background.sql,
    clock: systemClock,
    lane,
    exclusive: databases.exclusive,
    onFenced: () => quotas.fence(),
    onError,
  });
  await replica.start();
  const quotas = new Quotas({
    lane,
    clock: systemClock,
    ids: systemIds,
    replicaId: () => replica.id,
    mayAdmit: () => replica.isAlive(),
    onFenced: () => log.warn('a grant was closed by another replica'),
  });
  const keys = new KeyRing(databases.requests.orm, Date.now);
  const channels = new Channels(installation.channels, systemClock);
  await listenToHints(databases.background.sql, { quotas, keys, onError });
  const inference = new Inference({
    quotas,
    channels,
    catalogue: installation.catalogue,
    now: systemClock.now,
    random: Math.random,
    onError: (error, requestId) => logError(log, error, requestId),
  });
  const audit = new Audit({
    sql: databases.background.sql,
    clock: systemClock,
    onImbalance: (imbalances) => log.error({ imbalances }, 'the books do not add up'),
    onError,
  });
  return {
    replica,
    keys,
    inference,
    onKeyChanged: (id: string, status: 'active' | 'inactive' | 'suspended' | 'revoked') =>
      quotas.find(id)?.keyChanged(status),
    metrics: () => [
      {
        name: 'weir_ledger_imbalances',
        help: 'Organizations, keys, grants and holds whose books do not add up; must be 0.',
        value: audit.imbalances,
      },
      {
        name: 'weir_lane_depth',
        help: 'Ledger commands that wait for their commit.',
        value: lane.depth,
      },
      { name: 'weir_quota_actors', help: 'API keys in use on this replica.', value: quotas.size },
    ],
    async stop() {
      await audit.stop();
      await quotas.close();
      await lane.drain();
      await replica.stop();
    },
  };
}

function connectRedis(url: string | undefined, log: Logger): Redis | undefined {
  if (!url) return undefined;
  const redis = new Redis(url, { enableAutoPipelining: true, maxRetriesPerRequest: 1 });
  redis.on('error', (error) => log.warn({ error: error.message }, 'Redis is away'));
  return redis;
}

/** The listener closes at once; running requests and streams may end. */
async function drain(server: { stop(now: boolean): Promise<void> }): Promise<void> {
  const ended = server.stop(false);
  await Promise.race([ended, Bun.sleep(DRAIN_MS)]);
  await server.stop(true);
}

async function runAll(steps: (() => unknown)[]): Promise<void> {
  for (const step of steps.splice(0)) await step();
}

/** What is the client's own doing is no error of ours. */
function logError(log: Logger, error: unknown, requestId?: string): void {
  const fields = { request_id: requestId, error };
  if (error instanceof WeirError && error.entry.status < 500) {
    log.debug({ ...fields, code: error.id }, error.message);
  } else if (error instanceof DOMException && error.name === 'AbortError') {
    log.debug(fields, 'the client left');
  } else log.error({ ...fields, cause: causeOf(error) }, 'a request or a batch failed');
}

function causeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AggregateError) return cause.errors.map(String).join('; ');
  return cause === undefined ? undefined : String(cause);
}
