/**
 * Gemini's signatures of function calls survive a tool loop of every client (Gemini API docs: Thought
 * signatures; for chat completions: OpenAI compatibility, `extra_content.google.thought_signature`).
 * Gemini 3 refuses calls without one, and accepts `skip_thought_signature_validator` in its place.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { abilitiesOn } from '../../../src/catalogue/abilities.ts';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import type { ClientProtocol } from '../../../src/protocols/names.ts';
import { protocolFor } from '../../../src/upstreams/chat/protocols.ts';
import { writeGeminiAnswer } from '../../../src/upstreams/translation/gemini-answer.ts';
import type { ReadonlyJsonObject } from '../../../src/upstreams/translation/reading.ts';
import {
  readRequest,
  translateCall,
  UPSTREAM_TRANSLATORS,
} from '../../../src/upstreams/translation/translate.ts';
import { callOf, startUpstream, type Upstream } from '../upstream.ts';

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

const SIGNATURE = 'CpMEAVSoXO7+a/b==';
const PARTS = [
  { functionCall: { name: 'weather', args: { city: 'Rome' } }, thoughtSignature: SIGNATURE },
  { functionCall: { name: 'weather', args: { city: 'Oslo' } } },
];
const question = { role: 'user', content: 'The weather?' };
type Json = Record<string, unknown>;

/** For each client: its first request, and its next request after an answer, as its SDK sends it. */
const LOOPS: Record<
  Exclude<ClientProtocol, 'gemini'>,
  [first: ReadonlyJsonObject, next: (answer: Json) => ReadonlyJsonObject]
> = {
  openai: [
    { messages: [question] },
    (answer) => {
      const [{ message }] = answer['choices'] as [{ message: { tool_calls: Json[] } }];
      const results = message.tool_calls.map(({ id }) => ({
        ...{ role: 'tool', tool_call_id: id, content: 'Rain' },
      }));
      return { messages: [question, message, ...results] };
    },
  ],
  anthropic: [
    { messages: [question] },
    (answer) => {
      const content = answer['content'] as Json[];
      const results = content
        .filter(({ type }) => type === 'tool_use')
        .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'Rain' }));
      return {
        messages: [question, { role: 'assistant', content }, { role: 'user', content: results }],
      };
    },
  ],
  responses: [
    { input: [question], include: ['reasoning.encrypted_content'] },
    (answer) => {
      const output = answer['output'] as Json[];
      const results = output
        .filter(({ type }) => type === 'function_call')
        .map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'Rain' }));
      return { input: [question, ...output, ...results] };
    },
  ],
};

/** The signature of each call in a request to Gemini. */
function signaturesIn(client: ClientProtocol, body: ReadonlyJsonObject) {
  const { request } = readRequest(client, body);
  const { contents } = UPSTREAM_TRANSLATORS.gemini.request(request, 100) as {
    contents: { parts: { functionCall?: object; thoughtSignature?: string }[] }[];
  };
  return contents
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.functionCall ? [part.thoughtSignature] : []));
}

describe.each(Object.keys(LOOPS) as (keyof typeof LOOPS)[])('a client of %s', (client) => {
  const [first, next] = LOOPS[client];
  const protocol = () => protocolFor(client, 'gemini');

  test.each([false, true])('returns the signature unchanged; streamed: %p', async (stream) => {
    const chunk = {
      candidates: [{ content: { role: 'model', parts: PARTS }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 },
    };
    upstream.answer = () =>
      stream
        ? new Response(`data: ${JSON.stringify(chunk)}\n\n`, {
            headers: { 'content-type': 'text/event-stream' },
          })
        : Response.json(chunk);
    const call = callOf(upstream.url, { ...first, stream });
    let answer: unknown;
    if (stream) {
      const streamed = await protocol().stream(call);
      for await (const _ of streamed.events);
      answer = streamed.answer?.();
    } else answer = JSON.parse((await protocol().complete(call)).body_text);
    expect(signaturesIn(client, next(answer as Json))).toEqual([SIGNATURE, undefined]);
    // No other provider gets Gemini's signature.
    for (const form of ['openai', 'anthropic', 'responses'] as const) {
      const { request } = readRequest(client, next(answer as Json));
      const written = UPSTREAM_TRANSLATORS[form].request(request, 100);
      expect(JSON.stringify(written)).not.toContain(SIGNATURE);
    }
  });

  test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])(
    'gets an error, and no empty answer, for %s',
    async (finishReason) => {
      // @ai-sdk/google 4.0.121, src/map-google-finish-reason.ts: an error.
      upstream.answer = () => Response.json({ candidates: [{ content: {}, finishReason }] });
      const failure = await protocol()
        .complete(callOf(upstream.url, first))
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: 'RetryableUpstreamError', failure: 'malformed' });
    },
  );
});

/** Google's own layer for OpenAI's clients (Gemini API docs: OpenAI compatibility). */
describe.each(['anthropic', 'responses', 'gemini'] as const)(
  'Gemini in chat completions, for %s',
  (client) => {
    const extra_content = { google: { thought_signature: SIGNATURE } };
    const called = [
      {
        index: 0,
        id: 'a',
        type: 'function',
        function: { name: 'f', arguments: '{}' },
        extra_content,
      },
      { index: 1, id: 'b', type: 'function', function: { name: 'f', arguments: '{}' } },
    ];
    const model_abilities = abilitiesOn(
      builtInModels().find(({ id }) => id === 'gemini-3.5-flash')?.abilities,
      'openai',
    );
    const spoken = protocolFor(client, 'openai');
    const first =
      client === 'gemini' ? { contents: [{ parts: [{ text: 'Hi' }] }] } : LOOPS[client][0];

    test.each([false, true])('it returns the signature unchanged; streamed: %p', async (stream) => {
      const chunk = (delta: object, finish_reason: string | null = null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
      upstream.answer = () =>
        stream
          ? new Response(
              chunk({ reasoning_content: 'Hm.' }) +
                called.map((call) => chunk({ tool_calls: [call] })).join('') +
                chunk({}, 'tool_calls') +
                'data: [DONE]\n\n',
              { headers: { 'content-type': 'text/event-stream' } },
            )
          : Response.json({
              choices: [{ message: { tool_calls: called }, finish_reason: 'tool_calls' }],
            });
      const call = callOf(upstream.url, { ...first, stream }, { model_abilities });
      let answer: unknown;
      if (stream) {
        const streamed = await spoken.stream(call);
        for await (const _ of streamed.events);
        answer = streamed.answer?.();
      } else answer = JSON.parse((await spoken.complete(call)).body_text);
      if (client === 'gemini') return;
      const next = callOf(
        upstream.url,
        { ...LOOPS[client][1](answer as Json) },
        { model_abilities },
      );
      const { body } = translateCall(client, 'openai', next).call;
      const sent = (body['messages'] as Json[])
        .flatMap(({ tool_calls }) => (tool_calls ?? []) as Json[])
        .map((each) => each['extra_content']);
      expect(sent).toEqual([extra_content, undefined]);
    });

    test('calls of another model get the value that Gemini accepts', () => {
      const calls: Record<typeof client, object> = {
        anthropic: {
          messages: [
            question,
            { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
            question,
          ],
        },
        responses: {
          input: [question, { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }],
        },
        gemini: {
          contents: [
            { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
            { role: 'user', parts: [{ text: 'So?' }] },
          ],
        },
      };
      const call = callOf(upstream.url, { ...calls[client] }, { model_abilities });
      expect(translateCall(client, 'openai', call).call.body_text).toContain(
        '"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}',
      );
      const other = { ...call, model_abilities: undefined };
      expect(translateCall(client, 'openai', other).call.body_text).not.toContain('extra_content');
    });
  },
);

test('calls without a signature get the value that Gemini accepts in its place', () => {
  const answer = {
    parts: [{ type: 'call' as const, id: 'a', name: 'weather', arguments: '{}' }],
    ...{ stop: 'calls' as const, usage: null },
  };
  expect(writeGeminiAnswer(answer, { id: 'r', model: 'm', created: 0, request: {} })).toBeObject();
  const tool_calls = [
    { id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } },
  ];
  expect(
    signaturesIn('openai', { messages: [question, { role: 'assistant', tool_calls }] }),
  ).toEqual(['skip_thought_signature_validator']);
});
