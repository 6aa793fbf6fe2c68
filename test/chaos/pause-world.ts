/** Three replicas on a PostgreSQL of their own, under mixed load on several keys. */
import { connectDatabase, type Database } from '../../db/client.ts';
import { demoInstallation } from '../../src/config/demo.ts';
import { MixedLoad } from '../full/support/mixed-load.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres-server.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

const REPLICAS = 3;
const KEYS = 3;
/** One client of each kind of call. */
const CLIENTS_PER_LOAD = 5;
const BATCH_EVERY_MS = 4_000;
const ITEMS_PER_BATCH = 12;
const MODELS = ['gpt-4o-mini', 'claude-haiku-4-5', 'veo-3.1-fast'];

export interface PauseWorld {
  readonly postgres: TestPostgres;
  readonly simulator: RunningSimulator;
  readonly database: Database;
  readonly replicas: readonly RunningWeir[];
  readonly keys: readonly string[];
  stop(): Promise<void>;
}

export async function startPauseWorld(): Promise<PauseWorld> {
  const [postgres, simulator] = await Promise.all([startTestPostgres(18), startSimulator()]);
  const channels = demoInstallation(simulator.url).channels.flatMap((channel) => {
    const model = MODELS.find((each) => Object.hasOwn(channel.models, each));
    if (model === undefined) return [];
    const models = { [model]: channel.models[model] ?? model };
    return [{ ...channel, id: channel.protocol, api_key: `sim-${channel.protocol}`, models }];
  });
  const options = {
    config: JSON.stringify({ channels, roles: { standard: 10_000_000 } }),
    env: {
      DATABASE_URL: postgres.url,
      WEIR_BOOTSTRAP_BALANCE_USD: '100000',
      WEIR_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    },
  };
  const replicas: RunningWeir[] = [];
  for (let count = 0; count < REPLICAS; count += 1) replicas.push(await startWeir(options));
  const [first] = replicas;
  if (!first) throw new Error('there is no replica');
  const database = connectDatabase(postgres.url, { pool: 'single' });
  const keys = await Promise.all(Array.from({ length: KEYS }, () => createKey(first)));
  return {
    postgres,
    simulator,
    database,
    replicas,
    keys,
    async stop() {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await database.close();
      await simulator.stop();
      await postgres.stop();
    },
  };
}

async function createKey(weir: RunningWeir): Promise<string> {
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'pause' }),
  });
  const { key } = (await response.json()) as { key: string };
  return key;
}

/** Sends one short call. Returns its status, or undefined if nothing answers within `timeout_ms`. */
export async function probe(
  weir: RunningWeir,
  api_key: string,
  timeout_ms: number,
): Promise<number | undefined> {
  try {
    const answer = await fetch(`${weir.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${api_key}`,
        'content-type': 'application/json',
        'x-weir-cache-control': 'no_cache',
      },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        user: 'probe',
        messages: [{ role: 'user', content: 'Probe [[sim tokens=3]]' }],
      }),
      signal: AbortSignal.timeout(timeout_ms),
    });
    await answer.text();
    return answer.status;
  } catch {
    return undefined;
  }
}

/** One value of `GET /metrics`; undefined if the replica does not answer or does not know it yet. */
export async function metricOf(weir: RunningWeir, name: string): Promise<number | undefined> {
  try {
    const response = await fetch(`${weir.base_url}/metrics`, {
      signal: AbortSignal.timeout(10_000),
    });
    const value = new RegExp(`^${name} (\\d+)$`, 'm').exec(await response.text())?.[1];
    return value === undefined ? undefined : Number(value);
  } catch {
    return undefined;
  }
}

/** Mixed load on every replica with two keys each, and message batches. */
export class PauseLoad {
  readonly loads: readonly MixedLoad[];
  /** The ids of the created batches. */
  readonly batches: string[] = [];
  private isStopping = false;
  private readonly batching: Promise<void>;

  constructor(private readonly world: PauseWorld) {
    this.loads = world.replicas.flatMap((replica, at) =>
      [0, 1].map((shift) => {
        const api_key = world.keys[(at + shift) % world.keys.length] ?? '';
        const { base_url } = replica;
        return new MixedLoad({ base_url, api_key }, CLIENTS_PER_LOAD, `${at}${shift}-`);
      }),
    );
    this.batching = this.createBatches();
  }

  get calls() {
    return this.loads.flatMap((load) => load.calls);
  }

  /** Waits until every running call has ended. The batches go on. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all([...this.loads.map((load) => load.stop()), this.batching]);
  }

  private async createBatches(): Promise<void> {
    const { replicas, keys } = this.world;
    for (let turn = 0; !this.isStopping; turn += 1) {
      const replica = replicas[turn % replicas.length];
      const key = keys[turn % keys.length];
      if (replica && key) await this.createBatch(replica, key, turn).catch(() => undefined);
      for (let waited = 0; waited < BATCH_EVERY_MS && !this.isStopping; waited += 200) {
        await Bun.sleep(200);
      }
    }
  }

  private async createBatch(replica: RunningWeir, api_key: string, turn: number): Promise<void> {
    const requests = Array.from({ length: ITEMS_PER_BATCH }, (_, at) => ({
      custom_id: `item-${at}`,
      params: {
        model: 'claude-haiku-4-5',
        max_tokens: 100,
        metadata: { user_id: `batch-${turn}-${at}` },
        messages: [{ role: 'user', content: `Say ${at} [[sim tokens=${5 + at} latency_ms=200]]` }],
      },
    }));
    const response = await fetch(`${replica.base_url}/v1/messages/batches`, {
      method: 'POST',
      headers: {
        'x-api-key': api_key,
        'anthropic-version': '2023-06-01',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ requests }),
    });
    const { id } = (await response.json()) as { id?: string };
    if (response.ok && id !== undefined) this.batches.push(id);
  }
}
