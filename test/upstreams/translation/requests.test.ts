/** The round trip of requests: neutral form → protocol → neutral form is the identity. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readChat } from '../../../src/upstreams/translation/chat-request.ts';
import { writeChat } from '../../../src/upstreams/translation/chat-write.ts';
import { readGemini } from '../../../src/upstreams/translation/gemini-request.ts';
import { writeGemini } from '../../../src/upstreams/translation/gemini-write.ts';
import { readMessagesRequest } from '../../../src/upstreams/translation/messages-request.ts';
import { writeMessagesRequest } from '../../../src/upstreams/translation/messages-write.ts';
import type { NeutralRequest, Turn } from '../../../src/upstreams/translation/neutral.ts';
import { CONVERSATIONS } from './conversations.ts';

const PROTOCOLS = {
  openai: (request: NeutralRequest) => readChat(writeChat(request)),
  anthropic: (request: NeutralRequest) =>
    readMessagesRequest(writeMessagesRequest(request, 32_000)),
  gemini: (request: NeutralRequest) => readGemini(writeGemini(request)),
};
const NAMES = Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[];

/** What a protocol says in other words: efforts as budgets, one text for several, a default bound. */
function comparable(request: NeutralRequest): object {
  const { reasoning, max_output_tokens: _, system, format, turns, ...rest } = request;
  return JSON.parse(
    JSON.stringify({
      ...rest,
      system: system.join('\n\n'),
      format: format?.type === 'schema' ? format.schema : format,
      thinks: reasoning !== undefined,
      turns: turns.map(({ role, parts }: Turn) => ({
        role,
        parts: parts.map((part) =>
          part.type === 'result' ? { ...part, parts: JSON.stringify(part.parts) } : part,
        ),
      })),
    }),
  );
}

/** JSON texts, so that results may be objects where a protocol has them so. */
const parsed = (value: object): object =>
  JSON.parse(JSON.stringify(value).replaceAll(/\\"result\\\\":/g, ''));

describe.each(NAMES)('a request in the words of %s', (name) => {
  test.each(Object.keys(CONVERSATIONS))('says all of: %s', (title) => {
    const request = CONVERSATIONS[title] as NeutralRequest;
    const { request: back } = PROTOCOLS[name](request);
    const [said, meant] = [comparable(back), comparable(request)] as Record<string, unknown>[];
    // Gemini's results are objects.
    if (name === 'gemini') for (const each of [said, meant]) delete each?.['turns'];
    expect(parsed(said ?? {})).toEqual(parsed(meant ?? {}));
    const roles = (each: NeutralRequest) =>
      each.turns.map(({ role, parts }) => [role, parts.map(({ type }) => type)]);
    expect(roles(back)).toEqual(roles(request));
  });

  test('notes no need that it has no words for', () => {
    for (const request of Object.values(CONVERSATIONS)) {
      const { uses } = PROTOCOLS[name](request);
      expect(uses.filter(({ feature }) => feature.startsWith('other'))).toEqual([]);
    }
  });

  test('is the same again after any conversation of words and calls', () => {
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
              ...pairs.flatMap(([asked, answered]): Turn[] => [
                { role: 'user', parts: [{ type: 'text', text: asked }] },
                { role: 'assistant', parts: [{ type: 'text', text: answered }] },
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
