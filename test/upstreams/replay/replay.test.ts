/** A stored answer is sent again: a stream of it has the same content, whichever protocol it is of. */
import { describe, expect, test } from 'bun:test';
import { CLIENT_PROTOCOLS, type ClientProtocol } from '../../../src/protocols/names.ts';
import { freshName, withFreshNames } from '../../../src/upstreams/replay/fresh-names.ts';
import { REPLAYS } from '../../../src/upstreams/replay/protocols.ts';
import { eventsIn } from '../../../src/upstreams/replay/replay.ts';
import { anyText } from '../../support/arbitrary-json.ts';
import { fc } from '../../support/property.ts';

interface Said {
  text: string;
  thought: string;
  call: { name: string; input: object } | undefined;
}

const anySaid: fc.Arbitrary<Said> = fc.record({
  text: anyText.map((text) => text.toWellFormed()),
  thought: anyText.map((text) => text.toWellFormed()),
  call: fc.option(
    fc.record({ name: fc.constantFrom('look', 'go'), input: fc.dictionary(fc.string(), fc.nat()) }),
    { nil: undefined },
  ),
});

/** Returns an answer as each protocol writes it. */
const ANSWERS: Record<ClientProtocol, (said: Said) => Record<string, unknown>> = {
  openai: ({ text, thought, call }) => ({
    ...{ id: 'chatcmpl-old00000000', created: 7, model: 'm', system_fingerprint: 'fp' },
    object: 'chat.completion',
    choices: [
      {
        ...{ index: 0, finish_reason: call ? 'tool_calls' : 'stop' },
        logprobs: { content: [{ token: 'a', logprob: -1 }], refusal: null },
        message: {
          ...{ role: 'assistant', content: text === '' ? null : text, refusal: null },
          ...(thought === '' ? {} : { reasoning_content: thought }),
          ...(call
            ? {
                tool_calls: [
                  {
                    ...{ id: 'call_old000000000', type: 'function' },
                    function: { name: call.name, arguments: JSON.stringify(call.input) },
                  },
                ],
              }
            : {}),
        },
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  }),
  anthropic: ({ text, thought, call }) => ({
    ...{ id: 'msg_old000000000', type: 'message', role: 'assistant', model: 'm' },
    content: [
      { type: 'thinking', thinking: thought, signature: 'signed' },
      { type: 'text', text, citations: null },
      ...(call ? [{ type: 'tool_use', id: 'toolu_old000000000', ...call }] : []),
    ],
    ...{ stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { input_tokens: 3, cache_read_input_tokens: 1, output_tokens: 4 },
  }),
  responses: ({ text, thought, call }) => ({
    ...{ id: 'resp_old000000000', object: 'response', status: 'completed', model: 'm' },
    ...{ metadata: {}, store: true, previous_response_id: null },
    output: [
      {
        id: 'rs_old000000000',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: thought }],
      },
      {
        ...{ id: 'msg_old000000000', type: 'message', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      },
      ...(call
        ? [
            {
              ...{ id: 'fc_old000000000', type: 'function_call', status: 'completed' },
              ...{ call_id: 'call_old000000000', name: call.name },
              arguments: JSON.stringify(call.input),
            },
          ]
        : []),
    ],
    usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
  }),
  gemini: ({ text, thought, call }) => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            ...(thought === '' ? [] : [{ text: thought, thought: true }]),
            ...(text === '' && (call || thought !== '') ? [] : [{ text }]),
            ...(call
              ? [{ functionCall: { id: 'call_old000000000', name: call.name, args: call.input } }]
              : []),
          ],
        },
        ...{ finishReason: 'STOP', index: 0 },
      },
    ],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
    ...{ modelVersion: 'm', responseId: 'old000000000' },
  }),
};

const USAGE = { stream_options: { include_usage: true } };

describe.each(CLIENT_PROTOCOLS.map((name) => [name]))('%s', (protocol) => {
  const replay = REPLAYS[protocol];

  test('a stream of an answer makes the same answer', () => {
    fc.assert(
      fc.property(anySaid, (said) => {
        const answer = ANSWERS[protocol](said);
        const events = eventsIn(replay.stream(answer, USAGE));
        expect(replay.assemble(events)).toEqual(answer);
        expect(replay.isComplete(answer)).toBe(true);
      }),
    );
  });

  test('each copy has ids of its own, and nothing else changes', () => {
    const said = {
      text: '"id":"call_old000000000"',
      thought: 'x',
      call: { name: 'look', input: {} },
    };
    const answer = ANSWERS[protocol](said);
    const text = JSON.stringify(answer);
    const fresh = withFreshNames(text, answer[replay.id], 'fresh', replay.ids(answer));
    const parsed = JSON.parse(fresh);
    expect(parsed[replay.id]).toBe('fresh');
    expect(fresh).toContain(JSON.stringify(said.text));
    const ids = replay.ids(parsed);
    expect(ids.some((id) => replay.ids(answer).includes(id) && id !== undefined)).toBe(false);
    const blank = (value: string) =>
      value.replaceAll(/"(id|call_id|responseId)":"[^"]*"/g, '"$1":""');
    expect(blank(fresh)).toBe(blank(text));
  });
});

test('an answer that did not end by itself is not complete', () => {
  const said = { text: 'x', thought: 'y', call: undefined };
  const changed: [ClientProtocol, object][] = [
    ['openai', { choices: [{ message: { content: 'x' }, finish_reason: 'length' }] }],
    ['openai', { choices: [{ message: { content: 'x' }, finish_reason: 'content_filter' }] }],
    ['openai', { choices: [{ message: { refusal: 'No.' }, finish_reason: 'stop' }] }],
    ['openai', { choices: [] }],
    ['anthropic', { stop_reason: 'max_tokens' }],
    ['anthropic', { stop_reason: 'refusal' }],
    ['anthropic', { stop_reason: 'pause_turn' }],
    ['anthropic', { content: [{ type: 'web_search_tool_result' }] }],
    ['responses', { status: 'incomplete' }],
    ['responses', { output: [{ type: 'web_search_call' }] }],
    ['responses', { output: [{ type: 'message', content: [{ type: 'refusal' }] }] }],
    ['gemini', { candidates: [{ finishReason: 'MAX_TOKENS' }] }],
    ['gemini', { candidates: [{ finishReason: 'SAFETY' }] }],
    ['gemini', { candidates: [{ finishReason: 'STOP', groundingMetadata: {} }] }],
    ['gemini', { promptFeedback: { blockReason: 'SAFETY' } }],
  ];
  for (const [protocol, change] of changed) {
    const answer = { ...ANSWERS[protocol](said), ...change };
    expect({ protocol, change, isComplete: REPLAYS[protocol].isComplete(answer) }).toEqual({
      ...{ protocol, change, isComplete: false },
    });
  }
});

test('a response shows the members of the request that gets it', () => {
  const answer = {
    ...ANSWERS.responses({ text: 'x', thought: '', call: undefined }),
    user: 'first',
  };
  const echo = REPLAYS.responses.echo?.(answer, { metadata: { a: 'b' }, store: false });
  expect(echo).toEqual({
    ...{ metadata: '{"a":"b"}', store: 'false', previous_response_id: 'null', user: null },
  });
});

test('a new id has the form of the old one', () => {
  for (const id of [
    'call_AbCdEf123456',
    'toolu_01AbCdEfGhIj',
    'a1B2c3D4e',
    'fc_0123456789abcdef',
  ]) {
    const fresh = freshName(id);
    expect(fresh).not.toBe(id);
    expect(fresh).toHaveLength(id.length);
    expect(fresh.replaceAll(/[0-9A-Za-z]/g, 'x')).toBe(id.replaceAll(/[0-9A-Za-z]/g, 'x'));
    expect(fresh.startsWith(/^[a-z]+_/.exec(id)?.[0] ?? '')).toBe(true);
  }
  expect(freshName('functions.look_around:0')).toBe('functions.look_around:0');
  expect(freshName('0')).toBe('0');
});
