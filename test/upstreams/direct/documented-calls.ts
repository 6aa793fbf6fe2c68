/** Calls of embeddings, audio, rerank and translation that documentation shows, with their answers. */
import type { ChannelProtocol } from '../../../src/protocols/names.ts';

export interface DocumentedCall {
  readonly vendor: string;
  readonly protocol: ChannelProtocol;
  readonly source: string;
  /** The model of the catalogue. */
  readonly model: string;
  /** The vendor's request: its path, and its body without the model. A form has its fields. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly form?: boolean;
  /** The route of Weir, and the client's body. */
  readonly route: string;
  readonly call: Readonly<Record<string, unknown>>;
  /** Members that only Weir sends. */
  readonly more?: readonly string[];
  /** The vendor's answer as JSON, or the bytes of a file. */
  readonly answer: unknown;
  /** Members of what the client gets. */
  readonly gives: object | string;
  readonly usd: number;
}

const FOOD = 'The food was delicious and the waiter...';
const FOX = 'The quick brown fox jumped over the lazy dog.';
const OPENAPI = 'openai/openai-openapi: openapi.yaml';
const BEACH = 'The beach was a popular spot on a hot summer day.';
const CAPITAL = 'What is the capital of the United States?';
const CITIES = [
  ...['Carson City is in Nevada.', 'Saipan is an island.', 'Capital letters are large.'],
  ...['Washington, D.C. is the capital.', 'Capital punishment exists.'],
];

export const DOCUMENTED_CALLS: readonly DocumentedCall[] = [
  {
    ...{ vendor: 'OpenAI', protocol: 'openai', source: `${OPENAPI}, POST /embeddings` },
    ...{ model: 'text-embedding-ada-002', route: '/v1/embeddings', path: '/embeddings' },
    body: { input: FOOD, encoding_format: 'float' },
    call: { input: FOOD, encoding_format: 'float' },
    answer: {
      object: 'list',
      data: [{ object: 'embedding', embedding: [0.0023064255, -0.009327292], index: 0 }],
      ...{ model: 'text-embedding-ada-002', usage: { prompt_tokens: 8, total_tokens: 8 } },
    },
    gives: {
      data: [{ object: 'embedding', embedding: [0.0023064255, -0.009327292], index: 0 }],
      usage: { prompt_tokens: 8, total_tokens: 8 },
    },
    usd: 0.0000008,
  },
  {
    ...{ vendor: 'OpenAI', protocol: 'openai', source: `${OPENAPI}, POST /audio/speech` },
    ...{ model: 'tts-1', route: '/v1/audio/speech', path: '/audio/speech' },
    body: { input: FOX, voice: 'alloy' },
    call: { input: FOX, voice: 'alloy' },
    answer: Buffer.from('ID3 fox'),
    gives: 'ID3 fox',
    // 45 characters at 15 USD per million.
    usd: 0.000675,
  },
  {
    ...{ vendor: 'OpenAI', protocol: 'openai' },
    source: `${OPENAPI}, POST /audio/transcriptions, Segment timestamps`,
    ...{ model: 'whisper-1', route: '/v1/audio/transcriptions', path: '/audio/transcriptions' },
    ...{ form: true, body: { response_format: 'verbose_json' } },
    call: { response_format: 'verbose_json' },
    answer: {
      ...{ task: 'transcribe', language: 'english', duration: 8.470000267028809, text: BEACH },
      segments: [
        {
          ...{ id: 0, seek: 0, start: 0.0, end: 3.319999933242798, text: ` ${BEACH}` },
          ...{ tokens: [50364, 440], temperature: 0.0, avg_logprob: -0.2860786020755768 },
          ...{ compression_ratio: 1.2363636493682861, no_speech_prob: 0.00985979475080967 },
        },
      ],
      usage: { type: 'duration', seconds: 9 },
    },
    gives: { language: 'english', duration: 8.470000267028809, text: BEACH },
    // OpenAI bills the 9 seconds of `usage`.
    usd: 0.0009,
  },
  {
    ...{ vendor: 'Google Gemini', protocol: 'gemini' },
    source:
      'ai.google.dev/api/embeddings: batchEmbedContents; vercel/ai: google-embedding-model.test.ts',
    ...{ model: 'gemini-embedding-001', route: '/v1/embeddings' },
    path: '/models/gemini-embedding-001:batchEmbedContents',
    body: {
      requests: ['What is the meaning of life?', 'How does AI work?'].map((text) => ({
        content: { parts: [{ text }] },
        outputDimensionality: 768,
      })),
    },
    call: { input: ['What is the meaning of life?', 'How does AI work?'], dimensions: 768 },
    answer: { embeddings: [{ values: [3, 4] }, { values: [0, 1] }] },
    gives: {
      data: [
        { object: 'embedding', index: 0, embedding: [0.6, 0.8] },
        { object: 'embedding', index: 1, embedding: [0, 1] },
      ],
    },
    // Google reports no tokens, so Weir counts them.
    usd: Number.NaN,
  },
  {
    ...{ vendor: 'Cohere', protocol: 'cohere' },
    source: 'cohere-ai/cohere-developer-experience: snippets, rerank-v2-post',
    ...{ model: 'rerank-v3.5', route: '/v1/rerank', path: '/v2/rerank' },
    body: { query: CAPITAL, top_n: 3, documents: CITIES },
    call: { query: CAPITAL, top_n: 3, documents: CITIES },
    answer: {
      id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf',
      results: [
        { index: 3, relevance_score: 0.999071 },
        { index: 4, relevance_score: 0.7867867 },
        { index: 0, relevance_score: 0.32713068 },
      ],
      meta: {
        api_version: { version: '2', is_experimental: false },
        billed_units: { search_units: 1 },
      },
    },
    gives: {
      results: [
        { index: 3, relevance_score: 0.999071 },
        { index: 4, relevance_score: 0.7867867 },
        { index: 0, relevance_score: 0.32713068 },
      ],
    },
    usd: 0.002,
  },
  {
    ...{ vendor: 'DeepL', protocol: 'deepl' },
    source: 'DeepLcom/openapi: openapi.yaml, POST /v2/translate',
    ...{ model: 'deepl-translate', route: '/v1/translations', path: '/v2/translate' },
    body: { text: ['The table is green. The chair is black.'], target_lang: 'DE' },
    call: { text: ['The table is green. The chair is black.'], target_lang: 'DE' },
    more: ['model_type', 'show_billed_characters'],
    answer: {
      translations: [
        {
          ...{ detected_source_language: 'EN', billed_characters: 39 },
          text: 'Der Tisch ist grün. Der Stuhl ist schwarz.',
        },
      ],
    },
    gives: {
      translations: [
        { detected_source_language: 'EN', text: 'Der Tisch ist grün. Der Stuhl ist schwarz.' },
      ],
    },
    usd: 0.000975,
  },
  {
    ...{ vendor: 'DeepL', protocol: 'deepl' },
    source:
      'DeepLcom/openapi: openapi.yaml, POST /v2/translate; developers.deepl.com: Context parameter',
    ...{ model: 'deepl-translate', route: '/v1/translations', path: '/v2/translate' },
    body: {
      ...{ text: ['That is hot!'], target_lang: 'ES', source_lang: 'EN' },
      ...{ context: 'He went for a jalapeño.', formality: 'prefer_less' },
    },
    call: {
      ...{ text: ['That is hot!'], target_lang: 'ES', source_lang: 'EN' },
      ...{ context: 'He went for a jalapeño.', formality: 'prefer_less' },
    },
    more: ['model_type', 'show_billed_characters'],
    answer: {
      translations: [
        {
          ...{ detected_source_language: 'EN', text: '¡Eso es picante!', billed_characters: 12 },
          model_type_used: 'quality_optimized',
        },
      ],
    },
    gives: { translations: [{ detected_source_language: 'EN', text: '¡Eso es picante!' }] },
    usd: 0.0003,
  },
];
