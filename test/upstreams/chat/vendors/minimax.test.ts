/**
 * MiniMax reports errors in `base_resp`, with the HTTP status 200 (adrianlyjak/obsidian-aloud-tts#114). In a success,
 * `status_code` is 0. The codes come from platform.minimax.io: Error codes.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { openaiProtocol } from '../../../../src/upstreams/chat/openai.ts';
import { protocolFor } from '../../../../src/upstreams/chat/protocols.ts';
import { callOf, readStream, rejection, startUpstream, streamed } from '../../upstream.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());

const NAMES = { id: '', created: 1_700_000_000, model: 'physical-9' };
const EXTRA = { input_sensitive: false, output_sensitive: false, output_sensitive_type: 0 };
const refused = (status_code: number, status_msg: string) => ({
  ...{ ...NAMES, object: '', choices: null, usage: null, ...EXTRA },
  base_resp: { status_code, status_msg },
});

const REFUSALS: readonly [object, object][] = [
  [refused(1004, 'login fail'), { fault: 'account' }],
  [refused(1008, 'insufficient balance'), { fault: 'account' }],
  [refused(1002, 'rate limit'), { fault: 'throttle' }],
  [refused(1000, 'unknown error, 999 (1000)'), { fault: 'broken' }],
  [refused(1026, 'input new_sensitive'), { error_id: 'content_policy_violation' }],
  [refused(1039, 'token limit'), { error_id: 'context_length_exceeded' }],
  [refused(2013, 'invalid params'), { error_id: 'invalid_request' }],
];
const body = { messages: [{ role: 'user', content: 'Hi' }] };

describe.each(REFUSALS)('%j', (answer, meaning) => {
  test('is a failure of a whole answer', async () => {
    upstream.answer = () => Response.json(answer);
    const error = await rejection(openaiProtocol.complete(callOf(upstream.url, body)));
    expect(error).toMatchObject(meaning);
    const messages = { ...body, max_tokens: 9 };
    const translated = protocolFor('anthropic', 'openai').complete(callOf(upstream.url, messages));
    expect(await rejection(translated)).toMatchObject(meaning);
  });

  test('is a failure of a stream, as a whole answer or as an event', async () => {
    const call = callOf(upstream.url, { ...body, stream: true });
    upstream.answer = () => Response.json(answer);
    expect(await rejection(openaiProtocol.stream(call))).toMatchObject(meaning);
    upstream.answer = () => streamed([`data: ${JSON.stringify(answer)}\n\n`]);
    expect((await readStream(openaiProtocol, call)).error).toMatchObject(meaning);
  });
});

test('an answer with the code 0 is a success', async () => {
  const message = { role: 'assistant', content: 'Hello', name: 'MiniMax AI', audio_content: '' };
  const answer = {
    ...{ ...NAMES, object: 'chat.completion', ...EXTRA },
    choices: [{ finish_reason: 'stop', index: 0, message }],
    usage: { total_tokens: 7, total_characters: 0, prompt_tokens: 5, completion_tokens: 2 },
    base_resp: { status_code: 0, status_msg: '' },
  };
  upstream.answer = () => Response.json(answer);
  const { usage, produced } = await openaiProtocol.complete(callOf(upstream.url, body));
  expect(usage).toMatchObject({ input_tokens: 5, output_tokens: 2 });
  expect(produced()).toBe('Hello');
  const delta = { index: 0, delta: { content: 'Hello', role: 'assistant' } };
  const chunk = { ...answer, choices: [delta], usage: null, object: 'chat.completion.chunk' };
  const last = { ...chunk, choices: [{ ...delta, finish_reason: 'stop' }] };
  upstream.answer = () =>
    streamed([chunk, last].map((each) => `data: ${JSON.stringify(each)}\n\n`));
  const call = callOf(upstream.url, { ...body, stream: true });
  const read = await readStream(openaiProtocol, call);
  expect(read.error).toBeUndefined();
  expect(read.produced).toBe('HelloHello');
});
