import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { nativeErrorOf } from '../support/envelope.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());
beforeEach(() => {
  app.calls.length = 0;
});

const VERSION = { 'anthropic-version': '2023-06-01' };
const user = (content: unknown) => ({ role: 'user', content });
const HELLO = { model: 'claude-haiku-4-5', max_tokens: 16, messages: [user('hello')] };
const post = (body: unknown, headers: Record<string, string> = VERSION, query = '') =>
  app.post(`/v1/messages${query}`, body, headers);

/** The only call that reached the inference floor. */
function theCall() {
  expect(app.calls).toHaveLength(1);
  const [call] = app.calls;
  if (!call) throw new Error('no call');
  return call;
}

describe('POST /v1/messages', () => {
  test('200: passes the call to the inference floor', async () => {
    const body = { ...HELLO, stream: true, unheard_of: [1] };
    expect((await post(body)).status).toBe(200);
    expect(theCall()).toMatchObject({ protocol: 'anthropic', stream: true, body });
  });

  test.each([
    ['anthropic-version', '2023-06-01'],
    ['anthropic-version', '2026-10-21'],
    ['vendorA-version', '2023-06-01'],
  ])('200: the version header may be called %s and say %s', async (name, version) => {
    expect((await post(HELLO, { [name]: version })).status).toBe(200);
    expect(theCall().headers).toEqual({ 'anthropic-version': version });
  });

  test.each(['anthropic-beta', 'vendorA-beta'])('200: passes %s on', async (name) => {
    expect((await post(HELLO, { ...VERSION, [name]: 'files-api-2025-04-14' })).status).toBe(200);
    expect(theCall().headers).toMatchObject({ 'anthropic-beta': 'files-api-2025-04-14' });
  });

  test('200: a query string is ignored', async () => {
    expect((await post(HELLO, VERSION, '?beta=true')).status).toBe(200);
  });

  test.each([
    ['temperature and top_p together', { temperature: 0.5, top_p: 0.9 }],
    ['a system prompt as text', { system: 'be brief' }],
    ['a system prompt as blocks', { system: [{ type: 'text', text: 'be brief' }] }],
    ['a cache control', { cache_control: { type: 'ephemeral' } }],
    ['thinking', { thinking: { type: 'enabled', budget_tokens: 1_024 } }],
    ['adaptive thinking', { thinking: { type: 'adaptive' } }],
    ['tools', { tools: [{ name: 't', input_schema: {} }], tool_choice: { type: 'any' } }],
    ['stop sequences and metadata', { stop_sequences: ['x'], metadata: { user_id: 'u' } }],
    [
      'an image by URL',
      { messages: [user([{ type: 'image', source: { type: 'url', url: 'u' } }])] },
    ],
    [
      'an inline image',
      {
        messages: [
          user([
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          ]),
        ],
      },
    ],
    [
      'an image type that the specification does not have',
      { messages: [user([{ type: 'image', source: { type: 'file', file_id: 'f' } }])] },
    ],
    [
      'blocks of other types',
      { messages: [user([{ type: 'document', source: {} }, { type: 'brand_new' }])] },
    ],
  ])('200: forwards %s', async (_what, more) => {
    expect((await post({ ...HELLO, ...more })).status).toBe(200);
    expect(theCall().body).toEqual({ ...HELLO, ...more });
  });

  test('400: without the version header', async () => {
    const error = await nativeErrorOf(await post(HELLO, {}), 400);
    expect(error).toMatchObject({ type: 'invalid_request_error', param: 'anthropic-version' });
    expect(error.hint).toContain('2023-06-01');
    expect(app.calls).toEqual([]);
  });

  test('400: the role system, with the message that clients match on', async () => {
    const messages = [user('x'), { role: 'system', content: 'y' }];
    const error = await nativeErrorOf(await post({ ...HELLO, messages }), 400);
    expect(error.message).toBe(
      "role 'system' is not supported on this model: put it in the top-level system field, or use /v1/chat/completions",
    );
    expect(error.param).toBe('messages.1.role');
  });

  test.each(['developer', 'tool'])(
    '400: the role %s; the hint names the route for it',
    async (role) => {
      const error = await nativeErrorOf(
        await post({ ...HELLO, messages: [{ role, content: 'x' }] }),
        400,
      );
      expect(error.message).toContain('/v1/chat/completions');
      expect(error.param).toBe('messages.0.role');
    },
  );

  const image = (source: unknown) => ({ messages: [user([{ type: 'image', source }])] });
  const result = (content: unknown) => ({
    messages: [user([{ type: 'tool_result', tool_use_id: 't', content }])],
  });

  test.each([
    ['model', { model: undefined }],
    ['model', { model: 5 }],
    ['max_tokens', { max_tokens: undefined }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: '16' }],
    ['max_tokens', { max_tokens: 1.5 }],
    ['messages', { messages: [] }],
    ['messages', { messages: 'hello' }],
    ['messages.0', { messages: [null] }],
    ['messages.0.role', { messages: [{ role: 'robot', content: 'x' }] }],
    ['messages.0.role', { messages: [{ content: 'x' }] }],
    ['messages.0.content', { messages: [{ role: 'user' }] }],
    ['messages.0.content', { messages: [user(null)] }],
    ['messages.0.content.0', { messages: [user(['hello'])] }],
    ['messages.0.content.0.type', { messages: [user([{ text: 'hello' }])] }],
    ['messages.0.content.0.source', image(undefined)],
    ['messages.0.content.0.source', image('https://example.com/a.png')],
    ['messages.0.content.0.source', image({ url: 'https://example.com/a.png' })],
    ['messages.0.content.0.source.url', image({ type: 'url' })],
    ['messages.0.content.0.source.media_type', image({ type: 'base64', data: 'aGk=' })],
    ['messages.0.content.0.source.data', image({ type: 'base64', media_type: 'image/png' })],
    [
      'messages.0.content.0.content.0.source.url',
      result([{ type: 'image', source: { type: 'url', url: 5 } }]),
    ],
    ['system', { system: 5 }],
    ['system.0.type', { system: [{ text: 'x' }] }],
    ['temperature', { temperature: 1.01 }],
    ['temperature', { temperature: -0.1 }],
    ['temperature', { temperature: '1' }],
    ['top_p', { top_p: 2 }],
    ['top_k', { top_k: 1.5 }],
    ['stream', { stream: 'yes' }],
    ['thinking', { thinking: true }],
    ['thinking.type', { thinking: {} }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled', budget_tokens: 'all' } }],
    ['tools', { tools: {} }],
    ['tools.0', { tools: ['t'] }],
    ['tool_choice', { tool_choice: 'auto' }],
    ['tool_choice.type', { tool_choice: {} }],
    ['stop_sequences', { stop_sequences: 'x' }],
    ['stop_sequences.0', { stop_sequences: [5] }],
    ['metadata', { metadata: 'x' }],
  ])('400: names %s in %j', async (param, change) => {
    const error = await nativeErrorOf(await post({ ...HELLO, ...change }), 400);
    expect(error).toMatchObject({ type: 'invalid_request_error', param });
    expect(app.calls).toEqual([]);
  });

  test('400: an unknown model, with a suggestion', async () => {
    const error = await nativeErrorOf(await post({ ...HELLO, model: 'claude-haiku-4.5' }), 400);
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
      did_you_mean: 'claude-haiku-4-5',
    });
  });

  test('200: a model of another provider with another protocol', async () => {
    expect((await post({ ...HELLO, model: 'gpt-4o' })).status).toBe(200);
  });

  test('403: a model that the key may not use', async () => {
    const created = await app.manage('POST', '/api-keys', { models: ['claude-opus-4-5'] });
    const { key } = (await created.json()) as { key: string };
    const response = await post(HELLO, { ...VERSION, 'x-api-key': key });
    expect((await nativeErrorOf(response, 403)).type).toBe('permission_error');
  });

  test('200: an allow-list may have an alias of the model', async () => {
    const created = await app.manage('POST', '/api-keys', {
      models: ['claude-haiku-4-5-20251001'],
    });
    const { key } = (await created.json()) as { key: string };
    for (const model of ['claude-haiku-4-5', 'claude-haiku-4-5-20251001']) {
      const response = await post({ ...HELLO, model }, { ...VERSION, 'x-api-key': key });
      expect(response.status).toBe(200);
    }
    expect(app.calls.map(({ model }) => model.id)).toEqual([
      'claude-haiku-4-5',
      'claude-haiku-4-5',
    ]);
  });
});
