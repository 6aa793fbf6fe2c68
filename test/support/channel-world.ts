/** Two replicas without a weir.yaml, and a simulator that plays the provider of new channels. */
import { expect } from 'bun:test';
import { errorOf } from './envelope.ts';
import { OperatedChannels } from './operated-channels.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { type RunningSimulator, startSimulator } from './simulator.ts';
import { type RunningWeir, startWeir } from './weir.ts';

/** A part of every key, so that a search finds any trace of a key. */
export const CANARY = 'canary4f1c7a2b';

interface AuditRow {
  action: string;
  before: object | null;
  after: object | null;
  actor_kind: string;
}

/** The replicas, and the client of each. */
export class ChannelWorld {
  private constructor(
    readonly simulator: RunningSimulator,
    readonly database: TestDatabase,
    readonly replicas: readonly [RunningWeir, RunningWeir],
  ) {}

  readonly channels = new OperatedChannels(() => this.replicas[0]);
  /** The client of the other replica. */
  readonly second = new OperatedChannels(() => this.replicas[1]);

  static async start(): Promise<ChannelWorld> {
    const simulator = await startSimulator();
    const database = await createTestDatabase();
    const env = envOf(database);
    const first = await startWeir({ env });
    return new ChannelWorld(simulator, database, [first, await startWeir({ env })]);
  }

  /** Starts one more replica. */
  startReplica(): Promise<RunningWeir> {
    return startWeir({ env: envOf(this.database) });
  }

  /** Removes all channels that a test made. */
  async clear(): Promise<void> {
    for (const { id, source } of await this.channels.list()) {
      if (source === 'row') await this.channels.ask('DELETE', `/${id}`);
    }
    await this.simulator.reset();
  }

  async stop(): Promise<void> {
    for (const weir of this.replicas) await weir.stop();
    // Neither replica wrote a key to its log, not even at the level debug.
    for (const weir of this.replicas) expect(weir.output()).not.toContain(CANARY);
    await this.simulator.stop();
    await this.database.drop();
  }

  /** The body of a request about an account at the simulator. */
  account(more: object = {}): object {
    const { openai_url: base_url } = this.simulator;
    return { protocol: 'openai', base_url, api_key: `sim-${CANARY}`, ...more };
  }

  create(more: object = {}, headers: Record<string, string> = {}) {
    return this.channels.ask('POST', '', this.account(more), headers);
  }

  /** The error of a creation. */
  async refuse(more: object, status = 400) {
    return errorOf(await this.channels.send('POST', '', this.account(more)), status);
  }

  /** The lines of the installation's audit log about a channel, the oldest first. */
  auditOf(id: string): Promise<AuditRow[]> {
    return this.database.sql<AuditRow[]>`
      select action, before, after, actor_kind from audit_log
      where organization_id = '' and subject_id = ${id} order by seq`;
  }
}

/** All replicas need the same secret key, because it encrypts the keys of channels. */
const envOf = ({ url }: TestDatabase) => ({
  ...{ DATABASE_URL: url, WEIR_LOG_LEVEL: 'debug' },
  WEIR_SECRET_KEY: 'the secret key of both replicas, 32 characters',
});

/** Calls a chat model on a replica. */
export function chatOn(weir: RunningWeir, model = 'gpt-4o', content = 'Hello'): Promise<Response> {
  return fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  });
}

/** The ids and sources of all channels that a replica routes to. */
export async function sourcesOn(of: OperatedChannels): Promise<string[]> {
  return (await of.list()).map(({ id, source }) => `${source} ${id}`);
}
