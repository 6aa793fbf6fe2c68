/**
 * Every route that takes a model refuses an unknown one with `model_not_found`, and suggests a model
 * that it serves (P13). A vendor, a date or a version in the name does not hide the model. The route
 * of responses is left out, because it needs its own database.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { MODEL_CALLS, type ModelCall } from '../support/model-calls.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const turn = { messages: [{ role: 'user', content: 'Hello' }] };

const ROUTES: readonly [name: string, model: string, call: ModelCall][] = [
  ...MODEL_CALLS,
  [
    'count_tokens',
    'claude-haiku-4-5',
    (model) => ['/v1/messages/count_tokens', { model, ...turn }],
  ],
  ...['v1', 'v1beta'].map((version): [string, string, ModelCall] => [
    `countTokens under /${version}`,
    'gemini-2.5-flash',
    (model) => [
      `/${version}/models/${model}:countTokens`,
      { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    ],
  ]),
  ['images', 'gpt-image-1', (model) => ['/v1/images/generations', { model, prompt: 'A cat' }]],
  ['videos', 'veo-3.1', (model) => ['/v1/videos/generations', { model, prompt: 'A cat' }]],
  ['music', 'suno_music', (model) => ['/v1/music/generations', { model, prompt: 'A song' }]],
];

describe.each(ROUTES)('an unknown model of %s', (_, meant, ask) => {
  test.each([
    `vendor/${meant}`,
    `${meant}-2024-11-20`,
    `${meant}-latest`,
    meant.slice(0, meant.search(/[-_]/)),
    `${meant}x`,
  ])('%s is refused with a suggestion', async (refused) => {
    const [path, body] = ask(refused);
    const native = { 'anthropic-version': '2023-06-01' };
    const response =
      body instanceof FormData
        ? await app.fetch(path, { method: 'POST', body })
        : await app.post(path, body, native);
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 400 });
    expect(text).toContain('model_not_found');
    const suggested = /"did_you_mean":"([^"]+)"/.exec(text)?.[1] ?? '';
    expect({ refused, suggested }).not.toEqual({ refused, suggested: '' });
    // The start of a name fits several models.
    if (refused.length > meant.length) expect(suggested).toBe(meant);
  });
});
