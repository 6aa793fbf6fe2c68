/**
 * `verbosity` and `top_k` of chat completions and of responses on upstreams of other protocols. The AI
 * SDK's packages (@ai-sdk/openai 4.0.118, @ai-sdk/anthropic 4.0.105, @ai-sdk/google 4.0.121) send the
 * same wish in the upstream's own protocol. Weir must send the same members.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';
import { WeirError } from '../../../src/errors/weir-error.ts';
import type { ChatProtocol, ClientProtocol } from '../../../src/protocols/names.ts';
import { protocolFor } from '../../../src/upstreams/chat/protocols.ts';
import { callOf, rejection, startUpstream } from '../upstream.ts';

const upstream = startUpstream();
upstream.answer = () => new Response('{}', { status: 500 });
afterAll(() => upstream.stop());

type Body = Record<string, unknown>;

/** Returns the body that Weir sends for a client's request. */
async function sent(client: ClientProtocol, name: ChatProtocol, body: Body): Promise<Body> {
  upstream.asked.length = 0;
  const question = client === 'responses' ? { input: 'Hi' } : { messages: TURNS };
  const call = callOf(upstream.url, { model: 'gpt-test', ...question, ...body });
  await rejection(protocolFor(client, name).complete(call));
  return JSON.parse(upstream.asked.at(-1)?.text ?? '{}') as Body;
}

const TURNS = [{ role: 'user', content: 'Hi' }];
const VERBOSITIES = ['low', 'medium', 'high'] as const;

/** Returns the body that a package of the AI SDK sends. */
async function sentByPackage(call: (options: { baseURL: string; apiKey: string }) => unknown) {
  upstream.asked.length = 0;
  await rejection(Promise.resolve(call({ baseURL: upstream.url, apiKey: 'k' })));
  return JSON.parse(upstream.asked.at(-1)?.text ?? '{}') as Body;
}

const ask = { prompt: 'Hi', maxRetries: 0 };

describe.each(VERBOSITIES)('verbosity %s', (textVerbosity) => {
  const providerOptions = { openai: { textVerbosity } };

  test('of responses is that of chat completions', async () => {
    const body = { text: { verbosity: textVerbosity } };
    const theirs = await sentByPackage((options) =>
      generateText({ ...ask, model: createOpenAI(options).chat('gpt-5.4'), providerOptions }),
    );
    expect(theirs['verbosity']).toBe(textVerbosity);
    expect((await sent('responses', 'openai', body))['verbosity']).toBe(textVerbosity);
  });

  test('of chat completions is that of responses', async () => {
    const theirs = await sentByPackage((options) =>
      generateText({ ...ask, model: createOpenAI(options).responses('gpt-5.4'), providerOptions }),
    );
    const ours = await sent('openai', 'openai-responses', { verbosity: textVerbosity });
    expect(ours['text']).toEqual(theirs['text']);
  });

  test.each(['anthropic', 'gemini'] as const)('is not sent to %s', async (name) => {
    const error = await rejection(
      protocolFor('openai', name).complete(
        callOf(upstream.url, { model: 'm', messages: TURNS, verbosity: textVerbosity }),
      ),
    );
    // `medium` is the default. The others are refused by the client's name.
    if (textVerbosity === 'medium') expect(error).not.toBeInstanceOf(WeirError);
    else expect(error).toMatchObject({ details: { param: 'verbosity' } });
  });
});

test.each(['Low', '', 3, {}])('another verbosity is refused by name: %j', async (verbosity) => {
  const asked = async (client: ClientProtocol, name: ChatProtocol, body: Body) =>
    rejection(
      protocolFor(client, name).complete(
        callOf(upstream.url, { model: 'm', input: 'Hi', messages: TURNS, ...body }),
      ),
    );
  expect(await asked('openai', 'openai-responses', { verbosity })).toMatchObject({
    details: { param: 'verbosity' },
  });
  expect(await asked('responses', 'openai', { text: { verbosity } })).toMatchObject({
    details: { param: 'text.verbosity' },
  });
});

test('top_k of chat completions reaches the vendors that have it', async () => {
  const claude = await sentByPackage((options) =>
    generateText({ ...ask, topK: 7, model: createAnthropic(options)('claude-haiku-4-5') }),
  );
  expect((await sent('openai', 'anthropic', { top_k: 7 }))['top_k']).toBe(claude['top_k']);
  const gemini = await sentByPackage((options) =>
    generateText({
      ...{ ...ask, topK: 7 },
      model: createGoogleGenerativeAI(options)('gemini-2.5-flash'),
    }),
  );
  const { topK } = gemini['generationConfig'] as { topK: number };
  expect((await sent('openai', 'gemini', { top_k: 7 }))['generationConfig']).toMatchObject({
    topK,
  });
});
