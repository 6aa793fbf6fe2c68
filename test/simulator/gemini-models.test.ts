/** Google's SDK (@google/genai 3.1.0) lists and reads the models of the simulated Gemini API. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ApiError, GoogleGenAI } from '@google/genai';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { ACCOUNT } from './ask.ts';

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

const client = (apiKey = `sim-${ACCOUNT}`) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${simulator.url}/google` } });

async function namesIn(pageSize?: number): Promise<string[]> {
  const names: string[] = [];
  const config = { queryBase: true, ...(pageSize === undefined ? {} : { pageSize }) };
  for await (const { name } of await client().models.list({ config })) names.push(name ?? '');
  return names;
}

test('lists all models, also in pages', async () => {
  const names = await namesIn();
  expect(names).toContain('models/gemini-2.5-flash');
  expect(names).toContain('models/veo-3.1-generate-preview');
  expect(await namesIn(3)).toEqual(names);
});

test('reads a model, and refuses one that is missing', async () => {
  expect(await client().models.get({ model: 'gemini-2.5-flash' })).toMatchObject({
    ...{ name: 'models/gemini-2.5-flash', inputTokenLimit: 1_048_576 },
    supportedActions: expect.arrayContaining(['generateContent']),
  });
  const refusal = await client()
    .models.get({ model: 'missing-1' })
    .catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ApiError);
  expect((refusal as ApiError).status).toBe(404);
});

test('refuses a wrong key as the vendor does, with 400 and API_KEY_INVALID', async () => {
  const refusal = await client('wrong')
    .models.list()
    .catch((error: unknown) => error);
  expect((refusal as ApiError).status).toBe(400);
  expect((refusal as ApiError).message).toContain('API_KEY_INVALID');
});
