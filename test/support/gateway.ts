/**
 * All of Weir in this process, composed as in production, with an upstream that a test
 * scripts. Tests can read its database and its log.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { readEnvironment } from '../../src/config/environment.ts';
import { startWeir } from '../../src/start/weir.ts';
import { startUpstream, type Upstream } from '../upstreams/upstream.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { removeFolder, throwawayFolder } from './throwaway.ts';
import { answerOf } from './upstream-answers.ts';

/** Physical model of each public model. Their prefix must never appear in an answer. */
const MODELS = {
  openai: { 'gpt-4o-mini': 'canary-model-small', 'gpt-4o': 'canary-model-large' },
  anthropic: { 'claude-haiku-4-5': 'canary-model-haiku' },
} as const;

export interface GatewayOptions {
  /** Parallel calls on each channel. */
  max_concurrency?: number;
  timeout_ms?: number;
  balance_usd?: number;
  /** The lowest level of the lines in `errors`; `error` by default. */
  log_level?: 'debug' | 'warn' | 'error';
  /** Further settings, e.g. `WEIR_METRICS_TOKEN`. */
  env?: Record<string, string>;
}

export interface Gateway {
  base_url: string;
  api_key: string;
  database: TestDatabase;
  upstream: Upstream;
  /** Log lines of level `error` and above, or of `log_level` and above. */
  errors: string[];
  /** Sends a request with the API key. A header `authorization` in `init` replaces it. */
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  /** Sends a request with the management token and returns the parsed answer. */
  manage<Answer>(method: string, path: string, body?: object): Promise<Answer>;
  /** Sends a request with the operator token and returns the text of the answer. */
  operate(method: string, path: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { balance_usd = 100, log_level = 'error', env = {}, ...limits } = options;
  const upstream = startUpstream();
  upstream.answer = answerOf;
  const database = await createTestDatabase();
  const folder = throwawayFolder('gateway');
  const WEIR_CONFIG = join(folder, 'weir.yaml');
  writeFileSync(WEIR_CONFIG, configOf(upstream.url, limits));
  const { environment } = readEnvironment([], {
    PORT: '0',
    WEIR_DATA: folder,
    WEIR_CONFIG,
    DATABASE_URL: database.url,
    WEIR_BOOTSTRAP_BALANCE_USD: String(balance_usd),
    // Most tests send the same prompt many times, and expect an upstream's answer each time.
    WEIR_CACHE: 'off',
    ...env,
  });
  const errors: string[] = [];
  const serializers = { error: pino.stdSerializers.err };
  const log = pino(
    { level: log_level, serializers },
    { write: (line: string) => void errors.push(line) },
  );
  const weir = await startWeir(environment, log);
  const { first_run, base_url } = weir;
  if (!first_run) throw new Error('a fresh database was not empty');
  const send = (token: string, method: string, path: string, body: unknown, init?: RequestInit) => {
    const headers = new Headers({
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    });
    for (const [name, value] of new Headers(init?.headers)) headers.set(name, value);
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return fetch(base_url + path, { method, ...text, ...init, headers });
  };
  return {
    base_url,
    api_key: first_run.api_key,
    database,
    upstream,
    errors,
    post: (path, body, init) => send(first_run.api_key, 'POST', path, body, init),
    async manage(method, path, body) {
      const { management_token } = first_run;
      const response = await send(management_token, method, `/v1/management${path}`, body);
      if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
      return response.json() as never;
    },
    async operate(method, path) {
      const { operator_token } = first_run;
      const response = await send(operator_token, method, `/v1/operator${path}`, undefined);
      if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
      return response.text();
    },
    async stop() {
      await weir.stop();
      await upstream.stop();
      await database.drop();
      removeFolder(folder);
    },
  };
}

function configOf(url: string, limits: object): string {
  const channels = Object.entries(MODELS).map(([protocol, models]) => ({
    id: `canary-channel-${protocol}`,
    protocol,
    base_url: `${url}/canary-path`,
    api_key: `canary-secret-${protocol}`,
    models,
    ...limits,
  }));
  // YAML includes JSON.
  return JSON.stringify({ channels, roles: { standard: 10_000_000 } });
}
