/**
 * The HTTP floor on a free port with its own database. A test scripts the inference floor. All
 * other parts are real.
 */
import type { Redis } from 'ioredis';
import { beginAlertRedelivery, findAlertDelivery } from '../../db/alerts/deliveries.ts';
import { bootstrap, type FirstRun } from '../../db/bootstrap.ts';
import { connectDatabase, type Database } from '../../db/client.ts';
import { isInvited } from '../../db/people/links.ts';
import { hasAccount } from '../../db/people/people.ts';
import { systemClock } from '../../src/actors/clock.ts';
import { Redeliveries } from '../../src/actors/webhooks/redelivery.ts';
import type { CatalogueModel } from '../../src/catalogue/catalogue.ts';
import { parseCidrList } from '../../src/config/cidr-list.ts';
import { demoInstallation } from '../../src/config/demo.ts';
import { BUILT_IN_ROLES } from '../../src/config/installation.ts';
import { WeirError } from '../../src/errors/weir-error.ts';
import { createApp } from '../../src/http/app.ts';
import { Authentication } from '../../src/http/auth/authentication.ts';
import { WrongCredentials } from '../../src/http/auth/wrong-credentials.ts';
import { RateLimit } from '../../src/http/rate-limit.ts';
import { SignInLibrary } from '../../src/http/sign-in/library.ts';
import type { PeopleParts } from '../../src/http/sign-in/parts.ts';
import { PersonSessions } from '../../src/http/sign-in/person-sessions.ts';
import type { InferenceCall } from '../../src/inference/call.ts';
import { KeyCache } from '../../src/inference/keys/key-cache.ts';
import { TokenUses } from '../../src/inference/keys/token-uses.ts';
import { Repeats } from '../../src/inference/repeats/repeats.ts';
import { BodyBudget } from '../../src/upstreams/transport/body-budget.ts';
import { FakeTasks } from './fake-tasks.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

export interface TestAppOptions {
  /** Requests per minute of each role. The default is too high for any test to reach. */
  roles?: Record<string, number>;
  redis?: Redis;
  /** Wrong credentials of an address in a minute. The default is too high for any test to reach. */
  wrong_keys_per_minute?: number;
  /** CIDR blocks of the proxies whose `X-Forwarded-For` is trusted; none by default. */
  trusted_proxies?: string;
  metrics_token?: string;
  public_url?: string;
  /** Sends mails; without it, links are shown. */
  mailer?: PeopleParts['mailer'];
  /** The clock of authentication, in milliseconds. */
  now?: () => number;
  /** Returns whether a channel takes calls of the model now. By default a channel always does. */
  isServed?: (model: CatalogueModel) => boolean;
  /** Returns since when a model has no healthy channel, ms. By default every model has one. */
  downSince?: (model_id: string) => number | undefined;
  /** Called when a key changed, with its id. */
  announceKey?: (key_id: string) => void;
  /** Another database URL for the app, e.g. a URL at which no server listens. */
  requests_go_to?: string;
  /** The most bytes of bodies and answers in flight; as in production by default. */
  max_body_bytes?: number;
}

export interface TestApp {
  base_url: string;
  /** The paths that the app registers, with `:name` for a parameter. */
  paths: string[];
  credentials: FirstRun;
  organization_id: string;
  database: TestDatabase;
  /** The pool that the app uses. */
  pool: Database;
  keys: KeyCache;
  /** The bodies and answers in flight. */
  bodies: BodyBudget;
  wrongCredentials: WrongCredentials;
  /** Stores the uses of tokens only if a test says so. */
  tokenUses: TokenUses;
  /** Every call that reached the inference floor. */
  calls: InferenceCall[];
  /** Returns the answer of the inference floor; a test may replace it. */
  answer: (call: InferenceCall) => Response | Promise<Response>;
  /** The tasks of the app, and the files that hold their results. */
  tasks: FakeTasks;
  files: Map<string, string>;
  /** Reported errors, with details that clients do not see. */
  reported: unknown[];
  ready: boolean;
  /** Sends a request with the API key. A header `authorization` in `init` replaces it. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a request with the management token. */
  manage(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** POSTs JSON with the API key. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  stop(): Promise<void>;
}

const PLENTY = 1_000_000;
const MAX_BODY_BYTES = 512 * 1024 * 1024;
const BALANCE_NANO_USD = 100_000_000_000;

/** Boots an app on a fresh database with its first organization, key and tokens. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = await createTestDatabase();
  const { credentials, organization_id } = await firstRun(database.url);
  const pool = connectDatabase(options.requests_go_to ?? database.url, { pool: 'requests' });
  const { catalogue } = demoInstallation('http://unused.invalid');
  const isServed = options.isServed ?? (() => true);
  const plenty = Object.fromEntries(Object.keys(BUILT_IN_ROLES).map((role) => [role, PLENTY]));
  const now = options.now ?? Date.now;
  const keys = new KeyCache(pool.orm, now);
  const { redis, trusted_proxies } = options;
  const limit = options.wrong_keys_per_minute ?? PLENTY;
  const wrongCredentials = new WrongCredentials({ limit, redis, now });
  const tokenUses = new TokenUses({
    ...{ sql: pool.sql, clock: systemClock },
    onError: (error) => test_app.reported.push(error),
  });
  const proxies = trusted_proxies === undefined ? [] : parseCidrList(trusted_proxies);
  const { public_url, mailer } = options;
  const library = new SignInLibrary({
    ...{ orm: pool.orm, key: new Uint8Array(32).fill(7), public_url, oidc: undefined },
    isInvited: (email) => isInvited(pool.sql, email),
    hasAccount: (...account) => hasAccount(pool.sql, ...account),
    warn: () => undefined,
  });
  const sessions = new PersonSessions({ sql: pool.sql, library, public_url, proxies });
  const bodies = new BodyBudget(options.max_body_bytes ?? MAX_BODY_BYTES);
  const repeats = new Repeats({
    ...{ sql: pool.sql, clock: systemClock, key: new Uint8Array(32), max_bytes: 1_000_000 },
    replica_id: () => 'replica_of_the_test',
    onError: (error) => test_app.reported.push(error),
  });
  const app = createApp({
    orm: pool.orm,
    sql: pool.sql,
    answers_key: new Uint8Array(32),
    bodies,
    repeats: () => repeats,
    keys,
    authentication: new Authentication({
      keys,
      wrongCredentials,
      tokenUses,
      proxies,
      people: sessions,
    }),
    rateLimit: new RateLimit(() => options.roles ?? plenty, redis),
    catalogue: () => catalogue,
    usage: () => pool.sql,
    feed: () => ({ open: () => Promise.resolve(undefined) }),
    running: () => ({
      list: async () => ({
        ...{ calls: [], total: 0, held_nano_usd: 0, replicas: 1, silent_replicas: 0 },
      }),
    }),
    inference: () => ({
      run: async (call) => {
        test_app.calls.push(call);
        return test_app.answer(call);
      },
      chargeDraft: () => Promise.resolve(),
      speech: () => Promise.reject(noUpstream()),
      direct: () => Promise.reject(noUpstream()),
      withAlternatives: (error) => error,
      downSince: options.downSince ?? (() => undefined),
      availability: (model) => (isServed(model) ? 'available' : 'unavailable'),
      isCallable: (model, key) =>
        isServed(model) && (key.models.length === 0 || key.models.includes(model.id)),
    }),
    generation: () => ({
      tasks: test_app.tasks,
      filePath: (name) => `/v1/files/${name}?signature=s`,
      openFile: async (name) => {
        const content = test_app.files.get(name);
        return content === undefined ? undefined : { stream: new Blob([content]).stream() };
      },
    }),
    people: {
      ...{ sql: pool.sql, sessions, library, wrongCredentials, public_url, mailer },
      has_oidc: false,
      onError: (error) => test_app.reported.push(error),
    },
    lists: () => pool.sql,
    alerts: {
      ...{ sql: pool.sql, secret_key: new Uint8Array(32), has_mail: mailer !== undefined },
      allow_hosts: new Set(),
      redeliveries: new Redeliveries({
        find: (owner_id, id) => findAlertDelivery(pool.sql, owner_id, id),
        write: beginAlertRedelivery,
        send: async () => ({ type: 'fenced' }),
      }),
      startDelivery: async () => undefined,
    },
    announceKey: options.announceKey ?? (() => undefined),
    metrics: () => [],
    metrics_token: options.metrics_token,
    isReady: () => test_app.ready,
    onError: (error) => test_app.reported.push(error),
  }).listen({ port: 0, hostname: '127.0.0.1' });
  const base_url = `http://127.0.0.1:${app.server?.port}`;
  const send = (authorization: string, path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization') && !headers.has('x-api-key')) {
      headers.set('authorization', `Bearer ${authorization}`);
    }
    return fetch(base_url + path, { ...init, headers });
  };
  const test_app: TestApp = {
    base_url,
    paths: [...new Set(app.routes.map(({ path }) => path))],
    credentials,
    organization_id,
    database,
    pool,
    keys,
    bodies,
    wrongCredentials,
    tokenUses,
    calls: [],
    tasks: new FakeTasks(),
    files: new Map(),
    answer: () => Response.json({ ok: true }),
    reported: [],
    ready: true,
    fetch: (path, init) => send(credentials.api_key, path, init),
    manage: (method, path, body, headers) =>
      send(credentials.management_token, `/v1/management${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      }),
    post: (path, body, headers) =>
      send(credentials.api_key, path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    async stop() {
      await app.server?.stop(true);
      await pool.close();
      await database.drop();
    },
  };
  return test_app;
}

async function firstRun(url: string): Promise<{ credentials: FirstRun; organization_id: string }> {
  const { orm, sql, close } = connectDatabase(url, { pool: 'single' });
  const credentials = await bootstrap(orm, { balance_nano_usd: BALANCE_NANO_USD });
  const [organization] = await sql<{ id: string }[]>`select id from organization`;
  await close();
  if (!credentials || !organization) throw new Error('a fresh database was not empty');
  return { credentials, organization_id: organization.id };
}

/** The result of every valid direct call in these tests, because no upstream exists. */
function noUpstream(): WeirError {
  return new WeirError('service_unavailable', 'This test has no upstream.');
}
