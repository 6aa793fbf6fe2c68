/**
 * No upstream receives a turn without content. Google's SDKs send such turns back: `parts: []`, `{}`
 * or an empty text (@google/genai 3.1.0, dist/index.mjs: Chat.recordHistory; google-genai 2.34 and
 * go-genai 1.77 do the same). Anthropic and Gemini refuse them.
 */
import { describe, expect, test } from 'bun:test';
import type { ClientProtocol } from '../../../src/protocols/names.ts';
import type { ReadonlyJsonObject } from '../../../src/upstreams/translation/reading.ts';
import {
  type RequestProtocol,
  readRequest,
  UPSTREAM_TRANSLATORS,
} from '../../../src/upstreams/translation/translate.ts';

/** Wraps the empty turn of a model in a conversation: question, turn, next question. */
const CLIENTS: Record<
  ClientProtocol,
  [wrap: (turn: object) => ReadonlyJsonObject, turns: object[]]
> = {
  gemini: [
    (turn) => ({
      contents: [
        { role: 'user', parts: [{ text: 'One' }] },
        { role: 'model', ...turn },
        { role: 'user', parts: [{ text: 'Two' }] },
      ],
    }),
    [
      {},
      { parts: [] },
      { parts: [{}] },
      { parts: [{ text: '' }] },
      { parts: [{ text: '', thought: true }] },
    ],
  ],
  openai: [
    (turn) => ({
      messages: [
        { role: 'user', content: 'One' },
        { role: 'assistant', ...turn },
        { role: 'user', content: 'Two' },
      ],
    }),
    [{ content: '' }, { content: [] }, { content: null, tool_calls: [] }],
  ],
  anthropic: [
    (turn) => ({
      messages: [
        { role: 'user', content: 'One' },
        { role: 'assistant', ...turn },
        { role: 'user', content: 'Two' },
      ],
    }),
    [
      { content: '' },
      { content: [] },
      { content: [{ type: 'text', text: '' }] },
      { content: [{ type: 'thinking', thinking: 'Hm', signature: undefined }] },
    ],
  ],
  responses: [
    (turn) => ({
      input: [
        { role: 'user', content: 'One' },
        { role: 'assistant', ...turn },
        { role: 'user', content: 'Two' },
      ],
    }),
    [{ content: '' }, { content: [] }, { content: [{ type: 'output_text', text: '' }] }],
  ],
};
const PAIRS = (Object.keys(CLIENTS) as ClientProtocol[]).flatMap((client) =>
  (Object.keys(UPSTREAM_TRANSLATORS) as RequestProtocol[]).map((form) => [client, form] as const),
);

describe.each(PAIRS)('a client of %s and an upstream of %s', (client, form) => {
  const [wrap, turns] = CLIENTS[client];
  test.each(turns)('leave out the empty turn %j', (turn) => {
    const { request } = readRequest(client, wrap(turn));
    const written = JSON.stringify(UPSTREAM_TRANSLATORS[form].request(request, 1_000));
    expect(written).not.toMatch(/"(content|parts|text)":(\[\]|""|null)/);
    expect(written).toContain('One');
    expect(written).toContain('Two');
  });
});

test('the chunks of a streamed answer become one turn', () => {
  const model = (...parts: object[]) => ({ role: 'model', parts });
  const { request } = readRequest('gemini', {
    contents: [
      { role: 'user', parts: [{ text: 'The weather?' }] },
      ...[model({ text: 'I ' }), model({ text: 'look.' }), model({ text: '' })],
      model({ functionCall: { id: 'a', name: 'weather', args: {} } }),
      model({ text: '' }),
      { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'weather', response: {} } }] },
    ],
  });
  expect(request.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(request.turns[1]?.parts).toEqual([
    { type: 'text', text: 'I look.' },
    { type: 'call', id: 'a', name: 'weather', arguments: '{}' },
  ]);
});

test('inline data in the URL-safe alphabet leaves in the usual one', () => {
  // google-genai 2.34 for Python encodes bytes with the URL-safe alphabet (RFC 4648, section 5).
  const inlineData = { mimeType: 'image/png', data: '-_-_' };
  const { request } = readRequest('gemini', { contents: [{ parts: [{ inlineData }] }] });
  for (const form of ['openai', 'anthropic', 'responses'] as const) {
    const written = JSON.stringify(UPSTREAM_TRANSLATORS[form].request(request, 1_000));
    expect(written).toContain('+/+/');
  }
});
