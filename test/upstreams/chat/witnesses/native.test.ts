/**
 * The providers' own SDKs call the simulator, for chat and for calls with a single answer. Each SDK
 * reads the answer, and throws its own class for each documented error.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import AnthropicBedrock from '@anthropic-ai/bedrock-sdk';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError as GoogleError, GoogleGenAI } from '@google/genai';
import { CohereClientV2, CohereError } from 'cohere-ai';
import {
  AuthorizationError,
  QuotaExceededError,
  TooManyRequestsError,
  Translator,
} from 'deepl-node';
import OpenAI, { toFile } from 'openai';
import { type RunningSimulator, startSimulator } from '../../../support/simulator.ts';
import { MODELS } from './models.ts';
import { CHAT_WITNESSES } from './table.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

const at = (path: string) => simulator.url + path;
const openai = (apiKey = 'sim-native') =>
  new OpenAI({ apiKey, baseURL: at('/openai/v1'), maxRetries: 0 });
const anthropic = (apiKey = 'sim-native') =>
  new Anthropic({ apiKey, baseURL: at('/anthropic'), maxRetries: 0 });
const bedrock = () =>
  new AnthropicBedrock({
    ...{ awsAccessKey: 'sim-native', awsSecretKey: 'sim-secret', awsRegion: 'us-east-1' },
    ...{ baseURL: at('/bedrock'), maxRetries: 0 },
  });
const gemini = () =>
  new GoogleGenAI({ apiKey: 'sim-native', httpOptions: { baseUrl: at('/google') } });
/** Its types change the global `ReadableStream` for all files, so the compiler must not read them. */
const MISTRAL_PACKAGE: string = '@mistralai/mistralai';
const mistral = async () => {
  const { Mistral } = await import(MISTRAL_PACKAGE);
  return new Mistral({
    ...{ apiKey: 'sim-native', serverURL: at('/openai'), retryConfig: { strategy: 'none' } },
  });
};
const cohere = (token = 'sim-native') =>
  new CohereClientV2({ token, environment: at('/cohere'), maxRetries: 0 });
const deepl = (key = 'sim-native') =>
  new Translator(key, { serverUrl: at('/deepl'), maxRetries: 0 });

const user = (content: string) => [{ role: 'user' as const, content }];
const claude = { model: 'claude-sonnet-4-6', max_tokens: 3_000 };
const failed = (status: number) => user(`Hi [[sim status=${status}]]`);
const SPOKEN = 'Say hello';

interface Row {
  readonly provider: string;
  readonly protocol: string;
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

/** The class that an SDK throws, per status. Sources: `core/error.d.ts` of the packages. */
const OPENAI_ERRORS = {
  400: OpenAI.BadRequestError,
  401: OpenAI.AuthenticationError,
  403: OpenAI.PermissionDeniedError,
  404: OpenAI.NotFoundError,
  429: OpenAI.RateLimitError,
  500: OpenAI.InternalServerError,
  503: OpenAI.InternalServerError,
};
const ANTHROPIC_ERRORS = {
  400: Anthropic.BadRequestError,
  401: Anthropic.AuthenticationError,
  403: Anthropic.PermissionDeniedError,
  404: Anthropic.NotFoundError,
  429: Anthropic.RateLimitError,
  500: Anthropic.InternalServerError,
  529: Anthropic.InternalServerError,
};

async function errorOf(call: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );
}

const errorRows = (
  ids: Pick<Row, 'provider' | 'protocol'>,
  classes: Readonly<Record<number, abstract new (...args: never[]) => object>>,
  call: (status: number) => PromiseLike<unknown>,
): Row[] =>
  Object.entries(classes).map(([status, type]) => ({
    ...{ ...ids, name: `${type.name} for ${status}` },
    async run() {
      expect(await errorOf(call(Number(status)))).toBeInstanceOf(type);
    },
  }));

const OPENAI = { provider: 'OpenAI', protocol: 'openai' };
const RESPONSES = { provider: 'OpenAI', protocol: 'openai-responses' };
const ANTHROPIC = { provider: 'Anthropic', protocol: 'anthropic' };
const BEDROCK = { provider: 'AWS Bedrock', protocol: 'bedrock' };
const GEMINI = { provider: 'Google Gemini', protocol: 'gemini' };
const MISTRAL = { provider: 'Mistral', protocol: 'openai' };
const COHERE = { provider: 'Cohere', protocol: 'cohere' };
const DEEPL = { provider: 'DeepL', protocol: 'deepl' };

const ROWS: readonly Row[] = [
  {
    ...{ ...OPENAI, name: 'chat with cached tokens and reasoning' },
    async run() {
      const { usage } = await openai().chat.completions.create({
        model: 'o4-mini',
        messages: user('Think [[sim reasoning=20 tokens=30]]'),
      });
      expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(20);
    },
  },
  {
    ...{ ...OPENAI, name: 'chat.completions.stream' },
    async run() {
      const stream = openai().chat.completions.stream({
        ...{ model: 'gpt-4o', messages: user('Hi [[sim tokens=9]]') },
        stream_options: { include_usage: true },
      });
      expect((await stream.finalChatCompletion()).usage?.completion_tokens).toBe(9);
    },
  },
  {
    ...{ ...OPENAI, name: 'embeddings' },
    async run() {
      const { data } = await openai().embeddings.create({
        ...{ model: 'text-embedding-3-small', input: ['a', 'b'], dimensions: 8 },
      });
      expect(data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);
    },
  },
  {
    ...{ ...OPENAI, name: 'speech and its transcription' },
    async run() {
      const sound = await openai().audio.speech.create({
        ...{ model: 'gpt-4o-mini-tts', voice: 'alloy', input: SPOKEN },
      });
      const file = await toFile(await sound.arrayBuffer(), 'a.mp3');
      const { text } = await openai().audio.transcriptions.create({ model: 'whisper-1', file });
      expect(text.length).toBeGreaterThan(0);
    },
  },
  ...errorRows(OPENAI, OPENAI_ERRORS, (status) =>
    openai().chat.completions.create({ model: 'gpt-4o', messages: failed(status) }),
  ),
  {
    ...{ ...RESPONSES, name: 'responses.stream' },
    async run() {
      const stream = openai().responses.stream({ model: 'gpt-5', input: 'Hi [[sim tokens=9]]' });
      const final = await stream.finalResponse();
      expect(final.status).toBe('completed');
      expect(final.output_text.length).toBeGreaterThan(5);
    },
  },
  ...errorRows(RESPONSES, OPENAI_ERRORS, (status) =>
    openai().responses.create({ model: 'gpt-5', input: `Hi [[sim status=${status}]]` }),
  ),
  {
    ...{ ...ANTHROPIC, name: 'thinking' },
    async run() {
      const { content } = await anthropic().messages.create({
        ...{ ...claude, messages: user('Think') },
        thinking: { type: 'adaptive' },
      });
      expect(content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    },
  },
  {
    ...{ ...ANTHROPIC, name: 'messages.stream' },
    async run() {
      const stream = anthropic().messages.stream({
        ...claude,
        messages: user('Hi [[sim tokens=9]]'),
      });
      expect((await stream.finalMessage()).usage.output_tokens).toBe(9);
    },
  },
  {
    ...{ ...ANTHROPIC, name: 'count_tokens' },
    async run() {
      const { model } = claude;
      const { input_tokens } = await anthropic().messages.countTokens({
        model,
        messages: user('Hi'),
      });
      expect(input_tokens).toBeGreaterThan(0);
    },
  },
  ...errorRows(ANTHROPIC, ANTHROPIC_ERRORS, (status) =>
    anthropic().messages.create({ ...claude, messages: failed(status) }),
  ),
  {
    ...{ ...BEDROCK, name: 'messages.create, signed' },
    async run() {
      const { content } = await bedrock().messages.create({ ...claude, messages: user('Hi') });
      expect(content.map(({ type }) => type)).toEqual(['text']);
    },
  },
  {
    ...{ ...BEDROCK, name: 'a stream of frames' },
    async run() {
      const types: string[] = [];
      const stream = await bedrock().messages.create({
        ...{ ...claude, messages: user('Hi [[sim tokens=3]]'), stream: true },
      });
      for await (const { type } of stream) types.push(type);
      expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop']);
    },
  },
  ...errorRows(BEDROCK, ANTHROPIC_ERRORS, (status) =>
    bedrock().messages.create({ ...claude, messages: failed(status) }),
  ),
  {
    ...{ ...GEMINI, name: 'generateContent' },
    async run() {
      const answer = await gemini().models.generateContent({
        ...{ model: 'gemini-2.5-flash', contents: 'Hi [[sim tokens=9]]' },
      });
      expect(answer.text?.length).toBeGreaterThan(5);
      expect(answer.usageMetadata?.candidatesTokenCount).toBe(9);
    },
  },
  {
    ...{ ...GEMINI, name: 'generateContentStream' },
    async run() {
      let text = '';
      const stream = await gemini().models.generateContentStream({
        ...{ model: 'gemini-2.5-flash', contents: 'Hi [[sim tokens=9]]' },
      });
      for await (const chunk of stream) text += chunk.text ?? '';
      expect(text.length).toBeGreaterThan(5);
    },
  },
  ...errorRows(
    GEMINI,
    { 400: GoogleError, 403: GoogleError, 429: GoogleError, 503: GoogleError },
    (status) =>
      gemini().models.generateContent({
        ...{ model: 'gemini-2.5-flash', contents: `Hi [[sim status=${status}]]` },
      }),
  ),
  {
    ...{ ...MISTRAL, name: 'chat.complete' },
    async run() {
      const { choices, usage } = await (await mistral()).chat.complete({
        ...{ model: 'mistral-large-latest', messages: user('Hi [[sim tokens=9]]') },
      });
      expect(choices?.[0]?.message?.content?.length).toBeGreaterThan(5);
      expect(usage.completionTokens).toBe(9);
    },
  },
  {
    ...{ ...COHERE, name: 'rerank' },
    async run() {
      const { results, meta } = await cohere().rerank({
        ...{ model: 'rerank-v3.5', query: 'red fox', documents: ['blue', 'red fox'], topN: 1 },
      });
      expect(results.map(({ index }) => index)).toEqual([1]);
      expect(meta?.billedUnits?.searchUnits).toBe(1);
    },
  },
  ...errorRows(COHERE, { 400: CohereError, 429: CohereError, 500: CohereError }, (status) =>
    cohere().rerank({
      ...{ model: 'rerank-v3.5', query: `x [[sim status=${status}]]`, documents: ['a'] },
    }),
  ),
  {
    ...{ ...DEEPL, name: 'translateText' },
    async run() {
      const answer = await deepl().translateText(['Hello', 'World'], null, 'de');
      expect(answer.map(({ billedCharacters }) => billedCharacters)).toEqual([5, 5]);
    },
  },
  {
    ...{ ...DEEPL, name: 'translateText with a model type' },
    async run() {
      const [answer] = await deepl().translateText(['Hello'], 'en', 'de', {
        modelType: 'quality_optimized',
      });
      expect(answer?.modelTypeUsed).toBe('quality_optimized');
    },
  },
  ...errorRows(DEEPL, { 429: TooManyRequestsError }, (status) =>
    deepl().translateText([`x [[sim status=${status}]]`], null, 'de', {
      modelType: 'quality_optimized',
    }),
  ),
  ...errorRows(DEEPL, { 456: QuotaExceededError }, () =>
    deepl().translateText(['x [[sim status=429 quota=1]]'], null, 'de'),
  ),
  ...errorRows(DEEPL, { 403: AuthorizationError }, () =>
    deepl('wrong').translateText(['x'], null, 'de'),
  ),
];

describe('the simulator answers as the SDK expects', () => {
  test.each(ROWS.map((row) => [row.provider, row.protocol, row.name, row] as const))(
    '%s, %s: %s',
    (_, __, ___, row) => row.run().then(() => undefined),
  );
});

test('the table of witnesses has these numbers', () => {
  const key = (row: { provider: string; protocol: string }) => `${row.provider}, ${row.protocol}`;
  const counted: Record<string, number> = {};
  for (const row of ROWS) counted[key(row)] = (counted[key(row)] ?? 0) + 1;
  for (const each of MODELS) {
    const { lacks = [] } = each;
    // Two calls of a tool and one with a limit need items; one needs a schema.
    const calls = 13 - (lacks.includes('schema') ? 1 : 0) - (lacks.includes('items') ? 3 : 0);
    counted[key(each)] = (counted[key(each)] ?? 0) + calls;
  }
  const table = CHAT_WITNESSES.map((row) => [key(row), row.payloads.simulator] as const).filter(
    ([, calls]) => calls > 0,
  );
  expect(Object.fromEntries(table)).toEqual(counted);
});
