/** Answers in Anthropic's format. */
import { type ChatAnswer, SENT_BY, WEATHER } from './answer.ts';

const CLAUDE = { vendor: 'Anthropic', protocol: 'anthropic' } as const;
const claudeUsage = (input_tokens: number, output_tokens: number, more: object = {}) => ({
  ...{ input_tokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  ...{ output_tokens, service_tier: 'standard', inference_geo: 'not_available', ...more },
});
const message = (
  content: object[],
  stop_reason: string | null,
  usage: object,
  more: object = {},
) => ({
  ...{ model: 'claude-sonnet-4-5-20250929', id: 'msg_1', type: 'message', role: 'assistant' },
  ...{ content, stop_reason, stop_sequence: null, usage, ...more },
});
const start = (usage: object) => ({ type: 'message_start', message: message([], null, usage) });
const block = (index: number, content_block: object) => ({
  ...{ type: 'content_block_start', index, content_block },
});
const delta = (index: number, each: object) => ({
  type: 'content_block_delta',
  index,
  delta: each,
});
const text = (words: string) => delta(0, { type: 'text_delta', text: words });
const TEXT_BLOCK = block(0, { type: 'text', text: '' });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const end = (stop_reason: string, usage: object, more: object = {}) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...more }, usage },
  { type: 'message_stop' },
];

export const CLAUDE_ANSWERS: readonly ChatAnswer[] = [
  {
    ...CLAUDE,
    source: `${SENT_BY}/anthropic/src/__fixtures__/anthropic-text.json, anthropic-text.chunks.txt`,
    whole: message([{ type: 'text', text: 'Hello there' }], 'end_turn', claudeUsage(12, 29)),
    stream: [
      start(claudeUsage(12, 1)),
      TEXT_BLOCK,
      { type: 'ping' },
      text('Hello'),
      text(' there'),
      stop(0),
      ...end('end_turn', {
        ...{ input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
        output_tokens: 30,
      }),
    ],
    means: { text: 'Hello there', finish: 'stop', billed: { input: 12, output: 29 } },
    stream_billed: { input: 12, output: 30 },
  },
  {
    ...CLAUDE,
    source: `${SENT_BY}/anthropic/src/__fixtures__/anthropic-tool-no-args.chunks.txt`,
    stream: [
      start(claudeUsage(565, 7)),
      TEXT_BLOCK,
      text('I’ll update'),
      text(' it.'),
      stop(0),
      block(1, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }),
      delta(1, { type: 'input_json_delta', partial_json: '' }),
      stop(1),
      ...end('tool_use', { input_tokens: 565, output_tokens: 48 }),
    ],
    means: {
      ...{ text: 'I’ll update it.', calls: [['weather', {}]], finish: 'tool_calls' },
      billed: { input: 565, output: 48 },
    },
  },
  {
    ...CLAUDE,
    source: `${SENT_BY}/anthropic/src/__fixtures__/anthropic-refusal.json, anthropic-refusal.chunks.txt`,
    whole: message([], 'refusal', claudeUsage(18, 5), {
      stop_details: { type: 'refusal', category: 'cyber', explanation: 'This is restricted.' },
    }),
    stream: [
      start(claudeUsage(18, 1)),
      { type: 'ping' },
      ...end(
        'refusal',
        { input_tokens: 18, output_tokens: 5 },
        {
          stop_details: { type: 'refusal', category: 'cyber', explanation: 'This is restricted.' },
        },
      ),
    ],
    means: { text: '', finish: 'content_filter', billed: { input: 18, output: 5 } },
  },
  {
    ...CLAUDE,
    source: `${SENT_BY}/anthropic/src/__fixtures__/anthropic-fallback.json, anthropic-fallback.chunks.txt`,
    whole: message(
      [
        {
          ...{ type: 'fallback', from: { model: 'claude-fable-5' } },
          to: { model: 'claude-opus-4-8' },
        },
        { type: 'text', text: 'The press' },
      ],
      'end_turn',
      {
        ...{ input_tokens: 412, output_tokens: 264, cache_read_input_tokens: 0 },
        iterations: [
          { type: 'message', model: 'claude-fable-5', input_tokens: 408, output_tokens: 0 },
          {
            ...{ type: 'fallback_message', model: 'claude-opus-4-8' },
            ...{ input_tokens: 412, output_tokens: 264 },
          },
        ],
      },
    ),
    means: { text: 'The press', finish: 'stop', billed: { input: 412, output: 264 } },
  },
  {
    ...CLAUDE,
    source: `${SENT_BY}/anthropic/src/__fixtures__/anthropic-message-delta-input-tokens.chunks.txt`,
    stream: [
      start({ input_tokens: 43, output_tokens: 1 }),
      TEXT_BLOCK,
      text('p'),
      { type: 'ping' },
      text('ong'),
      stop(0),
      ...end('end_turn', { input_tokens: 61, output_tokens: 2 }),
    ],
    means: { text: 'pong', finish: 'stop', billed: { input: 61, output: 2 } },
  },
  {
    ...CLAUDE,
    source: 'platform.claude.com/docs/en/build-with-claude/prompt-caching; extended-thinking',
    whole: message(
      [
        { type: 'thinking', thinking: 'Let me see.', signature: 'c2ln' },
        { type: 'text', text: 'Yes.' },
        { type: 'tool_use', id: 'toolu_2', name: 'weather', input: { location: 'San Francisco' } },
      ],
      'tool_use',
      claudeUsage(21, 393, {
        ...{ cache_creation_input_tokens: 188, cache_read_input_tokens: 2048 },
        cache_creation: { ephemeral_5m_input_tokens: 188, ephemeral_1h_input_tokens: 0 },
      }),
    ),
    stream: [
      start(
        claudeUsage(21, 3, { cache_creation_input_tokens: 188, cache_read_input_tokens: 2048 }),
      ),
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Let me see.' }),
      delta(0, { type: 'signature_delta', signature: 'c2ln' }),
      stop(0),
      block(1, { type: 'text', text: '' }),
      delta(1, { type: 'text_delta', text: 'Yes.' }),
      stop(1),
      block(2, { type: 'tool_use', id: 'toolu_2', name: 'weather', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '{"location": "San' }),
      delta(2, { type: 'input_json_delta', partial_json: ' Francisco"}' }),
      stop(2),
      ...end('tool_use', { output_tokens: 393 }),
    ],
    means: {
      ...{ text: 'Yes.', calls: [WEATHER], finish: 'tool_calls' },
      billed: { input: 21, cached: 2048, written: 188, output: 393 },
    },
  },
  {
    ...{ vendor: 'AWS Bedrock', protocol: 'bedrock' },
    source: 'docs.aws.amazon.com: Anthropic Claude Messages API, InvokeModel response',
    whole: message([{ type: 'text', text: 'A caption.' }], 'max_tokens', {
      input_tokens: 1548,
      output_tokens: 100,
    }),
    means: { text: 'A caption.', finish: 'length', billed: { input: 1548, output: 100 } },
  },
];
