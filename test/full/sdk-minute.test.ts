/** The SDKs of OpenAI and Anthropic wait until a full minute of a key has room again, and their own retries succeed. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type Gateway, startGateway } from '../support/gateway.ts';

setDefaultTimeout(150_000);

const MESSAGES = [{ role: 'user' as const, content: 'hi' }];

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test('the retry after a full minute succeeds, for plain calls and streams', async () => {
  const statuses = await Promise.all([
    retried((baseURL, apiKey, fetch) => {
      const client = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey, fetch, maxRetries: 1 });
      return client.chat.completions.create({ model: 'gpt-4o-mini', messages: MESSAGES });
    }),
    retried(async (baseURL, apiKey, fetch) => {
      const client = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey, fetch, maxRetries: 1 });
      const body = { model: 'gpt-4o-mini', messages: MESSAGES, stream: true } as const;
      for await (const _ of await client.chat.completions.create(body));
    }),
    retried((baseURL, apiKey, fetch) => {
      const client = new Anthropic({ baseURL, apiKey, fetch, maxRetries: 1 });
      const body = { model: 'claude-haiku-4-5', max_tokens: 10, messages: MESSAGES };
      return client.messages.create(body);
    }),
  ]);
  for (const each of statuses) expect(each).toEqual([200, 429, 200]);
});

/** Fills the minute of a new key, and calls once more. Returns the statuses of all attempts. */
async function retried(
  call: (base_url: string, key: string, fetch: typeof globalThis.fetch) => Promise<unknown>,
): Promise<number[]> {
  const { id, key } = await gateway.manage<{ id: string; key: string }>('POST', '/api-keys', {
    name: 'limited',
  });
  const limits = [{ requests_per_minute: 1 }];
  await gateway.manage('PATCH', `/api-keys/${id}`, { limits });
  const statuses: number[] = [];
  const watched = async (url: string | URL | Request, init?: RequestInit) => {
    const answer = await fetch(url, init);
    statuses.push(answer.status);
    return answer;
  };
  await call(gateway.base_url, key, watched as typeof fetch);
  await call(gateway.base_url, key, watched as typeof fetch);
  return statuses;
}
