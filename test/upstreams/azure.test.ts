/** Weir's requests go to the addresses to which Azure's own clients send them. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { createAzure } from '@ai-sdk/azure';
import OpenAI, { AzureOpenAI, toFile } from 'openai';
import type { GenerationInput } from '../../src/catalogue/inputs.ts';
import { azureOpenaiProtocol } from '../../src/upstreams/chat/openai.ts';
import { azureDirect } from '../../src/upstreams/direct/openai.ts';
import { azureImagesProtocol } from '../../src/upstreams/generation/openai-images.ts';
import { callOf } from './upstream.ts';

/** The paths with their queries, and the keys, as the upstream receives them. */
let received: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    received.push(`${request.method} ${pathname}${search} ${request.headers.get('api-key')}`);
    return Response.json(
      { error: { message: 'enough', type: 'invalid_request_error' } },
      { status: 400 },
    );
  },
});
afterAll(() => server.stop(true));
beforeEach(() => {
  received = [];
});

const VERSION = '2025-04-01-preview';
const DEPLOYMENT = 'my deployment/1';
const endpoint = server.url.origin;
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==';
const sound = () => new File(['RIFF'], 'a.wav', { type: 'audio/wav' });
const messages = [{ role: 'user' as const, content: 'Hi' }];

/** Calls of Azure's client, by the name of the route. */
const CLIENT: Record<string, (client: OpenAI, model: string) => Promise<unknown>> = {
  chat: (client, model) => client.chat.completions.create({ model, messages }),
  embeddings: (client, model) => client.embeddings.create({ model, input: 'a' }),
  speech: (client, model) => client.audio.speech.create({ model, input: 'a', voice: 'alloy' }),
  transcriptions: (client, model) => client.audio.transcriptions.create({ model, file: sound() }),
  translations: (client, model) => client.audio.translations.create({ model, file: sound() }),
  images: (client, model) => client.images.generate({ model, prompt: 'a' }),
  edits: async (client, model) =>
    client.images.edit({ model, prompt: 'a', image: await toFile(new Uint8Array(4), 'a.png') }),
};

const own = { counted: () => 1, max_tokens: 10 };

/** The same calls of Weir. */
const WEIR: Record<string, (base_url: string, api_version?: string) => Promise<unknown>> = {
  chat: (...to) => azureOpenaiProtocol.complete(azureCall({ messages }, ...to)),
  embeddings: (...to) => azureDirect.embed(azureCall({ input: 'a' }, ...to), own),
  speech: (...to) => azureDirect.synthesize(azureCall({ input: 'a', voice: 'alloy' }, ...to)),
  transcriptions: (...to) =>
    azureDirect.transcribe(azureCall({}, ...to), { task: 'transcriptions', file: sound() }),
  translations: (...to) =>
    azureDirect.transcribe(azureCall({}, ...to), { task: 'translations', file: sound() }),
  images: (...to) => image({ prompt: 'a' }, ...to),
  edits: (...to) => image({ prompt: 'a', images: [PNG] }, ...to),
};
const ROUTES = Object.keys(CLIENT);

function azureCall(body: object, base_url: string, api_version?: string) {
  const call = callOf(base_url, { model: 'm', ...body });
  const target = { ...call.target, api_key: 'key', api_version };
  return { ...call, physical_model: DEPLOYMENT, target };
}

function image(input: object, base_url: string, api_version?: string) {
  const { target } = azureCall({}, base_url, api_version);
  return azureImagesProtocol.submit({
    ...{ target, physical_model: DEPLOYMENT, public_model: 'm', idempotency_key: 'k' },
    input: { scene: 'image', ...input } as unknown as GenerationInput,
    signal: new AbortController().signal,
  });
}

async function requestsOf(call: Promise<unknown>): Promise<string[]> {
  await call.catch(() => undefined);
  const found = received;
  received = [];
  return found;
}

describe.each(ROUTES)('%s', (route) => {
  test('goes where AzureOpenAI of openai 7.55.0 sends it', async () => {
    const client = new AzureOpenAI({ endpoint, apiKey: 'key', apiVersion: VERSION, maxRetries: 0 });
    const theirs = await requestsOf(CLIENT[route]?.(client, DEPLOYMENT) as Promise<unknown>);
    expect(theirs).toHaveLength(1);
    expect(theirs[0]).toContain(`/openai/deployments/my%20deployment%2F1/`);
    const ours = WEIR[route]?.(`${endpoint}/openai`, VERSION) as Promise<unknown>;
    expect(await requestsOf(ours)).toEqual(theirs);
    // The deployment may also be part of the address.
    const address = `${endpoint}/openai/deployments/my%20deployment%2F1`;
    const named = WEIR[route]?.(address, VERSION) as Promise<unknown>;
    expect(await requestsOf(named)).toEqual(theirs);
  });

  test('goes where OpenAI’s client sends it for the v1 interface of Azure', async () => {
    const baseURL = `${endpoint}/openai/v1`;
    const defaultHeaders = { 'api-key': 'key' };
    const client = new OpenAI({ baseURL, apiKey: 'key', defaultHeaders, maxRetries: 0 });
    const theirs = await requestsOf(CLIENT[route]?.(client, DEPLOYMENT) as Promise<unknown>);
    expect(await requestsOf(WEIR[route]?.(baseURL) as Promise<unknown>)).toEqual(theirs);
  });
});

test('chat goes where @ai-sdk/azure 4.0.85 sends it', async () => {
  let theirs = '';
  const fetch = async (url: unknown) => {
    const { pathname, search } = new URL(String(url));
    theirs = `POST ${pathname}${search} key`;
    return Response.json({ error: { message: 'enough' } }, { status: 400 });
  };
  const azure = createAzure({
    ...{ resourceName: 'resource', apiKey: 'key', apiVersion: 'preview' },
    fetch: Object.assign(fetch, { preconnect: () => undefined }) as typeof globalThis.fetch,
  });
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
  await Promise.resolve(azure.chat('d').doGenerate({ prompt })).catch(() => undefined);
  expect(theirs).toContain('api-version=preview');
  const ours = WEIR['chat']?.(`${endpoint}/openai/v1`, 'preview') as Promise<unknown>;
  expect(await requestsOf(ours)).toEqual([theirs]);
});
