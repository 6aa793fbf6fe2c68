/** 413: each chat route, and each count of tokens, refuses an inline image above 20 MB. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { startTestApp, type TestApp } from '../support/app.ts';

/** Each body has about 28 MB. */
setDefaultTimeout(60_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const MAX_BYTES = 20 * 1024 * 1024;
const url = (data: string) => `data:image/png;base64,${data}`;
const turn = (part: object) => [{ role: 'user', content: [part] }];

const ROUTES: [path: string, param: string, bodyOf: (data: string) => object][] = [
  [
    '/v1/chat/completions',
    'messages[0].content[0].image_url.url',
    (data) => ({
      model: 'gpt-4o',
      messages: turn({ type: 'image_url', image_url: { url: url(data) } }),
    }),
  ],
  [
    '/v1/messages',
    'messages.0.content.0.source.data',
    (data) => ({
      ...{ model: 'claude-haiku-4-5', max_tokens: 9 },
      messages: turn({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }),
    }),
  ],
  [
    '/v1/responses',
    'input[0].content[0].image_url',
    (data) => ({ model: 'gpt-4o', input: turn({ type: 'input_image', image_url: url(data) }) }),
  ],
  [
    '/v1beta/models/gemini-2.5-flash:generateContent',
    'contents[0].parts[0].inlineData.data',
    (data) => ({ contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data } }] }] }),
  ],
  [
    '/v1/messages/count_tokens',
    'messages.0.content.0.source.data',
    (data) => ({
      model: 'claude-haiku-4-5',
      messages: turn({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }),
    }),
  ],
  [
    '/v1beta/models/gemini-2.5-flash:countTokens',
    'contents[0].parts[0].inlineData.data',
    (data) => ({ contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data } }] }] }),
  ],
  [
    '/v1beta/models/gemini-2.5-pro:countTokens',
    'contents[0].parts[0].inlineData.data',
    (data) => ({
      generateContentRequest: {
        contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data } }] }],
      },
    }),
  ],
];

describe.each(ROUTES)('%s', (path, param, bodyOf) => {
  const send = async (bytes: number) => {
    const body = bodyOf(Buffer.alloc(bytes, 7).toString('base64'));
    const response = await app.post(path, body, { 'anthropic-version': '2023-06-01' });
    return { status: response.status, text: await response.text() };
  };

  test('takes an image of 20 MB, and refuses one byte more', async () => {
    const { status, text } = await send(MAX_BYTES + 1);
    expect({ status, text }).toMatchObject({ status: 413 });
    expect(text).toContain(`"${param} is larger than 20 MB."`);
    expect(text).toContain(`"param":"${param}"`);
    expect(text).toContain('payload_too_large');
    expect((await send(MAX_BYTES)).text).not.toContain('payload_too_large');
    app.calls.length = 0;
  });
});
