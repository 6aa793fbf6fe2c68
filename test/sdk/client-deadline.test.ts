/** The client's deadline as the official packages and the AI SDK report it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import { APICallError, generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { failureOf } from '../support/failure-of.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

const LATE = 'Hi [[sim latency_ms=50000]]';
const SLOW = 'Hi [[sim tokens=2000 chunk_ms=50]]';

let weir: RunningWeir;
let base: string;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
  base = `${weir.base_url}/v1`;
});
afterAll(() => weir.stop());

const headers = { 'x-weir-timeout-ms': '1500' };
const messages = (content: string) => [{ role: 'user' as const, content }];

/** Reads a stream to its end. */
async function readAll(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

describe('the openai package', () => {
  const openai = () =>
    new OpenAI({ baseURL: base, apiKey: weir.api_key, maxRetries: 0, defaultHeaders: headers });

  test.concurrent('throws an APIError 504 with the type timeout_error', async () => {
    const call = openai().chat.completions.create({ model: 'gpt-4o', messages: messages(LATE) });
    const error = await failureOf(call);
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({ status: 504, type: 'timeout_error', code: 'timeout_error' });
  });

  test.concurrent('throws an APIError in the middle of a stream', async () => {
    const stream = await openai().chat.completions.create({
      ...{ model: 'gpt-4o', messages: messages(SLOW), stream: true as const },
    });
    const error = await failureOf(readAll(stream));
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ type: 'timeout_error' });
  });

  test.concurrent('throws an APIError in the middle of a stream of responses', async () => {
    const request = { model: 'gpt-4o', input: SLOW, stream: true as const };
    const error = await failureOf(readAll(await openai().responses.create(request)));
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ code: 'timeout_error' });
  });
});

describe('the @anthropic-ai/sdk package', () => {
  const anthropic = () =>
    new Anthropic({
      ...{ baseURL: weir.base_url, apiKey: weir.api_key, maxRetries: 0, defaultHeaders: headers },
    });
  const question = (content: string) => ({
    ...{ model: 'claude-haiku-4-5', max_tokens: 4_000, messages: messages(content) },
  });

  test.concurrent('throws an APIError 504 with the type timeout_error', async () => {
    const error = await failureOf(anthropic().messages.create(question(LATE)));
    expect(error).toBeInstanceOf(Anthropic.InternalServerError);
    expect(error).toMatchObject({ status: 504, error: { error: { type: 'timeout_error' } } });
  });

  test.concurrent('throws an APIError in the middle of a stream', async () => {
    const error = await failureOf(anthropic().messages.stream(question(SLOW)).finalMessage());
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ error: { error: { type: 'timeout_error' } } });
  });
});

describe('the @google/genai package', () => {
  const google = () =>
    new GoogleGenAI({
      ...{ apiKey: weir.api_key, httpOptions: { baseUrl: weir.base_url, headers } },
    });

  test.concurrent('throws an ApiError 504', async () => {
    const call = google().models.generateContent({ model: 'gemini-2.5-flash', contents: LATE });
    const error = await failureOf(call);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 504 });
    expect(String(error)).toContain('DEADLINE_EXCEEDED');
  });

  test.concurrent('throws an ApiError 504 in the middle of a stream', async () => {
    const request = { model: 'gemini-2.5-flash', contents: SLOW };
    const stream = await google().models.generateContentStream(request);
    expect(await failureOf(readAll(stream))).toMatchObject({ status: 504 });
  });
});

describe('the AI SDK', () => {
  const models = () => [
    createOpenAI({ baseURL: base, apiKey: weir.api_key }).chat('gpt-4o'),
    createAnthropic({ baseURL: base, apiKey: weir.api_key })('claude-haiku-4-5'),
  ];

  test.concurrent('throws an APICallError 504', async () => {
    for (const model of models()) {
      const error = await failureOf(generateText({ model, prompt: LATE, headers, maxRetries: 0 }));
      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ statusCode: 504 });
    }
  });

  test.concurrent('reports an error in the middle of a stream', async () => {
    for (const model of models()) {
      const errors: unknown[] = [];
      const { textStream } = streamText({
        ...{ model, prompt: SLOW, headers, maxRetries: 0 },
        onError: ({ error }) => void errors.push(error),
      });
      await readAll(textStream).catch((error: unknown) => errors.push(error));
      expect(JSON.stringify(errors)).toContain('timeout_error');
    }
  });
});
