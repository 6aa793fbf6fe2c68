/** A Weir whose cache is on, in front of a simulator of all providers. Both are processes. */
import { demoConfig } from '../../src/config/demo.ts';
import type { WeirYaml } from '../../src/config/schema.ts';
import { startSimulator } from './simulator.ts';
import { type RunningWeir, startWeir } from './weir.ts';

export interface CachedWeir {
  weir: RunningWeir;
  /** How many calls the simulator accepted so far. */
  upstreamCalls(): Promise<number>;
  /** Sends a body with the first API key, or with another one. */
  post(path: string, body: object | string, init?: PostInit): Promise<Answered>;
  /** Sends a management request and returns the parsed answer. */
  manage<Answer>(method: string, path: string, body?: object): Promise<Answer>;
  stop(): Promise<void>;
}

interface PostInit {
  headers?: Record<string, string>;
  key?: string;
}

/** An answer, read whole. */
export interface Answered {
  status: number;
  /** `hit`, `miss` or `bypass`. */
  cache: string | null;
  entry_id: string | null;
  age: string | null;
  headers: Headers;
  text: string;
}

/** With `DATABASE_URL` in `env`, Weir has a database that the test can read. */
export async function startCachedWeir(
  cache: Partial<WeirYaml['cache']> = {},
  changes: (config: WeirYaml) => Partial<WeirYaml> = () => ({}),
  env: Record<string, string> = {},
): Promise<CachedWeir> {
  const simulator = await startSimulator();
  const config = demoConfig(simulator.url);
  const whole = {
    ...config,
    roles: { standard: 1_000_000 },
    ...changes(config),
    cache: { ...config.cache, ...cache },
  };
  const weir = await startWeir({
    shared_database: env['DATABASE_URL'] === undefined,
    config: JSON.stringify(whole),
    env: { WEIR_CACHE: 'on', ...env },
  });
  return {
    weir,
    async upstreamCalls() {
      const books = await fetch(`${simulator.url}/_sim/books`);
      const { calls } = (await books.json()) as { calls: unknown[] };
      return calls.length;
    },
    async post(path, body, { headers = {}, key = weir.api_key } = {}) {
      const response = await fetch(weir.base_url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'anthropic-version': '2023-06-01',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return {
        status: response.status,
        cache: response.headers.get('x-weir-cache'),
        entry_id: response.headers.get('x-weir-cache-entry-id'),
        age: response.headers.get('age'),
        headers: response.headers,
        text: await response.text(),
      };
    },
    async manage(method, path, body) {
      const response = await fetch(`${weir.base_url}/v1/management${path}`, {
        method,
        headers: {
          authorization: `Bearer ${weir.management_token}`,
          'content-type': 'application/json',
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return response.json() as never;
    },
    async stop() {
      await weir.stop();
      await simulator.stop();
    },
  };
}
