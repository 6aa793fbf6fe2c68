/**
 * Transcripts of models that are billed by seconds and by tokens. The names, types and refusals are
 * those of openai 6 (resources/audio/transcriptions.d.ts), and of the issue threads that a test names.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createOpenAI } from '@ai-sdk/openai';
import OpenAI, { APIError } from 'openai';
import { failureOf } from '../support/failure-of.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { startUpstream } from '../upstreams/upstream.ts';

setDefaultTimeout(60_000);

const upstream = startUpstream();
/** The form of each request that the provider received. */
const received: FormData[] = [];
let weir: RunningWeir;
let openai: OpenAI;

/** The words of openai/openai-dotnet issue 401 and vercel/ai issue 8214. */
const REFUSAL = {
  message:
    "response_format 'verbose_json' is not compatible with model 'gpt-4o-transcribe-api-ev3'. Use 'json' or 'text' instead.",
  ...{ type: 'invalid_request_error', param: 'response_format', code: 'unsupported_value' },
};
/** OpenAI docs: Create transcription, the example of a JSON answer with tokens. */
const TOKENS = {
  ...{ type: 'tokens', input_tokens: 14, output_tokens: 45, total_tokens: 59 },
  input_token_details: { text_tokens: 0, audio_tokens: 14 },
};
const VERBOSE = {
  ...{ task: 'transcribe', language: 'english', duration: 8.470000267028809, text: 'The beach.' },
  segments: [{ id: 0, seek: 0, start: 0, end: 3.32, text: ' The beach.' }],
  usage: { type: 'duration', seconds: 9 },
};

beforeAll(async () => {
  upstream.answer = async ({ headers, text }) => {
    const type = headers.get('content-type') ?? '';
    const sent = new Response(text, { headers: { 'content-type': type } });
    const form = (await sent.formData()) as unknown as FormData;
    received.push(form);
    const model = String(form.get('model'));
    const format = form.get('response_format');
    if (model === 'whisper-1') return Response.json(VERBOSE);
    if (model === 'echo') {
      return Response.json({ error: { message: form.get('prompt') } }, { status: 400 });
    }
    if (format !== 'json') return Response.json({ error: REFUSAL }, { status: 400 });
    return Response.json({
      text: 'Imagine the wildest idea',
      ...(model === 'no-usage' ? {} : { usage: TOKENS }),
    });
  };
  const model = (id: string) => ({
    ...{ id, category: 'stt', family: 'whisper', owned_by: 'openai' },
    price: { usd_per_second: 0.0001 },
  });
  const known = ['gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'whisper-1'];
  const ids = ['voxtral', 'no-usage', 'echo'];
  weir = await startWeir({
    config: JSON.stringify({
      channels: [
        {
          ...{ id: 'main', protocol: 'openai', base_url: upstream.url, api_key: 'none' },
          models: Object.fromEntries([...ids, ...known].map((id) => [id, id])),
        },
      ],
      models: ids.map(model),
    }),
    shared_database: true,
  });
  openai = new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: weir.api_key, maxRetries: 0 });
});
afterAll(async () => {
  await weir.stop();
  await upstream.stop();
});

const file = () => new File([new Uint8Array(64_000)], 'speech.wav', { type: 'audio/wav' });
const create = (model: string, more: Record<string, unknown> = {}) => {
  received.length = 0;
  return openai.audio.transcriptions.create({ model, file: file(), ...more });
};
const formats = () => received.map((form) => form.get('response_format'));

test('stream is refused by its name, with what is offered', async () => {
  const failure = await failureOf(create('whisper-1', { stream: true }));
  expect(failure).toMatchObject({ status: 400, param: 'stream' });
  expect((failure as APIError).error).toMatchObject({ hint: expect.stringContaining('one piece') });
  expect(received).toEqual([]);
});

describe('usage', () => {
  test('whisper-1: seconds, rounded up, in json and verbose_json', async () => {
    expect(await create('whisper-1')).toEqual({
      text: 'The beach.',
      usage: { type: 'duration', seconds: 9 },
    });
    expect(await create('whisper-1', { response_format: 'verbose_json' })).toEqual(
      VERBOSE as never,
    );
  });

  test('gpt-4o-transcribe: the tokens that the provider reports', async () => {
    expect(await create('gpt-4o-transcribe')).toEqual({
      text: 'Imagine the wildest idea',
      usage: TOKENS,
    } as never);
  });
});

describe('a model that knows only json', () => {
  test('is asked for json after it refused verbose_json, and later at once', async () => {
    await create('voxtral');
    expect(formats()).toEqual(['verbose_json', 'json']);
    const text = await create('voxtral', { response_format: 'text' });
    expect(text as unknown).toBe('Imagine the wildest idea\n');
    expect(formats()).toEqual(['json']);
  });

  test.each(['gpt-4o-transcribe', 'voxtral'])(
    '%s refuses formats with times by name',
    async (id) => {
      await create(id);
      for (const response_format of ['verbose_json', 'srt', 'vtt']) {
        const failure = await failureOf(create(id, { response_format }));
        expect(failure).toBeInstanceOf(APIError);
        expect(failure).toMatchObject({ status: 400, param: 'response_format' });
        expect((failure as APIError).message).toContain('json or text');
      }
      const failure = await failureOf(
        create(id, { response_format: 'verbose_json', timestamp_granularities: ['word'] }),
      );
      expect(failure).toMatchObject({ status: 400, param: 'timestamp_granularities[]' });
    },
  );

  test('is answered even if it reports no usage: the words give the time', async () => {
    expect(await create('no-usage')).toEqual({
      text: 'Imagine the wildest idea',
      usage: { type: 'duration', seconds: 2 },
    } as never);
  });

  test('is not learned from an error that repeats the client’s text', async () => {
    const before = await failureOf(create('echo', { prompt: 'response_format verbose_json' }));
    expect(before).toBeInstanceOf(APIError);
    expect(formats()).toEqual(['verbose_json']);
  });
});

describe('the catalogue says which formats a model has', () => {
  // @ai-sdk/openai 4.0.118 asks whisper-1 for verbose_json, and leaves the default of the others.
  test.each(['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'])('%s', async (id) => {
    await create(id);
    const [byWeir] = formats();
    let byPackage: unknown;
    const fetch = async (_: unknown, init?: RequestInit) => {
      byPackage = (init?.body as FormData | undefined)?.get('response_format');
      return new Response('{}', { status: 400 });
    };
    const provider = createOpenAI({
      apiKey: 'key',
      fetch: Object.assign(fetch, { preconnect: () => undefined }) as typeof globalThis.fetch,
    });
    const audio = new Uint8Array([1, 2, 3]);
    await Promise.resolve(
      provider.transcription(id).doGenerate({ audio, mediaType: 'audio/wav' }),
    ).catch(() => undefined);
    expect(byWeir).toBe(String(byPackage ?? 'json'));
    expect(received).toHaveLength(1);
  });

  test('a model that cannot translate speech says so', async () => {
    received.length = 0;
    const failure = await failureOf(
      openai.audio.translations.create({ model: 'gpt-4o-transcribe', file: file() }),
    );
    expect(failure).toMatchObject({ status: 400, param: 'model' });
    expect(received).toEqual([]);
  });

  test('the published contract has the formats of the model', async () => {
    const answer = await fetch(`${weir.base_url}/v1/models/gpt-4o-transcribe`, {
      headers: { authorization: `Bearer ${weir.api_key}` },
    });
    const { weir: detail } = (await answer.json()) as {
      weir: { public_contract: { properties: Record<string, { anyOf?: { const: string }[] }> } };
    };
    const { properties } = detail.public_contract;
    expect(properties['response_format']?.anyOf?.map((each) => each.const)).toEqual([
      'json',
      'text',
    ]);
    expect(Object.keys(properties)).not.toContain('timestamp_granularities[]');
  });
});
