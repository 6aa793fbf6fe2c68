import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { deleteOldResponses } from '../../db/responses/responses.ts';
import { hashCredential, newCredential, newId } from '../../db/secrets.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';

setDefaultTimeout(60_000);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const MODEL = 'gpt-4o-mini';

async function stranger(): Promise<string> {
  const { sql } = gateway.database;
  const [organization_id, key] = [newId('org'), newCredential('sk')];
  await sql`insert into organization ${sql({ id: organization_id, name: 'strangers' })}`;
  await sql`insert into api_key ${sql({
    ...{ id: newId('key'), organization_id, name: 'theirs' },
    ...{ key_hash: hashCredential(key), key_prefix: 'sk-thei…' },
  })}`;
  return key;
}

async function create(): Promise<string> {
  const response = await gateway.post('/v1/responses', { model: MODEL, input: 'hello' });
  return ((await response.json()) as { id: string }).id;
}

test('P6: another organization’s stored response gets the same error as a missing one', async () => {
  const id = await create();
  const key = await stranger();
  const says = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${gateway.base_url}/v1/responses${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return `${response.status} ${await response.text()}`;
  };
  for (const [method, path] of [
    ['GET', `/${id}`],
    ['GET', `/${id}/input_items`],
    ['POST', `/${id}/cancel`],
    ['DELETE', `/${id}`],
  ] as const) {
    const theirs = await says(method, path);
    expect(theirs).toStartWith('404');
    expect(theirs.replaceAll(id, 'resp_nope')).toBe(
      await says(method, path.replace(id, 'resp_nope')),
    );
  }
  const next = (previous_response_id: string) => ({
    model: MODEL,
    input: 'And?',
    previous_response_id,
  });
  const chained = await says('POST', '', next(id));
  expect(chained).toStartWith('400');
  expect(chained.replaceAll(id, 'resp_nope')).toBe(await says('POST', '', next('resp_nope')));
  // The owner's organization still has the response.
  const own = await fetch(`${gateway.base_url}/v1/responses/${id}`, {
    headers: { authorization: `Bearer ${gateway.api_key}` },
  });
  expect(own.status).toBe(200);
});

test('404 or 400: an id with a character that PostgreSQL does not take', async () => {
  const headers = { authorization: `Bearer ${gateway.api_key}` };
  for (const [method, path] of [
    ['GET', '/%00'],
    ['GET', '/%00/input_items'],
    ['POST', '/%00/cancel'],
    ['DELETE', '/%00'],
  ] as const) {
    const response = await fetch(`${gateway.base_url}/v1/responses${path}`, { method, headers });
    expect({ method, path, status: response.status }).toEqual({ method, path, status: 404 });
  }
  const chained = { model: MODEL, input: 'And?', previous_response_id: 'a\u0000' };
  expect((await gateway.post('/v1/responses', chained)).status).toBe(400);
  expect(gateway.errors).toEqual([]);
});

test('responses are deleted after 30 days, in small groups', async () => {
  await create();
  await create();
  const { sql } = gateway.database;
  await sql`update stored_response set created_at = now() - interval '31 days'`;
  expect(await deleteOldResponses(sql, 30, 1)).toBe(1);
  expect(await deleteOldResponses(sql, 30, 1_000)).toBeGreaterThan(0);
  expect(await deleteOldResponses(sql, 30, 1_000)).toBe(0);
});
