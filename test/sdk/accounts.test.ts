/**
 * The way from a fresh `bin/start` to a bill, on the public interface only: the operator signs in by the
 * printed link, makes an organization, deposits, and invites a person. She signs in, makes a key, spends
 * through the package of OpenAI, and sees each line. The operator suspends the organization, and the next
 * call says so. Every step is in the audit log.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import OpenAI, { APIError } from 'openai';
import type { AuditLine } from '../../db/audit/entry.ts';
import { ROOT } from '../house/sources.ts';
import { Browser, PASSWORD, type SessionRecord } from '../support/people.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ command: [join(ROOT, 'bin/start')], random_credentials: true });
});
afterAll(() => weir.stop());

interface Organization {
  id: string;
  status: string;
}
interface UsagePage {
  data: { request_id: string; amount: number; logical_model: string; api_key_id: string }[];
}

/** What the log has: the action and who did it, the oldest first. */
const linesOf = ({ data }: { data: AuditLine[] }) =>
  data.toReversed().map(({ action, actor }) => `${action} by ${actor.label || actor.kind}`);

test('from the printed link to a suspended organization', async () => {
  // The operator.
  const [link] = /http:\S+\/v1\/auth\/links\/\S+/.exec(weir.output()) ?? [];
  const operator = new Browser(weir.base_url);
  const address = new URL(link ?? '');
  const first = await operator.ask<SessionRecord>('POST', address.pathname, {
    ...{ email: 'ada@example.com', name: 'Ada', password: PASSWORD },
  });
  expect(first).toMatchObject({ is_operator: true, organizations: [{ role: 'owner' }] });
  const acme = await operator.ask<Organization>('POST', '/v1/operator/organizations', {
    name: 'Acme',
  });
  const path = `/v1/operator/organizations/${acme.id}`;
  const payment = { amount: 5, reference: 'pi_1', note: 'card' };
  const deposit = await operator.ask<{ id: string }>('POST', `${path}/deposits`, payment);
  const again = await operator.ask<{ id: string }>('POST', `${path}/deposits`, payment);
  expect(again.id).toBe(deposit.id);
  const invitation = await operator.ask<{ url: string }>('POST', '/v1/operator/invitations', {
    ...{ email: 'bob@example.com', organization_id: acme.id, role: 'owner' },
  });

  // The person.
  const bob = new Browser(weir.base_url);
  await bob.ask('POST', new URL(invitation.url).pathname, { name: 'Bob', password: PASSWORD });
  await bob.ask('POST', '/v1/auth/sign-out', {});
  const signedIn = await bob.signIn('bob@example.com');
  expect(await signedIn.json()).toMatchObject({
    ...{ is_operator: false, organizations: [{ id: acme.id, name: 'Acme', role: 'owner' }] },
  });
  const key = await bob.ask<{ id: string; key: string }>('POST', '/v1/management/api-keys', {
    name: 'shop',
  });
  const client = new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: key.key, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const calls: string[] = [];
  for (const stream of [false, true]) {
    const call = client.chat.completions.create({ model: 'gpt-4o-mini', messages, stream });
    const { data, response } = await call.withResponse();
    if ('toReadableStream' in data) for await (const _ of data);
    calls.push(response.headers.get('x-request-id') ?? '');
  }
  const page = await bob.ask<UsagePage>('GET', '/v1/management/usage');
  expect(page.data.map(({ request_id }) => request_id).sort()).toEqual(calls.sort());
  const spent = page.data.reduce((sum, { amount }) => sum + amount, 0);
  expect(spent).toBeGreaterThan(0);
  const balance = await bob.ask<{ total_deposited: number; used: number }>(
    'GET',
    '/v1/management/balance',
  );
  expect(balance.total_deposited).toBe(5);
  expect(balance.used).toBeCloseTo(spent, 9);

  // What Bob may not do.
  expect((await bob.send('GET', '/v1/operator/organizations')).status).toBe(403);

  // The operator suspends the organization.
  const suspended = await operator.ask<Organization>('POST', `${path}/suspend`, {
    reason: 'unpaid bill',
  });
  expect(suspended.status).toBe('suspended');
  const refused = await client.chat.completions
    .create({ model: 'gpt-4o-mini', messages })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(APIError);
  expect(refused).toMatchObject({ status: 403, code: 'organization_suspended' });
  const seen = await bob.ask<Organization & { status_reason: string }>(
    'GET',
    '/v1/management/organization',
  );
  expect(seen).toMatchObject({ status: 'suspended', status_reason: 'unpaid bill' });

  // Both logs. That of the organization does not say which operator it was.
  expect(linesOf(await bob.ask('GET', '/v1/management/audit-log?limit=100'))).toEqual([
    ...['organization.create by operator', 'deposit.create by operator'],
    ...['invitation.create by operator', 'member.add by bob@example.com'],
    ...['invitation.use by bob@example.com', 'session.create by bob@example.com'],
    ...['session.end by bob@example.com', 'session.create by bob@example.com'],
    ...['api_key.create by bob@example.com', 'organization.suspend by operator'],
  ]);
  expect(linesOf(await operator.ask('GET', '/v1/operator/audit-log?limit=100'))).toEqual([
    ...['operator.add by ada@example.com', 'invitation.use by ada@example.com'],
    ...['person.create by ada@example.com', 'session.create by ada@example.com'],
    ...['organization.create by ada@example.com', 'deposit.create by ada@example.com'],
    ...['invitation.create by ada@example.com', 'person.create by bob@example.com'],
    ...['session.create by bob@example.com', 'session.end by bob@example.com'],
    ...['session.create by bob@example.com', 'organization.suspend by ada@example.com'],
  ]);
  for (const [who, log] of [
    [bob, '/v1/management/audit-log/check'],
    [operator, '/v1/operator/audit-log/check'],
  ] as const) {
    expect(await who.ask<object>('GET', log)).toMatchObject({ intact: true });
  }
});
