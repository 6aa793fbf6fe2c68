/**
 * Usage and billing of the management interface (spec: Management interface), and the records of all
 * calls. A real Weir with the demo's simulated providers makes the lines.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

interface Line {
  request_id: string;
  billing_transaction_id?: string;
  api_key_id: string;
  date: string;
  outcome: string;
  amount: number;
  held: number;
  logical_model: string;
  model_vendor: string;
  scene: string;
  input_tokens: number;
  output_tokens: number;
  user: string | null;
}
interface Page {
  data: Line[];
  total: number;
  has_more: boolean;
  as_of: string;
}

let weir: RunningWeir;
let key_id: string;
let key: string;
const made: Record<string, string> = {};

const fetchWeir = (path: string, token: string, init: RequestInit = {}) =>
  fetch(weir.base_url + path, {
    ...init,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...init.headers,
    },
  });
const manage = (path: string) => fetchWeir(`/v1/management${path}`, weir.management_token);
const get = async <Answer>(path: string): Promise<Answer> => {
  const response = await manage(path);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
};
const usage = (query = '') => get<Page>(`/api-keys/${key_id}/usage${query}`);

async function call(name: string, path: string, body: object, headers = {}): Promise<Response> {
  const init = { method: 'POST', body: JSON.stringify(body), headers };
  const response = await fetchWeir(path, key, init);
  made[name] = response.headers.get('x-request-id') ?? '';
  return response;
}

const chat = (text: string) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: text }],
});

beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
  const init = { method: 'POST', body: JSON.stringify({ name: 'Usage', limitAmount: 5 }) };
  const created = await fetchWeir('/v1/management/api-keys', weir.management_token, init);
  const record = (await created.json()) as { id: string; key: string };
  key_id = record.id;
  key = record.key;
  await call('plain', '/v1/chat/completions', {
    ...chat('Hello [[sim tokens=8]]'),
    ...{ user: 'anna', metadata: { team: 'blue' } },
  });
  const streamed = { ...chat('Hello [[sim tokens=20]]'), stream: true };
  await (await call('streamed', '/v1/chat/completions', streamed)).text();
  const message = { max_tokens: 20, ...chat('Hi [[sim tokens=5]]'), model: 'claude-haiku-4-5' };
  await call('message', '/v1/messages', message, { 'anthropic-version': '2023-06-01' });
  await call('embedding', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'One' });
  await call('refused', '/v1/chat/completions', { ...chat('Hello'), temperature: 9 });
  await call('unknown', '/v1/chat/completions', { ...chat('Hello'), model: 'gpt-4o-mni' });
  await call('failed', '/v1/chat/completions', chat('Hello [[sim status=500]]'));
  const denied = { ...message, ...chat('Hi [[sim status=401]]'), model: message.model };
  await call('account', '/v1/messages', denied, { 'anthropic-version': '2023-06-01' });
  await call('task', '/v1/images/generations', {
    ...{ model: 'gpt-image-1', prompt: 'A lighthouse [[sim task_ms=60000 latency_ms=30000]]' },
    async: true,
  });
});
afterAll(() => weir.stop());

describe('GET /v1/management/api-keys/{keyId}/usage', () => {
  test('200: each charge has its request id and its billing transaction', async () => {
    const { data } = await usage();
    for (const name of ['plain', 'streamed', 'message', 'embedding']) {
      const line = data.find(({ request_id }) => request_id === made[name]);
      expect(line, name).toMatchObject({ api_key_id: key_id, outcome: 'completed' });
      expect(line?.billing_transaction_id).toMatch(/^txn_[0-9a-f]{32}$/);
      expect(line?.amount).toBeGreaterThan(0);
    }
    const plain = data.find(({ request_id }) => request_id === made['plain']);
    expect(plain).toMatchObject({
      user: 'anna',
      output_tokens: 8,
      scene: 'chat',
      protocol: 'openai',
    });
    expect(plain).toMatchObject({ metadata: { team: 'blue' }, model_vendor: 'openai' });
  });

  test('200: a running task is a line that holds money, without a transaction', async () => {
    const { data } = await usage();
    const held = data.filter(({ outcome }) => outcome === 'held');
    expect(held.map(({ request_id }) => request_id)).toEqual([made['task'] ?? '']);
    expect(held[0]).toMatchObject({ amount: 0, model_vendor: 'openai', scene: 'image' });
    expect(held[0]?.held).toBeGreaterThan(0);
    expect(held[0]).not.toHaveProperty('billing_transaction_id');
  });

  test('200: calls that cost nothing are no lines', async () => {
    const { data } = await usage();
    const ids = data.map(({ request_id }) => request_id);
    for (const name of ['refused', 'unknown', 'failed', 'account'])
      expect(ids).not.toContain(made[name]);
  });

  test('200: the sum of the lines is the sum of each breakdown and used_amount', async () => {
    const { data } = await usage();
    const nano = (usd: number) => Math.round(usd * 1e9);
    const sum = data.reduce((total, { amount }) => total + nano(amount), 0);
    const billing = await get<Record<string, { amount: number }[]>>(`/api-keys/${key_id}/billing`);
    const total = billing['total'] as unknown as { amount: number; requests: number };
    expect(nano(total.amount)).toBe(sum);
    expect(total.requests).toBe(4);
    for (const name of ['by_day', 'by_model', 'by_vendor', 'by_scene', 'by_access_channel']) {
      const parts = (billing[name] ?? []).reduce((so_far, { amount }) => so_far + nano(amount), 0);
      expect(parts, name).toBe(sum);
    }
    const { data: keys } = await get<{ data: { id: string; used_amount: number }[] }>('/api-keys');
    expect(nano(keys.find(({ id }) => id === key_id)?.used_amount ?? 0)).toBe(sum);
  });

  test.each([
    ['logicalModel=gpt-4o-mini', ['plain', 'streamed']],
    ['modelVendor=anthropic', ['message']],
    ['modelVendor=openai&scene=image', ['task']],
    ['scene=embedding', ['embedding']],
    ['accessChannel=byok', []],
    ['protocol=anthropic', ['message']],
    ['user=anna', ['plain']],
    ['startDate=2999-01-01', []],
    ['endDate=2001-01-01', []],
    ['startDate=2001-01-01T00:00:00%2B05:45&scene=embedding', ['embedding']],
  ])('200: %s filters', async (query, names) => {
    const { data, total } = await usage(`?${query}`);
    expect(data.map(({ request_id }) => request_id).sort()).toEqual(
      names.map((name) => made[name] ?? '').sort(),
    );
    expect(total).toBe(names.length);
  });

  test('200: both bounds are inclusive in both formats', async () => {
    const { data } = await usage('?scene=embedding');
    const date = data[0]?.date ?? '';
    const day = date.slice(0, 10);
    for (const query of [`startDate=${date}&endDate=${date}`, `startDate=${day}&endDate=${day}`]) {
      expect((await usage(`?scene=embedding&${query}`)).total).toBe(1);
    }
    const before = new Date(Date.parse(date) - 1).toISOString();
    const after = new Date(Date.parse(date) + 1).toISOString();
    expect((await usage(`?scene=embedding&endDate=${before}`)).total).toBe(0);
    expect((await usage(`?scene=embedding&startDate=${after}`)).total).toBe(0);
  });

  test('200: with as_of, pages neither repeat nor skip a line while new ones arrive', async () => {
    const first = await usage('?limit=2');
    const seen = first.data.map(({ request_id }) => request_id);
    for (let page = 2, more = first.has_more; more; page += 1) {
      await call(`later ${page}`, '/v1/embeddings', {
        model: 'text-embedding-3-small',
        input: 'x',
      });
      const next = await usage(`?limit=2&page=${page}&as_of=${encodeURIComponent(first.as_of)}`);
      seen.push(...next.data.map(({ request_id }) => request_id));
      more = next.has_more;
    }
    expect(seen.length).toBe(first.total);
    expect(new Set(seen).size).toBe(first.total);
    expect(Object.entries(made).filter(([name]) => name.startsWith('later'))).not.toEqual([]);
    for (const [name, id] of Object.entries(made)) {
      if (name.startsWith('later')) expect(seen).not.toContain(id);
    }
  });

  test.each([
    ['page=0', 'page'],
    ['page=1.5', 'page'],
    ['limit=101', 'limit'],
    ['limit=0', 'limit'],
    ['limit=x', 'limit'],
    ['scene=tts', 'scene'],
    ['accessChannel=own', 'accessChannel'],
    [`logicalModel=${'x'.repeat(101)}`, 'logicalModel'],
    [`modelVendor=${'x'.repeat(101)}`, 'modelVendor'],
    ['startDate=2026-02-30', 'startDate'],
    ['endDate=2026-01-01T00:00:00', 'endDate'],
    ['startDate=2026-02-02&endDate=2026-02-01', 'startDate'],
    ['as_of=now', 'as_of'],
    ['page=1&page=2', 'page'],
    ['startdate=2026-01-01', 'startdate'],
  ])('400: %s', async (query, param) => {
    const response = await manage(`/api-keys/${key_id}/usage?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { param, code: 'invalid_request_error' },
    });
  });

  test('404: no such key', async () => {
    expect((await manage('/api-keys/key_none/usage')).status).toBe(404);
    expect((await manage('/api-keys/key_%00/billing')).status).toBe(404);
  });

  test('401: an API key cannot read usage', async () => {
    for (const path of ['/usage', '/billing', '/requests', `/api-keys/${key_id}/usage`]) {
      expect((await fetchWeir(`/v1/management${path}`, key)).status).toBe(401);
    }
  });
});

interface Call {
  request_id: string;
  outcome: string;
  status: number;
  error_code: string | null;
  fault: string | null;
  timeline: { stage: string; at_ms: number }[];
}

describe('GET /v1/management/requests', () => {
  const find = async (name: string) => {
    let found: Call | undefined;
    // A record of a call without a charge is written within 100 ms after the call.
    await until(`the record of ${name}`, async () => {
      const response = await manage(`/requests/${made[name]}`);
      if (response.ok) found = (await response.json()) as Call;
      return response.ok;
    });
    if (!found) throw new Error(`no record of ${name}`);
    return found;
  };

  test.each([
    ['plain', { outcome: 'completed', status: 200, fault: null }],
    ['streamed', { outcome: 'completed', status: 200, stream: true }],
    ['refused', { outcome: 'refused', status: 400, fault: 'caller' }],
    ['unknown', { outcome: 'refused', error_code: 'model_not_found', logical_model: 'gpt-4o-mni' }],
    ['failed', { outcome: 'failed', status: 502, fault: 'provider', error_code: 'upstream_error' }],
    ['account', { outcome: 'failed', fault: 'provider' }],
    ['task', { outcome: 'accepted', status: 200, scene: 'image' }],
  ])('200: the record of the %s call', async (name, expected) => {
    expect(await find(name)).toMatchObject(expected);
  });

  test('200: the timeline of a stream is in order', async () => {
    const { timeline } = await find('streamed');
    expect(timeline.map(({ stage }) => stage)).toEqual([
      ...['arrived', 'authenticated', 'reserved', 'attempt_1', 'first_token', 'ended', 'settled'],
    ]);
    const times = timeline.slice(0, -1).map(({ at_ms }) => at_ms);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test('200: the list has every call once, page by page', async () => {
    await find('task');
    const seen: string[] = [];
    let next = '';
    do {
      const page = await get<{ data: Call[]; next_cursor: string | null; has_more: boolean }>(
        `/requests?limit=3${next}`,
      );
      seen.push(...page.data.map(({ request_id }) => request_id));
      next = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (next !== '');
    expect(new Set(seen).size).toBe(seen.length);
    for (const id of Object.values(made)) expect(seen).toContain(id);
  });

  test('200: filters by outcome, fault and code', async () => {
    const list = (query: string) => get<{ data: Call[] }>(`/requests?${query}`);
    const ids = ({ data }: { data: Call[] }) => data.map(({ request_id }) => request_id);
    await find('account');
    const failed = [made['account'] ?? '', made['failed'] ?? ''];
    expect(ids(await list('outcome=failed'))).toEqual(failed);
    expect(ids(await list('errorCode=model_not_found'))).toEqual([made['unknown'] ?? '']);
    // A fault of the platform's account is shown as the provider's.
    expect(ids(await list('fault=provider'))).toEqual(failed);
    expect(ids(await list(`api_key_id=${key_id}&outcome=refused`)).sort()).toEqual(
      [made['refused'] ?? '', made['unknown'] ?? ''].sort(),
    );
  });

  test('200: one call by its id is a list, which is empty until the call is recorded', async () => {
    const list = (query: string) => get<{ data: Call[] }>(`/requests?${query}`);
    for (const name of ['plain', 'refused', 'task']) {
      const { request_id, outcome } = await find(name);
      const { data } = await list(`request_id=${request_id}`);
      expect(data, name).toEqual([expect.objectContaining({ request_id, outcome })]);
    }
    expect((await list(`request_id=req_${'0'.repeat(32)}`)).data).toEqual([]);
    expect((await list(`request_id=${made['plain']}&outcome=refused`)).data).toEqual([]);
    expect((await manage('/requests?request_id=x')).status).toBe(400);
  });

  test('404: no such request, in every form of an id', async () => {
    for (const id of [`req_${'0'.repeat(32)}`, 'req_x', 'x', '%00']) {
      expect((await manage(`/requests/${id}`)).status).toBe(404);
    }
  });
});
