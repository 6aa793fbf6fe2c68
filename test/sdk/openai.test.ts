import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import {
  type KeyAnswer,
  startInstallation,
  type TestInstallation,
} from '../support/installation.ts';

describe('the official openai package', () => {
  let installation: TestInstallation;
  let client: OpenAI;
  const hello = [{ role: 'user' as const, content: 'Say hello.' }];

  beforeAll(async () => {
    installation = await startInstallation({ shared_database: true });
    client = clientWith(installation.weir.api_key);
  });

  afterAll(() => installation.stop());

  function clientWith(apiKey: string): OpenAI {
    return new OpenAI({ baseURL: `${installation.weir.base_url}/v1`, apiKey, maxRetries: 0 });
  }

  /** Returns the error that a call throws. */
  async function failureOf(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
    try {
      await call;
    } catch (error) {
      if (error instanceof OpenAI.APIError) return error;
      throw error;
    }
    throw new Error('the call did not fail');
  }

  test('chat.completions.create returns an answer, and the key is charged exactly in nano-USD', async () => {
    const { id, key } = await installation.manage<KeyAnswer>('POST', '/api-keys', {
      name: 'exact',
    });
    const answer = await clientWith(key).chat.completions.create({
      model: 'gpt-4o',
      messages: hello,
    });
    expect(answer.model).toBe('gpt-4o');
    expect(answer.choices[0]?.message.content).toBeTruthy();
    const { prompt_tokens = 0, completion_tokens = 0 } = answer.usage ?? {};
    const expected = (prompt_tokens * 2_500 + completion_tokens * 10_000) / 1e9;
    const { data } = await installation.manage<{ data: KeyAnswer[] }>('GET', '/api-keys');
    expect(data.find((key) => key.id === id)?.used_amount).toBe(expected);
  });

  test('a stream has text, one finish reason, and usage only if it was requested', async () => {
    for (const include_usage of [true, false]) {
      const stream = await client.chat.completions.create({
        model: 'gpt-4o',
        messages: hello,
        stream: true,
        stream_options: { include_usage },
      });
      let text = '';
      let usage: unknown;
      const finishes: string[] = [];
      for await (const chunk of stream) {
        expect(chunk.model).toBe('gpt-4o');
        text += chunk.choices[0]?.delta.content ?? '';
        if (chunk.choices[0]?.finish_reason) finishes.push(chunk.choices[0].finish_reason);
        usage ??= chunk.usage ?? undefined;
      }
      expect(text.length).toBeGreaterThan(0);
      expect(finishes).toEqual(['stop']);
      expect(usage !== undefined).toBe(include_usage);
    }
  });

  test('P7: with idempotencyHeader, a call with an idempotencyKey is repeated, not charged again', async () => {
    const { id, key } = await installation.manage<KeyAnswer>('POST', '/api-keys', { name: 'once' });
    const baseURL = `${installation.weir.base_url}/v1`;
    // The package sends the key only if the name of the header is configured.
    const once = new OpenAI({ baseURL, apiKey: key });
    Object.assign(once, { idempotencyHeader: 'Idempotency-Key' });
    const create = () =>
      once.chat.completions
        .create({ model: 'gpt-4o', messages: hello }, { idempotencyKey: 'order-1' })
        .withResponse();
    const [first, second] = [await create(), await create()];
    expect(second.response.headers.get('idempotent-replayed')).toBe('true');
    expect(second.data).toEqual(first.data);
    const { prompt_tokens = 0, completion_tokens = 0 } = first.data.usage ?? {};
    const price = (prompt_tokens * 2_500 + completion_tokens * 10_000) / 1e9;
    const { data } = await installation.manage<{ data: KeyAnswer[] }>('GET', '/api-keys');
    expect(data.find((each) => each.id === id)?.used_amount).toBe(price);
    // At once: the package waits while the first call runs, and repeats by itself.
    const slow = { role: 'user' as const, content: 'Hi [[sim latency_ms=300]]' };
    const at_once = await Promise.all(
      [1, 2].map(() =>
        once.chat.completions.create(
          { model: 'gpt-4o', messages: [slow] },
          { idempotencyKey: 'order-2', maxRetries: 10 },
        ),
      ),
    );
    expect(at_once[1]).toEqual(at_once[0] as (typeof at_once)[number]);
  });

  test('tools run in a loop until the model answers with text', async () => {
    const runner = client.chat.completions.runTools({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'What is the weather in Oslo?' }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'the weather of a place',
            parse: JSON.parse,
            function: () => 'snow',
            parameters: { type: 'object', properties: { place: { type: 'string' } } },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBeTruthy();
    expect(runner.messages.some((message) => message.role === 'tool')).toBe(true);
  });

  test('the answer fits the JSON schema', async () => {
    const answer = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: hello,
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'person',
          schema: { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] },
        },
      },
    });
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toHaveProperty('age');
  });

  test('models.list reads all pages, and models.retrieve returns one model', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toContain('gpt-4o');
    expect((await client.models.retrieve('gpt-4o')).owned_by).toBe('openai');
    expect(await failureOf(client.models.retrieve('nope/none'))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
  });

  describe('the SDK throws its own class for each kind of error', () => {
    test('AuthenticationError for a wrong key', async () => {
      const error = await failureOf(
        clientWith('sk-wrong-wrong-wrong').chat.completions.create({
          model: 'gpt-4o',
          messages: hello,
        }),
      );
      expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
      expect(error.code).toBe('invalid_api_key');
      expect(error.requestID).toMatch(/^req_[0-9a-f]{32}$/);
    });

    test('AuthenticationError for a revoked key', async () => {
      const { id, key } = await installation.manage<KeyAnswer>('POST', '/api-keys', {});
      await installation.manage('PATCH', `/api-keys/${id}`, { status: 'revoked' });
      const error = await failureOf(
        clientWith(key).chat.completions.create({ model: 'gpt-4o', messages: hello }),
      );
      expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
      expect(error.code).toBe('expired_api_key');
    });

    test('BadRequestError for an unknown model, with a suggestion', async () => {
      const error = await failureOf(
        client.chat.completions.create({ model: 'gpt-4o-mnii', messages: hello }),
      );
      expect(error).toBeInstanceOf(OpenAI.BadRequestError);
      expect(error.code).toBe('model_not_found');
      expect(error.error).toMatchObject({ param: 'model', did_you_mean: 'gpt-4o-mini' });
    });

    test('BadRequestError with the parameter that the upstream refused', async () => {
      const body = { model: 'gpt-4o', messages: hello, no_such_thing: 1 };
      const error = await failureOf(client.chat.completions.create(body));
      expect(error).toBeInstanceOf(OpenAI.BadRequestError);
      expect(error.param).toBe('no_such_thing');
    });

    test('PermissionDeniedError for a model outside the allow-list', async () => {
      const { key } = await installation.manage<KeyAnswer>('POST', '/api-keys', {
        models: ['gpt-4o'],
      });
      const error = await failureOf(
        clientWith(key).chat.completions.create({ model: 'gpt-4o-mini', messages: hello }),
      );
      expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
      expect(error.code).toBe('model_not_allowed');
    });

    test('APIError 402 quota_exceeded for a zero quota, which the SDK does not retry', async () => {
      const { key } = await installation.manage<KeyAnswer>('POST', '/api-keys', { limitAmount: 0 });
      const error = await failureOf(
        clientWith(key).chat.completions.create({ model: 'gpt-4o', messages: hello }),
      );
      expect(error.status).toBe(402);
      expect(error.code).toBe('quota_exceeded');
    });

    test('RateLimitError when every channel is throttled, with the time to wait', async () => {
      const content = 'Hi [[sim status=429 retry_after=7]]';
      const error = await failureOf(
        client.chat.completions.create({ model: 'o4-mini', messages: [{ role: 'user', content }] }),
      );
      expect(error).toBeInstanceOf(OpenAI.RateLimitError);
      expect(error.headers?.get('retry-after')).toBe('7');
      expect(error.error).toMatchObject({ retryable: true, retry_after: 7 });
    });

    test('InternalServerError when the upstream fails, without naming the upstream', async () => {
      const content = 'Hi [[sim status=500]]';
      const error = await failureOf(
        client.chat.completions.create({
          model: 'gpt-4o-mini',
          messages: [{ role: 'user', content }],
        }),
      );
      expect(error).toBeInstanceOf(OpenAI.InternalServerError);
      expect(error.status).toBe(502);
      expect(JSON.stringify(error.error)).not.toMatch(/physical|sim-|openai-lonely|127\.0\.0\.1/);
    });

    test('APIError in the middle of a stream that breaks', async () => {
      const content = 'Hi [[sim tokens=50 truncate_after=5]]';
      const stream = await client.chat.completions.create({
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content }],
        stream: true,
      });
      let text = '';
      const reading = async () => {
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      };
      expect(await failureOf(reading())).toBeInstanceOf(OpenAI.APIError);
      expect(text.length).toBeGreaterThan(0);
    });
  });
});
