/**
 * Batches of the AI SDK (ai 7.0.173): Anthropic's package runs them on models of three vendors. Those of
 * OpenAI and Google are refused in the format that their package decodes, with a hint.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import {
  APICallError,
  experimental_getBatchResults as getBatchResults,
  experimental_getBatchStatus as getBatchStatus,
  experimental_listBatches as listBatches,
  experimental_startBatch as startBatch,
} from 'ai';
import { failureOf } from '../support/failure-of.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

// It warns that it does not know the models of other vendors.
globalThis.AI_SDK_LOG_WARNINGS = false;

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
});
afterAll(() => weir.stop());

const access = (version = 'v1') => ({
  ...{ baseURL: `${weir.base_url}/${version}`, apiKey: weir.api_key },
});
const MODELS = ['gpt-4o', 'claude-haiku-4-5', 'gemini-2.5-flash'];

test('a batch of Anthropic’s package has requests of every vendor', async () => {
  const provider = createAnthropic(access());
  const requests = MODELS.map((model) => ({
    ...{ type: 'text' as const, id: model.replaceAll('.', '-'), model },
    prompt: 'Hello [[sim tokens=12]]',
  }));
  const batch = await startBatch({ provider, requests });
  await until('the batch ends', async () => {
    const { status } = await getBatchStatus({ provider, batch });
    return status === 'completed';
  });
  const found: unknown[] = [];
  for await (const result of getBatchResults({ provider, batch })) {
    if (result.type === 'text' && result.status === 'succeeded') {
      found.push([result.id, result.usage.outputTokens]);
    }
  }
  expect(found).toEqual(requests.map(({ id }) => [id, 12]));
  const { batches } = await listBatches({ provider });
  expect(batches.map(({ id }) => id)).toContain(batch.id);
});

test('batches of the packages of OpenAI and Google are refused with a hint', async () => {
  const prompt = 'Hello';
  const request = { type: 'text' as const, id: 'one', prompt };
  for (const call of [
    () =>
      startBatch({
        provider: createOpenAI(access()),
        requests: [{ ...request, model: 'gpt-4o' }],
      }),
    () =>
      startBatch({
        provider: createGoogle(access('v1beta')),
        requests: [{ ...request, model: 'gemini-2.5-flash' }],
      }),
  ]) {
    const failure = await failureOf(call());
    expect(APICallError.isInstance(failure)).toBe(true);
    const { error } = JSON.parse((failure as APICallError).responseBody ?? '');
    expect(failure.message).toContain('not offered');
    expect(error.hint ?? error.details[0].hint).toMatch(/Base64|\/v1\/messages\/batches/);
  }
});
