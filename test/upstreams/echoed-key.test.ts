/**
 * An upstream that quotes the credentials it received, in every protocol: no error and no failure,
 * which reach logs, operators and clients, may show them.
 */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import pino from 'pino';
import type { GenerationInput } from '../../src/catalogue/inputs.ts';
import {
  CHAT_PROTOCOLS,
  CLIENT_PROTOCOLS,
  type ClientProtocol,
  type GenerationProtocolName,
} from '../../src/protocols/names.ts';
import { protocolFor } from '../../src/upstreams/chat/protocols.ts';
import type { UpstreamCall } from '../../src/upstreams/contract.ts';
import {
  EMBEDDERS,
  RERANKERS,
  SYNTHESIZERS,
  TRANSCRIBERS,
  TRANSLATORS,
} from '../../src/upstreams/direct/protocols.ts';
import type { GenerationCall } from '../../src/upstreams/generation/contract.ts';
import { GENERATION_PROTOCOLS } from '../../src/upstreams/generation/protocols.ts';
import { redact } from '../../src/upstreams/transport/credentials.ts';
import { type Asked, callOf, startUpstream, type Upstream } from './upstream.ts';

setDefaultTimeout(120_000);

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());
beforeEach(() => {
  upstream.asked.length = 0;
});

const KEY = 'sk-Echo/9f+8aK"q=z~0123456789abcdef';
const PAIR = 'AKIDEXAMPLE12:wJalrXUtnFEMI/K7MDENG+bPxRfiCY:session+token/0123456789';
const TOKEN = 'ya29.an-access-token-0123456789';
const privateKey = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;

/** The keys that a channel of the protocol may have. */
function keysOf(protocol: string): string[] {
  if (protocol === 'bedrock' || protocol === 'kling') return [KEY, PAIR];
  if (protocol !== 'vertex') return [KEY];
  const token_uri = `${upstream.url}/token`;
  return [
    KEY,
    JSON.stringify({ client_email: 'a@b.example', private_key: privateKey(), token_uri }),
  ];
}

/** Headers that carry a credential in some protocol. */
const CREDENTIAL_HEADERS = [
  ...['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'x-key', 'mj-api-secret'],
  'x-amz-security-token',
];

/** The credentials of a request, without their scheme. */
function credentialsOf({ headers }: Asked): string[] {
  return CREDENTIAL_HEADERS.flatMap((name) => headers.get(name) ?? []).map((value) =>
    value.slice(value.indexOf(' ') + 1),
  );
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** What the upstream says about a request: its credentials in every form. */
function echoOf(asked: Asked): string {
  const headers = CREDENTIAL_HEADERS.flatMap((name) => asked.headers.get(name) ?? []);
  return [...headers, ...credentialsOf(asked)]
    .flatMap((text) => [
      ...[text, base64(text), base64(`u:${text}`), base64(`me:${text}`), encodeURIComponent(text)],
      ...[Buffer.from(text).toString('base64url'), JSON.stringify(text)],
    ])
    .join(' and ');
}

/** Texts of which none may be shown. A part of a credential is enough to fail. */
function forbiddenIn(asked: readonly Asked[], api_key: string): string[] {
  const sent = asked.flatMap(credentialsOf).filter((each) => !each.startsWith('Credential='));
  const parts = api_key.startsWith('{') ? [] : api_key.split(':');
  return [...new Set([...sent, ...parts])].flatMap((secret) => [
    ...[secret.slice(0, 14), secret.slice(-14), encodeURIComponent(secret).slice(0, 16)],
    // The first characters of each Base64 form that depend on the secret only.
    ...['', 'u:', 'me:'].map((before) => base64(before + secret).slice(4, 20)),
  ]);
}

const STATUSES = [400, 401, 403, 404, 413, 422, 429, 500, 503];

type Shape = (echo: string) => Response;

const errorBodies = (echo: string): object[] => [
  { error: { message: `wrong key ${echo}`, type: echo, code: echo, param: echo } },
  { type: 'error', error: { type: 'api_error', message: `messages.0: ${echo}` } },
  { code: 1_000, message: `moderation: ${echo}`, msg: echo, detail: { reason: echo } },
  // The key lies across the places at which a message is cut.
  { error: { message: 'x'.repeat(490) + echo } },
  { message: 'x'.repeat(1_990) + echo },
];

/** Answers of a job that has failed, or whose state is not known, in the words of each provider. */
const jobBodies = (echo: string): object[] =>
  ['failed', 'FAILED', 'FAILURE', 'Error', 'Failed', 'Request Moderated', 'COMPLETED', echo].map(
    (status) => ({
      ...{ status, state: status, code: 0, done: true, message: echo, details: echo },
      ...{ error: { code: echo, message: echo }, failure: echo, failureCode: echo },
      ...{ failReason: echo, fail_reason: echo },
      data: { status, task_status: status, task_status_msg: echo, fail_reason: echo },
    }),
  );

/** Every way in which the upstream answers. */
const SHAPES: Shape[] = [
  ...STATUSES.flatMap((status) => [
    ...[0, 1, 2, 3, 4].map(
      (at): Shape =>
        (echo) =>
          Response.json(errorBodies(echo)[at], { status }),
    ),
    // Some servers escape each slash.
    (echo: string) =>
      new Response(JSON.stringify(errorBodies(echo)[0]).replaceAll('/', '\\/'), { status }),
    (echo: string) => new Response(`<h1>${echo}</h1>`, { status }),
    (echo: string) => new Response('y'.repeat(150) + echo, { status }),
  ]),
  ...[0, 1, 2, 3, 4].map(
    (at): Shape =>
      (echo) =>
        Response.json(errorBodies(echo)[at]),
  ),
  (echo) => new Response(`not JSON: ${echo}`),
  (echo) => new Response(null, { status: 302, headers: { location: `https://a.example/${echo}` } }),
  ...errorBodies('').map(
    (_, at): Shape =>
      (echo) =>
        new Response(`event: error\ndata: ${JSON.stringify(errorBodies(echo)[at])}\n\n`, {
          headers: { 'content-type': 'text/event-stream' },
        }),
  ),
];
const JOB_SHAPES: Shape[] = jobBodies('').map(
  (_, at): Shape =>
    (echo) =>
      Response.json(jobBodies(echo)[at]),
);

/** Everything of an error that the log, an operator or a client may see. */
function textOf(error: unknown): string {
  const { public_message, param } = error as { public_message?: string; param?: string };
  const shown = [String(error), public_message, param];
  return JSON.stringify([
    ...shown,
    error instanceof Error ? pino.stdSerializers.err(error) : error,
  ]);
}

/**
 * Runs a call once per shape, and checks what it throws or returns. Returns how often a credential was
 * removed.
 */
async function check(
  shapes: readonly Shape[],
  api_key: string,
  run: () => Promise<unknown>,
): Promise<number> {
  let redacted = 0;
  for (const shape of shapes) {
    upstream.asked.length = 0;
    upstream.answer = (asked) =>
      asked.path === '/token' ? Response.json({ access_token: TOKEN }) : shape(echoOf(asked));
    const text = await run().then(
      (result) => JSON.stringify(result ?? null),
      (error: unknown) => textOf(error),
    );
    for (const forbidden of forbiddenIn(upstream.asked, api_key)) {
      expect([text, text.includes(forbidden)]).toEqual([text, false]);
    }
    if (text.includes('***')) redacted += 1;
  }
  return redacted;
}

const BODIES: Record<ClientProtocol, object> = {
  openai: { model: 'gpt-test', messages: [{ role: 'user', content: 'Hello' }] },
  anthropic: {
    ...{ model: 'gpt-test', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] },
  },
  responses: { model: 'gpt-test', input: 'Hello' },
  gemini: { model: 'gpt-test', contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
};

const withKey = (body: object, api_key: string): UpstreamCall => {
  const call = callOf(upstream.url, { ...body });
  return { ...call, target: { ...call.target, api_key } };
};

async function drained(events: AsyncIterable<unknown>): Promise<null> {
  for await (const _ of events);
  return null;
}

const PAIRS = CHAT_PROTOCOLS.flatMap((name) =>
  CLIENT_PROTOCOLS.map((client) => [client, name] as const),
);

test.each(PAIRS)('a client of %s over %s', async (client, name) => {
  const protocol = protocolFor(client, name);
  for (const api_key of keysOf(name)) {
    const call = withKey(BODIES[client], api_key);
    // An answer without an error is no failure.
    const complete = async () => void (await protocol.complete(call));
    expect(await check(SHAPES, api_key, complete)).toBeGreaterThan(30);
    const stream = async () => drained((await protocol.stream(call)).events);
    expect(await check(SHAPES, api_key, stream)).toBeGreaterThan(30);
  }
});

const file = new File(['sound'], 'a.mp3', { type: 'audio/mpeg' });
const own = { counted: () => 1, max_tokens: 10 };
const DIRECT: [name: string, run: (call: UpstreamCall) => Promise<unknown>][] = [
  ...Object.entries(EMBEDDERS).map(([name, each]): (typeof DIRECT)[number] => [
    `embeddings of ${name}`,
    (call) => each.embed(call, own),
  ]),
  ...Object.entries(TRANSCRIBERS).map(([name, each]): (typeof DIRECT)[number] => [
    `transcripts of ${name}`,
    (call) => each.transcribe(call, { task: 'transcriptions', file }),
  ]),
  ...Object.entries(SYNTHESIZERS).map(([name, each]): (typeof DIRECT)[number] => [
    `speech of ${name}`,
    async (call) => drained((await each.synthesize(call)).pieces),
  ]),
  ...Object.entries(RERANKERS).map(([name, each]): (typeof DIRECT)[number] => [
    `ranks of ${name}`,
    (call) => each.rerank(call, { query: 'a', documents: ['b', 'c'] }),
  ]),
  ...Object.entries(TRANSLATORS).map(([name, each]): (typeof DIRECT)[number] => [
    `translations of ${name}`,
    (call) => each.translate(call, { texts: ['a'], target_lang: 'DE' }),
  ]),
];

test.each(DIRECT)('%s', async (_, run) => {
  const body = { model: 'gpt-test', input: 'Hello', voice: 'Kore', response_format: 'wav' };
  const call = withKey(body, KEY);
  expect(await check(SHAPES, KEY, async () => void (await run(call)))).toBeGreaterThan(30);
});

const image = { scene: 'image', prompt: 'a', n: 1, response_format: 'url', size: '1024x1024' };
const video = { scene: 'video', operation: 'text-to-video', prompt: 'a', duration: 5 };
const music = { scene: 'music', action: 'MUSIC', prompt: 'a' };
const VIDEO_PROTOCOLS = ['veo', 'kling', 'runway', 'ark', 'fal', 'replicate', 'xai'];

function inputOf(name: string): GenerationInput {
  const input = name === 'suno' ? music : VIDEO_PROTOCOLS.includes(name) ? video : image;
  return input as GenerationInput;
}

describe.each(Object.keys(GENERATION_PROTOCOLS) as GenerationProtocolName[])('%s', (name) => {
  const protocol = GENERATION_PROTOCOLS[name];
  const generation = (api_key: string): GenerationCall => ({
    target: { channel_id: 'c', base_url: upstream.url, api_key, timeout_ms: 20_000 },
    ...{ physical_model: 'owner/veo', public_model: 'gpt-test', input: inputOf(name) },
    ...{ idempotency_key: 'an-id', signal: new AbortController().signal },
  });
  const job = () => {
    const path = `${upstream.url}/requests/1`;
    return { id: '1', poll_url: `${path}/status`, path: name === 'fal' ? path : '/videos' };
  };

  test('its submissions', async () => {
    for (const api_key of keysOf(name)) {
      const call = generation(api_key);
      const shapes = [...SHAPES, ...JOB_SHAPES];
      expect(await check(shapes, api_key, () => protocol.submit(call))).toBeGreaterThan(20);
    }
  });

  test('its polls, cancellations and searches', async () => {
    for (const api_key of keysOf(name)) {
      const call = generation(api_key);
      const shapes = [...SHAPES, ...JOB_SHAPES];
      const { poll, cancel, find } = protocol;
      if (poll) expect(await check(shapes, api_key, () => poll(call, job()))).toBeGreaterThan(20);
      if (cancel) await check(shapes, api_key, () => cancel(call, job()));
      if (find) await check(shapes, api_key, async () => void (await find(call)));
    }
  });
});

describe('redact', () => {
  test('leaves other texts and very short keys as they are', () => {
    expect(redact('a message about keys', KEY)).toBe('a message about keys');
    expect(redact('the sim answered', 'sim')).toBe('the sim answered');
    expect(redact('the empty key', '')).toBe('the empty key');
  });

  test('removes the private key of a service account, whole and by its lines', () => {
    const private_key = privateKey();
    const api_key = JSON.stringify({ client_email: 'a@b.example', private_key });
    const lines = private_key.split('\n').filter((line) => line.length > 60);
    for (const text of [api_key, private_key, lines.join(' '), JSON.stringify({ private_key })]) {
      const redacted = redact(`said ${text}`, api_key);
      for (const line of lines) expect(redacted).not.toContain(line);
      expect(redacted).toStartWith('said ');
    }
  });
});
