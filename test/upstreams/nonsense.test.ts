import { afterAll, describe, expect, test } from 'bun:test';
import { anthropicProtocol } from '../../src/upstreams/chat/anthropic.ts';
import { openaiProtocol } from '../../src/upstreams/chat/openai.ts';
import {
  RetryableUpstreamError,
  TerminalUpstreamError,
  type UpstreamProtocol,
} from '../../src/upstreams/contract.ts';
import { fc } from '../support/property.ts';
import { callOf, readStream, startUpstream } from './upstream.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());

/**
 * Members and values of the protocols. The test builds JSON from these names with arbitrary values.
 */
const NAMES = [
  ...[
    'id',
    'model',
    'error',
    'choices',
    'index',
    'delta',
    'message',
    'content',
    'usage',
    'created',
  ],
  ...['finish_reason', 'tool_calls', 'function', 'name', 'arguments', 'prompt_tokens', 'type'],
  ...['completion_tokens', 'prompt_tokens_details', 'cached_tokens', 'text', 'thinking', 'input'],
  ...['content_block', 'stop_reason', 'input_tokens', 'output_tokens', 'code', 'param', 'provider'],
];
const TYPES = [
  ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
  ...['message_delta', 'message_stop', 'ping', 'error', 'text_delta', 'overloaded_error'],
];
const { nonsense } = fc.letrec<{ nonsense: unknown }>((tie) => ({
  nonsense: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(null, true, 0, -1, 1.5, 1e300, '', 'physical-9', ...TYPES),
    fc.string(),
    fc.constant({ model: 'physical-9' }),
    fc.array(tie('nonsense'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('nonsense'), { maxKeys: 6 }),
  ),
}));
const event = fc
  .tuple(fc.constantFrom('', ...TYPES.map((type) => `event: ${type}\n`)), nonsense)
  .map(([name, value]) => `${name}data: ${JSON.stringify(value)}\n\n`);

function isFailure(error: unknown): boolean {
  return error instanceof RetryableUpstreamError || error instanceof TerminalUpstreamError;
}

describe.each<UpstreamProtocol>([openaiProtocol, anthropicProtocol])(
  'an upstream that talks nonsense through the $name protocol',
  (protocol) => {
    test('gives only upstream failures or answers without a physical model, whole or streamed', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(event, { maxLength: 6 }), nonsense, async (events, body) => {
          upstream.answer = () =>
            new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } });
          const read = await readStream(protocol, callOf(upstream.url, { stream: true }));
          if (read.error !== undefined) expect(isFailure(read.error)).toBe(true);
          expect(read.text).not.toContain('"model":"physical-9"');
          upstream.answer = () => Response.json(body);
          try {
            const answer = await protocol.complete(callOf(upstream.url, {}));
            expect(JSON.parse(answer.body_text)).toBeObject();
            expect(answer.body_text).not.toContain('"model":"physical-9"');
            expect(typeof answer.produced()).toBe('string');
          } catch (error) {
            expect(isFailure(error)).toBe(true);
          }
        }),
        { numRuns: 1_000 },
      );
    });
  },
);
