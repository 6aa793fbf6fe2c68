/** Message batches through the official package. They call a real Weir process. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { failureOf } from '../support/failure-of.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
let client: Anthropic;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
  client = new Anthropic({ baseURL: weir.base_url, apiKey: weir.api_key, maxRetries: 0 });
});
afterAll(() => weir.stop());

type Requests = Anthropic.Messages.BatchCreateParams['requests'];

function batchRequest(custom_id: string, content: string, more: object = {}): Requests[number] {
  const messages = [{ role: 'user' as const, content }];
  return { custom_id, params: { model: 'claude-haiku-4-5', max_tokens: 50, messages, ...more } };
}

function waitUntilEnded(id: string) {
  return until('the batch ended', async () => {
    const batch = await client.messages.batches.retrieve(id);
    return batch.processing_status === 'ended' && batch;
  });
}

async function resultsOf(id: string) {
  const found = new Map<string, Anthropic.Messages.MessageBatchResult>();
  for await (const { custom_id, result } of await client.messages.batches.results(id)) {
    found.set(custom_id, result);
  }
  return found;
}

async function usedAmount(): Promise<number> {
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    headers: { authorization: `Bearer ${weir.management_token}` },
  });
  const { data } = (await response.json()) as { data: { used_amount: number }[] };
  return data.reduce((sum, { used_amount }) => sum + used_amount, 0);
}

describe('a message batch', () => {
  test('answers each request like the messages route, for models of every provider', async () => {
    const before = await usedAmount();
    const made = await client.messages.batches.create({
      requests: [
        batchRequest('haiku', 'Hello'),
        batchRequest('gpt', 'Hello', { model: 'gpt-4o' }),
        batchRequest('gemini', 'Hello', { model: 'gemini-2.5-flash' }),
        batchRequest('tools', 'What is the weather? [[sim tools=1]]', {
          tools: [{ name: 'weather', input_schema: { type: 'object', properties: {} } }],
        }),
      ],
    });
    expect(made).toMatchObject({
      type: 'message_batch',
      processing_status: 'in_progress',
      request_counts: { processing: 4, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
      ...{ ended_at: null, results_url: null, cancel_initiated_at: null, archived_at: null },
    });
    expect(made.id).toStartWith('msgbatch_');
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(24 * 3_600_000);
    const batch = await waitUntilEnded(made.id);
    expect(batch.request_counts).toEqual({
      ...{ processing: 0, succeeded: 4, errored: 0, canceled: 0, expired: 0 },
    });
    expect(batch.results_url).toBe(`${weir.base_url}/v1/messages/batches/${made.id}/results`);
    const results = await resultsOf(made.id);
    expect([...results.keys()]).toEqual(['haiku', 'gpt', 'gemini', 'tools']);
    const direct = await client.messages.create(batchRequest('x', 'Hello').params as never);
    const haiku = results.get('haiku');
    if (haiku?.type !== 'succeeded') throw new Error('haiku did not succeed');
    expect(haiku.message).toMatchObject({
      ...{ type: 'message', role: 'assistant', model: 'claude-haiku-4-5' },
      ...{ content: direct.content, usage: direct.usage, stop_reason: direct.stop_reason },
    });
    expect(results.get('gpt')).toMatchObject({
      type: 'succeeded',
      message: { type: 'message', model: 'gpt-4o', content: [{ type: 'text' }] },
    });
    expect(results.get('tools')).toMatchObject({
      type: 'succeeded',
      message: { stop_reason: 'tool_use' },
    });
    // Four items and one call of the messages route are charged.
    expect(await usedAmount()).toBeGreaterThan(before);
  });

  test('reports the error of each bad request, and charges only the others', async () => {
    const made = await client.messages.batches.create({
      requests: [
        batchRequest('good', 'Hello'),
        batchRequest('unknown', 'Hello', { model: 'claude-haiku-4-55' }),
        batchRequest('zero', 'Hello', { max_tokens: 0 }),
        batchRequest('streamed', 'Hello', { stream: true }),
        batchRequest('system', 'Hello', { messages: [{ role: 'system', content: 'Be brief.' }] }),
        batchRequest('refused', 'Hello [[sim context_tokens=1]]'),
      ],
    });
    const { request_counts } = await waitUntilEnded(made.id);
    expect(request_counts).toMatchObject({ succeeded: 1, errored: 5 });
    const results = await resultsOf(made.id);
    const errorOf = (id: string) => {
      const result = results.get(id);
      if (result?.type !== 'errored') throw new Error(`${id} is no error`);
      expect(result.error).toMatchObject({ type: 'error' });
      expect(result.error.request_id).toStartWith('req_');
      return result.error.error;
    };
    expect(errorOf('unknown')).toMatchObject({
      ...{ type: 'invalid_request_error', did_you_mean: 'claude-haiku-4-5' },
    });
    expect(errorOf('zero')).toMatchObject({ type: 'invalid_request_error', param: 'max_tokens' });
    expect(errorOf('streamed')).toMatchObject({ param: 'stream' });
    expect(errorOf('system')).toMatchObject({ param: 'messages.0.role' });
    expect(errorOf('refused')).toMatchObject({ type: 'invalid_request_error' });
  });

  test('repeats requests that the provider refused temporarily', async () => {
    const made = await client.messages.batches.create({
      requests: [batchRequest('again', 'Hello [[sim status=500 times=2]]')],
    });
    expect((await waitUntilEnded(made.id)).request_counts).toMatchObject({
      succeeded: 1,
      errored: 0,
    });
  });

  test('starts no more requests after a cancel; running requests end normally', async () => {
    const requests = Array.from({ length: 60 }, (_, at) =>
      batchRequest(`r${at}`, 'Hello [[sim latency_ms=400]]'),
    );
    const made = await client.messages.batches.create({ requests });
    expect(await failureOf(client.messages.batches.delete(made.id))).toMatchObject({ status: 400 });
    expect(await failureOf(client.messages.batches.results(made.id))).toBeInstanceOf(Error);
    await Bun.sleep(300);
    const cancelling = await client.messages.batches.cancel(made.id);
    expect(cancelling.processing_status).toBe('canceling');
    expect(cancelling.cancel_initiated_at).not.toBeNull();
    expect((await client.messages.batches.cancel(made.id)).cancel_initiated_at).toBe(
      cancelling.cancel_initiated_at,
    );
    const { request_counts } = await waitUntilEnded(made.id);
    expect(request_counts.canceled).toBeGreaterThan(0);
    expect(request_counts.succeeded).toBeGreaterThan(0);
    expect(request_counts.succeeded + request_counts.canceled).toBe(60);
    const results = [...(await resultsOf(made.id)).values()];
    expect(results.filter(({ type }) => type === 'canceled').length).toBe(request_counts.canceled);
    expect(await failureOf(client.messages.batches.cancel(made.id))).toMatchObject({ status: 400 });
    expect(await client.messages.batches.delete(made.id)).toEqual({
      id: made.id,
      type: 'message_batch_deleted',
    });
    expect(await failureOf(client.messages.batches.retrieve(made.id))).toBeInstanceOf(
      Anthropic.NotFoundError,
    );
  });

  test('is in the list, which has pages in both directions', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const { id } = await client.messages.batches.create({
        requests: [batchRequest('one', 'Hello')],
      });
      made.unshift(id);
    }
    const listed: string[] = [];
    for await (const { id } of client.messages.batches.list({ limit: 2 })) listed.push(id);
    expect(listed.slice(0, 5)).toEqual(made);
    const [newest = '', , middle = ''] = made;
    const before = await client.messages.batches.list({ limit: 1, before_id: middle });
    expect(before.data.map(({ id }) => id)).toEqual([made[1] ?? '']);
    expect(before.has_more).toBe(true);
    const first = await client.messages.batches.list({ before_id: made[1] ?? '', limit: 20 });
    expect(first.data.map(({ id }) => id)).toEqual([newest]);
    expect(first.has_more).toBe(false);
    const none = await client.messages.batches.list({ before_id: newest });
    expect(none.data).toEqual([]);
    for (const bad of [{ limit: 0 }, { limit: 1_001 }, { before_id: newest, after_id: newest }]) {
      expect(await failureOf(client.messages.batches.list(bad))).toBeInstanceOf(
        Anthropic.BadRequestError,
      );
    }
  });

  test('with files requires the header of the files beta', async () => {
    const document = { type: 'document', source: { type: 'file', file_id: 'file_1' } };
    const request = batchRequest('file', '', { messages: [{ role: 'user', content: [document] }] });
    expect(await failureOf(client.messages.batches.create({ requests: [request] }))).toMatchObject({
      status: 400,
      error: { error: { param: 'anthropic-beta' } },
    });
    const headers = { 'anthropic-beta': 'files-api-2025-04-14' };
    const made = await client.messages.batches.create({ requests: [request] }, { headers });
    await waitUntilEnded(made.id);
  });
});
