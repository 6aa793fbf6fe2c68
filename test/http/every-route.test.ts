/**
 * The promises of every route that answers while its client waits. No call exceeds the cap (P2).
 * One charge is committed before the answer is complete (P1, P4, P15). No response names a provider
 * (P5). If a client disconnects or its deadline passes, the upstream stops and no money stays held
 * (P8). A failure is free (P12).
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { withoutSignatures } from '../support/without-signatures.ts';

setDefaultTimeout(60_000);

const CHANNELS = [
  ['openai', '/openai/v1', ['gpt-4o', 'text-embedding-3-small', 'whisper-1', 'tts-1']],
  ['anthropic', '/anthropic', ['claude-haiku-4-5']],
  [
    ...(['gemini', '/google/v1beta'] as const),
    [
      ...['gemini-2.5-flash', 'gemini-embedding-001', 'gemini-2.5-flash-preview-tts'],
      'gemini-listener',
    ],
  ],
  ['cohere', '/cohere', ['rerank-v3.5']],
  ['deepl', '/deepl', ['deepl-translate']],
  ['openai-images', '/openai/v1', ['gpt-image-2']],
] as const;

/** A model that only `weir.yaml` declares. */
const LISTENER = {
  ...{ id: 'gemini-listener', category: 'stt', owned_by: 'google', family: 'whisper' },
  price: { usd_per_second: 0.00004 },
};

let simulator: RunningSimulator;
let weir: RunningWeir;
let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  simulator = await startSimulator();
  const fresh = await createTestDatabase();
  drop = fresh.drop;
  database = connectDatabase(fresh.url, { pool: 'single' });
  const channels = CHANNELS.map(([protocol, path, models]) => ({
    ...{ id: protocol, protocol, base_url: simulator.url + path, api_key: `sim-${protocol}` },
    models: Object.fromEntries(
      models.map((id) => [id, id === 'deepl-translate' ? 'quality_optimized' : id]),
    ),
  }));
  const config = JSON.stringify({
    ...{ channels, models: [LISTENER], roles: { standard: 1_000_000 } },
  });
  weir = await startWeir({ config, env: { DATABASE_URL: fresh.url } });
});
afterAll(async () => {
  await weir.stop();
  expect(await findMoneyFaults(database.sql)).toEqual([]);
  const [held] = await database.sql`select sum(held_nano_usd)::int8 as nano from organization`;
  expect(held?.['nano']).toBe(0);
  await database.close();
  await drop();
  await simulator.stop();
});

const turn = (text: string) => ({ messages: [{ role: 'user', content: text }] });
const contents = (text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] });

/** A request to each route. The simulator receives `text`, so `text` may hold directives. */
const ROUTES: [name: string, path: string, body: (text: string) => object | FormData][] = [
  ['chat', '/v1/chat/completions', (text) => ({ model: 'gpt-4o', ...turn(text) })],
  [
    'chat, streamed, on another provider',
    '/v1/chat/completions',
    (text) => ({ model: 'claude-haiku-4-5', stream: true, ...turn(text) }),
  ],
  [
    'messages on another provider',
    '/v1/messages',
    (text) => ({ model: 'gemini-2.5-flash', max_tokens: 500, ...turn(text) }),
  ],
  ['responses', '/v1/responses', (input) => ({ model: 'gpt-4o', input })],
  ['responses, streamed', '/v1/responses', (input) => ({ model: 'gpt-4o', input, stream: true })],
  ['Gemini', '/v1beta/models/gemini-2.5-flash:generateContent', contents],
  ['Gemini, streamed', '/v1beta/models/gpt-4o:streamGenerateContent?alt=sse', contents],
  [
    'embeddings',
    '/v1/embeddings',
    (input) => ({ model: 'text-embedding-3-small', input, dimensions: 8 }),
  ],
  [
    'embeddings of Gemini',
    '/v1/embeddings',
    (input) => ({ model: 'gemini-embedding-001', input, dimensions: 8 }),
  ],
  ['speech', '/v1/audio/speech', (input) => ({ model: 'tts-1', voice: 'alloy', input })],
  [
    'speech of Gemini',
    '/v1/audio/speech',
    (input) => ({
      ...{ model: 'gemini-2.5-flash-preview-tts', voice: 'Kore', response_format: 'wav', input },
    }),
  ],
  ['translations of audio', '/v1/audio/translations', (text) => sound(text)],
  ['transcriptions of Gemini', '/v1/audio/transcriptions', (text) => sound(text, LISTENER.id)],
  ['pictures', '/v1/images/generations', (prompt) => ({ model: 'gpt-image-2', prompt })],
  ['edits of images', '/v1/images/edits', edit],
  ['transcriptions', '/v1/audio/transcriptions', (text) => sound(text)],
  ['ranks', '/v1/rerank', (query) => ({ model: 'rerank-v3.5', query, documents: ['a', 'b'] })],
  ['translations of text', '/v1/translations', (text) => ({ text, target_lang: 'DE' })],
];

function sound(prompt: string, model = 'whisper-1'): FormData {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(32_000)], 'speech.wav', { type: 'audio/wav' }));
  form.set('model', model);
  form.set('prompt', prompt);
  return form;
}

function edit(prompt: string): FormData {
  const form = new FormData();
  form.set('image', new File([new Uint8Array(1_000)], 'a.png', { type: 'image/png' }));
  form.set('model', 'gpt-image-2');
  form.set('prompt', prompt);
  return form;
}

function send(
  path: string,
  body: object | FormData,
  signal?: AbortSignal,
  key = weir.api_key,
  headers: Record<string, string> = {},
): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(weir.base_url + path, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'x-goog-api-key': key },
      'anthropic-version': '2023-06-01',
      ...(isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: isForm ? body : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

interface Line {
  charged: number;
  outcome: string;
}

async function linesOf(request_id: string | null): Promise<Line[]> {
  const id = (request_id ?? '').replace('req_', '');
  const lines = await database.sql<Line[]>`
    select charged_nano_usd as charged, outcome from usage_line where request_id = ${id}::uuid`;
  return lines.map((line) => ({ ...line }));
}

const allLines = async () => {
  const [row] = await database.sql<{ lines: number }[]>`
    select count(*)::int4 as lines from usage_line`;
  return row?.lines ?? 0;
};

const openHolds = async () => {
  const [row] = await database.sql<{ holds: number }[]>`
    select count(*)::int4 as holds from hold where status = 'held'`;
  return row?.holds ?? 0;
};

/** A key whose cap pays for almost nothing. */
async function poorKey(limitAmount = 1e-9): Promise<string> {
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'poor', limitAmount }),
  });
  return ((await response.json()) as { key: string }).key;
}

/** The names of the simulated providers in bodies and headers. */
// `6ms` and `4000` are the provider's rate limits, in headers that Weir fills with its own.
const CANARIES =
  /SIM|sim-org|proj_sim|127\.0\.0\.1|"6ms"|"9999"|"4000"|openai-organization|ratelimit-tokens/;

describe.each(ROUTES)('%s', (_, path, body) => {
  test('P2: is refused with 402, without an upstream request, if the key’s cap does not pay for it', async () => {
    const key = await poorKey();
    const calls_before = (await simulator.books()).calls.length;
    const response = await send(path, body('Hello '.repeat(100)), undefined, key);
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 402 });
    expect((await simulator.books()).calls.length).toBe(calls_before);
  });

  test.each([
    [0, 'The usage limit of this API key is reached.'],
    [1e-9, 'This request may cost more than what is left of the usage limit of this API key.'],
  ])(
    '402: with %p USD left, names the money that is left and the estimate',
    async (left, message) => {
      const key = await poorKey(left);
      // A second request of a key whose money is spent is refused from memory.
      for (const _ of ['first', 'second']) {
        const response = await send(path, body('Hello'), undefined, key);
        const text = await response.text();
        expect({ status: response.status, text }).toMatchObject({ status: 402 });
        const { error } = JSON.parse(text);
        const details = error.details?.[0] ?? error;
        expect(error.message).toBe(message);
        expect(details.balance_usd).toBe(left);
        expect(details.estimated_cost_usd).toBeGreaterThan(left);
        expect(details.estimated_cost_usd).toBeLessThan(1_000);
      }
    },
  );

  test('P5: a response does not name its provider', async () => {
    const answered = ['Hello', 'Hello [[sim status=400]]'];
    // After a 500, Weir waits up to 30 s in case a result comes late (test/full/lost-images.test.ts).
    const isImage = path.startsWith('/v1/images');
    for (const text of isImage ? answered : [...answered, 'Hello [[sim status=500 times=1]]']) {
      const response = await send(path, body(text));
      const headers = JSON.stringify([...response.headers]);
      // The URL of an image has Weir's own address, which may be shown.
      const answer = (await response.text()).replaceAll(weir.base_url, '');
      expect(headers + withoutSignatures(answer)).not.toMatch(CANARIES);
    }
  });

  test('P1, P4, P15: is charged once, and the charge is committed when the answer is complete', async () => {
    const response = await send(path, body('Hello'));
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    const lines = await linesOf(response.headers.get('x-request-id'));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.outcome).toBe('completed');
    expect(lines[0]?.charged).toBeGreaterThan(0);
    expect(response.headers.get('x-request-id')).toBe(response.headers.get('request-id'));
  });

  test('P8: a client that disconnects stops the upstream, and is not charged', async () => {
    const before = await allLines();
    const since = (await simulator.books()).calls.at(-1)?.id ?? '';
    const client = new AbortController();
    const call = send(path, body(`Hello [[sim latency_ms=20000]]`), client.signal).catch(
      () => 'left',
    );
    const running = async () => (await simulator.books({ since })).calls;
    await until('the upstream has the request', async () => (await running()).length === 1);
    client.abort();
    expect(await call).toBe('left');
    // The upstream would have answered much later.
    await until(
      'the upstream request is stopped',
      async () => (await running()).every(({ outcome }) => outcome !== 'running'),
      5_000,
    );
    expect(await allLines()).toBe(before);
  });

  test('504: a client’s deadline stops the upstream, and nothing is charged', async () => {
    const before = await allLines();
    const since = (await simulator.books()).calls.at(-1)?.id ?? '';
    const started = performance.now();
    const late = body('Hello [[sim latency_ms=20000]]');
    const headers = { 'x-weir-timeout-ms': '1000' };
    const response = await send(path, late, undefined, undefined, headers);
    expect(performance.now() - started).toBeWithin(900, 10_000);
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 504 });
    expect(text).toContain('timeout_error');
    expect(text).toMatch(/"hint":"Send a higher x-weir-timeout-ms/);
    expect(text.includes('DEADLINE_EXCEEDED')).toBe(path.startsWith('/v1beta'));
    await until(
      'the upstream request is stopped',
      async () =>
        (await simulator.books({ since })).calls.every((call) => call.outcome !== 'running'),
      5_000,
    );
    expect(await allLines()).toBe(before);
    await until('no money is held by a task', async () => (await openHolds()) === 0, 5_000);
  });

  test('400: the header x-weir-timeout-ms is out of its bounds', async () => {
    const response = await send(path, body('Hello'), undefined, undefined, {
      'x-weir-timeout-ms': '999',
    });
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 400 });
    expect(text).toContain('"param":"x-weir-timeout-ms"');
  });

  test('P12: a refusal by the provider is free, and has the route’s envelope', async () => {
    const before = await allLines();
    const response = await send(path, body('Hello [[sim status=400]]'));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: {} });
    expect(await allLines()).toBe(before);
  });
});

test.each([false, true])(
  'P1: tokens that are cached for an hour have their own price; streamed: %p',
  async (stream) => {
    const text = 'One two three four five six seven [[sim cache_write=9 cache_write_1h=5]]';
    const question = { model: 'claude-haiku-4-5', max_tokens: 50, stream, ...turn(text) };
    const response = await send('/v1/messages', question);
    const answer = await response.text();
    const last = (name: string) =>
      Number([...answer.matchAll(new RegExp(`"${name}":(\\d+)`, 'g'))].at(-1)?.[1]);
    expect(last('ephemeral_1h_input_tokens')).toBe(5);
    const [line] = await linesOf(response.headers.get('x-request-id'));
    // Haiku 4.5, USD per million tokens: 1 input, 1.25 and 2 cache writes, 5 output.
    const { input, output } = { input: last('input_tokens'), output: last('output_tokens') };
    expect(line?.charged).toBe(input * 1_000 + 4 * 1_250 + 5 * 2_000 + output * 5_000);
  },
);
