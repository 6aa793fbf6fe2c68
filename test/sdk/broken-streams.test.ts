/**
 * Streams that break, as the official packages and the AI SDK see them. Each package must throw, and
 * show the type, the code and the request id where it can. A stream that ends because the money is
 * used up is no error. Each client calls the models of all providers: pass-through and translated.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { failureOf } from '../support/failure-of.ts';
import type { KeyRecord } from '../support/managed-keys.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { BASES } from '../upstreams/translation/clients.ts';

setDefaultTimeout(120_000);

/** One model for each form of upstream. */
const MODELS = {
  'gpt-4o-mini': 'openai',
  'gpt-4.1': 'openai-responses',
  'claude-haiku-4-5': 'anthropic',
  'gemini-2.5-flash': 'gemini',
} as const;
/** Each model has so many channels that none fails often enough to be skipped. */
const CHANNELS = 30;
const STALL_MS = 5_000;

let simulator: RunningSimulator;
let weir: RunningWeir;
beforeAll(async () => {
  simulator = await startSimulator();
  const channels = Object.entries(MODELS).flatMap(([model, protocol]) =>
    Array.from({ length: CHANNELS }, (_, at) => ({
      ...{ id: `${protocol}-${at}`, protocol, base_url: simulator.url + BASES[protocol] },
      ...{ api_key: `sim-${protocol}-${at}`, models: { [model]: model } },
      stall_timeout_ms: STALL_MS,
    })),
  );
  weir = await startWeir({ shared_database: true, config: JSON.stringify({ channels }) });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});

/** What a client must see of a break. */
interface Break {
  readonly prompt: string;
  readonly headers?: Record<string, string>;
  readonly code: string;
  readonly native_type: string;
  readonly status: number;
  readonly google_status: string;
}

const late = {
  ...{ code: 'timeout_error', native_type: 'timeout_error' },
  ...{ status: 504, google_status: 'DEADLINE_EXCEEDED' },
};
const broken = {
  ...{ code: 'upstream_error', native_type: 'api_error' },
  ...{ status: 502, google_status: 'INTERNAL' },
};
const BREAKS: Record<string, Break> = {
  'a stall': { prompt: 'Hi [[sim tokens=40 chunk_ms=30 stall_after=8]]', ...late },
  'a cut': { prompt: 'Hi [[sim tokens=40 chunk_ms=30 truncate_after=8]]', ...broken },
  'an end without the last event': {
    prompt: 'Hi [[sim tokens=40 chunk_ms=30 truncate_after=8 truncate_clean=1]]',
    ...broken,
  },
  'an error event': { prompt: 'Hi [[sim tokens=40 chunk_ms=30 error_after=8]]', ...broken },
  'the client’s deadline': {
    // Late enough for the stream to begin on a busy machine.
    prompt: 'Hi [[sim tokens=2000 chunk_ms=50]]',
    headers: { 'x-weir-timeout-ms': '6000' },
    ...late,
  },
};
const REQUEST_ID = /^req_[0-9a-f]{32}$/;

async function readAll(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** How a test calls a model: its prompt, and what differs from the usual call. */
interface Call {
  readonly model: string;
  readonly prompt: string;
  readonly headers?: Record<string, string> | undefined;
  readonly key?: string;
}

const openai = ({ headers = {}, key = weir.api_key }: Call) =>
  new OpenAI({
    ...{ baseURL: `${weir.base_url}/v1`, apiKey: key, maxRetries: 0, defaultHeaders: headers },
  });
const anthropic = ({ headers = {}, key = weir.api_key }: Call) =>
  new Anthropic({
    ...{ baseURL: weir.base_url, apiKey: key, maxRetries: 0, defaultHeaders: headers },
  });
const google = ({ headers = {}, key = weir.api_key }: Call) =>
  new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: weir.base_url, headers } });
const turn = (content: string) => [{ role: 'user' as const, content }];

type Check = (error: unknown, expected: Break) => void;

const isOpenaiError: Check = (error, { code }) => {
  expect(error).toBeInstanceOf(OpenAI.APIError);
  const { requestID, error: members } = error as { requestID: string; error: unknown };
  expect(error).toMatchObject({ type: code, code, param: null });
  expect(requestID).toMatch(REQUEST_ID);
  expect((members as { request_id: string }).request_id).toBe(requestID);
};
const isAnthropicError: Check = (error, { code, native_type }) => {
  expect(error).toBeInstanceOf(Anthropic.APIError);
  const { requestID, error: body } = error as { requestID: string; error: object };
  expect(requestID).toMatch(REQUEST_ID);
  expect(error).toMatchObject({ type: native_type });
  expect(body).toMatchObject({ error: { type: native_type, code, param: null } });
  expect(body).toMatchObject({ request_id: requestID });
};
const isGoogleError: Check = (error, { code, status, google_status }) => {
  expect(error).toBeInstanceOf(ApiError);
  const { message } = error as ApiError;
  expect(error).toMatchObject({ status });
  expect(message).toStartWith(`got status: ${google_status}. `);
  const { error: body } = JSON.parse(message.slice(message.indexOf('{')));
  expect(body).toMatchObject({ code: status, status: google_status, details: [{ reason: code }] });
  expect(body.details[0].request_id).toMatch(REQUEST_ID);
};
const isAiSdkError: Check = (errors, { code }) => {
  expect(JSON.stringify(errors)).toContain(code);
};

/** Each way of the packages to read a stream. It rejects with what `check` accepts. */
const READERS: Record<string, { read: (call: Call) => Promise<unknown>; check: Check }> = {
  'openai chat.completions.create': {
    read: async (call) =>
      readAll(
        await openai(call).chat.completions.create({
          ...{ model: call.model, messages: turn(call.prompt), stream: true },
        }),
      ),
    check: isOpenaiError,
  },
  'openai chat.completions.stream': {
    read: (call) =>
      openai(call)
        .chat.completions.stream({ model: call.model, messages: turn(call.prompt) })
        .finalChatCompletion(),
    check: isOpenaiError,
  },
  'openai responses.create': {
    read: async (call) =>
      readAll(
        await openai(call).responses.create({
          ...{ model: call.model, input: call.prompt, stream: true },
        }),
      ),
    check: isOpenaiError,
  },
  'openai responses.stream': {
    read: (call) =>
      openai(call).responses.stream({ model: call.model, input: call.prompt }).finalResponse(),
    check: isOpenaiError,
  },
  'anthropic messages.create': {
    read: async (call) =>
      readAll(
        await anthropic(call).messages.create({
          ...{ model: call.model, max_tokens: 4_000, messages: turn(call.prompt), stream: true },
        }),
      ),
    check: isAnthropicError,
  },
  'anthropic messages.stream': {
    read: (call) =>
      anthropic(call)
        .messages.stream({ model: call.model, max_tokens: 4_000, messages: turn(call.prompt) })
        .finalMessage(),
    check: isAnthropicError,
  },
  '@google/genai generateContentStream': {
    read: async (call) =>
      readAll(
        await google(call).models.generateContentStream({
          ...{ model: call.model, contents: call.prompt },
        }),
      ),
    check: isGoogleError,
  },
  'AI SDK, chat': {
    read: (call) => readWithAiSdk(call, (base) => base.chat(call.model)),
    check: isAiSdkError,
  },
  'AI SDK, responses': {
    read: (call) => readWithAiSdk(call, (base) => base.responses(call.model)),
    check: isAiSdkError,
  },
  'AI SDK, messages': {
    read: (call) => {
      const { key = weir.api_key } = call;
      const provider = createAnthropic({ baseURL: `${weir.base_url}/v1`, apiKey: key });
      return streamed(call, provider(call.model));
    },
    check: isAiSdkError,
  },
};

function readWithAiSdk(
  call: Call,
  modelOf: (provider: ReturnType<typeof createOpenAI>) => Parameters<typeof streamText>[0]['model'],
): Promise<unknown> {
  const { key = weir.api_key } = call;
  return streamed(call, modelOf(createOpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: key })));
}

/** Reads a stream of the AI SDK. Rejects with the list of its errors. */
async function streamed(
  { prompt, headers }: Call,
  model: Parameters<typeof streamText>[0]['model'],
): Promise<unknown> {
  const errors: unknown[] = [];
  const answer = streamText({
    ...{ model, prompt, maxRetries: 0, maxOutputTokens: 4_000, ...(headers ? { headers } : {}) },
    onError: ({ error }) => void errors.push(error),
  });
  await readAll(answer.textStream).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors;
  return answer.finishReason;
}

describe.each(Object.entries(READERS))('%s', (_, { read, check }) => {
  test.concurrent.each(Object.entries(BREAKS))('throws for %s', async (_name, expected) => {
    const { prompt, headers } = expected;
    const models = Object.keys(MODELS);
    const errors = await Promise.all(
      models.map((model) => failureOf(read({ model, prompt, headers }))),
    );
    for (const error of errors) check(error, expected);
  });

  test('does not throw for the end of the money', async () => {
    await Promise.all(
      Object.keys(MODELS).map(async (model) => {
        const key = await poorKey();
        const answer = await read({ model, prompt: 'Hi [[sim tokens=3000]]', key });
        expect(JSON.stringify(answer)).toMatch(/length|max_tokens|MAX_TOKENS|max_output_tokens/);
      }),
    );
  });
});

/** Returns a key with money for a few hundred tokens. */
async function poorKey(): Promise<string> {
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'poor', limitAmount: 0.0005 }),
  });
  return ((await response.json()) as Required<KeyRecord>).key;
}

function responseIn(event: Record<string, unknown> | undefined): { id: string } {
  return event?.['response'] as { id: string };
}

describe('the events at the end of a broken stream of responses', () => {
  test.each(Object.keys(MODELS))(
    '%s: are numbered, and the last is response.failed',
    async (model) => {
      const response = await fetch(`${weir.base_url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model,
          stream: true,
          input: 'Hi [[sim tokens=40 chunk_ms=30 truncate_after=8]]',
        }),
      });
      const events = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(
        ([, data]) => JSON.parse(data ?? '') as Record<string, unknown>,
      );
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()]);
      const [error, failed] = events.slice(-2);
      const request_id = response.headers.get('x-request-id');
      expect(error).toMatchObject({
        ...{ type: 'error', code: 'upstream_error', param: null },
        error: { type: 'upstream_error', code: 'upstream_error', param: null, request_id },
      });
      expect(failed).toMatchObject({
        type: 'response.failed',
        response: { object: 'response', model, status: 'failed', error: { code: 'server_error' } },
      });
      // The response has one id from its first event to its last.
      expect(failed?.['response']).toMatchObject({
        id: responseIn(events[0]).id,
      });
    },
  );
});
