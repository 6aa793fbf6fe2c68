import { mkdirSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { bootstrap, type FirstRun } from '../../db/bootstrap.ts';
import { readShownKeys } from '../../db/keys.ts';
import { systemClock } from '../actors/clock.ts';
import { parseCidrList } from '../config/cidr-list.ts';
import { ConfigurationError, type Environment } from '../config/environment.ts';
import { openSecretKey } from '../config/secret-key.ts';
import { createApp } from '../http/app.ts';
import { Authentication } from '../http/auth/authentication.ts';
import { WrongCredentials } from '../http/auth/wrong-credentials.ts';
import { RateLimit } from '../http/rate-limit.ts';
import type { Dashboard } from '../http/web/build.ts';
import { TokenUses } from '../inference/keys/token-uses.ts';
import { ArrivalRing } from '../inference/records/arrival-ring.ts';
import { Arrivals } from '../inference/records/arrivals.ts';
import type { CallRecords } from '../inference/records/call-records.ts';
import { Repeats } from '../inference/repeats/repeats.ts';
import { BodyBudget } from '../upstreams/transport/body-budget.ts';
import { onSurplusBytes } from '../upstreams/transport/http1/conduct.ts';
import { allowGuardedHosts } from '../upstreams/transport/http1/guarded-connection.ts';
import { startActors } from './actors.ts';
import { openCache } from './cache.ts';
import { type Databases, openDatabases } from './database.ts';
import { startDebug } from './debug.ts';
import { type GenerationOverrides, openGeneration } from './generation.ts';
import { chatModelOf } from './greeting.ts';
import { startActs } from './inspection.ts';
import { openInstallation } from './installation.ts';
import { logError } from './log.ts';
import { firstOperatorLink, openPeople } from './people.ts';
import { startPrices } from './prices.ts';

/** When the process stops, requests in flight get this time to end, ms. */
const DRAIN_MS = 30_000;
/** After the connections are closed, their calls get this time to charge what was delivered, ms. */
const CUT_MS = 5_000;
const NANO_PER_USD = 1_000_000_000;
const BYTES_PER_MB = 1024 * 1024;

/** A running Weir. */
export interface Weir {
  base_url: string;
  /** The credentials that the first start created; undefined if the database was not empty. */
  first_run: FirstRun | undefined;
  /** Signs the first operator in, once; undefined if the installation has an operator. */
  operator_link: string | undefined;
  /** A chat model that a channel serves, for the example of the greeting. */
  chat_model: string | undefined;
  /** True if Weir runs its own PostgreSQL. */
  embedded: boolean;
  /** Accepts no new requests, waits up to 30 s for the running requests, and returns all grants. */
  stop(): Promise<void>;
}

/**
 * Starts Weir: config → database → actors → http → listen. `overrides` has parts that a test
 * replaces. Without `dashboard` it serves only the API. Throws ConfigurationError if a setting cannot be used.
 */
export async function startWeir(
  environment: Environment,
  log: Logger,
  overrides: GenerationOverrides = {},
  dashboard?: Dashboard,
): Promise<Weir> {
  mkdirSync(environment.WEIR_DATA, { recursive: true });
  onSurplusBytes((host) =>
    log.warn({ host }, 'an upstream sent bytes after its answer; its connections are not reused'),
  );
  const stopSteps: (() => unknown)[] = [];
  try {
    const installation = await openInstallation(environment, log);
    stopSteps.unshift(() => installation.close());
    const { live } = installation;
    const databases = await openDatabases(environment.DATABASE_URL, environment.WEIR_DATA, log);
    stopSteps.unshift(() => databases.close());
    const first_run = await firstRun(environment, databases);
    const key = openSecretKey(environment.WEIR_SECRET_KEY, environment.WEIR_DATA);
    const generation = openGeneration(environment, live, key, overrides);
    const bodies = new BodyBudget(environment.WEIR_BODY_MEMORY_MB * BYTES_PER_MB);
    const onError = (error: unknown) => logError(log, error);
    const answers = await openCache(live, environment, databases, key, log);
    stopSteps.unshift(() => answers.stop());
    const { cache } = answers;
    allowGuardedHosts(new Set(environment.WEIR_OWN_KEY_ALLOW_HOSTS?.split(',') ?? []));
    const opened = {
      ...{ ...installation, cache },
      ...{ channel_keys: key.for('channel-keys'), own_keys: key.for('own-keys') },
    };
    const actors = await startActors(databases, opened, generation, bodies, environment, log);
    stopSteps.unshift(() => actors.stop());
    const cacheChanges = await answers.follow(actors);
    const prices = await startPrices(live, databases, onError);
    stopSteps.unshift(() => prices.stop());
    const debug = await startDebug(actors.bus, databases, key.for('debug-copies'), onError);
    stopSteps.unshift(() => debug.stop());
    const arrivalRing = new ArrivalRing();
    const arrivals = new Arrivals({
      ...{ ring: arrivalRing, bus: actors.bus, clock: systemClock, onError },
      replica_id: () => actors.replica.id,
      readKeys: (ids) => readShownKeys(databases.background.sql, ids),
    });
    const repeats = new Repeats({
      sql: databases.requests.sql,
      clock: systemClock,
      key: key.for('kept-answers'),
      max_bytes: environment.WEIR_KEPT_ANSWERS_MB * BYTES_PER_MB,
      replica_id: () => actors.replica.id,
      onError,
    });
    const acts = startActs(databases.requests.sql, actors);
    const alias_key = key.for('aliases');
    const tokenUses = new TokenUses({
      ...{ sql: databases.background.sql, clock: systemClock, onError },
    });
    tokenUses.start();
    stopSteps.unshift(() => tokenUses.stop());
    const redis = await connectRedis(environment.REDIS_URL, log);
    stopSteps.unshift(() => redis?.disconnect());
    const wrongCredentials = new WrongCredentials({
      limit: environment.WEIR_WRONG_KEYS_PER_MINUTE,
      redis,
    });
    const proxies = environment.WEIR_TRUSTED_PROXIES;
    const people = openPeople(environment, databases, key, wrongCredentials, log);
    const app = createApp({
      ...actors,
      dashboard,
      authentication: new Authentication({
        keys: actors.keys,
        wrongCredentials,
        people: people.sessions,
        tokenUses,
        records: actors.records,
        debug,
        proxies: proxies === undefined ? [] : parseCidrList(proxies),
      }),
      metrics_token: environment.WEIR_METRICS_TOKEN,
      metrics: () => [
        ...actors.metrics(),
        ...answers.metrics(),
        {
          name: 'weir_wrong_keys_refused_total',
          help: 'Requests refused because their address sent too many wrong keys or tokens.',
          value: wrongCredentials.refused,
        },
        {
          name: 'weir_debug_copies_dropped_total',
          help: 'Copies of calls in debug windows that were lost, because the database was away or slow.',
          value: debug.dropped,
        },
      ],
      orm: databases.requests.orm,
      sql: databases.requests.sql,
      answers_key: key.for('kept-changes'),
      bodies,
      rateLimit: new RateLimit(() => live.now.roles, redis),
      catalogue: actors.catalogue,
      isServed: (model, organization_id) => actors.inference.isServed(model, organization_id),
      inference: () => actors.inference,
      repeats: () => repeats,
      responses: () => databases.requests.sql,
      usage: () => databases.requests.sql,
      running: () => actors.runningCalls,
      feed: () => actors.feed,
      ...{ arrivalRing, arrivals: () => arrivals },
      inspection: () => ({
        ...actors.inspection,
        ...{ acts, alias_key, public_url: generation.ports.public_url },
      }),
      debug: () => debug,
      cacheChanges: () => cacheChanges,
      batches: () => actors.batches,
      lists: () => databases.requests.sql,
      people,
      public_url: generation.ports.public_url,
      generation: () => ({ ...generation.ports, tasks: actors.tasks }),
      files: generation.files,
      isReady: () => actors.replica.isAlive(),
      onError: (error, request_id) => logError(log, error, request_id),
    });
    const server = listen(app, environment.PORT);
    stopSteps.unshift(() => drain(server, repeats, actors.records));
    // Event streams may last an hour, so the drain does not wait for them. Their clients resume.
    stopSteps.unshift(() => {
      actors.tasks.watches.stop();
      actors.feed.stop();
      arrivals.stop();
      actors.inspection.stopStreams();
      actors.stopBatches();
    });
    const base_url = `http://localhost:${server.port}`;
    return {
      base_url,
      first_run,
      operator_link: await firstOperatorLink(
        databases.background.sql,
        environment.WEIR_PUBLIC_URL?.replace(/\/+$/, '') ?? base_url,
      ),
      chat_model: chatModelOf(live.now),
      embedded: databases.exclusive,
      stop: () => runAll(stopSteps),
    };
  } catch (error) {
    await runAll(stopSteps);
    throw error;
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

/** Throws ConfigurationError if another process listens on the port. */
function listen(app: ReturnType<typeof createApp>, port: number) {
  try {
    const { server } = app.listen(port);
    if (server) return server;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EADDRINUSE') throw error;
    throw new ConfigurationError(
      `Port ${port} is in use by another process. Choose another port with --port.`,
    );
  }
  throw new Error('the server did not start');
}

async function connectRedis(url: string | undefined, log: Logger): Promise<Redis | undefined> {
  if (!url) return undefined;
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, { enableAutoPipelining: true, maxRetriesPerRequest: 1 });
  redis.on('error', (error) => log.warn({ error: error.message }, 'Redis is unreachable'));
  return redis;
}

/**
 * Closes the listener at once. Running requests and streams, and calls that continue without their
 * clients, get `DRAIN_MS` to end. After that the connections are closed, and their calls get
 * `CUT_MS` to charge what was delivered.
 */
async function drain(
  server: { stop(now: boolean): Promise<void> },
  repeats: Repeats,
  calls: CallRecords,
): Promise<void> {
  const ended = server.stop(false).then(() => Promise.all([repeats.drain(), calls.idle()]));
  await Promise.race([ended, Bun.sleep(DRAIN_MS)]);
  repeats.stop();
  await server.stop(true);
  await Promise.race([calls.idle(), Bun.sleep(CUT_MS)]);
}

async function runAll(steps: (() => unknown)[]): Promise<void> {
  for (const step of steps.splice(0)) await step();
}
