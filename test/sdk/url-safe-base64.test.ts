/**
 * Images in the URL-safe alphabet of Base64 (RFC 4648, section 5), as Python's google-genai sends them:
 * its types have `ser_json_bytes='base64'` (google-genai 3.6.1, `_common.BaseModel`; Pydantic docs:
 * ConfigDict). Only Google reads this alphabet. `test/clients/python.test.ts` runs the package itself.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { failureOf } from '../support/failure-of.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

const BYTES = Buffer.from('fbefff'.repeat(5), 'hex');
const URL_SAFE = BYTES.toString('base64url');

let weir: RunningWeir;
let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
  weir = await startWeir({ shared_database: true });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});

test.each(['gpt-4o', 'claude-haiku-4-5', 'gemini-2.5-flash'])(
  '%s gets it as it reads it',
  async (model) => {
    const inlineData = { mimeType: 'image/png', data: URL_SAFE };
    const parts = [{ inlineData }, { text: 'Hello [[sim tokens=5]]' }];
    const response = await fetch(`${weir.base_url}/v1beta/models/${model}:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': weir.api_key, 'content-type': 'application/json' },
      body: JSON.stringify({ contents: [{ role: 'user', parts }] }),
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ usageMetadata: { candidatesTokenCount: 5 } });
  },
);

test('the simulated OpenAI and Anthropic refuse the alphabet', async () => {
  expect(URL_SAFE).toMatch(/[-_]/);
  const openai = new OpenAI({ baseURL: simulator.openai_url, apiKey: 'sim-main', maxRetries: 0 });
  const url = `data:image/png;base64,${URL_SAFE}`;
  const asked = openai.chat.completions.create({
    model: 'gpt-4o',
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });
  expect(await failureOf(asked)).toMatchObject({ status: 400 });
  const anthropic = new Anthropic({
    ...{ baseURL: simulator.anthropic_url, apiKey: 'sim-main', maxRetries: 0 },
  });
  const source = { type: 'base64', media_type: 'image/png', data: URL_SAFE } as const;
  const sent = anthropic.messages.create({
    ...{ model: 'claude-haiku-4-5', max_tokens: 9 },
    messages: [{ role: 'user', content: [{ type: 'image', source }] }],
  });
  expect(await failureOf(sent)).toMatchObject({ status: 400 });
});
