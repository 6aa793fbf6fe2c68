/** `POST /v1/operator/dry-run`, beside calls that are really sent and the books of their providers. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { errorOf } from '../../support/envelope.ts';
import { OperatorClient } from '../../support/operator-client.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

interface Plan {
  object: string;
  model: string | null;
  routing: { policy: string; hedge: boolean } | null;
  price: { pricing: object; max_charge_usd: number } | null;
  refusal: { status: number; code: string; param: string | null; message: string } | null;
  channels: {
    id: string;
    place: number;
    first_share: number;
    upstream_model: string;
    max_cost_usd: number;
    is_last_resort: boolean;
  }[];
  others: { id: string; reason: string; cause: string | null; error: { param: string } | null }[];
}

let simulator: RunningSimulator;
let database: TestDatabase;
let weir: RunningWeir;
let api_key_id: string;
const dryRuns = new OperatorClient<Plan>('dry-run', () => weir);
const channels = new OperatorClient<object>('channels', () => weir);

const account = (id: string, more: object) => ({
  ...{ id, protocol: 'openai', base_url: simulator.openai_url, api_key: `sim-${id}` },
  ...{ timeout_ms: 5_000, ...more },
});
const chat = { 'gpt-4o': 'physical-4o' };

beforeAll(async () => {
  simulator = await startSimulator();
  database = await createTestDatabase();
  const config = {
    channels: [
      account('heavy', { weight: 3, models: { ...chat, 'text-embedding-3-small': 'small' } }),
      account('light', { weight: 1, cost_factor: 0.5, models: chat }),
      {
        ...account('other', { priority: 1, models: chat }),
        ...{ protocol: 'anthropic', base_url: simulator.anthropic_url },
      },
      account('off', { enabled: false, models: chat }),
      account('mini', { models: { 'gpt-4o-mini': 'mini' } }),
      account('spare', { priority: 2, models: chat }),
      account('last', { priority: 3, models: chat }),
      {
        ...account('films', { models: { 'veo-3.1': 'veo-3.1-generate-preview' } }),
        ...{ protocol: 'veo', base_url: `${simulator.url}/google/v1beta` },
      },
    ],
  };
  weir = await startWeir({
    config: JSON.stringify(config),
    env: { DATABASE_URL: database.url },
  });
  const [key] = await database.sql<{ id: string }[]>`select id from api_key`;
  api_key_id = key?.id ?? '';
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await database.drop();
});
afterEach(() => simulator.reset());

const hello = (content = 'Hello', more: object = {}) => ({
  ...{ model: 'gpt-4o', messages: [{ role: 'user', content }], max_tokens: 100, ...more },
});
const plan = (body: object, path = '/v1/chat/completions', more: object = {}) =>
  dryRuns.ask('POST', '', { api_key_id, path, body, ...more });
const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id);
const reasonsOf = ({ others }: Plan) =>
  Object.fromEntries(others.map(({ id, reason }) => [id, reason]));

function send(body: object, path = '/v1/chat/completions'): Promise<Response> {
  return fetch(weir.base_url + path, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
      'x-weir-cache-control': 'no_cache',
    },
    body: JSON.stringify(body),
  });
}

test('200: the order, the price, and why not the others', async () => {
  const shown = await plan(hello());
  expect(shown).toMatchObject({
    ...{ object: 'dry_run', api_key_id, path: '/v1/chat/completions', model: 'gpt-4o' },
    ...{ refusal: null, routing: { policy: 'weighted', hedge: false, hedge_after_ms: null } },
  } as object);
  expect(shown.channels.map(({ id, place, first_share }) => [id, place, first_share])).toEqual([
    ['heavy', 1, 0.75],
    ['light', 2, 0.25],
    ['other', 3, 0],
    ['spare', 4, 0],
  ]);
  const [heavy, light] = shown.channels;
  expect(heavy?.upstream_model).toBe('physical-4o');
  expect(shown.price?.max_charge_usd).toBeGreaterThan(100 * 10e-6);
  expect(heavy?.max_cost_usd).toBe(shown.price?.max_charge_usd as number);
  expect(light?.max_cost_usd).toBeCloseTo((shown.price?.max_charge_usd ?? 0) / 2, 9);
  expect(reasonsOf(shown)).toEqual({
    ...{ off: 'disabled', mini: 'not_served', films: 'not_served', last: 'enough_attempts' },
  });
  // Nothing was sent, reserved or recorded.
  expect((await simulator.books()).calls).toEqual([]);
  const [counts] = await database.sql`
    select (select count(*)::int from usage_line) as lines, (select count(*)::int from task) as tasks,
      (select coalesce(sum(granted_nano_usd), 0)::int from quota_grant) as granted`;
  expect(counts as object).toEqual({ lines: 0, tasks: 0, granted: 0 });
});

test('a call that fails everywhere goes to exactly these channels', async () => {
  const shown = await plan(hello());
  const response = await send(hello('Hello [[sim status=500]]'));
  expect(response.status).toBeGreaterThanOrEqual(500);
  await response.text();
  const { calls } = await simulator.closedBooks();
  const tried = calls.map(({ account: name }) => name);
  // The order of the two with the same priority is drawn for each call.
  expect(tried.slice(0, 2).sort()).toEqual(idsOf(shown.channels).slice(0, 2).sort());
  expect(tried.slice(2)).toEqual(idsOf(shown.channels).slice(2));
  // Their circuits are open now, and the next plan says so.
  const after = await plan(hello());
  for (const id of tried) {
    const entry = after.others.find((each) => each.id === id);
    const isTried = idsOf(after.channels).includes(id);
    expect(isTried || ['open', 'probing'].includes(entry?.reason ?? '')).toBe(true);
  }
  for (const id of tried) await channels.ask('POST', `/${id}/enable`);
  expect(idsOf((await plan(hello())).channels).sort()).toEqual([...tried].sort());
});

test('a channel whose protocol cannot express the request says which parameter', async () => {
  const shown = await plan(hello('Hello', { logprobs: true }));
  expect(idsOf(shown.channels)).toEqual(['heavy', 'light', 'spare', 'last']);
  const other = shown.others.find(({ id }) => id === 'other');
  expect(other).toMatchObject({ reason: 'cannot_express', error: { param: 'logprobs' } });
});

test('a switch, and no channel at all: the refusal is the one that the client gets', async () => {
  const all = ['heavy', 'light', 'other', 'spare', 'last'];
  for (const id of all) await channels.ask('POST', `/${id}/disable`, { reason: 'moving' });
  const shown = await plan(hello());
  expect(shown.channels).toEqual([]);
  expect(shown.others.find(({ id }) => id === 'heavy')).toMatchObject({
    ...{ reason: 'disabled', cause: 'moving' },
  });
  const error = await errorOf(await send(hello()), shown.refusal?.status ?? 0);
  expect(shown.refusal?.code).toBe(String(error.code));
  for (const id of all) await channels.ask('POST', `/${id}/enable`);
});

test('200: what the call’s own route refuses is the refusal', async () => {
  const wrong = await plan({ model: 'gpt-4o' });
  expect(wrong).toMatchObject({ model: null, channels: [], refusal: { param: 'messages' } });
  const unknown = await plan(hello('Hello', { model: 'gpt-40' }));
  expect(unknown.refusal).toMatchObject({ status: 400, code: 'model_not_found' });
  const allow = (models: string[]) =>
    fetch(`${weir.base_url}/v1/management/api-keys/${api_key_id}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${weir.management_token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ models }),
    });
  await allow(['gpt-4o-mini']);
  expect((await plan(hello())).refusal?.code).toBe('model_not_allowed');
  await allow([]);
});

test.each([
  ['/v1/messages', { model: 'gpt-4o', max_tokens: 9, messages: hello().messages }, 'heavy'],
  ['/v1/responses', { model: 'gpt-4o', input: 'Hello' }, 'heavy'],
  ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hello' }, 'heavy'],
  [
    '/v1beta/models/gpt-4o:generateContent',
    { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    'heavy',
  ],
  ['/v1/videos/generations', { model: 'veo-3.1', prompt: 'A lighthouse' }, 'films'],
])('200: %s', async (path, body, first) => {
  const shown = await plan(body, path);
  expect(shown.refusal).toBeNull();
  expect(shown.channels[0]?.id).toBe(first);
  expect(shown.price?.max_charge_usd).toBeGreaterThan(0);
});

test('400 and 404: what the operator asks wrongly', async () => {
  const refuse = async (body: object, status = 400) =>
    (await errorOf(await dryRuns.send('POST', '', body), status)).param;
  expect(await refuse({ api_key_id, path: '/v1/models', body: {} })).toBe('path');
  expect(await refuse({ api_key_id, path: 'chat', body: {} })).toBe('path');
  expect(await refuse({ api_key_id, path: '/v1beta/models/x:countTokens', body: {} })).toBe('path');
  expect(await refuse({ api_key_id, path: '/v1/embeddings' })).toBe('body');
  expect(await refuse({ path: '/v1/embeddings', body: {} })).toBe('api_key_id');
  expect(await refuse({ api_key_id: 'x', path: '/v1/embeddings', body: {} }, 404)).toBe(
    'api_key_id',
  );
});
