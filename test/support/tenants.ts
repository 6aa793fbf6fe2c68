/**
 * Two replicas of a real Weir on one database, with two organizations. Each organization has a task,
 * a message batch and a webhook. The names of channels and of physical models contain `canary`, or are
 * listed in `INSIDE`: no management answer may show them (P5).
 */
import { hashCredential, newCredential, newId, shownPrefix } from '../../db/secrets.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { type RunningSimulator, startSimulator } from './simulator.ts';
import { until } from './until.ts';
import { type RunningWeir, startWeir } from './weir.ts';

/** What only operators may see: ids of channels, providers, physical models and their hosts. */
export const insideOf = (tenants: Tenants): RegExp =>
  new RegExp(
    `canary|MID_JOURNEY|kling-v3|\\bkling-api|${new URL(tenants.simulator.url).host}`,
    'i',
  );

/** One organization with its credentials and objects. */
export interface Tenant {
  id: string;
  key_id: string;
  api_key: string;
  token_id: string;
  management_token: string;
  task: string;
  batch: string;
  delivery: string;
  /** A charged call. */
  request: string;
  /** A debug window, and a call that was copied in it. */
  window: string;
  copy: string;
  /** A person of the organization, and an open invitation. */
  person: string;
  invitation: string;
  /** A shared view of a page. */
  view: string;
  /** An own upstream key that no model uses. */
  upstream_key: string;
  /** A budget that limits nothing in practice. */
  budget: string;
  /** An endpoint of alerts, and the delivery of its test. */
  endpoint: string;
  alert_delivery: string;
}

export interface Tenants {
  weir: RunningWeir;
  /** The other replica. */
  second: RunningWeir;
  simulator: RunningSimulator;
  database: TestDatabase;
  home: Tenant;
  away: Tenant;
  /** Tokens of the first organization, and of operators, that were revoked or have expired. */
  revoked: {
    management_token: string;
    operator_token: string;
    expired_management_token: string;
    expired_operator_token: string;
  };
  /** The next statuses of the receiver of webhooks. The last one repeats. */
  webhook_answers: number[];
  webhooks: { id: string | null; body: string }[];
  /** Sends a request, by default without a credential. */
  send(method: string, path: string, token?: string, weir?: RunningWeir): Promise<Response>;
  /** Sends a request with JSON and an API key, and returns the answer. */
  create<Answer>(path: string, tenant: Tenant, body: object): Promise<Answer>;
  /** Sends a request with the management token of a tenant, and returns the answer. */
  manage<Answer>(method: string, path: string, tenant?: Tenant): Promise<Answer>;
  /** Creates a task whose job takes `task_ms`, and returns its id. */
  createTask(tenant: Tenant, task_ms: number): Promise<string>;
  webhook_url: string;
  stop(): Promise<void>;
}

/** Where the receiver takes alerts, which it does not keep. */
const ALERT_PATH = '/alerts';

export async function startTenants(): Promise<Tenants> {
  const simulator = await startSimulator();
  const database = await createTestDatabase();
  const { sql } = database;
  const webhooks: Tenants['webhooks'] = [];
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (new URL(request.url).pathname === ALERT_PATH) return new Response();
      webhooks.push({ id: request.headers.get('webhook-id'), body: await request.text() });
      const { webhook_answers: answers } = tenants;
      const status = answers.length > 1 ? answers.shift() : answers[0];
      return new Response(null, { status: status ?? 200 });
    },
  });
  const options = {
    config: configOf(simulator.url),
    env: {
      DATABASE_URL: database.url,
      WEIR_SECRET_KEY: 'the same on both replicas of this test',
      WEIR_WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${receiver.port}`,
    },
  };
  const weir = await startWeir(options);
  const second = await startWeir(options);

  async function addKey(organization_id: string): Promise<[id: string, secret: string]> {
    const [id, secret] = [newId('key'), newCredential('sk')];
    await sql`insert into api_key ${sql({
      ...{ id, organization_id, name: 'test', key_hash: hashCredential(secret) },
      key_prefix: shownPrefix(secret),
    })}`;
    return [id, secret];
  }
  async function addToken(prefix: 'mt' | 'op', organization_id: string | null, more: object = {}) {
    const secret = newCredential(prefix);
    const id = newId('token');
    await sql`insert into access_token ${sql({
      ...{ id, kind: prefix === 'mt' ? 'management' : 'operator', organization_id },
      ...{ token_hash: hashCredential(secret), token_prefix: shownPrefix(secret), ...more },
    })}`;
    return { id, secret };
  }
  async function newTenant(name: string): Promise<Tenant> {
    const id = newId('org');
    const amount = 100_000_000_000;
    await sql`insert into organization ${sql({
      ...{ id, name, deposited_nano_usd: amount, balance_nano_usd: amount },
    })}`;
    await sql`insert into deposit ${sql({
      ...{ id: Bun.randomUUIDv7(), organization_id: id, amount_nano_usd: amount },
    })}`;
    const [key_id, api_key] = await addKey(id);
    const { id: token_id, secret: management_token } = await addToken('mt', id);
    const objects = {
      task: '',
      batch: '',
      delivery: '',
      request: '',
      window: '',
      copy: '',
      person: '',
      invitation: '',
      view: '',
      upstream_key: '',
      budget: '',
      endpoint: '',
      alert_delivery: '',
    };
    return { id, key_id, api_key, token_id, management_token, ...objects };
  }

  const tenants: Tenants = {
    weir,
    second,
    simulator,
    database,
    home: await newTenant('home'),
    away: await newTenant('away'),
    revoked: {
      ...{ management_token: '', operator_token: '' },
      ...{ expired_management_token: '', expired_operator_token: '' },
    },
    webhook_answers: [200],
    webhooks,
    webhook_url: `http://127.0.0.1:${receiver.port}/hook`,
    send: (method, path, token, to = weir) =>
      fetch(to.base_url + path, {
        method,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      }),
    async create(path, tenant, body) {
      const response = await fetch(weir.base_url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tenant.api_key}`,
          'content-type': 'application/json',
          'anthropic-version': '2023-06-01',
        },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
      return response.json() as never;
    },
    async manage(method, path, tenant = tenants.home) {
      const token = tenant.management_token;
      const response = await tenants.send(method, `/v1/management${path}`, token);
      if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
      return response.json() as never;
    },
    async createTask(tenant, task_ms) {
      const { id } = await tenants.create<{ id: string }>('/v1/images/generations', tenant, {
        model: 'midjourney',
        prompt: `A lighthouse [[sim task_ms=${task_ms}]]`,
        webhook_url: tenants.webhook_url,
      });
      return id;
    },
    async stop() {
      await weir.stop();
      await second.stop();
      await simulator.stop();
      await receiver.stop(true);
      await database.drop();
    },
  };
  const past = new Date(Date.now() - 1_000);
  const ended = async (prefix: 'mt' | 'op', organization_id: string | null, more: object) =>
    (await addToken(prefix, organization_id, more)).secret;
  tenants.revoked = {
    management_token: await ended('mt', tenants.home.id, { revoked_at: past }),
    operator_token: await ended('op', null, { revoked_at: past }),
    expired_management_token: await ended('mt', tenants.home.id, { expires_at: past }),
    expired_operator_token: await ended('op', null, { expires_at: past }),
  };
  await Promise.all([tenants.home, tenants.away].map((tenant) => addObjects(tenants, tenant)));
  return tenants;
}

async function addPeople({ database: { sql } }: Tenants, tenant: Tenant): Promise<void> {
  tenant.person = newId('person');
  tenant.invitation = newId('link');
  const { id, person, invitation } = tenant;
  await sql`insert into person (id, name, email) values (${person}, 'P', ${`${person}@example.com`})`;
  await sql`
    insert into membership (organization_id, person_id, role) values (${id}, ${person}, 'member')`;
  await sql`
    insert into one_time_link (id, kind, secret_hash, email, is_mailed, organization_id, role,
      expires_at)
    values (${invitation}, 'invitation', ${invitation}, 'i@example.com', false, ${id}, 'viewer',
      weir_now() + interval '1 day')`;
}

async function addView({ database: { sql } }: Tenants, tenant: Tenant): Promise<void> {
  tenant.view = newId('view');
  await sql`
    insert into saved_view (id, organization_id, name, page, query, created_by)
    values (${tenant.view}, ${tenant.id}, 'V', 'usage', '', ${tenant.token_id})`;
}

async function addUpstreamKey({ database: { sql } }: Tenants, tenant: Tenant): Promise<void> {
  tenant.upstream_key = newId('upkey');
  await sql`
    insert into upstream_key (id, organization_id, name, protocol, base_url, sealed_key, key_tested,
      models, priority)
    values (${tenant.upstream_key}, ${tenant.id}, 'K', 'openai', 'https://own.example/v1', 'x', true,
      '{}', 0)`;
}

async function addBudget({ database: { sql } }: Tenants, tenant: Tenant): Promise<void> {
  tenant.budget = newId('budget');
  await sql`
    insert into budget (id, organization_id, period, limit_nano_usd)
    values (${tenant.budget}, ${tenant.id}, 'day', 1000000000000)`;
}

/** Gives a tenant a completed task, whose webhook was delivered, and an ended batch. */
async function addObjects(tenants: Tenants, tenant: Tenant): Promise<void> {
  await addPeople(tenants, tenant);
  await addView(tenants, tenant);
  await addUpstreamKey(tenants, tenant);
  await addBudget(tenants, tenant);
  tenant.task = await tenants.createTask(tenant, 10);
  tenant.delivery = `msg_${tenant.task}`;
  const params = {
    ...{ model: 'claude-haiku-4-5', max_tokens: 20 },
    messages: [{ role: 'user', content: 'hi [[sim tokens=5]]' }],
  };
  const { id } = await tenants.create<{ id: string }>('/v1/messages/batches', tenant, {
    requests: ['a', 'b', 'c'].map((custom_id) => ({ custom_id, params })),
  });
  tenant.batch = id;
  await until('the objects have ended', async () => {
    const batch = await tenants.manage<{ status: string }>('GET', `/batches/${id}`, tenant);
    const task = await tenants.manage<{ webhook: { status: string } }>(
      'GET',
      `/tasks/${tenant.task}`,
      tenant,
    );
    return batch.status === 'ended' && task.webhook.status === 'delivered';
  });
  const { data } = await tenants.manage<{ data: { request_id: string }[] }>(
    'GET',
    '/requests?outcome=completed&scene=chat',
    tenant,
  );
  tenant.request = data[0]?.request_id ?? '';
  await addCopy(tenants, tenant);
  await addEndpoint(tenants, tenant);
}

const postJson = ({ weir }: Tenants, path: string, token: string, body: object) =>
  fetch(weir.base_url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Gives a tenant an endpoint of alerts, which was tested. */
async function addEndpoint(tenants: Tenants, tenant: Tenant): Promise<void> {
  const path = '/v1/management/alert-endpoints';
  const url = new URL(ALERT_PATH, tenants.webhook_url).href;
  const body = { name: 'On call', type: 'webhook', url };
  const made = await postJson(tenants, path, tenant.management_token, body);
  tenant.endpoint = ((await made.json()) as { id: string }).id;
  const tested = await tenants.manage<{ id: string; status: string }>(
    ...(['POST', `/alert-endpoints/${tenant.endpoint}/test`, tenant] as const),
  );
  if (tested.status !== 'delivered') throw new Error(`the test is ${tested.status}`);
  tenant.alert_delivery = tested.id;
}

/** Gives a tenant a debug window with the copy of one call. */
async function addCopy(tenants: Tenants, tenant: Tenant): Promise<void> {
  const opened = await postJson(
    ...([tenants, '/v1/management/debug-windows', tenant.management_token, {}] as const),
  );
  tenant.window = ((await opened.json()) as { id: string }).id;
  const called = await postJson(tenants, '/v1/chat/completions', tenant.api_key, {
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'hi [[sim tokens=5]]' }],
  });
  tenant.copy = called.headers.get('x-request-id') ?? '';
  await until('the call is copied', async () => {
    const path = `/v1/management/requests/${tenant.copy}/debug`;
    return (await tenants.send('GET', path, tenant.management_token)).ok;
  });
}

function configOf(simulator_url: string): string {
  const channel = (name: string, protocol: string, path: string, models: object) => ({
    ...{ id: `canary-channel-${name}`, protocol, base_url: simulator_url + path, models },
    api_key: `sim-canary-${name}`,
  });
  // YAML includes JSON.
  return JSON.stringify({
    channels: [
      channel('images', 'midjourney', '/midjourney/mj', { midjourney: 'MID_JOURNEY' }),
      channel('videos', 'kling', '/kling', { 'kling-3.0': 'kling-v3' }),
      channel('runway', 'runway', '/runway', { 'runway-gen4.5': 'gen4.5' }),
      channel('chat', 'anthropic', '/anthropic', { 'claude-haiku-4-5': 'canary-physical-haiku' }),
      channel('openai', 'openai', '/openai/v1', { 'gpt-4o': 'canary-physical-gpt' }),
    ],
    roles: { standard: 10_000_000 },
  });
}
