/**
 * If no channel can serve a model, every route that calls channels returns the same error:
 * `all_channels_failed` with `retryable`, `retry_after`, `hint` and `alternatives` (spec: Errors).
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { formWithFile, MODEL_CALLS, type ModelCall } from '../support/model-calls.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

const PATHS = {
  openai: '/openai/v1',
  'openai-images': '/openai/v1',
  anthropic: '/anthropic',
  gemini: '/google/v1beta',
  cohere: '/cohere',
  deepl: '/deepl',
} as const;
type Protocol = keyof typeof PATHS;

/** The models whose only channel has a key that its provider refuses. */
const BROKEN: Partial<Record<Protocol, string[]>> = {
  openai: ['gpt-4o', 'text-embedding-3-small', 'whisper-1', 'tts-1'],
  'openai-images': ['gpt-image-2'],
  anthropic: ['claude-haiku-4-5'],
  gemini: ['gemini-2.5-flash'],
  cohere: ['rerank-v3.5'],
  deepl: ['deepl-translate'],
};
/** The models that can serve. `dall-e-3` cannot edit images. */
const HEALTHY: Partial<Record<Protocol, string[]>> = {
  openai: ['gpt-4o-mini', 'text-embedding-3-large', 'spare-listener', 'tts-1-hd'],
  'openai-images': ['gpt-image-1', 'dall-e-3'],
  cohere: ['spare-ranker'],
  deepl: ['spare-translator'],
};
const SPARES = [
  { id: 'spare-listener', category: 'stt', family: 'whisper', price: { usd_per_second: 0.0001 } },
  {
    ...{ id: 'spare-ranker', category: 'rerank', family: 'cohere-rerank' },
    price: { usd_per_request: 0.002 },
  },
  {
    ...{ id: 'spare-translator', category: 'translation', family: 'deepl-translation' },
    price: { usd_per_mchar: 25 },
  },
].map((model) => ({ ...model, owned_by: 'spare' }));

let simulator: RunningSimulator;
let weir: RunningWeir;
beforeAll(async () => {
  simulator = await startSimulator();
  const channels = Object.entries({ broken: BROKEN, healthy: HEALTHY }).flatMap(
    ([health, served]) =>
      Object.entries(served).map(([protocol, models]) => ({
        ...{ id: `${health}-${protocol}`, protocol, api_key: `sim-${health}-${protocol}` },
        base_url: simulator.url + PATHS[protocol as Protocol],
        models: Object.fromEntries(
          models.map((id) => [id, protocol === 'deepl' ? 'quality_optimized' : id]),
        ),
      })),
  );
  for (const protocol of Object.keys(BROKEN)) {
    await simulator.setAccount(`broken-${protocol}`, { revoked: true });
  }
  weir = await startWeir({
    config: JSON.stringify({ channels, models: SPARES, roles: { standard: 1_000_000 } }),
    shared_database: true,
  });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const turn = { messages: [{ role: 'user', content: 'Hello' }] };
const contents = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };

/** A request to each route that answers while its client waits, and its model without a channel. */
const ROUTES: readonly [name: string, model: string, call: ModelCall][] = [
  ...MODEL_CALLS,
  [
    'a chat stream',
    'gpt-4o',
    (model) => ['/v1/chat/completions', { model, stream: true, ...turn }],
  ],
  ['responses', 'gpt-4o', (model) => ['/v1/responses', { model, input: 'Hello' }]],
  [
    'a Gemini stream',
    'gemini-2.5-flash',
    (id) => [`/v1beta/models/${id}:streamGenerateContent?alt=sse`, contents],
  ],
  ['images', 'gpt-image-2', (model) => ['/v1/images/generations', { model, prompt: 'A cat' }]],
  [
    'image edits as a form',
    'gpt-image-2',
    (model) => ['/v1/images/edits', formWithFile({ model, prompt: 'A cat' }, 'image', 'image/png')],
  ],
  [
    'image edits as JSON',
    'gpt-image-2',
    (model) => ['/v1/images/edits', { model, prompt: 'A cat', image: PNG }],
  ],
];

function send(path: string, body: object | FormData): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(weir.base_url + path, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${weir.api_key}`, 'x-goog-api-key': weir.api_key },
      'anthropic-version': '2023-06-01',
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
}

interface Details {
  retryable: boolean;
  retry_after: number;
  hint: string;
  param: string | null;
  alternatives: { id: string; status: string; tags: string[] }[];
}

/** Returns the error of any envelope: OpenAI-style, native or Gemini. */
function detailsOf(text: string): Details & { code: string } {
  const { error } = JSON.parse(text);
  const [info] = error.details ?? [];
  return info === undefined ? error : { ...info, code: info.reason };
}

describe.each(ROUTES)('no channel for %s', (name, model, ask) => {
  // The second request is refused without an upstream request, because the circuit is open.
  test.each(['first', 'second'])('the %s request gets all details', async () => {
    const response = await send(...ask(model));
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 503 });
    const { code, retryable, retry_after, hint, param, alternatives } = detailsOf(text);
    expect({ code, retryable, param, hint }).toEqual({
      ...{ code: 'all_channels_failed', retryable: true, param: null },
      hint: 'Retry after the given time, or use another model.',
    });
    // The provider refused the key, so the next attempt is later than a second from now.
    expect(retry_after).toBeWithin(2, 121);
    expect(response.headers.get('retry-after')).toBe(String(retry_after));
    expect(alternatives.length).toBeGreaterThan(0);
    for (const alternative of alternatives) {
      expect(alternative).toEqual({
        ...{ id: expect.any(String), status: 'available' },
        tags: [expect.any(String), expect.any(String)],
      });
    }
    const ids = alternatives.map(({ id }) => id);
    expect(ids.includes('dall-e-3')).toBe(name === 'images');
  });
});

// By now every broken circuit is open.
describe.each(ROUTES)('the alternatives for %s', (_, model, ask) => {
  test('serve the same request', async () => {
    const { alternatives } = detailsOf(await (await send(...ask(model))).text());
    for (const { id } of alternatives) {
      const response = await send(...ask(id));
      const text = await response.text();
      expect({ id, status: response.status, text }).toMatchObject({ id, status: 200 });
    }
  });
});
