/** Tests that writing a request in a protocol and reading it again returns the same neutral form. */
import { describe, expect, test } from 'bun:test';
import { readChat } from '../../../src/upstreams/translation/chat-request.ts';
import { writeChat } from '../../../src/upstreams/translation/chat-write.ts';
import { readGemini } from '../../../src/upstreams/translation/gemini-request.ts';
import { writeGemini } from '../../../src/upstreams/translation/gemini-write.ts';
import { readMessagesRequest } from '../../../src/upstreams/translation/messages-request.ts';
import { writeMessagesRequest } from '../../../src/upstreams/translation/messages-write.ts';
import type { NeutralRequest, Turn } from '../../../src/upstreams/translation/neutral.ts';
import { readResponses } from '../../../src/upstreams/translation/responses-request.ts';
import { writeResponsesRequest } from '../../../src/upstreams/translation/responses-write.ts';
import { fc } from '../../support/property.ts';
import { CONVERSATIONS } from './conversations.ts';

const PROTOCOLS = {
  openai: (request: NeutralRequest) => readChat(writeChat(request)),
  anthropic: (request: NeutralRequest) =>
    readMessagesRequest(writeMessagesRequest(request, 32_000)),
  gemini: (request: NeutralRequest) => readGemini(writeGemini(request)),
};
const NAMES = Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[];

/**
 * Removes differences that are correct. These are budgets for efforts, joined texts, and a default
 * token limit.
 */
function comparable(request: NeutralRequest): object {
  const { reasoning, max_output_tokens: _, system, format, turns, ...rest } = request;
  return JSON.parse(
    JSON.stringify({
      ...rest,
      system: system.join('\n\n'),
      format: format?.type === 'schema' ? format.schema : format,
      hasReasoning: reasoning !== undefined,
      turns: turns.map(({ role, parts }: Turn) => ({
        role,
        parts: parts.map((part) =>
          part.type === 'result' ? { ...part, parts: JSON.stringify(part.parts) } : part,
        ),
      })),
    }),
  );
}

/** Removes the `result` wrapper that Gemini adds to results. */
const withoutWrapper = (value: object): object =>
  JSON.parse(JSON.stringify(value).replaceAll(/\\"result\\\\":/g, ''));

describe.each(NAMES)('a request in the protocol %s', (name) => {
  test.each(Object.keys(CONVERSATIONS))('keeps everything of: %s', (title) => {
    const request = CONVERSATIONS[title] as NeutralRequest;
    const { request: readBack } = PROTOCOLS[name](request);
    const [actual, expected] = [comparable(readBack), comparable(request)] as Record<
      string,
      unknown
    >[];
    // Gemini's results are objects, so the turns differ.
    if (name === 'gemini') for (const each of [actual, expected]) delete each?.['turns'];
    expect(withoutWrapper(actual ?? {})).toEqual(withoutWrapper(expected ?? {}));
    const roles = (each: NeutralRequest) =>
      each.turns.map(({ role, parts }) => [role, parts.map(({ type }) => type)]);
    expect(roles(readBack)).toEqual(roles(request));
  });

  test('notes no unknown feature', () => {
    for (const request of Object.values(CONVERSATIONS)) {
      const { uses } = PROTOCOLS[name](request);
      expect(uses.filter(({ feature }) => feature.startsWith('other'))).toEqual([]);
    }
  });

  test('is the same after writing and reading any conversation of texts', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' });
    const turn = fc.tuple(text, text);
    fc.assert(
      fc.property(
        fc.array(turn, { maxLength: 5 }),
        text,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (pairs, last, temperature) => {
          const request: NeutralRequest = {
            system: [],
            turns: [
              ...pairs.flatMap(([question, answer]): Turn[] => [
                { role: 'user', parts: [{ type: 'text', text: question }] },
                { role: 'assistant', parts: [{ type: 'text', text: answer }] },
              ]),
              { role: 'user', parts: [{ type: 'text', text: last }] },
            ],
            tools: [],
            stop: [],
            stream: false,
            max_output_tokens: 100,
            temperature,
          };
          expect(PROTOCOLS[name](request).request).toEqual(request);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('P18: the detail of an image', () => {
  const url = 'data:image/png;base64,AAAA';
  const chat = {
    messages: [
      { role: 'user', content: [{ type: 'image_url', image_url: { url, detail: 'low' } }] },
    ],
  };
  const responses = {
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: url, detail: 'low' }] }],
  };

  test.each([
    ['chat', readChat(chat)],
    ['responses', readResponses(responses)],
  ])('of %s reaches the protocols that have it', (_, { request }) => {
    expect(writeChat(request)).toMatchObject(chat);
    expect(writeResponsesRequest(request)).toMatchObject(responses);
    for (const written of [writeGemini(request), writeMessagesRequest(request, 100)]) {
      expect(JSON.stringify(written)).not.toContain('low');
    }
  });

  test('is sent only if the client set it', () => {
    const content = [{ type: 'image_url', image_url: { url } }];
    const { request } = readChat({ messages: [{ role: 'user', content }] });
    expect(JSON.stringify(writeChat(request))).not.toContain('detail');
  });
});
