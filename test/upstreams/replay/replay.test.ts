/** A stored answer is sent again: a stream of it has the same content, whichever protocol it is of. */
import { describe, expect, test } from 'bun:test';
import { FITNESS } from '../../../src/protocols/fitness.ts';
import { CLIENT_PROTOCOLS, type ClientProtocol } from '../../../src/protocols/names.ts';
import {
  cutAtNames,
  freshName,
  withFreshNames,
} from '../../../src/upstreams/replay/fresh-names.ts';
import { REPLAYS } from '../../../src/upstreams/replay/protocols.ts';
import { eventsIn } from '../../../src/upstreams/replay/replay.ts';
import { fc } from '../../support/property.ts';
import { ANSWERS, anySaid } from './said.ts';

const USAGE = { stream_options: { include_usage: true } };

describe.each(CLIENT_PROTOCOLS.map((name) => [name]))('%s', (protocol) => {
  const replay = REPLAYS[protocol];

  test('a stream of an answer makes the same answer', () => {
    fc.assert(
      fc.property(anySaid, (said) => {
        const answer = ANSWERS[protocol](said);
        const events = eventsIn(replay.stream(answer, USAGE));
        expect(replay.assemble(events)).toEqual(answer);
        expect(FITNESS[protocol].isFit(answer)).toBe(true);
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
    const own = answer[replay.id];
    const cut = cutAtNames(text, [own, ...replay.ids(answer)]);
    const fresh = withFreshNames(cut, own, 'fresh');
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

test('an answer that did not end by itself is not fit', () => {
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
    expect({ protocol, change, isFit: FITNESS[protocol].isFit(answer) }).toEqual({
      ...{ protocol, change, isFit: false },
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
