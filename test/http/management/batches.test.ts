/** Batches and webhooks of an organization: lists, cancel, redelivery; on two replicas. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { errorOf } from '../../support/envelope.ts';
import { findMoneyFaults } from '../../support/money-faults.ts';
import { startTenants, type Tenants } from '../../support/tenants.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(async () => {
  expect(await findMoneyFaults(tenants.database.sql)).toEqual([]);
  await tenants.stop();
});

const ask = (method: string, path: string, weir = tenants.weir) =>
  tenants.send(method, `/v1/management${path}`, tenants.home.management_token, weir);

interface Batch {
  id: string;
  status: string;
  progress: Record<
    'total' | 'succeeded' | 'errored' | 'canceled' | 'expired' | 'remaining',
    number
  >;
  charged_amount: number | null;
  cancel_requested_at: string | null;
  results_path: string | null;
}

/** USD that the items of a batch cost, by their usage lines. */
async function chargeOf(id: string): Promise<number> {
  const [row] = await tenants.database.sql<{ charged: number }[]>`
    select coalesce(sum(charged_nano_usd), 0)::int8 as charged from usage_line
    where id in (select request_id from batch_item where batch_id = ${id})`;
  return (row?.charged ?? Number.NaN) / 1e9;
}

const createBatch = async (prompts: readonly string[], model = 'claude-haiku-4-5') =>
  (
    await tenants.create<{ id: string }>('/v1/messages/batches', tenants.home, {
      requests: prompts.map((content, position) => ({
        custom_id: `item-${position}`,
        params: { model, max_tokens: 20, messages: [{ role: 'user', content }] },
      })),
    })
  ).id;
const getBatch = (id: string) => tenants.manage<Batch>('GET', `/batches/${id}`);

describe('GET /v1/management/batches', () => {
  test('200: progress and cost while it runs, and when it has ended', async () => {
    const quick = Array.from({ length: 4 }, () => 'hi [[sim tokens=5]]');
    const id = await createBatch([
      ...quick,
      'wait [[sim tokens=5 latency_ms=2500]]',
      'no [[sim status=400]]',
    ]);
    const running = await until('five items have ended', async () => {
      const batch = await getBatch(id);
      return batch.progress.remaining === 1 && batch;
    });
    expect(running).toMatchObject({
      status: 'in_progress',
      progress: { total: 6, succeeded: 4, errored: 1, remaining: 1 },
      results_path: null,
    });
    expect(running.charged_amount).toBe(await chargeOf(id));
    const ended = await until('the batch has ended', async () => {
      const batch = await getBatch(id);
      return batch.status === 'ended' && batch;
    });
    expect(ended.progress).toMatchObject({ succeeded: 5, errored: 1, remaining: 0 });
    expect(ended.charged_amount).toBe(await chargeOf(id));
    expect(ended.charged_amount).toBeGreaterThan(running.charged_amount ?? 0);
    const results = await tenants.send('GET', ended.results_path ?? '', tenants.home.api_key);
    expect((await results.text()).length).toBeGreaterThanOrEqual(0);
  });

  test('200: filters and pages', async () => {
    const { home } = tenants;
    const list = async (query: string) =>
      (await tenants.manage<{ data: Batch[] }>('GET', `/batches${query}`)).data.map(({ id }) => id);
    const all = await list('');
    expect(all).toContain(home.batch);
    expect(await list(`?status=ended&api_key_id=${home.key_id}`)).toEqual(all);
    expect(await list('?status=in_progress')).toEqual([]);
    expect(await list('?endDate=2020-01-01')).toEqual([]);
  });

  test.each([
    ['status=received', 'status'],
    ['limit=1000', 'limit'],
    ['after_id=x', 'after_id'],
    ['startDate=x', 'startDate'],
  ])('400: %s', async (query, param) => {
    expect((await errorOf(await ask('GET', `/batches?${query}`), 400)).param).toBe(param);
  });
});

describe('POST /v1/management/batches/{id}/cancel', () => {
  test('200: items that have not started do not run, and the others are charged', async () => {
    const prompts = Array.from({ length: 200 }, () => 'hi [[sim tokens=5 latency_ms=500]]');
    const id = await createBatch(prompts);
    await until('an item has ended', async () => (await getBatch(id)).progress.succeeded > 0);
    const response = await ask('POST', `/batches/${id}/cancel`, tenants.second);
    const canceling = (await response.json()) as Batch;
    expect(response.status).toBe(200);
    expect(canceling.status).toBe('canceling');
    expect(canceling.cancel_requested_at).not.toBeNull();
    const ended = await until('the batch has ended', async () => {
      const batch = await getBatch(id);
      return batch.status === 'ended' && batch;
    });
    expect(ended.progress.canceled).toBeGreaterThan(0);
    expect(ended.progress.succeeded + ended.progress.canceled).toBe(200);
    expect(ended.charged_amount).toBe(await chargeOf(id));
    // The second request has the same answer.
    expect(await tenants.manage<Batch>('POST', `/batches/${id}/cancel`)).toEqual(ended);
  });

  test('400 for a batch that has ended, 404 for a missing one', async () => {
    const path = `/batches/${tenants.home.batch}/cancel`;
    expect((await errorOf(await ask('POST', path), 400)).param).toBe('id');
    expect((await errorOf(await ask('POST', '/batches/msgbatch_0/cancel'), 404)).param).toBe('id');
  });
});

interface Delivery {
  id: string;
  task_id: string;
  status: string;
  attempts: number;
  redeliveries: number;
  next_attempt_at: string | null;
  attempt_log: { at: string; status: number; reason: string | null }[];
}

describe('the webhook deliveries', () => {
  const deliveryOf = async (task_id: string) => {
    const path = `/webhook-deliveries?task_id=${task_id}`;
    const { data } = await tenants.manage<{ data: Delivery[] }>('GET', path);
    return data[0];
  };
  const waitFor = (task_id: string, status: string, attempts: number) =>
    until(`the webhook is ${status} after ${attempts} attempts`, async () => {
      const delivery = await deliveryOf(task_id);
      return delivery?.status === status && delivery.attempts === attempts && delivery;
    });
  const redeliver = (id: string, weir = tenants.weir) =>
    ask('POST', `/webhook-deliveries/${id}/redeliver`, weir);

  test('200: show each attempt and the next one; redeliver makes it now', async () => {
    tenants.webhook_answers = [500];
    const task_id = await tenants.createTask(tenants.home, 10);
    const waiting = await waitFor(task_id, 'pending', 1);
    expect(waiting.attempt_log).toMatchObject([{ status: 500, reason: 'http_status' }]);
    // The first pause is 5 s.
    const pause_ms = Date.parse(waiting.next_attempt_at ?? '') - Date.now();
    expect(pause_ms).toBeGreaterThan(0);
    expect(pause_ms).toBeLessThanOrEqual(5_000);
    tenants.webhook_answers = [200];
    const response = await redeliver(waiting.id, tenants.second);
    expect(response.status).toBe(200);
    const delivered = await waitFor(task_id, 'delivered', 2);
    expect(delivered.next_attempt_at).toBeNull();
    expect(delivered.attempt_log).toMatchObject([
      { status: 500, reason: 'http_status' },
      { status: 200, reason: null },
    ]);
  });

  test('200: an ended webhook is sent again with the same id, once for concurrent requests', async () => {
    const { delivery, task } = tenants.home;
    tenants.webhooks.length = 0;
    tenants.webhook_answers = [410, 200];
    const before = await deliveryOf(task);
    const answers = await Promise.all([
      redeliver(delivery),
      redeliver(delivery, tenants.second),
      redeliver(delivery),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const gone = await waitFor(task, 'failed', (before?.attempts ?? 0) + 1);
    expect(gone.redeliveries).toBe(1);
    expect(gone.attempt_log.at(-1)).toMatchObject({ status: 410, reason: 'gone' });
    expect((await redeliver(delivery, tenants.second)).status).toBe(200);
    const delivered = await waitFor(task, 'delivered', gone.attempts + 1);
    expect(delivered.redeliveries).toBe(2);
    expect(tenants.webhooks.map(({ id }) => id)).toEqual([delivery, delivery]);
    expect(tenants.webhooks[1]?.body).toContain(task);
  });

  test('200: filters by state and date; 400 for wrong parameters', async () => {
    const list = async (query: string) =>
      (await tenants.manage<{ data: Delivery[] }>('GET', `/webhook-deliveries${query}`)).data
        .length;
    expect(await list('')).toBe(2);
    expect(await list('?state=delivered')).toBe(2);
    expect(await list('?state=failed')).toBe(0);
    expect(await list('?startDate=2030-01-01')).toBe(0);
    for (const [query, param] of [
      ['state=done', 'state'],
      ['task_id=', 'task_id'],
      ['page=2', 'page'],
    ]) {
      const error = await errorOf(await ask('GET', `/webhook-deliveries?${query}`), 400);
      expect(error.param).toBe(param as string);
    }
  });

  test('400 after 20 redeliveries, 404 for a missing webhook', async () => {
    const { delivery, task } = tenants.home;
    await tenants.database.sql`
      update webhook_delivery set redeliveries = 20 where task_id = ${task}`;
    const error = await errorOf(await redeliver(delivery), 400);
    expect(error).toMatchObject({ param: 'id' });
    expect(error.message).toContain('20 times');
    for (const id of ['msg_none', task, 'x'])
      expect((await errorOf(await redeliver(id), 404)).param).toBe('id');
  });
});
