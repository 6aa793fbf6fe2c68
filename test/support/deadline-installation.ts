/**
 * Weir in front of the simulator, for tests of the client's deadline. No channel's own timeout ends
 * a call, except that of the channel `first`.
 */
import { connectDatabase, type Database } from '../../db/client.ts';
import { type EndlessUpstream, startEndlessUpstream } from './endless-upstream.ts';
import { findMoneyFaults } from './money-faults.ts';
import { createTestDatabase } from './postgres.ts';
import { type RunningSimulator, startSimulator } from './simulator.ts';
import { until } from './until.ts';
import { type RunningWeir, startWeir } from './weir.ts';

/** The directive of an answer that never comes while a test runs. */
export const NEVER = 'latency_ms=50000';
/** The request header with the client's deadline. */
export const HEADER = 'x-weir-timeout-ms';

const TIMEOUT_MS = 50_000;

/** The chat turn of a user. */
export const turn = (content: string) => ({ messages: [{ role: 'user', content }] });

interface Sent {
  headers?: Record<string, string>;
  key?: string | undefined;
}

/** The charge of a call. */
export interface Line {
  channel_id: string;
  outcome: string;
  charged: number;
  output_tokens: number;
}

export class DeadlineInstallation {
  private constructor(
    readonly weir: RunningWeir,
    readonly simulator: RunningSimulator,
    readonly database: Database,
    private readonly endless: EndlessUpstream,
    private readonly drop: () => Promise<void>,
  ) {}

  static async start(): Promise<DeadlineInstallation> {
    const simulator = await startSimulator();
    const endless = startEndlessUpstream();
    const fresh = await createTestDatabase();
    const database = connectDatabase(fresh.url, { pool: 'single' });
    const models = [{ id: 'gpt-4.1', routing: { policy: 'priority', hedge: true } }];
    const channels = channelsOf(simulator.url, endless.url);
    const weir = await startWeir({
      config: JSON.stringify({ channels, models, roles: { standard: 1_000_000 } }),
      env: { DATABASE_URL: fresh.url },
    });
    return new DeadlineInstallation(weir, simulator, database, endless, fresh.drop);
  }

  /** Stops all parts. Throws if the audit finds an imbalance, or if money is still held. */
  async stop(): Promise<void> {
    await this.weir.stop();
    const imbalances = await findMoneyFaults(this.database.sql);
    const [held] = await this.database
      .sql`select sum(held_nano_usd)::int8 as nano from organization`;
    await this.database.close();
    await this.drop();
    await this.simulator.stop();
    await this.endless.stop();
    if (imbalances.length > 0) throw new Error(JSON.stringify(imbalances));
    if (held?.['nano'] !== 0) throw new Error(`${held?.['nano']} nano-USD are still held`);
  }

  /** Sends an inference request. */
  post(path: string, body: object, { headers = {}, key = this.weir.api_key }: Sent = {}) {
    const all = {
      authorization: `Bearer ${key}`,
      'x-goog-api-key': key,
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
      ...headers,
    };
    const text = JSON.stringify(body);
    return fetch(this.weir.base_url + path, { method: 'POST', headers: all, body: text });
  }

  /** Sends a chat completion. `timeout` is the value of the header; undefined sends no header. */
  chat(model: string, text: string, timeout?: string, more: object = {}, key?: string) {
    const headers: Record<string, string> = timeout === undefined ? {} : { [HEADER]: timeout };
    return this.post('/v1/chat/completions', { model, ...turn(text), ...more }, { headers, key });
  }

  /** Sends a management request and returns the parsed answer. */
  async manage<Answer>(method: string, path: string, body: object): Promise<Answer> {
    const response = await fetch(`${this.weir.base_url}/v1/management${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.weir.management_token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    return response.json() as Promise<Answer>;
  }

  /** Returns the charges of a call. */
  async linesOf(response: Response): Promise<Line[]> {
    const lines = await this.database.sql<Line[]>`
      select channel_id, outcome, charged_nano_usd as charged, output_tokens
      from usage_line where request_id = ${uuidOf(response)}::uuid`;
    return lines.map((line) => ({ ...line }));
  }

  /** Returns the task of a create call. */
  async taskOf(response: Response): Promise<{ status: string; error_code: string | null }> {
    const [task] = await this.database.sql<{ status: string; error_code: string | null }[]>`
      select status, error_code from task where request_id = ${uuidOf(response)}::uuid`;
    if (!task) throw new Error('the call has no task');
    return { ...task };
  }

  /** Returns how many upstream requests run now. */
  async running(): Promise<number> {
    return (await this.simulator.books()).totals.outcomes.running;
  }

  /** Resolves when no upstream request runs any more. */
  async upstreamsStopped(): Promise<void> {
    await until('every upstream request has ended', async () => (await this.running()) === 0);
  }

  /** Returns the number of requests that a channel has sent. */
  async callsOf(channel_id: string): Promise<number> {
    const { calls } = await this.simulator.books();
    return calls.filter(({ account }) => account === channel_id).length;
  }
}

function uuidOf(response: Response): string {
  return (response.headers.get('x-request-id') ?? '').replace('req_', '');
}

function channelsOf(simulator_url: string, endless_url: string): object[] {
  const channel = (id: string, protocol: string, base_url: string, model: string, more = {}) => ({
    ...{ id, protocol, base_url, api_key: `sim-${id}`, models: { [model]: model } },
    ...{ timeout_ms: TIMEOUT_MS, ...more },
  });
  const openai = `${simulator_url}/openai/v1`;
  return [
    channel('first', 'openai', openai, 'gpt-4o', { timeout_ms: 1_000 }),
    channel('second', 'openai', openai, 'gpt-4o', { priority: 1 }),
    channel('usual', 'openai', openai, 'gpt-4.1'),
    channel('other', 'openai', openai, 'gpt-4.1', { priority: 1 }),
    channel('mini', 'openai', openai, 'gpt-4o-mini'),
    channel('haiku', 'anthropic', `${simulator_url}/anthropic`, 'claude-haiku-4-5'),
    channel('speaker', 'openai', openai, 'tts-1'),
    channel('endless', 'openai', endless_url, 'gpt-5'),
    channel('painter', 'openai-images', openai, 'gpt-image-2'),
  ];
}
