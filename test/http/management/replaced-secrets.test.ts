/**
 * Keys that are rotated, deleted and limited on one replica, as OpenAI's package sees them on another.
 * The package is the judge: it maps each refusal to an error class of its own.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import OpenAI, { AuthenticationError, PermissionDeniedError, RateLimitError } from 'openai';
import { startTenants, type Tenants } from '../../support/tenants.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(() => tenants.stop());

interface Key {
  id: string;
  key: string;
}

/** Sends a management request to the first replica. */
async function manage<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${tenants.weir.base_url}/v1/management${path}`, {
    method,
    headers: {
      authorization: `Bearer ${tenants.home.management_token}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

const newKey = (body: object = {}) => manage<Key>('POST', '/api-keys', body);

/** Asks the second replica with OpenAI's package. */
const ask = (apiKey: string) =>
  new OpenAI({
    ...{ apiKey, baseURL: `${tenants.second.base_url}/v1`, maxRetries: 0 },
  }).chat.completions.create({
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'hi [[sim tokens=5]]' }],
  });

/**
 * Waits until the replica refuses the key. The announcement of a change takes milliseconds. Without it,
 * the replica would wait 30 s. Returns how many calls were still served.
 */
async function refusedSoon(
  apiKey: string,
  error: new (...args: never[]) => Error,
): Promise<number> {
  const since = performance.now();
  let served = 0;
  await until('the replica refuses the key', async () => {
    const answer = await ask(apiKey).catch((thrown: unknown) => thrown);
    if (!(answer instanceof Error)) served += 1;
    return answer instanceof error;
  });
  expect(performance.now() - since).toBeLessThan(5_000);
  return served;
}

test('a rotation ends the old secret on all replicas, and the key keeps its usage', async () => {
  const { id, key: old } = await newKey({ limitAmount: 1 });
  await ask(old);
  const { key } = await manage<Key>('POST', `/api-keys/${id}/rotate`);
  const served = await refusedSoon(old, AuthenticationError);
  await ask(key);
  const { data } = await manage<{ data: object[] }>('GET', `/api-keys/${id}/usage`);
  expect(data).toHaveLength(2 + served);
});

test('during a grace, both secrets spend from one limit', async () => {
  const { id, key: old } = await newKey({ limitAmount: 1 });
  await ask(old);
  const { key } = await manage<Key>('POST', `/api-keys/${id}/rotate`, { grace_s: 60 });
  await Promise.all([ask(old), ask(key), ask(old), ask(key)]);
  const { used_amount } = await manage<{ used_amount: number }>('GET', `/api-keys/${id}`);
  const { data } = await manage<{ data: { amount: number }[] }>('GET', `/api-keys/${id}/usage`);
  expect(data).toHaveLength(5);
  expect(used_amount).toBeCloseTo(
    data.reduce((sum, { amount }) => sum + amount, 0),
    9,
  );
  await manage('PATCH', `/api-keys/${id}`, { status: 'suspended' });
  await refusedSoon(old, PermissionDeniedError);
  await refusedSoon(key, PermissionDeniedError);
});

test('P1: a deleted key stops on all replicas, and its charges stay in the books', async () => {
  const { id, key } = await newKey();
  await ask(key);
  await manage('DELETE', `/api-keys/${id}`);
  const served = await refusedSoon(key, AuthenticationError);
  const { data } = await manage<{ data: object[] }>('GET', `/api-keys/${id}/usage`);
  expect(data).toHaveLength(1 + served);
  const response = await tenants.send('GET', '/v1/operator/books', tenants.weir.operator_token);
  const { conservation } = (await response.json()) as { conservation: { imbalances: number } };
  expect(conservation.imbalances).toBe(0);
});

test('requests_per_minute of a key limits this key only', async () => {
  const { id, key } = await newKey({ requests_per_minute: 2 });
  await ask(key);
  await ask(key);
  const third = await ask(key).catch((error: unknown) => error);
  expect(third).toBeInstanceOf(RateLimitError);
  await ask((await newKey()).key);
  await manage('PATCH', `/api-keys/${id}`, { requests_per_minute: null });
  await until('the limit is gone', () =>
    ask(key).then(
      () => true,
      () => false,
    ),
  );
});
