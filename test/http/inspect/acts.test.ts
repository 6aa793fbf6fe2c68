/** Operators act on single actors of two replicas. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { errorOf } from '../../support/envelope.ts';
import { startTenants, type Tenants } from '../../support/tenants.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(() => tenants.stop());

interface Shown {
  kind: string;
  id: string;
  state: string;
  replica: string | null;
  acts: string[];
  live: boolean;
}
interface Logged {
  seq: number;
  event: { type: string; by?: string };
  cause: string | null;
  taken: boolean;
  money: { released_nano_usd: number; settled_nano_usd: number } | null;
}
interface Line {
  action: string;
  subject_id: string;
  organization_id: string | null;
  actor: { kind: string; id: string };
  before: { state: string } | null;
  after: object | null;
}

const pathOf = (kind: string, id: string) => `/actors/${kind}/${encodeURIComponent(id)}`;
const read = async <Answer>(path: string, side: 'operator' | 'management' = 'operator') => {
  const token = side === 'operator' ? tenants.weir.operator_token : tenants.home.management_token;
  const response = await tenants.send('GET', `/v1/${side}/inspect${path}`, token);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
};
const shown = (kind: string, id: string) => read<Shown>(pathOf(kind, id));
const eventsOf = async (kind: string, id: string, side?: 'management') =>
  (await read<{ data: Logged[] }>(`${pathOf(kind, id)}/events?limit=1000`, side)).data;

const answerWebhooks = (status: number) =>
  tenants.webhook_answers.splice(0, tenants.webhook_answers.length, status);

/** Sends an act to the second replica, which owns none of the actors of these tests. */
function act(kind: string, id: string, name: string, body: unknown, token?: string) {
  return fetch(`${tenants.second.base_url}/v1/operator/inspect${pathOf(kind, id)}/${name}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token ?? tenants.weir.operator_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
}

async function linesOf(subject_id: string, side: 'home' | 'installation'): Promise<Line[]> {
  const { sql } = tenants.database;
  const organization_id = side === 'home' ? tenants.home.id : '';
  return sql<Line[]>`
    select action, subject_id, organization_id, before, after,
      json_build_object('kind', actor_kind, 'id', actor_id) as actor
    from audit_log where organization_id = ${organization_id} and subject_id = ${subject_id}
    order by seq`;
}

async function waitingTask(): Promise<string> {
  const id = await tenants.createTask(tenants.home, 60_000);
  await until('the task waits for a poll', async () => {
    return (await shown('task', id)).state === 'processing.waiting';
  });
  return id;
}

describe('a waiting task', () => {
  test('is polled at once by a retry, which is on record', async () => {
    const id = await waitingTask();
    const state = 'processing.waiting';
    expect((await shown('task', id)).acts).toContain('cancel');
    // The first polls come fast, so a poll of the timer may come first.
    await until('the task is retried', async () => {
      const { status } = await act('task', id, 'retry', { state, reason: 'impatient' });
      return status === 200;
    });
    const byOperator = (await eventsOf('task', id)).filter(({ cause }) => cause === 'operator');
    expect(byOperator).toMatchObject([{ event: { type: 'POLL', by: 'operator' }, taken: true }]);
    const [event] = byOperator;
    const moment = await read(`${pathOf('task', id)}/events/${event?.seq}`);
    expect(moment).toMatchObject({ is_verified: true, state: 'processing.polling', problem: null });
    const [own] = (await linesOf(id, 'home')).filter(({ action }) => action === 'task.retry');
    expect(own).toMatchObject({ before: { state }, after: { reason: 'impatient' } });
    expect(own?.actor).toEqual({ kind: 'operator', id: '' });
    const [line] = await linesOf(id, 'installation');
    expect(line).toMatchObject({ action: 'task.retry', actor: { kind: 'operator' } });
    expect(line?.actor.id).not.toBe('');
  });

  test('is retried for the state that the operator saw, and in no other', async () => {
    const id = await waitingTask();
    const error = await errorOf(await act('task', id, 'retry', { state: 'pending.reserved' }), 409);
    expect(error).toMatchObject({ param: 'state' });
    expect(error.message).toMatch(/^The actor is in the state processing\.\w+ now\.$/);
    expect(await linesOf(id, 'installation')).toEqual([]);
  });

  test('is canceled once, and the second request changes nothing', async () => {
    const id = await waitingTask();
    const canceled = await until('the task is canceled in the state that was read', async () => {
      const { state } = await shown('task', id);
      const response = await act('task', id, 'cancel', { state });
      return response.status === 200 && response;
    });
    expect(((await canceled.json()) as Shown).acts).not.toContain('cancel');
    const again = await act('task', id, 'cancel', { state: 'processing.waiting' });
    expect(again.status).toBe(200);
    for (const side of [undefined, 'management'] as const) {
      const requests = (await eventsOf('task', id, side)).filter(
        ({ event }) => event.type === 'CANCEL_REQUESTED',
      );
      expect(requests).toMatchObject([{ event: { by: 'operator' }, cause: 'operator' }]);
    }
    const lines = await linesOf(id, 'installation');
    expect(new Set(lines.map(({ action }) => action))).toEqual(new Set(['task.cancel']));
    const listed = await tenants.manage<{ cancellation: object }>(
      'GET',
      `/tasks/${id}`,
      tenants.home,
    );
    expect(listed).toMatchObject({ cancellation: { state: 'requested' } });
  });
});

test('a webhook that waits for its next attempt is sent at once', async () => {
  answerWebhooks(500);
  const id = await tenants.createTask(tenants.home, 10);
  const waiting = await until('the first attempt failed', async () => {
    const { data } = await read<{ data: Shown[] }>(`/actors?kind=webhook&id=${id}`);
    return data[0]?.state === 'waiting' && shown('webhook', id);
  });
  expect(waiting.acts).toEqual(['retry']);
  answerWebhooks(200);
  const both = await Promise.all(
    [1, 2].map(() => act('webhook', id, 'retry', { state: 'waiting' })),
  );
  const statuses = both.map(({ status }) => status).sort();
  // Both requests may have read the timer, but it fires once.
  expect(statuses).toEqual([200, 409]);
  const delivered = await until('the webhook is delivered', async () => {
    const { state } = await shown('webhook', id);
    return state === 'delivered' && eventsOf('webhook', id);
  });
  const retries = delivered.filter(({ event }) => event.type === 'RETRY');
  expect(retries).toMatchObject([{ cause: 'operator', taken: true }]);
});

describe('an act is refused', () => {
  test('for a kind that has no such act', async () => {
    const { home } = tenants;
    const cases = [
      ['quota', home.key_id, 'retry', 'A quota cannot be retried.'],
      ['webhook', home.delivery.replace('msg_', ''), 'cancel', 'A webhook cannot be canceled.'],
      ['batch', home.batch, 'retry', 'A batch cannot be retried.'],
      ['task', home.task, 'reset', 'A task cannot be reset.'],
    ] as const;
    await tenants.create('/v1/chat/completions', home, {
      ...{ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] },
    });
    for (const [kind, id, name, message] of cases) {
      const error = await errorOf(await act(kind, id, name, { state: 'open' }), 400);
      expect(error).toMatchObject({ message, param: 'kind' });
    }
  });

  test('in a state that does not allow it', async () => {
    const { home } = tenants;
    const healthy = await read<{ data: Shown[] }>('/actors?kind=channel&state=healthy');
    const [channel] = healthy.data;
    const cases = [
      ['task', home.task, 'cancel', 'completed'],
      ['task', home.task, 'retry', 'completed'],
      ['batch', home.batch, 'cancel', 'ended'],
      ['channel', channel?.id ?? '', 'reset', 'healthy'],
    ] as const;
    for (const [kind, id, name, state] of cases) {
      const error = await errorOf(await act(kind, id, name, { state }), 409);
      expect(error.message).toMatch(
        new RegExp(`^The ${kind} cannot be \\w+ in the state ${state}\\.$`),
      );
      expect((await shown(kind, id)).acts).not.toContain(name);
    }
  });

  test('for unknown actors, wrong bodies and callers who are no operators', async () => {
    const { home } = tenants;
    await errorOf(await act('task', 'weir_none', 'retry', { state: 'a' }), 404);
    await errorOf(await act('robot', 'a', 'retry', { state: 'a' }), 404);
    for (const body of [{}, { state: 1 }, { state: '' }, { state: 'a', more: 1 }, []]) {
      await errorOf(await act('task', home.task, 'retry', body), 400);
    }
    const state = { state: 'completed' };
    await errorOf(await act('task', home.task, 'cancel', state, home.management_token), 401);
    await errorOf(await act('task', home.task, 'cancel', state, home.api_key), 401);
    const own = await read<Shown>(pathOf('task', home.task), 'management');
    expect(own.acts).toEqual([]);
  });
});
