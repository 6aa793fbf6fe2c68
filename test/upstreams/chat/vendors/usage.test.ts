/** Weir counts the cached tokens of an answer as the vendor's own package does. */
import { afterAll, describe, expect, test } from 'bun:test';
import { openaiUsage } from '../../../../src/protocols/openai-usage.ts';
import { openaiProtocol } from '../../../../src/upstreams/chat/openai.ts';
import { callOf, readStream, startUpstream, streamed } from '../../upstream.ts';
import { modelOf, OPTIONS, type PackageName } from './packages.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());

const count = { prompt_tokens: 1336, completion_tokens: 31, total_tokens: 1367 };

/** Usage objects as the vendors send them. */
const USAGES: { vendor: PackageName; source: string; usage: object }[] = [
  {
    vendor: 'moonshot',
    source: 'platform.kimi.ai/docs/api/chat, cited by github.com/earendil-works/pi/issues/8075',
    usage: { prompt_tokens: 19, completion_tokens: 13, total_tokens: 32, cached_tokens: 12 },
  },
  {
    vendor: 'moonshot',
    source: 'github.com/AstrBotDevs/AstrBot/issues/6614',
    usage: { ...count, cached_tokens: 1280, prompt_tokens_details: { cached_tokens: 1280 } },
  },
  {
    vendor: 'deepseek',
    source: '@ai-sdk/deepseek 3.0.56: deepseek-chat-api-types.ts',
    usage: { ...count, prompt_cache_hit_tokens: 1280, prompt_cache_miss_tokens: 56 },
  },
  {
    vendor: 'mistral',
    source: '@ai-sdk/mistral 4.0.87: convert-mistral-usage.ts',
    usage: { ...count, num_cached_tokens: 1280 },
  },
  {
    vendor: 'mistral',
    source: '@ai-sdk/mistral 4.0.87: convert-mistral-usage.ts',
    usage: { ...count, prompt_token_details: { cached_tokens: 1280 } },
  },
  {
    vendor: 'dashscope',
    source: '@ai-sdk/alibaba 2.0.58: convert-alibaba-usage.ts',
    usage: {
      ...count,
      prompt_tokens_details: { cached_tokens: 1000, cache_creation_input_tokens: 280 },
    },
  },
  {
    vendor: 'groq',
    source: '@ai-sdk/groq 4.0.84: convert-groq-usage.ts',
    usage: { ...count, prompt_tokens_details: { cached_tokens: 1024 }, queue_time: 0.04 },
  },
  {
    vendor: 'compatible',
    source: '@ai-sdk/openai-compatible 3.0.92: convert-openai-compatible-chat-usage.ts',
    usage: { ...count, prompt_tokens_details: { cached_tokens: 64 } },
  },
];

const MESSAGE = { role: 'assistant', content: 'Hi' };

describe.each(USAGES)('usage of $vendor ($source)', ({ vendor, usage }) => {
  test('is counted as the vendor’s package counts it', async () => {
    const answer = {
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', usage },
      choices: [{ index: 0, finish_reason: 'stop', message: MESSAGE }],
    };
    const read = await modelOf(vendor, async () => Response.json(answer)).doGenerate(OPTIONS);
    const { inputTokens, outputTokens } = read.usage;
    const counted = openaiUsage(usage);
    if (counted === null || counted === 'impossible') throw new Error('no usage');
    const { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens } = counted;
    expect(input_tokens + cached_input_tokens + cache_write_tokens).toBe(inputTokens.total ?? 0);
    expect(cached_input_tokens).toBe(inputTokens.cacheRead ?? 0);
    expect(cached_input_tokens).toBeGreaterThan(0);
    expect(cache_write_tokens).toBe(inputTokens.cacheWrite ?? 0);
    expect(output_tokens).toBe(outputTokens.total ?? 0);
  });
});

describe('usage of a stream', () => {
  const usage = { ...count, cached_tokens: 1280 };
  const finish = { index: 0, delta: {}, finish_reason: 'stop' };
  const LAST: [place: string, chunk: object][] = [
    [
      'in the last choice (github.com/AstrBotDevs/AstrBot/issues/6614)',
      { choices: [{ ...finish, usage }] },
    ],
    ['in x_groq (@ai-sdk/groq 4.0.84)', { choices: [finish], x_groq: { id: 'req_1', usage } }],
    ['at the top level', { choices: [finish], usage }],
  ];
  test.each(LAST)('%s is charged, and sent to a client that asked for it', async (_, last) => {
    upstream.answer = () => streamed([`data: ${JSON.stringify(last)}\n\n`, 'data: [DONE]\n\n']);
    const stream_options = { include_usage: true };
    const call = callOf(upstream.url, { model: 'm', stream: true, stream_options });
    const { events, stream } = await readStream(openaiProtocol, call);
    const charged = stream.usage();
    expect(charged).toMatchObject({
      input_tokens: 56,
      cached_input_tokens: 1280,
      output_tokens: 31,
    });
    const zero = {
      input_tokens: 0,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
    };
    const text = events.map((event) => event.withUsage?.(zero) ?? event.text).join('');
    const chunks = text.split('\n').filter((line) => line.startsWith('data: {'));
    const shown = chunks.map((line) => JSON.parse(line.slice(6)).usage).filter(Boolean);
    expect(shown).toMatchObject([{ prompt_tokens: 1336, completion_tokens: 31 }]);
    expect(text).not.toContain('x_groq');
  });
});
