import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import {
  type KeyAnswer,
  startInstallation,
  type TestInstallation,
} from '../support/installation.ts';

describe('the official @anthropic-ai/sdk package', () => {
  let installation: TestInstallation;
  let client: Anthropic;
  const model = 'claude-opus-4-5';
  const hello = [{ role: 'user' as const, content: 'Say hello.' }];

  beforeAll(async () => {
    installation = await startInstallation({ shared_database: true });
    client = clientWith(installation.weir.api_key);
  });

  afterAll(() => installation.stop());

  function clientWith(apiKey: string): Anthropic {
    return new Anthropic({ baseURL: installation.weir.base_url, apiKey, maxRetries: 0 });
  }

  async function failureOf(
    call: Promise<unknown>,
  ): Promise<InstanceType<typeof Anthropic.APIError>> {
    try {
      await call;
    } catch (error) {
      if (error instanceof Anthropic.APIError) return error;
      throw error;
    }
    throw new Error('the call did not fail');
  }

  test('messages.create returns an answer, and the key is charged exactly in nano-USD', async () => {
    const { id, key } = await installation.manage<KeyAnswer>('POST', '/api-keys', {
      name: 'exact',
    });
    const answer = await clientWith(key).messages.create({
      model,
      max_tokens: 100,
      messages: hello,
    });
    expect(answer).toMatchObject({ type: 'message', role: 'assistant', model });
    expect(answer.id).toMatch(/^msg_[0-9a-f]{32}$/);
    const { input_tokens, output_tokens } = answer.usage;
    const { data } = await installation.manage<{ data: KeyAnswer[] }>('GET', '/api-keys');
    const used = data.find((key) => key.id === id)?.used_amount;
    expect(used).toBe((input_tokens * 5_000 + output_tokens * 25_000) / 1e9);
  });

  test('a Bearer key works too', async () => {
    const bearer = new Anthropic({
      baseURL: installation.weir.base_url,
      apiKey: null,
      authToken: installation.weir.api_key,
    });
    expect((await bearer.messages.create({ model, max_tokens: 10, messages: hello })).type).toBe(
      'message',
    );
  });

  test('messages.stream ends with the complete message', async () => {
    let streamed = '';
    const stream = client.messages.stream({ model, max_tokens: 100, messages: hello });
    stream.on('text', (text) => {
      streamed += text;
    });
    const message = await stream.finalMessage();
    expect(message.model).toBe(model);
    expect(message.stop_reason).toBe('end_turn');
    const [block] = message.content;
    expect(block?.type === 'text' ? block.text : '').toBe(streamed);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
  });

  test('a tool is called with streamed arguments, and the model answers after it gets the tool result', async () => {
    const tools = [
      {
        name: 'weather',
        input_schema: { type: 'object' as const, properties: { place: { type: 'string' } } },
      },
    ];
    const first = await client.messages
      .stream({ model, max_tokens: 200, messages: hello, tools })
      .finalMessage();
    expect(first.stop_reason).toBe('tool_use');
    const call = first.content.find((block) => block.type === 'tool_use');
    if (call?.type !== 'tool_use') throw new Error('no tool call');
    expect(call.name).toBe('weather');
    const second = await client.messages.create({
      model,
      max_tokens: 200,
      tools,
      messages: [
        ...hello,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'snow' }] },
      ],
    });
    expect(second.stop_reason).toBe('end_turn');
  });

  test('thinking blocks and images pass through', async () => {
    const data =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const answer = await client.messages.create({
      model,
      max_tokens: 3_000,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
            { type: 'text', text: 'What is it?' },
          ],
        },
      ],
    });
    expect(answer.content.map((block) => block.type)).toContain('thinking');
  });

  test('models.list reads all pages', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toContain(model);
  });

  describe('the SDK throws its own class for each kind of error', () => {
    test('AuthenticationError for a wrong key', async () => {
      const wrong = clientWith('sk-wrong-wrong-wrong');
      const error = await failureOf(
        wrong.messages.create({ model, max_tokens: 10, messages: hello }),
      );
      expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
      expect(error.error).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
      expect(error.requestID).toMatch(/^req_[0-9a-f]{32}$/);
    });

    test('BadRequestError for an unknown model', async () => {
      const error = await failureOf(
        client.messages.create({ model: 'claude-opsu-4-5', max_tokens: 10, messages: hello }),
      );
      expect(error).toBeInstanceOf(Anthropic.BadRequestError);
      expect(error.error).toMatchObject({ error: { did_you_mean: 'claude-opus-4-5' } });
    });

    test('APIError 402 in the native family for a zero quota', async () => {
      const { key } = await installation.manage<KeyAnswer>('POST', '/api-keys', { limitAmount: 0 });
      const error = await failureOf(
        clientWith(key).messages.create({ model, max_tokens: 10, messages: hello }),
      );
      expect(error.status).toBe(402);
      expect(error.error).toMatchObject({
        error: { type: 'billing_error', code: 'quota_exceeded' },
      });
    });

    test('RateLimitError when the channel is throttled', async () => {
      const error = await failureOf(
        client.messages.create({
          model: 'claude-haiku-4-5',
          max_tokens: 10,
          messages: [{ role: 'user', content: '[[sim status=429 retry_after=1]]' }],
        }),
      );
      expect(error).toBeInstanceOf(Anthropic.RateLimitError);
      expect(error.headers?.get('retry-after')).toBe('1');
    });

    test('a broken stream throws an error', async () => {
      const stream = client.messages.stream({
        model,
        max_tokens: 100,
        messages: [{ role: 'user', content: '[[sim tokens=50 truncate_after=6]]' }],
      });
      expect(await failureOf(stream.finalMessage())).toBeInstanceOf(Anthropic.APIError);
    });
  });
});
