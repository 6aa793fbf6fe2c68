/** Tasks of an organization: list, one task, cancel; on two replicas with real providers' protocols. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { TaskRecordSchema } from '../../../src/http/management/task-record.ts';
import { errorOf } from '../../support/envelope.ts';
import { findMoneyFaults } from '../../support/money-faults.ts';
import { startTenants, type Tenants } from '../../support/tenants.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(90_000);

type Task = Static<typeof TaskRecordSchema>;

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
const get = (id: string) => tenants.manage<Task>('GET', `/tasks/${id}`);
const list = async (query: string) =>
  (await tenants.manage<{ data: Task[] }>('GET', `/tasks${query}`)).data.map(({ id }) => id);

const createVideo = async (prompt: string, model = 'kling-3.0') =>
  (await tenants.create<{ id: string }>('/v1/videos/generations', tenants.home, { model, prompt }))
    .id;
const ended = (id: string) =>
  until(`task ${id} ends`, async () => {
    const task = await get(id);
    return task.ended_at !== null && task;
  });

describe('GET /v1/management/tasks', () => {
  test('200: filters by status, scene, model, key and date', async () => {
    const { task, key_id } = tenants.home;
    const failed = await createVideo('A lighthouse [[sim task_ms=10 fail=moderation]]');
    expect(await ended(failed)).toMatchObject({ status: 'failed', charged_amount: 0 });
    expect(await list('')).toEqual([failed, task]);
    expect(await list('?status=failed')).toEqual([failed]);
    expect(await list('?status=completed')).toEqual([task]);
    expect(await list('?status=pending')).toEqual([]);
    expect(await list('?scene=video')).toEqual([failed]);
    expect(await list('?model=midjourney')).toEqual([task]);
    expect(await list('?model=nothing')).toEqual([]);
    expect(await list(`?api_key_id=${key_id}&status=failed&scene=video`)).toEqual([failed]);
    expect(await list('?api_key_id=key_none')).toEqual([]);
    const { created_at } = await get(task);
    const day = created_at.slice(0, 10);
    const at = encodeURIComponent(created_at);
    expect(await list(`?startDate=${at}&endDate=${at}`)).toEqual([task]);
    expect(await list(`?startDate=${day}`)).toEqual([failed, task]);
    expect(await list('?startDate=2020-01-01&endDate=2020-12-31')).toEqual([]);
  });

  test('200: pages by cursor, on both replicas', async () => {
    const all = await list('');
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const weir = seen.length % 2 === 0 ? tenants.weir : tenants.second;
      const more: string = cursor && `&cursor=${cursor}`;
      const response = await ask('GET', `/tasks?limit=1${more}`, weir);
      const page = (await response.json()) as {
        data: Task[];
        has_more: boolean;
        next_cursor: string | null;
      };
      expect(page.has_more).toBe(page.next_cursor !== null);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(all);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['cursor=zzz', 'cursor'],
    ['cursor=', 'cursor'],
    [`cursor=${btoa('[1,2]')}`, 'cursor'],
    ['status=done', 'status'],
    ['scene=chat', 'scene'],
    ['model=', 'model'],
    ['model=%00', 'model'],
    [`api_key_id=${'x'.repeat(201)}`, 'api_key_id'],
    ['startDate=yesterday', 'startDate'],
    ['endDate=2026-02-30', 'endDate'],
    ['endDate=2026-02-03T10:00:00', 'endDate'],
    ['startDate=2026-02-02&endDate=2026-02-01', 'startDate'],
    ['page=2', 'page'],
    ['status=failed&status=failed', 'status'],
    ['organization_id=x', 'organization_id'],
    ['channel=x', 'channel'],
  ])('400: %s', async (query, param) => {
    const error = await errorOf(await ask('GET', `/tasks?${query}`), 400);
    expect(error.param).toBe(param);
    expect(error.message).toContain(param);
  });

  test('405 for another method', async () => {
    await errorOf(await ask('DELETE', '/tasks'), 405);
  });
});

describe('GET /v1/management/tasks/{id}', () => {
  test('200: the record has the members of its schema, money and a URL that works', async () => {
    const task = await get(tenants.home.task);
    expect([...Value.Errors(TaskRecordSchema, task)]).toEqual([]);
    expect(task).toMatchObject({
      status: 'completed',
      progress: 100,
      held_amount: 0,
      api_key_id: tenants.home.key_id,
      webhook: { status: 'delivered', attempts: 1, last_status: 200 },
      cancellation: null,
      error: null,
    });
    const { sql } = tenants.database;
    const id = task.billing_transaction_id?.replace('txn_', '') ?? '';
    const [line] = await sql`select charged_nano_usd from usage_line where id = ${id}`;
    expect(task.charged_amount).toBe(line?.['charged_nano_usd'] / 1e9);
    const file = await fetch(task.outputs[0]?.url ?? '');
    expect(file.headers.get('content-type')).toBe('image/png');
    await file.arrayBuffer();
  });

  test('200: a running task shows its progress and the money that it holds', async () => {
    const id = await tenants.createTask(tenants.home, 6_000);
    const running = await until('the task has progress', async () => {
      const task = await get(id);
      return task.progress !== null && task;
    });
    expect(running).toMatchObject({ status: 'processing', charged_amount: null, ended_at: null });
    expect(running.webhook).toMatchObject({ status: 'waiting', attempts: 0 });
    expect(running.held_amount).toBeGreaterThan(0);
    expect(await list('?status=processing')).toEqual([id]);
    await ended(id);
  });
});

describe('POST /v1/management/tasks/{id}/cancel', () => {
  const cancel = async (id: string, weir = tenants.weir) => {
    const response = await ask('POST', `/tasks/${id}/cancel`, weir);
    const task = (await response.json()) as Task;
    expect({ status: response.status, task }).toEqual({ status: 200, task });
    return task;
  };

  test('200: a task that no upstream has is refunded at once', async () => {
    await tenants.simulator.setAccount('canary-videos', { status: 503, retry_after: 30 });
    const id = await createVideo('A lighthouse [[sim task_ms=10]]');
    await until('the submission was refused', async () => {
      const [row] = await tenants.database.sql`select state from actor where id = ${id}`;
      return row?.['state'] === 'pending.reserved';
    });
    expect((await get(id)).held_amount).toBeGreaterThan(0);
    expect(await cancel(id, tenants.second)).toMatchObject({
      status: 'failed',
      held_amount: 0,
      charged_amount: 0,
      error: { code: 'request_cancelled' },
      cancellation: { state: 'canceled' },
    });
    // The second request has the same answer.
    expect(await cancel(id)).toMatchObject({ cancellation: { state: 'canceled' } });
    await tenants.simulator.setAccount('canary-videos', {});
    const { calls } = await tenants.simulator.books({ account: 'canary-videos' });
    // Only the first task of this file reached the provider.
    expect(calls.filter(({ outcome }) => outcome !== 'refused')).toHaveLength(1);
    expect(calls.length).toBeGreaterThan(1);
  });

  test('P10, 200: a job that its provider cancels is refunded, and the provider charges nothing', async () => {
    const id = await createVideo('A lighthouse [[sim task_ms=20000]]', 'runway-gen4.5');
    await until('the provider has the job', async () => (await get(id)).status === 'processing');
    expect((await cancel(id)).cancellation?.state).not.toBe('too_late');
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      held_amount: 0,
      charged_amount: 0,
      error: { code: 'request_cancelled' },
      cancellation: { state: 'canceled' },
    });
  });

  test('P10, 200: a job that its provider cannot cancel is charged when it delivers', async () => {
    const id = await tenants.createTask(tenants.home, 2_500);
    await until('the provider has the job', async () => (await get(id)).status === 'processing');
    const asked = await cancel(id, tenants.second);
    expect(asked).toMatchObject({ status: 'processing', cancellation: { state: 'requested' } });
    expect(asked.held_amount).toBeGreaterThan(0);
    const task = await ended(id);
    expect(task).toMatchObject({
      status: 'completed',
      held_amount: 0,
      cancellation: { state: 'too_late' },
    });
    expect(task.charged_amount).toBeGreaterThan(0);
    expect(task.outputs).not.toEqual([]);
    expect(await cancel(id)).toMatchObject({ cancellation: { state: 'too_late' } });
  });

  test('400 for a task that has ended without such a request', async () => {
    const error = await errorOf(await ask('POST', `/tasks/${tenants.home.task}/cancel`), 400);
    expect(error).toMatchObject({
      param: 'id',
      message: 'The task cannot be canceled: it has completed.',
    });
  });

  test('404 for a task that does not exist', async () => {
    const error = await errorOf(await ask('POST', '/tasks/weir_none/cancel'), 404);
    expect(error).toMatchObject({ code: 'async_task_not_found', param: 'id' });
  });
});
