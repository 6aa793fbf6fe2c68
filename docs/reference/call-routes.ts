import { Type } from '@sinclair/typebox';
import {
  AudioSchema,
  EmbeddingsSchema,
  RerankSchema,
  SpeechSchema,
  TranslationSchema,
} from '../../src/catalogue/contracts/direct-schemas.ts';
import { RANKED_SCENES } from '../../src/catalogue/ranking.ts';
import { CATEGORIES } from '../../src/catalogue/schema.ts';
import { CacheFeedbackSchema } from '../../src/http/cache/feedback.ts';
import { ChatRequestSchema } from '../../src/http/chat/schema.ts';
import { GenerateContentSchema } from '../../src/http/gemini/route.ts';
import { MAX_ITEMS } from '../../src/http/messages/batches/read-items.ts';
import { ResponsesRequestSchema } from '../../src/http/responses/schema.ts';
import { MessagesRequestSchema } from '../../src/inference/requests/messages-schema.ts';
import type { HeaderName, PlainParameter, ReferenceRoute } from './route.ts';

const PAID: readonly HeaderName[] = ['Idempotency-Key', 'x-weir-timeout-ms'];
const NATIVE: readonly HeaderName[] = ['anthropic-version'];
const FORM = ['multipart/form-data'];
/** What the parameters of an audio form are. */
const AUDIO = { prompt: 'Text that helps to understand the speech, e.g. names.' };
const STREAMED = 'The answer is JSON, or server-sent events with `stream`.';
const PROTOCOLS = 'What each model takes: [protocols](../protocols.md).';

const oneOf = (name: string, values: readonly string[]): PlainParameter => ({
  name,
  schema: Type.Union(values.map((value) => Type.Literal(value))),
});

/** The routes that list models. */
const MODELS: readonly ReferenceRoute[] = [
  {
    ...{ method: 'GET', path: '/v1/models', caller: 'key' },
    says: 'Lists the models, in the form of OpenAI, Anthropic or Google, as the client’s SDK reads it.',
    plain: [
      oneOf('category', CATEGORIES),
      oneOf('recommended_for', RANKED_SCENES),
      oneOf('callable', ['true', 'false']),
    ],
    more: 'All models: [catalogue](../catalogue.md).',
  },
  {
    ...{ method: 'GET', path: '/v1/models/{model}', served: '/v1/models/*', caller: 'key' },
    says: 'Shows a model with its price, its contract and what it can do.',
  },
  {
    ...{ method: 'GET', path: '/v1beta/models', caller: 'key' },
    says: 'Lists the models in Google’s form.',
    plain: [
      { name: 'pageSize', schema: Type.Integer({ minimum: 0, default: 50 }) },
      { name: 'pageToken', schema: Type.String() },
    ],
  },
  {
    ...{ method: 'GET', path: '/v1beta/models/{model}', served: '/v1beta/models/*', caller: 'key' },
    says: 'Shows a model in Google’s form.',
  },
];

const chat = (path: string): Pick<ReferenceRoute, 'method' | 'path' | 'caller'> => ({
  ...{ method: 'POST', path, caller: 'key' },
});

/** Batches of Anthropic's messages. */
const batches = (method: ReferenceRoute['method'], path: string, says: string): ReferenceRoute => ({
  ...{ method, path: `/v1/messages/batches${path}`, says, caller: 'key', headers: NATIVE },
});

const MESSAGES: readonly ReferenceRoute[] = [
  {
    ...chat('/v1/messages'),
    says: 'Answers a conversation in Anthropic’s form.',
    ...{ body: MessagesRequestSchema, headers: [...NATIVE, 'anthropic-beta', ...PAID] },
    more: `${STREAMED} ${PROTOCOLS}`,
  },
  {
    ...chat('/v1/messages/count_tokens'),
    says: 'Counts the input tokens of a message, without a charge.',
    ...{ body: Type.Omit(MessagesRequestSchema, ['max_tokens']), headers: NATIVE },
  },
  {
    ...batches(
      'POST',
      '',
      'Creates a batch of messages, each of which is answered and charged alone.',
    ),
    body: Type.Object(
      {
        requests: Type.Array(
          Type.Object({
            custom_id: Type.String({
              ...{ minLength: 1, maxLength: 64, pattern: '^[a-zA-Z0-9_-]+$' },
              errorMessage: 'letters, digits, _ and -',
            }),
            params: MessagesRequestSchema,
          }),
          { minItems: 1, maxItems: MAX_ITEMS },
        ),
      },
      { additionalProperties: false },
    ),
    headers: [...NATIVE, 'anthropic-beta', 'Idempotency-Key'],
    more: 'How batches run: [message batches](../operations.md#message-batches).',
  },
  {
    ...batches('GET', '', 'Lists the batches of the organization, the newest first.'),
    plain: [
      { name: 'limit', schema: Type.Integer({ minimum: 1, maximum: 1_000, default: 20 }) },
      { name: 'after_id', schema: Type.String() },
      { name: 'before_id', schema: Type.String() },
    ],
  },
  batches('GET', '/{id}', 'Shows a batch and how far it is.'),
  {
    ...batches(
      'GET',
      '/{id}/results',
      'Returns the results of an ended batch, one JSON object a line.',
    ),
    answer: 'application/x-jsonl',
  },
  batches('POST', '/{id}/cancel', 'Cancels the items of a batch that have not started.'),
  batches('DELETE', '/{id}', 'Removes an ended batch with its results.'),
];

const RESPONSES: readonly ReferenceRoute[] = [
  {
    ...chat('/v1/responses'),
    says: 'Answers in the form of OpenAI’s responses, and stores the response unless `store` is false.',
    ...{ body: ResponsesRequestSchema, headers: PAID },
    more: `${STREAMED} ${PROTOCOLS}`,
  },
  {
    ...{ method: 'GET', path: '/v1/responses/{id}', caller: 'key' },
    says: 'Returns a stored response.',
  },
  {
    ...{ method: 'DELETE', path: '/v1/responses/{id}', caller: 'key' },
    says: 'Deletes a stored response.',
  },
  {
    ...{ method: 'POST', path: '/v1/responses/{id}/cancel', caller: 'key' },
    says: 'Answers always with 400, because no response runs in the background.',
  },
  {
    ...{ method: 'GET', path: '/v1/responses/{id}/input_items', caller: 'key' },
    says: 'Lists the items of the request that a stored response answers.',
    plain: [
      { name: 'limit', schema: Type.Integer({ minimum: 1, maximum: 100, default: 20 }) },
      oneOf('order', ['asc', 'desc']),
      { name: 'after', schema: Type.String() },
    ],
    words: { after: 'The id of the item after which the page begins.' },
  },
];

/** Google's methods are the end of a path. `/v1/models` serves them too, because its SDK may use it. */
const gemini = (version: 'v1' | 'v1beta'): ReferenceRoute[] => {
  const method = (name: string) => ({
    ...chat(`/${version}/models/{model}:${name}`),
    ...{ served: `/${version}/models/*`, body: GenerateContentSchema },
  });
  return [
    {
      ...method('generateContent'),
      ...{ says: 'Answers a conversation in Google’s form.', headers: PAID },
      more: `Models of images and of speech answer too. ${PROTOCOLS}`,
    },
    {
      ...method('streamGenerateContent'),
      ...{ says: 'Answers in Google’s form as server-sent events.', headers: PAID },
      plain: [{ name: 'alt', schema: Type.Literal('sse') }],
      answer: 'text/event-stream',
    },
    {
      ...method('countTokens'),
      says: 'Counts the input tokens of a conversation in Google’s form, without a charge.',
    },
  ];
};

const DIRECT: readonly ReferenceRoute[] = [
  {
    ...chat('/v1/embeddings'),
    ...{ says: 'Turns texts into vectors.', body: EmbeddingsSchema, headers: PAID },
    words: { input: 'The texts, or their token ids.' },
  },
  {
    ...chat('/v1/audio/speech'),
    ...{ says: 'Turns a text into speech.', body: SpeechSchema, headers: PAID },
    words: { input: 'The text to speak.', instructions: 'How the voice shall speak.' },
    answer: 'audio/*',
    more: 'The answer is the sound, or server-sent events with `stream_format` `sse`.',
  },
  {
    ...chat('/v1/audio/transcriptions'),
    says: 'Turns speech into text of the same language.',
    ...{ body: AudioSchema, body_types: FORM, headers: PAID, words: AUDIO },
  },
  {
    ...chat('/v1/audio/translations'),
    says: 'Turns speech into English text.',
    body: Type.Omit(AudioSchema, ['timestamp_granularities[]']),
    ...{ body_types: FORM, headers: PAID, words: AUDIO },
  },
  {
    ...chat('/v1/rerank'),
    says: 'Sorts documents by how well they answer a query.',
    ...{ body: RerankSchema, headers: PAID },
  },
  {
    ...chat('/v1/cache/feedback'),
    says: 'Takes a vote on a stored answer, which is removed if many keys say that it is bad.',
    body: CacheFeedbackSchema,
    words: {
      cache_entry_id:
        'The header `x-weir-cache-entry-id` or `x-request-id` of an answer of your organization.',
      feedback_type: 'What the answer is. All but `good` say that it is bad.',
      description: 'Why, in your own words.',
    },
    more: 'When an answer is removed: [the cache](../cache.md#feedback).',
  },
  {
    ...chat('/v1/translations'),
    ...{ says: 'Translates texts.', body: TranslationSchema, headers: PAID },
    more: '`input`, `target_language` and `source_language` are other names of `text`, `target_lang` and `source_lang`.',
  },
];

/** The routes that call models and answer at once. */
export const CALL_ROUTES: readonly ReferenceRoute[] = [
  ...MODELS,
  {
    ...chat('/v1/chat/completions'),
    says: 'Answers a conversation in the form of OpenAI’s chat completions.',
    ...{ body: ChatRequestSchema, headers: PAID },
    more: `${STREAMED} ${PROTOCOLS}`,
  },
  ...MESSAGES,
  ...RESPONSES,
  ...gemini('v1beta'),
  ...gemini('v1'),
  ...DIRECT,
];
