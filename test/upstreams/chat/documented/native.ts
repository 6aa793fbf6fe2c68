/** Answers in the formats of Anthropic, Google and OpenAI's responses. */
import { type ChatAnswer, LOCATION, SENT_BY, WEATHER } from './answer.ts';

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

const ANTHROPIC: readonly ChatAnswer[] = [
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

const GEMINI = { vendor: 'Google Gemini', protocol: 'gemini' } as const;
const candidate = (parts: object[], finishReason?: string, more: object = {}) => ({
  content: { parts, role: 'model' },
  ...(finishReason === undefined ? {} : { finishReason }),
  ...{ index: 0, ...more },
});
const geminiAnswer = (each: object, prompt: number, said: number, thought: number) => ({
  candidates: [each],
  usageMetadata: {
    ...{ promptTokenCount: prompt, candidatesTokenCount: said },
    totalTokenCount: prompt + said + thought,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
    thoughtsTokenCount: thought,
  },
  ...{ modelVersion: 'gemini-3-pro-preview', responseId: 'Un6LacrVMcjUxs0PmJfWoQc' },
});
const TRAFFIC = {
  usageMetadata: { trafficType: 'PROVISIONED_THROUGHPUT' },
  ...{ modelVersion: 'gemini-3-flash-preview', responseId: '_vr4aYiWEJnYodAPkujX0QM' },
};
const GOOGLE: readonly ChatAnswer[] = [
  {
    ...GEMINI,
    source: `${SENT_BY}/google/src/__fixtures__/google-text.json, google-text.chunks.txt`,
    whole: geminiAnswer(
      candidate([{ text: 'There are **3**.', thoughtSignature: 'EtoF' }], 'STOP'),
      ...([9, 28, 244] as const),
    ),
    stream: [
      geminiAnswer(candidate([{ text: 'There are' }]), 9, 5, 185),
      geminiAnswer(candidate([{ text: ' **3**.' }]), 9, 23, 185),
      geminiAnswer(candidate([{ text: '', thoughtSignature: 'EqsF' }], 'STOP'), 9, 23, 185),
    ],
    means: { text: 'There are **3**.', finish: 'stop', billed: { input: 9, output: 272 } },
    stream_billed: { input: 9, output: 208 },
  },
  {
    ...GEMINI,
    source: `${SENT_BY}/google/src/__fixtures__/google-tool-call-gemini3.json, google-tool-call-gemini3.chunks.txt`,
    whole: geminiAnswer(
      candidate(
        [
          {
            functionCall: { name: 'weather', args: { location: 'San Francisco' } },
            thoughtSignature: 'Eqo+',
          },
        ],
        'STOP',
        { finishMessage: 'Model generated function call(s).' },
      ),
      ...([29, 15, 1801] as const),
    ),
    stream: [
      geminiAnswer(
        candidate([
          {
            functionCall: { name: 'weather', args: { location: 'San Francisco' } },
            thoughtSignature: 'EpEg',
          },
        ]),
        ...([29, 15, 804] as const),
      ),
      geminiAnswer(candidate([{ text: '' }], 'STOP'), 29, 15, 804),
    ],
    means: {
      text: '',
      calls: [WEATHER],
      finish: 'tool_calls',
      billed: { input: 29, output: 1816 },
    },
    stream_billed: { input: 29, output: 819 },
  },
  {
    ...{ vendor: 'Google Vertex AI', protocol: 'vertex' },
    source: `${SENT_BY}/google/src/__fixtures__/google-stream-no-args-tool-call.chunks.txt`,
    stream: [
      {
        candidates: [
          { content: { role: 'model', parts: [{ text: '**Processing**', thought: true }] } },
        ],
        ...TRAFFIC,
      },
      {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [{ functionCall: { name: 'weather' }, thoughtSignature: 'AY89' }],
            },
          },
        ],
        ...TRAFFIC,
      },
      {
        ...TRAFFIC,
        candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }],
        usageMetadata: {
          ...{ promptTokenCount: 249, candidatesTokenCount: 58, totalTokenCount: 490 },
          ...{ trafficType: 'PROVISIONED_THROUGHPUT', thoughtsTokenCount: 183 },
        },
      },
    ],
    means: {
      ...{ text: '', calls: [['weather', {}]], finish: 'tool_calls' },
      billed: { input: 249, output: 241 },
    },
  },
  {
    ...GEMINI,
    source:
      'ai.google.dev/gemini-api/docs/caching; ai.google.dev/api/generate-content: UsageMetadata',
    whole: {
      candidates: [candidate([{ text: 'Long' }], 'MAX_TOKENS')],
      usageMetadata: {
        ...{ promptTokenCount: 696_219, cachedContentTokenCount: 696_190 },
        ...{ candidatesTokenCount: 214, totalTokenCount: 696_433 },
        cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 696_190 }],
      },
    },
    means: {
      ...{ text: 'Long', finish: 'length' },
      billed: { input: 29, cached: 696_190, output: 214 },
    },
  },
];

const RESPONSES = { vendor: 'OpenAI', protocol: 'openai-responses' } as const;
const usage = (
  input_tokens: number,
  cached_tokens: number,
  output_tokens: number,
  reasoning = 0,
) => ({
  ...{ input_tokens, input_tokens_details: { cached_tokens }, output_tokens },
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input_tokens + output_tokens,
});
const response = (status: string, output: object[], counted: object | null, more: object = {}) => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1_772_062_769, status, error: null },
  ...{ incomplete_details: null, model: 'gpt-5.3-codex', output, usage: counted },
  ...{ parallel_tool_calls: true, tool_choice: 'auto', tools: [], metadata: {}, ...more },
});
const said = (id: string, words: string, phase?: string) => ({
  ...{ id, type: 'message', status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', annotations: [], logprobs: [], text: words }],
  ...(phase === undefined ? {} : { phase }),
});
/** The events of one message. */
const saying = (output_index: number, id: string, words: string, phase?: string) => {
  const at = { output_index, content_index: 0, item_id: id };
  const part = { type: 'output_text', annotations: [], logprobs: [], text: '' };
  const item = said(id, words, phase);
  return [
    {
      ...{ type: 'response.output_item.added', output_index },
      item: { ...item, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...at, part },
    { type: 'response.output_text.delta', ...at, delta: words, logprobs: [] },
    { type: 'response.output_text.done', ...at, text: words, logprobs: [] },
    { type: 'response.content_part.done', ...at, part: { ...part, text: words } },
    { type: 'response.output_item.done', output_index, item },
  ];
};
const numbered = (events: object[]) =>
  events.map((event, sequence_number) => ({ ...event, sequence_number }));
const CALL = {
  ...{ id: 'fc_1', type: 'function_call', status: 'completed', name: 'weather' },
  ...{ arguments: LOCATION, call_id: 'call_H5' },
};

const OPENAI_RESPONSES: readonly ChatAnswer[] = [
  {
    ...RESPONSES,
    source: `${SENT_BY}/openai/src/responses/__fixtures__/openai-phase.1.json, openai-phase.1.chunks.txt`,
    whole: response(
      'completed',
      [said('msg_1', 'I’ll check. ', 'commentary'), said('msg_2', 'Here.', 'final_answer')],
      usage(7243, 3072, 423, 58),
    ),
    stream: numbered([
      { type: 'response.created', response: response('in_progress', [], null) },
      { type: 'response.in_progress', response: response('in_progress', [], null) },
      ...saying(0, 'msg_1', 'I’ll check. ', 'commentary'),
      ...saying(1, 'msg_2', 'Here.', 'final_answer'),
      {
        type: 'response.completed',
        response: response(
          'completed',
          [said('msg_1', 'I’ll check. ', 'commentary'), said('msg_2', 'Here.', 'final_answer')],
          usage(7112, 3072, 463, 64),
        ),
      },
    ]),
    means: {
      ...{ text: 'I’ll check. Here.', finish: 'stop' },
      billed: { input: 4171, cached: 3072, output: 423 },
    },
    stream_billed: { input: 4040, cached: 3072, output: 463 },
  },
  {
    ...RESPONSES,
    source: `${SENT_BY}/azure/src/__fixtures__/azure-tool-call.1.json, azure-tool-call.1.chunks.txt`,
    whole: response('completed', [CALL], usage(45, 0, 18)),
    stream: numbered([
      { type: 'response.created', response: response('in_progress', [], null) },
      {
        ...{ type: 'response.output_item.added', output_index: 0 },
        item: { ...CALL, status: 'in_progress', arguments: '' },
      },
      {
        ...{ type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0 },
        ...{ delta: LOCATION, obfuscation: 'nWru' },
      },
      {
        ...{ type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 0 },
        arguments: LOCATION,
      },
      { type: 'response.output_item.done', output_index: 0, item: CALL },
      { type: 'response.completed', response: response('completed', [CALL], usage(45, 0, 18)) },
    ]),
    means: { text: '', calls: [WEATHER], finish: 'tool_calls', billed: { input: 45, output: 18 } },
  },
  {
    ...RESPONSES,
    source: `${SENT_BY}/openai/src/responses/__fixtures__/openai-reasoning-encrypted-content.1.json`,
    whole: response(
      'completed',
      [
        {
          ...{ id: 'rs_1', type: 'reasoning', encrypted_content: 'gAAA' },
          summary: [{ type: 'summary_text', text: '**Reporting**' }],
        },
        said('msg_1', '570'),
      ],
      usage(100, 0, 30, 20),
    ),
    means: { text: '570', finish: 'stop', billed: { input: 100, output: 30 } },
  },
  {
    ...RESPONSES,
    source: 'openai/openai-openapi: openapi.yaml, response.incomplete',
    whole: response('incomplete', [said('msg_1', 'Once')], usage(11, 0, 16), {
      incomplete_details: { reason: 'max_output_tokens' },
    }),
    stream: numbered([
      { type: 'response.created', response: response('in_progress', [], null) },
      ...saying(0, 'msg_1', 'Once'),
      {
        type: 'response.incomplete',
        response: response('incomplete', [said('msg_1', 'Once')], usage(11, 0, 16), {
          incomplete_details: { reason: 'max_output_tokens' },
        }),
      },
    ]),
    means: { text: 'Once', finish: 'length', billed: { input: 11, output: 16 } },
  },
  {
    ...{ vendor: 'xAI', protocol: 'openai-responses' },
    source: `${SENT_BY}/xai/src/responses/__fixtures__/xai-text-streaming.1.chunks.txt`,
    stream: numbered([
      { type: 'response.created', response: response('in_progress', [], null) },
      {
        ...{ type: 'response.output_item.added', output_index: 0 },
        item: { id: 'rs_1', summary: [], type: 'reasoning', status: 'in_progress' },
      },
      {
        ...{ type: 'response.reasoning_summary_part.added', item_id: 'rs_1', output_index: 0 },
        ...{ part: { text: '', type: 'summary_text' }, summary_index: 0 },
      },
      {
        ...{ type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', output_index: 0 },
        ...{ delta: 'First', summary_index: 0 },
      },
      {
        ...{ type: 'response.output_item.done', output_index: 0 },
        item: {
          ...{ id: 'rs_1', type: 'reasoning', status: 'completed' },
          summary: [{ text: 'First', type: 'summary_text' }],
        },
      },
      ...saying(1, 'msg_1', 'Sonoran cuisine'),
      {
        type: 'response.completed',
        response: response('completed', [said('msg_1', 'Sonoran cuisine')], {
          ...{ ...usage(216, 192, 863, 237), num_sources_used: 0, num_server_side_tools_used: 0 },
        }),
      },
    ]),
    means: {
      ...{ text: 'Sonoran cuisine', finish: 'stop' },
      billed: { input: 24, cached: 192, output: 863 },
    },
  },
];

const XAI_BESIDE = usage(4142, 4328, 254);
const XAI_RESPONSES: readonly ChatAnswer[] = [
  {
    ...{ vendor: 'xAI', protocol: 'openai-responses' },
    source: `${SENT_BY}/xai/src/responses/convert-xai-responses-usage.test.ts: non-inclusive reporting`,
    whole: response('completed', [said('msg_1', 'Hello')], {
      ...{ ...XAI_BESIDE, total_tokens: 8724 },
    }),
    means: { text: 'Hello', finish: 'stop', billed: { input: 4142, cached: 4328, output: 254 } },
  },
];

export const NATIVE_ANSWERS: readonly ChatAnswer[] = [
  ...ANTHROPIC,
  ...GOOGLE,
  ...OPENAI_RESPONSES,
  ...XAI_RESPONSES,
];
