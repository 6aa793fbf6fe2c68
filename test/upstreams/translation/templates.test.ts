/**
 * Events that match a template are translated without parsing. These streams have events that match
 * a template but mean something else than the event before.
 */
import { afterAll, expect, test } from 'bun:test';
import { protocolFor } from '../../../src/upstreams/chat/protocols.ts';
import { callOf, startUpstream, streamed } from '../upstream.ts';
import { contentOf, readStreamed } from './clients.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());

const ROUNDS = 12;

test('text and reasoning in turns stay apart', async () => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const turns = Array.from({ length: ROUNDS }, (_, round) => [
    ...[`t${round}a`, `t${round}b`].map((content) => chunk({ content })),
    ...[`r${round}a`, `r${round}b`].map((reasoning_content) => chunk({ reasoning_content })),
  ]);
  upstream.answer = () => streamed([...turns.flat(), chunk({}, 'stop'), 'data: [DONE]\n\n']);
  const body = { model: 'gpt-test', max_tokens: 99, messages: [{ role: 'user', content: 'Hi' }] };
  const call = callOf(upstream.url, { ...body, stream: true });
  const { parts } = await readStreamed(
    'anthropic',
    await protocolFor('anthropic', 'openai').stream(call),
  );
  expect(contentOf(parts)).toEqual(
    Array.from({ length: ROUNDS }, (_, round) => [
      { text: `t${round}at${round}b` },
      { reasoning: `r${round}ar${round}b` },
    ]).flat(),
  );
});

test('deltas of an unknown kind do not become text', async () => {
  const at = { item_id: 'm', output_index: 0, content_index: 0 };
  const response = { id: 'r', model: 'm', output: [] };
  const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 };
  const events = [
    { type: 'response.created', response },
    { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '' } },
    { type: 'response.output_text.delta', ...at, delta: 'shown' },
    ...Array.from({ length: ROUNDS }, (_, round) => ({
      ...{ type: 'response.reasoning_text.delta', ...at, delta: `hidden ${round}` },
    })),
    { type: 'response.completed', response: { ...response, status: 'completed', usage } },
  ];
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  upstream.answer = () => streamed([frames.join('')]);
  const body = { model: 'gpt-test', messages: [{ role: 'user', content: 'Hi' }], stream: true };
  const stream = await protocolFor('openai', 'openai-responses').stream(callOf(upstream.url, body));
  const { parts } = await readStreamed('openai', stream);
  expect(contentOf(parts)).toEqual([{ text: 'shown' }]);
});
