/** Answers of OpenAI's chat completions, and of vendors that are compatible with them. */
import { type ChatAnswer, chunk, completion, LOCATION, last, SENT_BY, WEATHER } from './answer.ts';

const NONE = {
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    ...{ reasoning_tokens: 0, audio_tokens: 0 },
    ...{ accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
  },
};
const count = (prompt_tokens: number, completion_tokens: number, more: object = {}) => ({
  ...{ prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  ...more,
});
const called = (id: string, more: object = {}) => ({
  ...{ id, type: 'function', function: { name: 'weather', arguments: LOCATION } },
  ...more,
});

const OPENAI: readonly ChatAnswer[] = [
  {
    ...{ vendor: 'OpenAI', protocol: 'openai' },
    source: `${SENT_BY}/openai/src/chat/__fixtures__/openai-text.json, openai-text.chunks.txt`,
    whole: completion({ content: 'Galaxy Day', refusal: null, annotations: [] }, 'stop', {
      ...count(16, 363, NONE),
    }),
    stream: [
      chunk({ role: 'assistant', content: '', refusal: null }, null, { usage: null }),
      chunk({ content: 'Galaxy' }, null, { usage: null, obfuscation: 'dTh' }),
      chunk({ content: ' Day' }, null, { usage: null, obfuscation: 'yoKFv' }),
      chunk({}, 'stop', { usage: null, obfuscation: 'zap0' }),
      last(count(16, 300, NONE), { obfuscation: 'h9RiQLL' }),
    ],
    means: { text: 'Galaxy Day', finish: 'stop', billed: { input: 16, output: 363 } },
    stream_billed: { input: 16, output: 300 },
  },
  {
    ...{ vendor: 'OpenAI', protocol: 'openai' },
    source: 'openai/openai-openapi: openapi.yaml, POST /chat/completions, Functions',
    whole: completion({ content: null, tool_calls: [called('call_abc123')] }, 'tool_calls', {
      ...count(82, 17, { completion_tokens_details: NONE.completion_tokens_details }),
    }),
    means: { text: '', calls: [WEATHER], finish: 'tool_calls', billed: { input: 82, output: 17 } },
  },
  {
    ...{ vendor: 'Azure OpenAI', protocol: 'azure-openai' },
    source: `${SENT_BY}/openai/src/chat/__fixtures__/azure-model-router.1.chunks.txt`,
    stream: [
      {
        ...{ choices: [], created: 0, id: '', model: '', object: '' },
        prompt_filter_results: [
          {
            prompt_index: 0,
            content_filter_results: { jailbreak: { filtered: false, detected: false } },
          },
        ],
      },
      chunk({ content: '', refusal: null, role: 'assistant' }, null, { usage: null }),
      chunk({ content: 'Capital' }, null, { usage: null }),
      chunk({ content: ' of Denmark.' }, null, { usage: null }),
      chunk({}, 'stop', { usage: null }),
      last(
        count(15, 78, {
          completion_tokens_details: { reasoning_tokens: 64, audio_tokens: 0 },
          prompt_tokens_details: { audio_tokens: 0, cached_tokens: 0 },
        }),
      ),
    ],
    means: { text: 'Capital of Denmark.', finish: 'stop', billed: { input: 15, output: 78 } },
  },
];

const MISTRAL = { vendor: 'Mistral', protocol: 'openai', dialect: 'mistral' } as const;
const mistralCount = count(124, 22);
const VENDORS: readonly ChatAnswer[] = [
  {
    ...MISTRAL,
    source: `${SENT_BY}/mistral/src/__fixtures__/mistral-tool-call.json, mistral-tool-call.chunks.txt`,
    whole: completion(
      { tool_calls: [{ id: 'gSIMJiOkT', function: { name: 'weather', arguments: LOCATION } }] },
      'tool_calls',
      mistralCount,
    ),
    stream: [
      chunk({ role: 'assistant', content: '' }),
      chunk(
        {
          content: null,
          tool_calls: [{ id: 'gSIMJiOkT', function: { name: 'weather', arguments: LOCATION } }],
        },
        'tool_calls',
        { usage: mistralCount },
      ),
    ],
    means: { text: '', calls: [WEATHER], finish: 'tool_calls', billed: { input: 124, output: 22 } },
  },
  {
    ...MISTRAL,
    source: `${SENT_BY}/mistral/src/__fixtures__/mistral-incremental-tool-call.chunks.txt`,
    stream: [
      chunk({
        tool_calls: [
          {
            ...{ id: 'chatcmpl-tool-9f1', type: 'function', index: 0 },
            function: { name: 'weather', arguments: '' },
          },
        ],
        ...{ index: 0, content: '' },
      }),
      chunk({
        tool_calls: [{ type: 'function', function: { name: '', arguments: LOCATION }, index: 0 }],
        ...{ index: 0, content: '' },
      }),
      chunk({ index: 0, content: '' }, 'tool_calls', {
        usage: count(171, 14, { prompt_tokens_details: { cached_tokens: 128 } }),
      }),
    ],
    means: {
      ...{ text: '', calls: [WEATHER], finish: 'tool_calls' },
      billed: { input: 43, cached: 128, output: 14 },
    },
  },
  {
    ...MISTRAL,
    source: `${SENT_BY}/mistral/src/__fixtures__/mistral-text.json, mistral-text.chunks.txt`,
    whole: completion({ tool_calls: null, content: 'World Kindness Day' }, 'stop', count(13, 434)),
    stream: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'World Kindness' }),
      chunk({ content: ' Day' }),
      chunk({ content: '' }, 'stop', { usage: count(13, 8) }),
    ],
    means: { text: 'World Kindness Day', finish: 'stop', billed: { input: 13, output: 434 } },
    stream_billed: { input: 13, output: 8 },
  },
  {
    ...{ vendor: 'Groq', protocol: 'openai', dialect: 'groq' },
    source: `${SENT_BY}/groq/src/__fixtures__/groq-tool-call.json, groq-tool-call.chunks.txt`,
    whole: completion({ tool_calls: [called('ax9fskhev')] }, 'tool_calls', {
      ...count(218, 15, { queue_time: 0.18, prompt_time: 0.01, total_time: 0.05 }),
    }),
    stream: [
      chunk({ role: 'assistant', content: null }, null, { x_groq: { id: 'req_1', seed: 6 } }),
      chunk({ tool_calls: [called('tk85n1k4m', { index: 0 })] }),
      chunk({}, 'tool_calls', {
        x_groq: { id: 'req_1', usage: count(210, 15, { queue_time: 0.04 }) },
        usage: count(210, 15, { queue_time: 0.04 }),
      }),
    ],
    means: { text: '', calls: [WEATHER], finish: 'tool_calls', billed: { input: 218, output: 15 } },
    stream_billed: { input: 210, output: 15 },
  },
  {
    ...{ vendor: 'Groq', protocol: 'openai', dialect: 'groq' },
    source: `${SENT_BY}/groq/src/__fixtures__/groq-reasoning.json`,
    whole: completion({ content: 'Three.', reasoning: 'Okay, so' }, 'stop', {
      ...count(17, 649, { completion_tokens_details: { reasoning_tokens: 570 } }),
    }),
    means: { text: 'Three.', finish: 'stop', billed: { input: 17, output: 649 } },
  },
  {
    ...{ vendor: 'DeepSeek', protocol: 'openai', dialect: 'deepseek' },
    source: `${SENT_BY}/deepseek/src/chat/__fixtures__/deepseek-tool-call.json, deepseek-tool-call.chunks.txt`,
    whole: completion(
      { content: '', reasoning_content: 'The user', tool_calls: [called('call_00', { index: 0 })] },
      'tool_calls',
      count(339, 92, {
        ...{ prompt_tokens_details: { cached_tokens: 320 }, prompt_cache_hit_tokens: 320 },
        ...{ completion_tokens_details: { reasoning_tokens: 48 }, prompt_cache_miss_tokens: 19 },
      }),
    ),
    stream: [
      chunk({ role: 'assistant', content: null, reasoning_content: '' }, null, { usage: null }),
      chunk({ content: null, reasoning_content: 'The user' }, null, { usage: null }),
      chunk({ tool_calls: [called('call_00', { index: 0 })] }, null, { usage: null }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '' } }] }, null, { usage: null }),
      chunk({ content: '', reasoning_content: null }, 'tool_calls', {
        usage: count(339, 83, {
          ...{ prompt_tokens_details: { cached_tokens: 320 }, prompt_cache_hit_tokens: 320 },
          ...{ completion_tokens_details: { reasoning_tokens: 39 }, prompt_cache_miss_tokens: 19 },
        }),
      }),
    ],
    means: {
      ...{ text: '', calls: [WEATHER], finish: 'tool_calls' },
      billed: { input: 19, cached: 320, output: 92 },
    },
    stream_billed: { input: 19, cached: 320, output: 83 },
  },
  {
    ...{ vendor: 'DeepSeek', protocol: 'openai', dialect: 'deepseek' },
    source: `${SENT_BY}/deepseek/src/chat/__fixtures__/deepseek-text.json, deepseek-text.chunks.txt`,
    whole: completion({ content: 'Gratitude' }, 'length', {
      ...count(13, 300, { prompt_cache_hit_tokens: 0, prompt_cache_miss_tokens: 13 }),
    }),
    stream: [
      chunk({ role: 'assistant', content: '' }, null, { usage: null }),
      chunk({ content: 'Gratitude' }, null, { usage: null }),
      chunk({ content: '' }, 'length', {
        usage: count(13, 400, { prompt_cache_hit_tokens: 0, prompt_cache_miss_tokens: 13 }),
      }),
    ],
    means: { text: 'Gratitude', finish: 'length', billed: { input: 13, output: 300 } },
    stream_billed: { input: 13, output: 400 },
  },
  {
    ...{ vendor: 'Moonshot', protocol: 'openai', dialect: 'moonshot' },
    source: `${SENT_BY}/moonshotai/src/__fixtures__/moonshotai-reasoning.json, moonshotai-stream.chunks.txt`,
    whole: completion({ content: 'Hello!', reasoning_content: 'Let me count.' }, 'stop', {
      ...count(20, 30, {
        ...{ cached_tokens: 10, completion_tokens_details: { reasoning_tokens: 22 } },
      }),
    }),
    stream: [
      chunk({ role: 'assistant', reasoning_content: 'Thinking ' }),
      chunk({ reasoning_content: 'aloud. ' }),
      chunk({ content: 'Hello' }),
      chunk({ content: '!' }, 'stop', {
        usage: count(9, 12, { completion_tokens_details: { reasoning_tokens: 7 } }),
      }),
    ],
    means: { text: 'Hello!', finish: 'stop', billed: { input: 10, cached: 10, output: 30 } },
    stream_billed: { input: 9, output: 12 },
  },
  {
    ...{ vendor: 'Alibaba (Qwen)', protocol: 'openai', dialect: 'dashscope' },
    source: `${SENT_BY}/alibaba/src/__fixtures__/alibaba-tool-call.json, alibaba-tool-call.chunks.txt`,
    whole: completion(
      { content: '', tool_calls: [called('call_962', { index: 0 })] },
      'tool_calls',
      {
        ...count(295, 22, { prompt_tokens_details: { cached_tokens: 0 } }),
      },
    ),
    stream: [
      chunk(
        {
          ...{ content: null, role: 'assistant' },
          tool_calls: [
            {
              ...{ index: 0, id: 'call_eee', type: 'function' },
              function: { name: 'weather', arguments: '' },
            },
          ],
        },
        null,
        { usage: null },
      ),
      chunk({
        content: null,
        tool_calls: [
          {
            ...{ index: 0, id: '', type: 'function' },
            function: { arguments: '{"location": "San Francisco' },
          },
        ],
      }),
      chunk({
        content: null,
        tool_calls: [{ index: 0, id: '', type: 'function', function: { arguments: '"}' } }],
      }),
      // A choice without a finish reason.
      {
        ...chunk({}),
        choices: [
          {
            delta: {
              tool_calls: [{ function: { arguments: '' }, index: 0, id: '', type: 'function' }],
            },
            index: 0,
          },
        ],
      },
      chunk({}, 'tool_calls', { usage: null }),
      last(count(295, 22, { prompt_tokens_details: { cached_tokens: 0 } })),
    ],
    means: { text: '', calls: [WEATHER], finish: 'tool_calls', billed: { input: 295, output: 22 } },
  },
  {
    ...{ vendor: 'Alibaba (Qwen)', protocol: 'openai', dialect: 'dashscope' },
    source: `${SENT_BY}/alibaba/src/__fixtures__/alibaba-reasoning.json, alibaba-reasoning.chunks.txt`,
    whole: completion({ content: '**3**', reasoning_content: 'We are asked' }, 'stop', {
      ...count(24, 1668, {
        completion_tokens_details: { reasoning_tokens: 1353 },
        prompt_tokens_details: { cached_tokens: 0 },
      }),
    }),
    stream: [
      chunk({ content: null, role: 'assistant', reasoning_content: '' }, null, { usage: null }),
      chunk({ content: null, reasoning_content: 'We are asked' }, null, { usage: null }),
      chunk({ content: '**3**', reasoning_content: null }, null, { usage: null }),
      chunk({ content: '', reasoning_content: null }, 'stop', { usage: null }),
      last(count(24, 1355, { completion_tokens_details: { reasoning_tokens: 1084 } })),
    ],
    means: { text: '**3**', finish: 'stop', billed: { input: 24, output: 1668 } },
    stream_billed: { input: 24, output: 1355 },
  },
];

const xaiUsage = (
  prompt: number,
  output: number,
  total: number,
  cached: number,
  reasoning = 0,
) => ({
  ...{ prompt_tokens: prompt, completion_tokens: output, total_tokens: total },
  prompt_tokens_details: { text_tokens: prompt, audio_tokens: 0, cached_tokens: cached },
  completion_tokens_details: { ...NONE.completion_tokens_details, reasoning_tokens: reasoning },
  ...{ num_sources_used: 0, cost_in_usd_ticks: 1_721_250 },
});
const XAI: readonly ChatAnswer[] = [
  {
    ...{ vendor: 'xAI', protocol: 'openai', dialect: 'xai' },
    source: `${SENT_BY}/xai/src/__fixtures__/xai-tool-call.json, xai-tool-call.chunks.txt`,
    whole: completion(
      { content: '', reasoning_content: 'First', refusal: null, tool_calls: [called('call_93')] },
      'tool_calls',
      xaiUsage(291, 26, 506, 244, 189),
    ),
    stream: [
      {
        ...chunk({}),
        choices: [{ index: 0, delta: { reasoning_content: 'First', role: 'assistant' } }],
      },
      {
        ...chunk({}),
        choices: [{ index: 0, delta: { tool_calls: [called('call_5', { index: 0 })] } }],
      },
      chunk({}, 'tool_calls'),
      last(xaiUsage(291, 26, 513, 290, 196)),
    ],
    means: {
      ...{ text: '', calls: [WEATHER], finish: 'tool_calls' },
      // xAI does not count reasoning in `completion_tokens`, and bills it.
      billed: { input: 47, cached: 244, output: 215 },
    },
    stream_billed: { input: 1, cached: 290, output: 222 },
  },
  {
    ...{ vendor: 'xAI', protocol: 'openai', dialect: 'xai' },
    source: `${SENT_BY}/xai/src/convert-xai-chat-usage.test.ts: non-inclusive reporting`,
    whole: completion({ content: 'Hello' }, 'stop', xaiUsage(4142, 254, 8724, 4328)),
    stream: [
      chunk({ content: 'Hello', role: 'assistant' }),
      chunk({}, 'stop'),
      last(xaiUsage(4142, 254, 8724, 4328)),
    ],
    means: { text: 'Hello', finish: 'stop', billed: { input: 4142, cached: 4328, output: 254 } },
  },
  {
    ...{ vendor: 'a compatible server', protocol: 'openai' },
    source: `${SENT_BY}/openai-compatible/src/chat/__fixtures__/anthropic-fallback-tool-call.sse`,
    stream: [
      chunk({ role: 'assistant' }),
      chunk({ content: 'Reading' }),
      chunk({ content: ' it.' }),
      chunk({
        tool_calls: [
          {
            ...{ index: 1, id: 'toolu_1', type: 'function' },
            function: { name: 'weather', arguments: '' },
          },
        ],
      }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: '{"location": "San' } }] }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: ' Francisco"}' } }] }),
      chunk({}, 'tool_calls', { usage: count(30, 12) }),
    ],
    means: {
      ...{ text: 'Reading it.', calls: [WEATHER], finish: 'tool_calls' },
      billed: { input: 30, output: 12 },
    },
  },
];

export const COMPATIBLE_ANSWERS: readonly ChatAnswer[] = [...OPENAI, ...VENDORS, ...XAI];
