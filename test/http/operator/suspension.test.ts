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
  expect(performance.now() - suspended_at).toBeLessThan(1_000);
  expect((await call(second, 0, away)).status).toBe(200);
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
