/** What suspending an organization does on two replicas of a real Weir, while calls and tasks run. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { errorOf } from '../../support/envelope.ts';
import { findMoneyFaults } from '../../support/money-faults.ts';
import { OperatedOrganizations } from '../../support/operated-organizations.ts';
import { startTenants, type Tenants } from '../../support/tenants.ts';
import { until } from '../../support/until.ts';
import type { RunningWeir } from '../../support/weir.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(async () => {
  await tenants.stop();
});

const organizations = new OperatedOrganizations(() => tenants.weir);
const usedBy = async (id: string) => (await organizations.get(id)).balance.used;

/** Sends a call of an organization to a replica. */
function call(weir: RunningWeir, latency_ms = 0, tenant = tenants.home): Promise<Response> {
  return fetch(`${weir.base_url}/v1/messages`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${tenant.api_key}`, 'anthropic-version': '2023-06-01' },
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      ...{ model: 'claude-haiku-4-5', max_tokens: 20 },
      messages: [{ role: 'user', content: `hi [[sim tokens=5 latency_ms=${latency_ms}]]` }],
    }),
  });
}

test('calls are refused on both replicas at once; calls and tasks that run end and are charged', async () => {
  const { weir, second, home, away, database } = tenants;
  for (const replica of [weir, second]) expect((await call(replica)).status).toBe(200);
  const used_before = await usedBy(home.id);
  const task = await tenants.createTask(home, 2_500);
  const running = [call(weir, 1_500), call(second, 1_500)];
  await until('the calls run', async () => (await organizations.get(home.id)).balance.held > 0);
  await Bun.sleep(300);

  await organizations.setStatus(home.id, 'suspend', 'a test');
  const suspended_at = performance.now();
  const refused = await errorOf(await call(weir), 403);
  expect(refused).toMatchObject({ code: 'organization_suspended', type: 'permission_error' });
  await until('the other replica refuses', async () => {
    const { status } = await call(second);
    return status === 403;
  });
  // The announcement, not the age of the cached key, tells the other replica.
  expect(performance.now() - suspended_at).toBeLessThan(10_000);
  expect((await call(second, 0, away)).status).toBe(200);
  const polled = await tenants.send('GET', `/v1/tasks/${task}`, home.api_key);
  expect((await errorOf(polled, 403)).code).toBe('organization_suspended');
  const early = await organizations.send('POST', `/${home.id}/close`, { reason: 'r' });
  expect((await errorOf(early, 409)).code).toBe('conflict');

  for (const each of running) expect((await each).status).toBe(200);
  await until('the task has ended', async () => {
    const { status } = await tenants.manage<{ status: string }>('GET', `/tasks/${task}`);
    return status === 'completed';
  });
  const [charged] = await database.sql<{ lines: number }[]>`
    select count(*)::int4 as lines from usage_line where organization_id = ${home.id}
      and detail ->> 'task_id' = ${task} and charged_nano_usd > 0`;
  expect(charged?.lines).toBe(1);
  expect(await usedBy(home.id)).toBeGreaterThan(used_before);

  // Idle grants come back without a sweep, so nothing is held soon.
  await until('nothing is held', async () => (await organizations.get(home.id)).balance.held === 0);
  await organizations.setStatus(home.id, 'close');
  expect((await errorOf(await call(second), 403)).code).toMatch(
    /^organization_(suspended|closed)$/,
  );
  await organizations.setStatus(home.id, 'reactivate');
  expect((await call(weir)).status).toBe(200);
  await until('the other replica accepts', async () => (await call(second)).status === 200);
  expect(await findMoneyFaults(database.sql)).toEqual([]);
});

test('a repeated request changes nothing: an organization stays as it was set last', async () => {
  const { away, weir } = tenants;
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const suspend = () => organizations.ask('POST', `/${away.id}/suspend`, { reason: 'r' }, headers);
  const suspended = await suspend();
  await organizations.setStatus(away.id, 'reactivate');
  expect(await suspend()).toEqual(suspended);
  expect((await organizations.get(away.id)).status).toBe('active');
  expect((await call(weir, 0, away)).status).toBe(200);
});

test('requests of a batch that did not start before the suspension end with its error', async () => {
  const { away } = tenants;
  const params = {
    ...{ model: 'claude-haiku-4-5', max_tokens: 20 },
    messages: [{ role: 'user', content: 'hi [[sim tokens=5 latency_ms=700]]' }],
  };
  const { id } = await tenants.create<{ id: string }>('/v1/messages/batches', away, {
    requests: Array.from({ length: 60 }, (_, n) => ({ custom_id: `r${n}`, params })),
  });
  await until('some requests run', async () => (await organizations.get(away.id)).balance.held > 0);
  await organizations.setStatus(away.id, 'suspend');
  type Batch = { status: string; progress: { succeeded: number; errored: number } };
  const { progress } = await until('the batch has ended', async () => {
    const batch = await tenants.manage<Batch>('GET', `/batches/${id}`, away);
    return batch.status === 'ended' ? batch : undefined;
  });
  expect(progress.errored).toBeGreaterThan(0);
  expect(progress.succeeded + progress.errored).toBe(60);
  await organizations.setStatus(away.id, 'reactivate');
  const results = await until('its key may read', async () => {
    const answer = await fetch(`${tenants.weir.base_url}/v1/messages/batches/${id}/results`, {
      headers: { 'x-api-key': away.api_key, 'anthropic-version': '2023-06-01' },
    });
    return answer.status === 200 ? answer.text() : undefined;
  });
  expect(results).toContain('The organization of this API key is suspended.');
  expect(await findMoneyFaults(tenants.database.sql)).toEqual([]);
});

test('P2: a lower credit line gets the idle money of both replicas back', async () => {
  const { weir, second, away } = tenants;
  const path = `/${away.id}/credit-line`;
  await organizations.ask('PATCH', path, { amount: 50 });
  const calls = [weir, second].flatMap((replica) => [1, 2, 3].map(() => call(replica, 0, away)));
  for (const answer of await Promise.all(calls)) expect(answer.status).toBe(200);
  await organizations.ask('PATCH', path, { amount: 0 });
  await until('all credit is taken back', async () => {
    return (await organizations.get(away.id)).credit_line.to_return === 0;
  });
  const { balance, credit_line } = await organizations.get(away.id);
  expect(credit_line).toEqual({ amount: 0, used: 0, to_return: 0 });
  expect(balance.total_deposited).toBe(100);
  expect(await findMoneyFaults(tenants.database.sql)).toEqual([]);
});
