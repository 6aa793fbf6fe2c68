/** Replicas of Weir on one database, with all demo models, for tests of repeated requests. */
import { connectDatabase, type Database } from '../../db/client.ts';
import { demoInstallation } from '../../src/config/demo.ts';
import { findMoneyFaults } from './money-faults.ts';
import { createTestDatabase } from './postgres.ts';
import { type RunningSimulator, startSimulator } from './simulator.ts';
import { until } from './until.ts';
import { type RunningWeir, startWeir } from './weir.ts';

/** An answer as its client received it. */
export interface Received {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

interface Sent {
  readonly idempotency_key?: string;
  readonly key?: string;
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
  readonly to?: RunningWeir;
}

export class RepeatWorld {
  readonly replicas: RunningWeir[] = [];

  private constructor(
    readonly simulator: RunningSimulator,
    readonly database: Database,
    private readonly url: string,
    private readonly drop: () => Promise<void>,
  ) {}

  static async start(replicas = 1, env: Record<string, string> = {}): Promise<RepeatWorld> {
    const simulator = await startSimulator();
    const fresh = await createTestDatabase();
    const database = connectDatabase(fresh.url, { pool: 'single' });
    const world = new RepeatWorld(simulator, database, fresh.url, fresh.drop);
    for (let count = 0; count < replicas; count += 1) await world.addReplica(env);
    return world;
  }

  async addReplica(env: Record<string, string> = {}): Promise<RunningWeir> {
    const { channels } = demoInstallation(this.simulator.url);
    const config = JSON.stringify({ channels, roles: { standard: 1_000_000 } });
    const weir = await startWeir({
      config,
      env: { DATABASE_URL: this.url, WEIR_SECRET_KEY: 'k'.repeat(32), ...env },
    });
    this.replicas.push(weir);
    return weir;
  }

  /** Waits until no task and no request of a batch runs any more. */
  async idle(): Promise<void> {
    const { sql } = this.database;
    await until('every task and every batch has ended', async () => {
      const open = await sql`
        select 1 from hold where status = 'held'
        union all select 1 from batch_item where result is null`;
      return open.length === 0;
    });
  }

  /** Stops all parts. Throws if the ledger has a fault, or if money is still held. */
  async stop(): Promise<void> {
    await this.idle();
    for (const weir of this.replicas) await weir.stop();
    const faults = await findMoneyFaults(this.database.sql);
    const [held] = await this.database
      .sql`select sum(held_nano_usd)::int8 as nano from organization`;
    await this.database.close();
    await this.drop();
    await this.simulator.stop();
    if (faults.length > 0) throw new Error(JSON.stringify(faults));
    if (held?.['nano'] !== 0) throw new Error(`${held?.['nano']} nano-USD are still held`);
  }

  get first(): RunningWeir {
    const [first] = this.replicas;
    if (!first) throw new Error('the world has no replica');
    return first;
  }

  /** Sends a request to the first replica, or to the replica `to`. */
  post(path: string, body: object | FormData, sent: Sent = {}): Promise<Response> {
    const { to = this.first, signal, idempotency_key } = sent;
    const key = sent.key ?? to.api_key;
    const isForm = body instanceof FormData;
    return fetch(to.base_url + path, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${key}`, 'x-goog-api-key': key },
        'anthropic-version': '2023-06-01',
        ...(isForm ? {} : { 'content-type': 'application/json' }),
        ...(idempotency_key === undefined ? {} : { 'idempotency-key': idempotency_key }),
        ...sent.headers,
      },
      body: isForm ? body : JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });
  }

  /** Sends a request and reads the answer to its end. */
  async receive(path: string, body: object | FormData, sent: Sent = {}): Promise<Received> {
    const response = await this.post(path, body, sent);
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, text: bytes.toString('latin1'), headers: response.headers };
  }

  /** Sends a request until the answer is not that the first one still runs. */
  receiveAtLast(path: string, body: () => object | FormData, sent: Sent): Promise<Received> {
    return until('the first request has ended', async () => {
      const received = await this.receive(path, body(), sent);
      return received.text.includes('idempotency_key_in_use') ? false : received;
    });
  }

  async manage<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.first.base_url}/v1/management${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.first.management_token}`,
        'content-type': 'application/json',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return (await response.json()) as Answer;
  }

  /** A new API key of the organization. */
  newKey(body: object = {}): Promise<{ id: string; key: string }> {
    return this.manage('POST', '/api-keys', { name: 'a key', ...body });
  }

  /** The charges of an API key. */
  async chargesOf(key_id: string): Promise<number> {
    const [row] = await this.database.sql<{ lines: number }[]>`
      select count(*)::int4 as lines from usage_line where key_id = ${key_id}`;
    return row?.lines ?? 0;
  }

  /** The calls that the provider received after the call `since`. */
  async callsSince(since: string): Promise<number> {
    return (await this.simulator.books({ since })).calls.length;
  }

  /** The id of the last call that the provider received. */
  async lastCall(): Promise<string> {
    return (await this.simulator.books()).calls.at(-1)?.id ?? '';
  }
}
