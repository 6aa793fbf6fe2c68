/** Replicas of Weir with the cache on, on one database, in front of one simulator. All are processes. */
import { demoConfig } from '../../src/config/demo.ts';
import type { WeirYaml } from '../../src/config/schema.ts';
import { createTestDatabase } from './postgres.ts';
import { type RunningSimulator, startSimulator } from './simulator.ts';
import { type RunningWeir, startWeir } from './weir.ts';

const PATH = '/v1/chat/completions';

export interface CachedReplicas {
  replicas: RunningWeir[];
  simulator: RunningSimulator;
  /** Asks a replica something. Its answer has four tokens, unless `more` says otherwise. */
  ask(replica: number, prompt: string, more?: Asked): Promise<Asking>;
  /** Sends a vote. */
  vote(replica: number, key: string, body: unknown): Promise<{ status: number; body: Voted }>;
  /** Sends a management request, and returns the answer. */
  manage<Answer>(replica: number, method: string, path: string, body?: object): Promise<Answer>;
  /** Creates an API key of the first organization, and returns its secret. */
  newKey(): Promise<string>;
  /** Kills a replica with SIGKILL, and starts another one in its place. */
  restart(replica: number): Promise<void>;
  stop(): Promise<void>;
}

interface Asked {
  key?: string;
  model?: string;
  stream?: boolean;
  /** More members of the body. */
  body?: object;
}

interface Asking {
  status: number;
  /** `hit`, `miss` or `bypass`. */
  cache: string | null;
  entry_id: string | null;
  request_id: string;
  text: string;
}

interface Voted {
  object?: string;
  cache_entry_id?: string;
  removed?: boolean;
  error?: { message: string; param?: string; request_id?: string };
}

export async function startCachedReplicas(
  count: number,
  {
    env = {},
    cache = {},
  }: { env?: Record<string, string>; cache?: Partial<WeirYaml['cache']> } = {},
): Promise<CachedReplicas> {
  const simulator = await startSimulator();
  const database = await createTestDatabase();
  const config = demoConfig(simulator.url);
  const options = {
    config: JSON.stringify({
      ...config,
      roles: { standard: 1_000_000 },
      cache: { ...config.cache, ...cache },
    }),
    env: {
      ...{ DATABASE_URL: database.url, WEIR_CACHE: 'on' },
      WEIR_SECRET_KEY: 'the same on all replicas of this test',
      ...env,
    },
  };
  const replicas = [await startWeir(options)];
  replicas.push(
    ...(await Promise.all(Array.from({ length: count - 1 }, () => startWeir(options)))),
  );
  const at = (replica: number): RunningWeir => {
    const weir = replicas[replica];
    if (!weir) throw new Error(`there is no replica ${replica}`);
    return weir;
  };
  const manage = async <Answer>(replica: number, method: string, path: string, body?: object) => {
    const { base_url, management_token } = at(replica);
    const response = await fetch(`${base_url}/v1/management${path}`, {
      method,
      headers: {
        authorization: `Bearer ${management_token}`,
        'content-type': 'application/json',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return (await response.json()) as Answer;
  };
  return {
    replicas,
    simulator,
    manage,
    async ask(replica, prompt, { key, model = 'gpt-4o-mini', stream = false, body = {} } = {}) {
      const { base_url, api_key } = at(replica);
      const content = `${prompt} [[sim tokens=4]]`;
      const response = await fetch(base_url + PATH, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key ?? api_key}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ model, stream, messages: [{ role: 'user', content }], ...body }),
      });
      return {
        status: response.status,
        cache: response.headers.get('x-weir-cache'),
        entry_id: response.headers.get('x-weir-cache-entry-id'),
        request_id: response.headers.get('x-request-id') ?? '',
        text: await response.text(),
      };
    },
    async vote(replica, key, body) {
      const response = await fetch(`${at(replica).base_url}/v1/cache/feedback`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Voted };
    },
    async newKey() {
      const name = { name: 'another' };
      return (await manage<{ key: string }>(0, 'POST', '/api-keys', name)).key;
    },
    async restart(replica) {
      const killed = at(replica);
      killed.kill('SIGKILL');
      await killed.exited;
      await killed.stop();
      replicas[replica] = await startWeir(options);
    },
    async stop() {
      await Promise.all(replicas.map((weir) => weir.stop()));
      await simulator.stop();
      await database.drop();
    },
  };
}
