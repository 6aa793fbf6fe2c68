/** Soft budgets in `POST /v1/operator/dry-run`: each plan says what the same call then does. */
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { OperatorClient } from '../../support/operator-client.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

interface Plan {
  model: string | null;
  moved_from: string | null;
  warnings: { type: string; budget_id: string; not_moved?: string }[];
  refusal: { code: string } | null;
  price: { max_charge_usd: number } | null;
  channels: { id: string; upstream_model: string }[];
}

let simulator: RunningSimulator;
let weir: RunningWeir;
let api_key_id = '';
const dryRuns = new OperatorClient<Plan>('dry-run', () => weir);
beforeAll(async () => {
  simulator = await startSimulator();
  const channel = (id: string, models: object) => ({
    ...{ id, protocol: 'openai', base_url: simulator.openai_url, api_key: `sim-${id}`, models },
  });
  const channels = [
    channel('large', { 'gpt-4o': 'large', 'text-embedding-3-small': 'small' }),
    channel('small', { 'gpt-4o-mini': 'mini' }),
  ];
  weir = await startWeir({ shared_database: true, config: JSON.stringify({ channels }) });
  const { data } = await manage<{ data: { id: string }[] }>('GET', '/api-keys');
  api_key_id = data[0]?.id ?? '';
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});
afterEach(async () => {
  const { data } = await manage<{ data: { id: string }[] }>('GET', '/budgets');
  for (const { id } of data) await manage('DELETE', `/budgets/${id}`);
});

const send = (token: string, method: string, path: string, body?: object) =>
  fetch(weir.base_url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
async function manage<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await send(weir.management_token, method, `/v1/management${path}`, body);
  if (!response.ok) expect(await response.text()).toBe('a success');
  return (await response.json()) as Answer;
}
const budget = (more: object) =>
  manage<{ id: string }>('POST', '/budgets', { period: 'day', limit_amount: 0, ...more });
const hello = (more: object = {}) => ({
  ...{ model: 'gpt-4o', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }], ...more },
});
const plan = (body: object, path = '/v1/chat/completions') =>
  dryRuns.ask('POST', '', { api_key_id, path, body });
const call = (body: object, path = '/v1/chat/completions') =>
  send(weir.api_key, 'POST', path, body);

describe('a budget that moves calls', () => {
  test('the plan is that of the named model, and the call goes there', async () => {
    const asked = await plan(hello());
    expect(asked).toMatchObject({ model: 'gpt-4o', moved_from: null, warnings: [] });
    const { id } = await budget({ when_reached: { move_to: 'gpt-4o-mini' } });
    const moved = await plan(hello());
    expect(moved).toMatchObject({
      ...{ model: 'gpt-4o-mini', moved_from: 'gpt-4o', refusal: null },
      warnings: [{ type: 'budget', budget_id: id, period: 'day', owner: 'organization' }],
      channels: [{ id: 'small', upstream_model: 'mini' }],
    });
    expect(moved.price?.max_charge_usd).toBeLessThan(asked.price?.max_charge_usd as number);
    const response = await call(hello());
    expect(response.headers.get('x-weir-moved-from')).toBe('gpt-4o');
    expect(response.headers.get('x-weir-moved-to')).toBe('gpt-4o-mini');
    await response.text();
  });

  test('a call that cannot move stays, and the plan says why', async () => {
    const { id } = await budget({ when_reached: { move_to: 'gpt-4o' } });
    const body = hello({ model: 'gpt-4o-mini' });
    expect(await plan(body)).toMatchObject({
      ...{ model: 'gpt-4o-mini', moved_from: null },
      warnings: [{ budget_id: id, not_moved: 'not_cheaper' }],
    });
    const response = await call(body);
    expect(response.headers.get('x-weir-warning')).toContain('not_moved="not_cheaper"');
    await response.text();
  });

  test('an embedding stays', async () => {
    await budget({ when_reached: { move_to: 'gpt-4o-mini' } });
    const body = { model: 'text-embedding-3-small', input: 'hi' };
    const shown = await plan(body, '/v1/embeddings');
    expect(shown).toMatchObject({ model: body.model, moved_from: null });
    expect(shown.warnings).toHaveLength(1);
  });
});

test('a budget that warns is in the plan, as long as the call does not fit', async () => {
  const { id } = await budget({ when_reached: 'warn', api_key_id });
  expect(await plan(hello())).toMatchObject({
    ...{ model: 'gpt-4o', moved_from: null },
    warnings: [{ type: 'budget', budget_id: id, owner: 'api_key' }],
  });
  await manage('PATCH', `/budgets/${id}`, { limit_amount: 50 });
  expect((await plan(hello())).warnings).toEqual([]);
});

test('a budget of a tag limits only calls with the tag', async () => {
  await budget({ when_reached: { move_to: 'gpt-4o-mini' }, tag: { team: 'blue' } });
  expect(await plan(hello())).toMatchObject({ model: 'gpt-4o', warnings: [] });
  const tagged = await plan(hello({ metadata: { team: 'blue' } }));
  expect(tagged).toMatchObject({ model: 'gpt-4o-mini', moved_from: 'gpt-4o' });
});

test('a hard budget is not asked, and a plan spends nothing', async () => {
  await budget({});
  expect(await plan(hello())).toMatchObject({ model: 'gpt-4o', warnings: [], refusal: null });
});
