import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';

let app: TestApp;
const unavailable = new Set<string>();
beforeAll(async () => {
  app = await startTestApp({ isServed: (model) => !unavailable.has(model.id) });
});
afterAll(() => app.stop());
beforeEach(() => {
  app.calls.length = 0;
  app.answer = () => Response.json({ ok: true });
  unavailable.clear();
});

const user = (content: unknown) => ({ role: 'user', content });
const HELLO = { model: 'gpt-4o', messages: [user('hello')] };
const post = (body: unknown, headers?: Record<string, string>) =>
  app.post('/v1/chat/completions', body, headers);

/** The only call that reached the inference floor. */
function theCall() {
  expect(app.calls).toHaveLength(1);
  const [call] = app.calls;
  if (!call) throw new Error('no call');
  return call;
}

/** A key of the same organization that may use only these models. */
async function keyFor(models: string[]): Promise<Record<string, string>> {
  const response = await app.manage('POST', '/api-keys', { models });
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

describe('POST /v1/chat/completions', () => {
  test('200: passes the call and every byte of its body to the inference floor', async () => {
    const text =
      '{ "messages":[{"role":"user","content":"h\\u00e9"}],\n "seed": 12345678901234567890, "x_new": 1.0, "model":"gpt-4o"}';
    const response = await app.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    });
    expect(response.status).toBe(200);
    const call = theCall();
    expect(call).toMatchObject({ protocol: 'openai', stream: false, headers: {} });
    expect(call.body_text).toBe(text);
    expect(call.body['x_new']).toBe(1);
    expect(call.model.id).toBe('gpt-4o');
    expect(call.key.organization_id).toBe(app.organization_id);
    const hex = call.request_id.replaceAll('-', '');
    expect(response.headers.get('x-request-id')).toBe(`req_${hex}`);
  });

  test('200: returns the answer and its headers to the client', async () => {
    app.answer = () =>
      new Response('data: 1\n\n', { headers: { 'content-type': 'text/event-stream' } });
    const response = await post({ ...HELLO, stream: true });
    expect(theCall().stream).toBe(true);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toBe('data: 1\n\n');
  });

  test.each([
    ['max_tokens 0, which OpenAI’s suite sends', { max_tokens: 0 }],
    ['zero completion tokens', { max_completion_tokens: 0 }],
    ['stream_options without a stream', { stream: false, stream_options: { include_usage: true } }],
    ['functions and tools together', { functions: [{ name: 'f' }], tools: [{ type: 'function' }] }],
    ['nulls', { temperature: null, stop: null, stream: null, n: null, tools: null }],
    ['a cache control', { cache_control: { type: 'no_cache' } }],
    ['unknown fields', { reasoning_effort: 'max', future: { deep: [1] } }],
  ])('200: forwards %s', async (_what, more) => {
    expect((await post({ ...HELLO, ...more })).status).toBe(200);
    expect(theCall().body).toEqual({ ...HELLO, ...more });
  });

  test('200: accepts every role and every kind of content', async () => {
    const messages = [
      { role: 'developer', content: 'd' },
      { role: 'system', content: [{ type: 'text', text: 's' }] },
      user([{ type: 'image_url', image_url: { url: 'data:x' } }]),
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'assistant' },
      { role: 'tool', tool_call_id: 't', content: 'r' },
      { role: 'function', name: 'f', content: 'r' },
    ];
    expect((await post({ ...HELLO, messages })).status).toBe(200);
  });

  test.each([
    ['model', { model: undefined }],
    ['model', { model: '' }],
    ['model', { model: 5 }],
    ['model', { model: null }],
    ['model', { model: 'x'.repeat(201) }],
    ['messages', { messages: undefined }],
    ['messages', { messages: [] }],
    ['messages', { messages: 'hello' }],
    ['messages', { messages: { 0: user('x') } }],
    ['messages.0', { messages: ['hello'] }],
    ['messages.1.role', { messages: [user('x'), { content: 'x' }] }],
    ['messages.0.role', { messages: [{ role: 'admin', content: 'x' }] }],
    ['messages.0.content', { messages: [user(5)] }],
    ['messages.0.content.1.type', { messages: [user([{ type: 'text' }, { text: 'x' }])] }],
    ['messages.0.content.0', { messages: [user(['x'])] }],
    ['stream', { stream: 'true' }],
    ['stream', { stream: 1 }],
    ['max_tokens', { max_tokens: '1' }],
    ['max_tokens', { max_tokens: 1.5 }],
    ['max_tokens', { max_tokens: -1 }],
    ['max_completion_tokens', { max_completion_tokens: '9' }],
    ['n', { n: 0 }],
    ['n', { n: 129 }],
    ['temperature', { temperature: 2.01 }],
    ['temperature', { temperature: '0' }],
    ['top_p', { top_p: -0.1 }],
    ['stop', { stop: 5 }],
    ['stop.0', { stop: [5] }],
    ['tools', { tools: {} }],
    ['tools.0.type', { tools: [{}] }],
    ['user', { user: 5 }],
    ['stream_options', { stream_options: true }],
    ['stream_options.include_usage', { stream_options: { include_usage: 1 } }],
    ['cache_control', { cache_control: 'no_cache' }],
    ['cache_control.type', { cache_control: {} }],
  ])('400: names %s in %j', async (param, change) => {
    const error = await errorOf(await post({ ...HELLO, ...change }), 400);
    expect(error).toMatchObject({ type: 'invalid_request_error', param });
    expect(error.message).toStartWith(param);
    expect(app.calls).toEqual([]);
  });

  test('400: the message says that a required field is missing', async () => {
    const error = await errorOf(await post({ model: 'gpt-4o' }), 400);
    expect(error.message).toBe('messages is required.');
  });

  test('400: an unknown model, with a suggestion', async () => {
    const error = await errorOf(await post({ ...HELLO, model: 'gpt-4o-mni' }), 400);
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
      did_you_mean: 'gpt-4o-mini',
    });
    expect(error.hint).toContain('/v1/models');
  });

  test('400: P13: suggests only models that this key can call now on this route', async () => {
    const refused = { ...HELLO, model: 'gpt-4o-mni' };
    const only = await keyFor(['gpt-4o', 'claude-haiku-4-5']);
    const narrow = await errorOf(await post(refused, only), 400);
    expect(narrow.suggestions).toEqual([{ id: 'gpt-4o' }]);
    unavailable.add('gpt-4o');
    const none = await errorOf(await post(refused, only), 400);
    expect(none.suggestions).toEqual([]);
    expect(none).not.toHaveProperty('did_you_mean');
  });

  test('200: a model of another provider with another protocol', async () => {
    const response = await post({ ...HELLO, model: 'claude-haiku-4-5' });
    expect(response.status).toBe(200);
  });

  test('403: a model that the key may not use', async () => {
    const error = await errorOf(await post(HELLO, await keyFor(['gpt-5'])), 403);
    expect(error).toMatchObject({
      type: 'access_denied',
      code: 'model_not_allowed',
      param: 'model',
    });
    expect(app.calls).toEqual([]);
  });

  test('400: an unknown model is unknown for a restricted key too', async () => {
    const error = await errorOf(await post({ ...HELLO, model: 'x' }, await keyFor(['gpt-5'])), 400);
    expect(error.code).toBe('model_not_found');
  });

  test('the signal of the call fires when its client leaves', async () => {
    const abandoned = Promise.withResolvers<unknown>();
    const started = Promise.withResolvers<void>();
    app.answer = (call) => {
      call.signal.addEventListener('abort', () => abandoned.resolve(call.signal.reason));
      started.resolve();
      return new Promise(() => undefined);
    };
    const leave = new AbortController();
    const request = app
      .fetch('/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(HELLO),
        signal: leave.signal,
      })
      .catch((error: unknown) => error);
    await started.promise;
    leave.abort();
    await request;
    expect(await abandoned.promise).toBeDefined();
  });
});
