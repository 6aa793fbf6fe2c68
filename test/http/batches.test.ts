/** Message batches: every rule of their routes, and the promises about their items. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { archiveBatch } from '../../db/batches/batches.ts';
import { hashCredential, newCredential, newId } from '../../db/secrets.ts';
import { MAX_ITEMS, readItems } from '../../src/http/messages/batches/read-items.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { replayAll } from '../support/histories.ts';
import { until } from '../support/until.ts';
import { answerOf, refusal } from '../support/upstream-answers.ts';

setDefaultTimeout(60_000);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const PATH = '/v1/messages/batches';
const MODEL = 'claude-haiku-4-5';

interface Batch {
  id: string;
  processing_status: string;
  request_counts: Record<string, number>;
  archived_at: string | null;
  results_url: string | null;
}

function request(custom_id: unknown = 'one', params: unknown = undefined) {
  const messages = [{ role: 'user', content: 'Hello' }];
  return { custom_id, params: params ?? { model: MODEL, max_tokens: 10, messages } };
}

function get(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(gateway.base_url + path, {
    ...init,
    headers: { 'x-api-key': gateway.api_key, 'anthropic-version': '2023-06-01', ...init.headers },
  });
}

async function create(...requests: object[]): Promise<Batch> {
  const response = await gateway.post(PATH, { requests });
  expect(response.status).toBe(200);
  return (await response.json()) as Batch;
}

function waitUntilEnded({ id }: Batch): Promise<Batch> {
  return until('the batch ended', async () => {
    const batch = (await (await get(`${PATH}/${id}`)).json()) as Batch;
    return batch.processing_status === 'ended' && batch;
  });
}

interface Refusal {
  type: string;
  error: { type: string; message: string; param: string | null };
}

/** Rules of the body, each with a body that breaks it. */
const REFUSED: [rule: string, body: unknown, param: string, message?: string][] = [
  ['requests is required', {}, 'requests', 'requests: Field required'],
  ['requests is a list', { requests: {} }, 'requests', 'requests: Input should be a valid list'],
  ['requests is not text', { requests: 'x' }, 'requests'],
  ['requests is not null', { requests: null }, 'requests'],
  [
    'requests is not empty',
    { requests: [] },
    'requests',
    'requests: List should have at least 1 item',
  ],
  ['requests is the only member', { requests: [request()], model: MODEL }, 'model'],
  ['a request is an object', { requests: [1] }, 'requests.0'],
  ['a request has an id', { requests: [{ params: {} }] }, 'requests.0.custom_id'],
  ['an id is a string', { requests: [request(7)] }, 'requests.0.custom_id'],
  ['an id is not empty', { requests: [request('')] }, 'requests.0.custom_id'],
  [
    'an id has at most 64 characters',
    { requests: [request(), request('x'.repeat(65))] },
    'requests.1.custom_id',
    'requests.1.custom_id: String should have at most 64 characters',
  ],
  [
    'an id has only letters, digits, - and _',
    { requests: [request('a b')] },
    'requests.0.custom_id',
  ],
  [
    'ids are unique',
    { requests: [request('a'), request('b'), request('a')] },
    'requests.2.custom_id',
    'requests.2.custom_id: is the same as requests.0.custom_id',
  ],
  ['a request has params', { requests: [{ custom_id: 'a' }] }, 'requests.0.params'],
  ['params are an object', { requests: [request('a', 'x')] }, 'requests.0.params'],
  [
    'a file_id requires the files header',
    { requests: [request('a', { x: [{ source: { type: 'file', file_id: 'f' } }] })] },
    'anthropic-beta',
  ],
];

describe('POST /v1/messages/batches', () => {
  test.each(REFUSED.map((row) => ({ rule: row[0], row })))('400: $rule', async ({ row }) => {
    const [, body, param, message] = row;
    const response = await gateway.post(PATH, body);
    const { type, error } = (await response.json()) as Refusal;
    expect({ status: response.status, type }).toEqual({ status: 400, type: 'error' });
    expect(error).toMatchObject({ type: 'invalid_request_error', param });
    if (message) expect(error.message).toBe(message);
  });

  test.each([
    ['no JSON', '{"requests": [}'],
    ['half of it', '{"requests": [{"custom_id": "a"'],
    ['two of them', '{"requests": []} {}'],
    ['a list', '[]'],
    ['nothing', ''],
    ['no UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['too deep', `{"requests":[{"custom_id":"a","params":{"x":${'['.repeat(100_000)}`],
  ])('400: a body that is %s', async (_, body) => {
    const response = await gateway.post(PATH, undefined, { body });
    expect(response.status).toBe(400);
    expect(((await response.json()) as Refusal).error.type).toBe('invalid_request_error');
  });

  test('400 without the version, 401 without a key, 405 for another method', async () => {
    const headers = { 'x-api-key': gateway.api_key, 'content-type': 'application/json' };
    const body = JSON.stringify({ requests: [request()] });
    const url = gateway.base_url + PATH;
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(400);
    expect((await fetch(url)).status).toBe(401);
    expect((await get(PATH, { method: 'PUT' })).status).toBe(405);
  });

  test('413: more than 256 MB, refused before the body is sent', async () => {
    const socket = await Bun.connect({
      ...{ hostname: '127.0.0.1', port: Number(new URL(gateway.base_url).port) },
      socket: { data: (_, data) => void answers.push(data.toString()) },
    });
    const answers: string[] = [];
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.api_key}\r\n` +
        'anthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n' +
        `content-length: ${256 * 1024 * 1024 + 1}\r\n\r\n{`,
    );
    await until('an answer', () => answers.length > 0);
    expect(answers[0]).toStartWith('HTTP/1.1 413');
    socket.end();
  });

  test('a batch that is refused in the middle of its body leaves no rows', async () => {
    const requests = Array.from({ length: 3_000 }, (_, at) => request(`r${at}`));
    const before = await (await get(PATH)).text();
    const response = await gateway.post(PATH, { requests: [...requests, request('r0')] });
    expect(response.status).toBe(400);
    expect(await (await get(PATH)).text()).toBe(before);
  });

  test('keeps all digits of the integers in its requests', async () => {
    const params = '{"max_tokens":5,"x_ids":[829836802793406551,{"id":-829836802793406551}]}';
    const text = `{"requests":[{"custom_id":"a","params":${params}}]}`;
    for await (const [item] of readItems(new TextEncoder().encode(text), false))
      expect(item?.params).toBe(params);
  });

  test('is refused with more requests than the provider allows', async () => {
    const items = Array.from({ length: MAX_ITEMS }, (_, at) => `{"custom_id":"${at}","params":{}}`);
    const read = async (list: string[]) => {
      let count = 0;
      const bytes = new TextEncoder().encode(`{"requests":[${list.join()}]}`);
      for await (const some of readItems(bytes, false)) count += some.length;
      return count;
    };
    expect(await read(items)).toBe(MAX_ITEMS);
    const failure = await read([...items, '{"custom_id":"x","params":{}}']).catch((error) => error);
    expect(failure.id).toBe('payload_too_large');
  });
});

describe('a batch', () => {
  test('P6: does not exist for another organization', async () => {
    const batch = await create(request());
    await waitUntilEnded(batch);
    const { sql } = gateway.database;
    const [organization_id, key] = [newId('org'), newCredential('sk')];
    await sql`insert into organization ${sql({ id: organization_id, name: 'strangers' })}`;
    await sql`insert into api_key ${sql({
      ...{ id: newId('key'), organization_id, name: 'theirs' },
      ...{ key_hash: hashCredential(key), key_prefix: 'sk-thei…' },
    })}`;
    const stranger = { headers: { 'x-api-key': key } };
    const says = async (path: string, init: RequestInit) => {
      const response = await get(path, init);
      return `${response.status} ${(await response.text()).replace(/req_\w+/, '')}`;
    };
    for (const [method, suffix] of [
      ['GET', ''],
      ['GET', '/results'],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const) {
      const theirs = await says(`${PATH}/${batch.id}${suffix}`, { method, ...stranger });
      const nobodys = await says(`${PATH}/msgbatch_nope${suffix}`, { method, ...stranger });
      expect(theirs).toStartWith('404');
      expect(theirs.replaceAll(batch.id, 'msgbatch_nope')).toBe(nobodys);
    }
    expect(await (await get(PATH, stranger)).json()).toMatchObject({ data: [], first_id: null });
    expect((await get(`${PATH}/${batch.id}`)).status).toBe(200);
  });

  test('P5: its results name no channel, no account and no physical model', async () => {
    gateway.upstream.answer = (request) =>
      request.text.includes('refuse')
        ? refusal({ physical: 'canary-model-haiku', secret: 'canary-secret-anthropic' }, 400)
        : answerOf(request);
    const messages = [{ role: 'user', content: 'refuse' }];
    const batch = await create(
      request('ok'),
      request('bad', { ...(request().params as object), messages }),
    );
    expect((await waitUntilEnded(batch)).request_counts).toMatchObject({
      succeeded: 1,
      errored: 1,
    });
    const results = await get(`${PATH}/${batch.id}/results`);
    expect(results.headers.get('content-type')).toBe('application/x-jsonl');
    const text = await results.text();
    expect(text).not.toMatch(/canary/i);
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).custom_id),
    ).toEqual(['ok', 'bad']);
    gateway.upstream.answer = answerOf;
  });

  test('P3: an answer whose charge may be missing is charged once, and not requested again', async () => {
    const { sql } = gateway.database;
    // A soft limit may have moved the call to another model.
    for (const moved_to of [undefined, 'gpt-4o-mini']) {
      gateway.upstream.answer = () => new Response('{}', { status: 503 });
      const { id } = await create(request());
      await until('it was tried', async () => {
        const [item] = await sql`select attempts from batch_item where batch_id = ${id}`;
        return item?.['attempts'] > 0;
      });
      const requests_before = gateway.upstream.asked.length;
      const usage = { input_tokens: 100, output_tokens: 10, cached_input_tokens: 0 };
      const draft = {
        usage: { ...usage, cache_write_tokens: 0 },
        ...{ channel_id: 'canary-channel-anthropic', estimated: false },
        ...(moved_to === undefined ? {} : { model: moved_to }),
      };
      await sql`
        update batch_item set answer = '{"id":"msg_before"}', draft = ${sql.json(draft)},
          next_attempt_at = now() where batch_id = ${id}`;
      await waitUntilEnded({ id } as Batch);
      expect(await (await get(`${PATH}/${id}/results`)).json()).toEqual({
        custom_id: 'one',
        result: { type: 'succeeded', message: { id: 'msg_before' } },
      });
      const lines = await sql`
        select outcome, model, output_tokens, charged_nano_usd > 0 as charged from usage_line
        where id in (select request_id from batch_item where batch_id = ${id})`;
      expect([...lines]).toEqual([
        { outcome: 'completed', model: moved_to ?? MODEL, output_tokens: 10, charged: true },
      ]);
      expect(gateway.upstream.asked.length).toBe(requests_before);
    }
    gateway.upstream.answer = answerOf;
  });

  test('has errors and no charge if its key was revoked after its creation', async () => {
    gateway.upstream.answer = () => new Response('{}', { status: 503 });
    const { key, id: key_id } = await gateway.manage<{ key: string; id: string }>(
      'POST',
      '/api-keys',
      { name: 'short-lived' },
    );
    const headers = { 'x-api-key': key, authorization: '' };
    const body = JSON.stringify({ requests: [request()] });
    const made = await get(PATH, {
      ...{ method: 'POST', body },
      headers: { ...headers, 'content-type': 'application/json' },
    });
    const batch = (await made.json()) as Batch;
    await gateway.manage('PATCH', `/api-keys/${key_id}`, { status: 'revoked' });
    gateway.upstream.answer = answerOf;
    expect((await waitUntilEnded(batch)).request_counts).toMatchObject({
      succeeded: 0,
      errored: 1,
    });
    expect(await (await get(`${PATH}/${batch.id}/results`)).text()).toContain(
      'authentication_error',
    );
  });

  test('after its expiry, requests that have not run are expired and free', async () => {
    gateway.upstream.answer = () => new Response('{}', { status: 503 });
    const batch = await create(request('a'), request('b'));
    const { sql } = gateway.database;
    await sql`update message_batch set expires_at = now() where id = ${batch.id}`;
    const { request_counts } = await waitUntilEnded(batch);
    expect(request_counts).toMatchObject({ expired: 2, errored: 0, processing: 0 });
    expect(await (await get(`${PATH}/${batch.id}/results`)).text()).toContain('"type":"expired"');
    gateway.upstream.answer = answerOf;
  });

  test('after 29 days its results are deleted, and its record stays', async () => {
    const batch = await create(request());
    await waitUntilEnded(batch);
    const { sql } = gateway.database;
    await sql`update message_batch set ended_at = now() - interval '30 days' where id = ${batch.id}`;
    expect(await archiveBatch(sql, 29)).toBe(true);
    expect(await archiveBatch(sql, 29)).toBe(false);
    expect((await get(`${PATH}/${batch.id}/results`)).status).toBe(404);
    const record = (await (await get(`${PATH}/${batch.id}`)).json()) as Batch;
    expect(record).toMatchObject({ results_url: null, request_counts: { succeeded: 1 } });
    expect(record.archived_at).toBeString();
  });
});

test('each event log of the batches above replays to its batch, which belongs to its organization', async () => {
  const { sql } = gateway.database;
  const { actors, problems } = await replayAll(sql);
  expect(problems).toEqual([]);
  expect(actors).toBeGreaterThan(5);
  const foreign = await sql`
    select 1 from actor join message_batch using (id)
    where actor.organization_id is distinct from message_batch.organization_id`;
  expect(foreign).toHaveLength(0);
});
