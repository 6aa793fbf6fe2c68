/**
 * A Weir with platform channels and two organizations. The simulator plays the providers of both: the
 * accounts `platform…` are the operator's, all others are of organizations.
 */
import { expect } from 'bun:test';
import { errorOf } from './envelope.ts';
import { findMoneyFaults } from './money-faults.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { type RunningSimulator, startSimulator } from './simulator.ts';
import { until } from './until.ts';
import { type RunningWeir, startWeir } from './weir.ts';

/** A part of every own key, so that a search finds any trace of a key. */
export const OWN_CANARY = 'canary9d2e71c4';

export interface OwnKeyView {
  id: string;
  name: string;
  status: string;
  protocol: string;
  base_url: string;
  key_tested: boolean;
  priority: number;
  models: { id: string; upstream_model: string }[];
  last_refusal: { at: string; model: string; message: string } | null;
  rotated_at: string;
  revoked_at: string | null;
}

export interface Line {
  request_id: string;
  access_channel: string;
  amount: number;
  counted: number;
  list_price: number;
  logical_model: string;
  outcome: string;
}

/** An organization with a management token and an API key. */
export interface Owner {
  id: string;
  management_token: string;
  api_key: string;
  key_id: string;
}

interface WorldOptions {
  /** The fee in `weir.yaml`. */
  fee_share?: number;
  replicas?: 1 | 2;
  env?: Record<string, string>;
  /** Further members of `weir.yaml`. */
  config?: object;
}

export class OwnKeysWorld {
  private constructor(
    readonly simulator: RunningSimulator,
    readonly database: TestDatabase,
    readonly replicas: readonly RunningWeir[],
    readonly home: Owner,
    readonly away: Owner,
  ) {}

  static async start(options: WorldOptions = {}): Promise<OwnKeysWorld> {
    const simulator = await startSimulator();
    const database = await createTestDatabase();
    const { host } = new URL(simulator.url);
    const env = {
      ...{ DATABASE_URL: database.url, WEIR_LOG_LEVEL: 'debug', WEIR_OWN_KEY_ALLOW_HOSTS: host },
      WEIR_SECRET_KEY: 'the secret key of both replicas, 32 characters',
      ...options.env,
    };
    const config = configOf(simulator.url, options);
    const replicas: RunningWeir[] = [];
    for (let count = options.replicas ?? 1; count > 0; count -= 1) {
      replicas.push(await startWeir({ env, config }));
    }
    const [weir] = replicas as [RunningWeir];
    const home = await newOwner(weir, 'Home');
    return new OwnKeysWorld(simulator, database, replicas, home, await newOwner(weir, 'Away'));
  }

  get weir(): RunningWeir {
    return this.replicas[0] as RunningWeir;
  }

  /** Ends all. No replica wrote an own key to its log, and the books balance. */
  async stop(): Promise<void> {
    for (const weir of this.replicas) await weir.stop();
    for (const weir of this.replicas) expect(weir.output()).not.toContain(OWN_CANARY);
    expect(await findMoneyFaults(this.database.sql)).toEqual([]);
    await this.simulator.stop();
    await this.database.drop();
  }

  send(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    weir = this.weir,
  ): Promise<Response> {
    return fetch(weir.base_url + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
  }

  /** Sends a management request of an organization, which must succeed. */
  async manage<Answer>(
    method: string,
    path: string,
    body?: unknown,
    owner = this.home,
  ): Promise<Answer> {
    const token = owner.management_token;
    const response = await this.send(token, method, `/v1/management${path}`, body);
    const text = await response.text();
    if (!response.ok) expect(`${response.status} ${text}`).toBe('a success');
    return JSON.parse(text) as Answer;
  }

  /** The body that adds an own key for OpenAI's protocol. */
  account(more: object = {}): object {
    return {
      ...{ protocol: 'openai', base_url: this.simulator.openai_url },
      ...{ api_key: `sim-${OWN_CANARY}`, models: { 'gpt-4o': 'gpt-4o' }, ...more },
    };
  }

  add(more: object = {}, owner = this.home): Promise<OwnKeyView> {
    return this.manage('POST', '/upstream-keys', this.account(more), owner);
  }

  /** The error of a request to add an own key. */
  async refuse(more: object, status = 400) {
    const path = '/v1/management/upstream-keys';
    const body = this.account(more);
    return errorOf(await this.send(this.home.management_token, 'POST', path, body), status);
  }

  async keys(owner = this.home): Promise<OwnKeyView[]> {
    return (await this.manage<{ data: OwnKeyView[] }>('GET', '/upstream-keys', undefined, owner))
      .data;
  }

  choose(own_keys: 'only' | 'first', owner = this.home): Promise<object> {
    return this.manage('PATCH', '/organization', { own_keys }, owner);
  }

  /** Revokes all own keys, and restores what tests changed. */
  async clear(): Promise<void> {
    for (const owner of [this.home, this.away]) {
      for (const { id, status } of await this.keys(owner)) {
        if (status === 'active')
          await this.manage('POST', `/upstream-keys/${id}/revoke`, {}, owner);
      }
      await this.choose('only', owner);
    }
    await this.simulator.reset();
  }

  /** Sends a chat call. */
  chat(more: object = {}, owner = this.home, weir = this.weir): Promise<Response> {
    const messages = [{ role: 'user', content: 'hi [[sim tokens=5]]' }];
    const body = { model: 'gpt-4o', messages, ...more };
    return this.send(owner.api_key, 'POST', '/v1/chat/completions', body, {}, weir);
  }

  /** The usage line of an answered call. */
  async lineOf(response: Response, owner = this.home): Promise<Line> {
    const request_id = response.headers.get('x-request-id');
    const find = async () => {
      const { data } = await this.manage<{ data: Line[] }>(
        'GET',
        '/usage?limit=100',
        undefined,
        owner,
      );
      return data.find((line) => line.request_id === request_id);
    };
    return until('the call has a line', find) as Promise<Line>;
  }

  /** The calls that an account of the simulator served. */
  async served(account = OWN_CANARY): Promise<number> {
    const { calls } = await this.simulator.closedBooks({ account });
    return calls.filter(({ outcome }) => outcome === 'whole').length;
  }
}

async function newOwner(weir: RunningWeir, name: string): Promise<Owner> {
  const send = async (path: string, token: string, body: object) => {
    const response = await fetch(`${weir.base_url}/v1${path}`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        'idempotency-key': crypto.randomUUID(),
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as { id: string; management_token: string; key: string };
  };
  const operate = (path: string, body: object) =>
    send(`/operator/organizations${path}`, weir.operator_token, body);
  const { id, management_token } = await operate('', { name, management_token: true });
  await operate(`/${id}/deposits`, { amount: 10, reference: 'a test' });
  const { id: key_id, key } = await send('/management/api-keys', management_token, { name: 'key' });
  return { id, management_token, api_key: key, key_id };
}

function configOf(url: string, { fee_share = 0, config = {} }: WorldOptions): string {
  const channel = (protocol: string, path: string, models: object) => ({
    ...{ id: `platform-${protocol}`, protocol, base_url: url + path, models },
    api_key: `sim-platform-${protocol}`,
  });
  // YAML includes JSON.
  return JSON.stringify({
    channels: [
      channel('openai', '/openai/v1', { 'gpt-4o': 'gpt-4o', 'text-embedding-3-small': 'small' }),
      channel('anthropic', '/anthropic', { 'claude-haiku-4-5': 'claude-haiku-4-5' }),
      channel('openai-images', '/openai/v1', { 'gpt-image-2': 'gpt-image-2' }),
      channel('kling', '/kling', { 'kling-3.0': 'kling-v3' }),
    ],
    own_keys: { fee_share },
    roles: { standard: 10_000_000 },
    ...config,
  });
}
