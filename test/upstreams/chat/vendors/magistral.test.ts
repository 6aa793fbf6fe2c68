/**
 * Mistral's reasoning models send content as a list of chunks. The shapes come from
 * github.com/spring-projects/spring-ai/issues/5019 (whole answer) and from
 * github.com/BerriAI/litellm/issues/16272 (stream). Mistral's packages read what Weir passes on.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { openaiProtocol } from '../../../../src/upstreams/chat/openai.ts';
import { protocolFor } from '../../../../src/upstreams/chat/protocols.ts';
import { callOf, readStream, startUpstream, streamed } from '../../upstream.ts';
import { modelOf, OPTIONS } from './packages.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());

const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
const USAGE = { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 };
const NAMES = { id: 'c3c77283055240cb', created: 1_762_355_135, model: 'physical-9' };

const WHOLE = JSON.stringify({
  ...NAMES,
  object: 'chat.completion',
  usage: USAGE,
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      message: {
        role: 'assistant',
        tool_calls: null,
        content: [thinking('Let me see. It is a greeting.'), { type: 'text', text: 'Hello!' }],
      },
    },
  ],
});

const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}) =>
  `data: ${JSON.stringify({ ...NAMES, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], ...rest })}\n\n`;
const STREAM = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: [thinking('Let me see.')] }),
  chunk({ content: [thinking(' It')] }),
  chunk({ content: [thinking(' is a greeting.')] }),
  chunk({ content: [{ type: 'text', text: 'Hel' }] }),
  chunk({ content: 'lo!' }),
  chunk({ content: '' }, 'stop', { usage: USAGE }),
  'data: [DONE]\n\n',
];

const BODIES = {
  anthropic: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'm', input: 'Hi' },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
};

function callTo(body: Record<string, unknown>) {
  upstream.answer = ({ text }) =>
    JSON.parse(text).stream
      ? streamed(STREAM)
      : new Response(WHOLE, { headers: { 'content-type': 'application/json' } });
  const call = callOf(upstream.url, { model: 'm', ...body });
  return { ...call, target: { ...call.target, dialect: 'mistral' as const } };
}

const publicOf = (text: string) =>
  text.replaceAll(NAMES.id, 'answer-of-weir').replaceAll(NAMES.model, 'gpt-test');

describe('a pass-through answer', () => {
  test('keeps its bytes, is charged for all its text, and Mistral’s package reads it', async () => {
    const answer = await openaiProtocol.complete(callTo({ messages: [] }));
    expect(answer.body_text).toBe(publicOf(WHOLE));
    expect(answer.produced()).toBe('Let me see. It is a greeting.Hello!');
    expect(answer.usage).toMatchObject({ input_tokens: 12, output_tokens: 30 });
    const model = modelOf('mistral', async () => Response.json(JSON.parse(answer.body_text)));
    const { content } = await model.doGenerate(OPTIONS);
    expect(content).toMatchObject([
      { type: 'reasoning', text: 'Let me see. It is a greeting.' },
      { type: 'text', text: 'Hello!' },
    ]);
  });

  test('keeps its bytes as a stream, with the usage that Mistral sends unasked', async () => {
    const options = { messages: [], stream: true, stream_options: { include_usage: true } };
    const { text, produced, stream } = await readStream(openaiProtocol, callTo(options));
    expect(text).toBe(publicOf(STREAM.join('')));
    expect(produced).toBe('Let me see. It is a greeting.Hello!');
    expect(stream.usage()).toMatchObject({ input_tokens: 12, output_tokens: 30 });
  });
});

/** Returns all strings in a value, in their order. */
function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

describe.each(Object.entries(BODIES))('a client of the protocol %s', (client, body) => {
  const protocol = protocolFor(client as keyof typeof BODIES, 'openai');

  test('gets the text and the reasoning of a whole answer', async () => {
    const { body_text } = await protocol.complete(callTo(body));
    const strings = stringsIn(JSON.parse(body_text));
    expect(strings).toContain('Hello!');
    expect(strings).toContain('Let me see. It is a greeting.');
  });

  test('gets the text and the reasoning of a stream', async () => {
    const { text, produced } = await readStream(protocol, callTo({ ...body, stream: true }));
    const events = text.split('\n').filter((line) => line.startsWith('data: {'));
    const strings = events.flatMap((line) => stringsIn(JSON.parse(line.slice(6))));
    for (const part of ['Let me see.', ' It', ' is a greeting.', 'Hel', 'lo!'])
      expect(strings).toContain(part);
    expect(produced).toBe('Let me see. It is a greeting.Hello!');
  });
});
