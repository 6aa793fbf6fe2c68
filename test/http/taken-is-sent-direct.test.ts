/**
 * P18 for embeddings, speech, transcription, rerank and translation: every parameter that a vendor
 * documents reaches the upstream, or is refused by name, or is on the list of what is left out. A real
 * Weir stands in front of the simulator, which records what it receives.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import OpenAI from 'openai';
import pLimit from 'p-limit';
import type { RecordedRequest } from '../../simulator/shared/books.ts';
import { isLeftOut } from '../../src/catalogue/left-out.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { membersOf } from '../support/taken-parameters.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

/** A model that listens over Gemini's protocol. */
const LISTENER = {
  ...{ id: 'gemini-listener', category: 'stt', owned_by: 'google', family: 'whisper' },
  price: { usd_per_second: 0.0001 },
};
const CHANNELS = {
  openai: {
    path: '/openai/v1',
    models: ['text-embedding-3-large', 'text-embedding-ada-002', 'tts-1', 'whisper-1'],
  },
  gemini: {
    path: '/google/v1beta',
    models: ['gemini-embedding-001', 'gemini-2.5-flash-preview-tts', LISTENER.id],
  },
  cohere: { path: '/cohere', models: ['rerank-v3.5'] },
  deepl: { path: '/deepl', models: ['deepl-translate'] },
} as const;
type Channel = keyof typeof CHANNELS;

let simulator: RunningSimulator;
let weir: RunningWeir;
beforeAll(async () => {
  simulator = await startSimulator();
  const channels = Object.entries(CHANNELS).map(([protocol, { path, models }]) => ({
    ...{ id: protocol, protocol, base_url: simulator.url + path, api_key: `sim-${protocol}` },
    models: Object.fromEntries(
      models.map((id) => [id, protocol === 'deepl' ? 'quality_optimized' : `${id}-physical`]),
    ),
  }));
  weir = await startWeir({
    config: JSON.stringify({ channels, models: [LISTENER], roles: { standard: 1_000_000 } }),
    shared_database: true,
  });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});

const EMBEDDING = { encoding_format: 'base64', dimensions: 8, user: 'u', input_type: 'query' };
const SPOKEN = {
  ...{ instructions: 'Slowly', response_format: 'pcm', speed: 2, stream_format: 'audio' },
  ...{ voice: { id: 'Puck' } },
};
const TRANSCRIBED = {
  chunking_strategy: 'auto',
  'include[]': 'logprobs',
  'keywords[]': 'rain',
  'known_speaker_names[]': 'Ann',
  'known_speaker_references[]': 'data:audio/wav;base64,AA==',
  language: 'de',
  'languages[]': 'de',
  response_format: 'srt',
  stream: 'false',
  temperature: '0.5',
  'timestamp_granularities[]': 'word',
};
/** Cohere docs: Rerank, v2; Jina docs: Reranker. */
const RANKED = {
  ...{ top_n: 1, max_tokens_per_doc: 100, priority: 1, return_documents: true, truncation: true },
};
/** DeepL docs: Translate text. */
const TRANSLATED = {
  ...{ source_lang: 'EN', formality: 'more', context: 'A letter', split_sentences: '0' },
  ...{ preserve_formatting: true, glossary_id: 'g', tag_handling: 'xml', outline_detection: false },
  ...{ non_splitting_tags: ['a'], splitting_tags: ['a'], ignore_tags: ['a'], style_id: 's' },
  ...{ custom_instructions: ['x'], enable_beta_languages: true },
};

interface Table {
  readonly path: string;
  readonly channel: Channel;
  readonly model: string;
  /** Returns a minimal body. `text` has the directives and the mark. */
  readonly bodyOf: (text: string) => object;
  readonly values: Readonly<Record<string, unknown>>;
  /** Members that a parameter needs beside it. */
  readonly beside?: Readonly<Record<string, object>>;
}

const heard = (path: string, channel: Channel, model: string): Table => ({
  ...{ path, channel, model, values: TRANSCRIBED, bodyOf: (prompt) => ({ prompt }) },
  beside: { 'timestamp_granularities[]': { response_format: 'verbose_json' } },
});
const embedded = (channel: Channel, model: string): Table => ({
  ...{ path: '/v1/embeddings', channel, model, values: EMBEDDING },
  bodyOf: (input) => ({ input }),
});
const spoken = (channel: Channel, model: string): Table => ({
  ...{ path: '/v1/audio/speech', channel, model, values: SPOKEN },
  bodyOf: (input) => ({ input, voice: 'Kore', response_format: 'wav' }),
});

const TABLES: readonly Table[] = [
  embedded('openai', 'text-embedding-3-large'),
  embedded('openai', 'text-embedding-ada-002'),
  embedded('gemini', 'gemini-embedding-001'),
  spoken('openai', 'tts-1'),
  spoken('gemini', 'gemini-2.5-flash-preview-tts'),
  heard('/v1/audio/transcriptions', 'openai', 'whisper-1'),
  heard('/v1/audio/transcriptions', 'gemini', LISTENER.id),
  heard('/v1/audio/translations', 'openai', 'whisper-1'),
  heard('/v1/audio/translations', 'gemini', LISTENER.id),
  {
    ...{ path: '/v1/rerank', channel: 'cohere', model: 'rerank-v3.5', values: RANKED },
    bodyOf: (query) => ({ query, documents: ['a', 'b'] }),
  },
  {
    ...{ path: '/v1/translations', channel: 'deepl', model: 'deepl-translate' },
    ...{ values: TRANSLATED, bodyOf: (text) => ({ text, target_lang: 'DE' }) },
  },
];

let marks = 0;

async function send({ path, model, bodyOf }: Table, more: object) {
  marks += 1;
  const mark = `mark-${marks}.`;
  const body = { model, ...bodyOf(`[[sim record=1]] ${mark}`), ...more };
  const isForm = path.startsWith('/v1/audio/tra');
  const response = await fetch(weir.base_url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.api_key}`,
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    body: isForm ? formOf(body) : JSON.stringify(body),
  });
  return { mark, status: response.status, text: await response.text() };
}

function formOf(body: object): FormData {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(2_000)], 'a.wav', { type: 'audio/wav' }));
  for (const [name, value] of Object.entries(body)) form.append(name, String(value));
  return form;
}

test.each(TABLES)('P18: on $path, $model gets what is taken', async (table) => {
  const limit = pLimit(8);
  const { path, channel, values, beside = {} } = table;
  const rows = await Promise.all(
    Object.entries(values).map(async ([name, value]) => ({
      ...{ name, value },
      before: await limit(() => send(table, beside[name] ?? {})),
      after: await limit(() => send(table, { ...beside[name], [name]: value })),
    })),
  );
  const { calls } = await simulator.books({ account: channel });
  const recorded = calls.flatMap(({ request }) => request ?? []);
  const upstream = channel === 'gemini' ? channel : 'openai';
  const faults = rows.flatMap(({ name, value, before, after }): object[] => {
    if (after.status === 400 && after.text.includes(`"param":"${name}"`)) return [];
    const [plain, changed] = [received(before.mark, recorded), received(after.mark, recorded)];
    if (after.status !== 200 || changed === undefined) return [{ name, value, ...after }];
    if (plain !== changed || isLeftOut(path, name, value, upstream)) return [];
    return [{ name, value, fault: 'taken, not sent' }];
  });
  expect(faults).toEqual([]);
});

/** Returns what the upstream received for a request, without its mark. */
function received(mark: string, recorded: readonly RecordedRequest[]): string | undefined {
  const request = recorded.find(({ body }) => JSON.stringify(body).includes(mark));
  return request && JSON.stringify(request.body).replaceAll(mark, '');
}

test('P18: the tables have every parameter of OpenAI’s SDK', () => {
  const declared = [
    ...membersOf('openai/resources/embeddings.d.ts', 'EmbeddingCreateParams'),
    ...membersOf('openai/resources/audio/speech.d.ts', 'SpeechCreateParams'),
    ...membersOf('openai/resources/audio/transcriptions.d.ts', 'TranscriptionCreateParamsBase'),
  ];
  expect(declared.length).toBeGreaterThan(20);
  const tried = Object.keys({ ...EMBEDDING, ...SPOKEN, ...TRANSCRIBED }).map((name) =>
    name.replace('[]', ''),
  );
  const known = [...tried, 'file', 'input', 'model', 'prompt'];
  expect(declared.filter((name) => !known.includes(name))).toEqual([]);
});

describe('the times of a transcription', () => {
  const openai = () =>
    new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: weir.api_key, maxRetries: 0 });
  const file = () => new File([new Uint8Array(64_000)], 'speech.wav', { type: 'audio/wav' });
  const create = (timestamp_granularities: ('word' | 'segment')[]) =>
    openai().audio.transcriptions.create({
      ...{ model: 'whisper-1', file: file(), response_format: 'verbose_json' },
      timestamp_granularities,
    });

  test('are those of words, of segments, or of both, as requested', async () => {
    const words = await create(['word']);
    expect(words.words?.length).toBeGreaterThan(3);
    expect(words.words?.[0]).toEqual({
      word: expect.any(String),
      start: 0,
      end: expect.any(Number),
    });
    expect(words.words?.at(-1)?.end).toBeCloseTo(4);
    expect(words.segments).toBeUndefined();
    const both = await create(['word', 'segment']);
    expect(both.words).toEqual(words.words);
    expect(both.segments).toHaveLength(1);
    const segments = await create(['segment']);
    expect(segments.words).toBeUndefined();
    expect(segments.segments).toEqual(both.segments);
    expect(segments.text).toBe(words.text);
  });

  test.each([
    ['/audio/transcriptions', { 'timestamp_granularities[]': 'word' }, 'verbose_json'],
    [
      '/audio/transcriptions',
      { 'timestamp_granularities[]': 'syllable', response_format: 'verbose_json' },
      'word or segment',
    ],
    [
      '/audio/translations',
      { 'timestamp_granularities[]': 'word', response_format: 'verbose_json' },
      'not a field',
    ],
  ])('%s refuses %j by name', async (path, fields, words) => {
    const response = await fetch(`${weir.base_url}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.api_key}` },
      body: formOf({ model: 'whisper-1', ...fields }),
    });
    const { error } = (await response.json()) as { error: { param: string; message: string } };
    expect({ status: response.status, param: error.param }).toEqual({
      ...{ status: 400, param: 'timestamp_granularities[]' },
    });
    expect(error.message).toContain(words);
  });

  test('of a misspelled field are refused with the name that was meant', async () => {
    const response = await fetch(`${weir.base_url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.api_key}` },
      body: formOf({ model: 'whisper-1', langauge: 'de' }),
    });
    const { error } = (await response.json()) as { error: { param: string; hint: string } };
    expect(error).toMatchObject({ param: 'langauge', hint: 'Did you mean language?' });
  });
});

/** OpenAI docs: Embeddings. */
test.each([
  ['text-embedding-3-large', undefined, 3_072],
  ['text-embedding-3-large', 256, 256],
  ['text-embedding-ada-002', undefined, 1_536],
])('%s with dimensions %p has vectors of length %d', async (model, dimensions, length) => {
  const client = new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: weir.api_key });
  const { data } = await client.embeddings.create({
    ...{ model, input: 'Hello', encoding_format: 'float' },
    ...(dimensions === undefined ? {} : { dimensions }),
  });
  expect(data[0]?.embedding).toHaveLength(length);
});
