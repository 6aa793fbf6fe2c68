/**
 * What Weir sends to Bedrock is what @ai-sdk/amazon-bedrock 5.0.101 sends there, and what users of
 * Claude Code saw that Bedrock accepts.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { createAmazonBedrockAnthropic } from '@ai-sdk/amazon-bedrock/anthropic';
import { bedrockProtocol } from '../../../../src/upstreams/chat/bedrock.ts';
import { bedrockRefusal } from '../../../../src/upstreams/chat/bedrock-limits.ts';
import type { FeatureUse } from '../../../../src/upstreams/translation/neutral.ts';
import { readRequest } from '../../../../src/upstreams/translation/translate.ts';
import { callOf, rejection, startUpstream } from '../../upstream.ts';
import { OPTIONS, type VendorModel } from './packages.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());

const ANSWER = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'end_turn' },
  content: [{ type: 'text', text: 'Hi' }],
  usage: { input_tokens: 3, output_tokens: 1 },
};
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const TOOL = { name: 'f', input_schema: { type: 'object', properties: {} } };

const bodies = () => upstream.asked.map(({ text }) => JSON.parse(text));

/** Returns the body that Bedrock receives from Weir. */
async function sentByWeir(
  body: Record<string, unknown>,
  beta?: string,
  physical_model = 'anthropic.claude-sonnet-4-5-20250929-v1:0',
) {
  upstream.asked.length = 0;
  const text = JSON.stringify({ model: 'm', max_tokens: 10, messages: MESSAGES, ...body });
  const headers: Record<string, string> = beta === undefined ? {} : { 'anthropic-beta': beta };
  await bedrockProtocol.complete(callOf(upstream.url, text, { headers, physical_model }));
  return bodies().at(-1);
}

/** Returns the body that the vendor's package sends. */
async function sentByPackage(model: string, options: object) {
  let sent = '{}';
  const fetch = async (_: unknown, init?: RequestInit) => {
    sent = String(init?.body);
    return Response.json(ANSWER);
  };
  const bedrock = createAmazonBedrockAnthropic({
    ...{ apiKey: 'key', region: 'us-east-1', baseURL: 'https://bedrock.example.com' },
    fetch: Object.assign(fetch, { preconnect: () => undefined }) as typeof globalThis.fetch,
  });
  await (bedrock(model) as VendorModel).doGenerate({ ...OPTIONS, ...options });
  return JSON.parse(sent);
}

/** Models of the catalogue, by their ids at Bedrock. */
const MODELS = [
  'global.anthropic.claude-opus-4-7',
  'us.anthropic.claude-opus-4-8',
  'anthropic.claude-opus-5-5',
  'anthropic.claude-fable-5-1',
  'anthropic.claude-sonnet-5',
  'eu.anthropic.claude-sonnet-4-6',
  'anthropic.claude-haiku-4-5-20251001-v1:0',
  'anthropic.claude-opus-4-6-v1',
];

test.each(MODELS)('strict tools of %s are sent as the vendor’s package sends them', async (id) => {
  upstream.answer = () => Response.json(ANSWER);
  const tool = { type: 'function', name: 'f', inputSchema: TOOL.input_schema, strict: true };
  const byPackage = await sentByPackage(id, { tools: [tool] });
  const byWeir = await sentByWeir({ tools: [{ ...TOOL, strict: true }] }, undefined, id);
  expect('strict' in byWeir.tools[0]).toBe('strict' in byPackage.tools[0]);
});

test('arguments that stream early are asked for by a flag, as in the vendor’s package', async () => {
  upstream.answer = () => Response.json(ANSWER);
  const sent = await sentByWeir({ tools: [{ ...TOOL, eager_input_streaming: true }, TOOL] });
  expect(sent.tools).toEqual([TOOL, TOOL]);
  expect(sent.anthropic_beta).toEqual(['fine-grained-tool-streaming-2025-05-14']);
});

describe('beta flags', () => {
  /** The flags of Claude Code (router-for-me/CLIProxyAPI#4750, anthropics/claude-code#49370). */
  const CLAUDE_CODE =
    'claude-code-20250219,oauth-2025-04-20,interleaved-thinking-2025-05-14,' +
    'context-management-2025-06-27,prompt-caching-scope-2026-01-05,fast-mode-2026-02-01,' +
    'redact-thinking-2026-02-12,token-efficient-tools-2026-03-28,mcp-servers-2025-12-04';
  const context_management = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };

  test('that Bedrock does not know are left out', async () => {
    upstream.answer = () => Response.json(ANSWER);
    const sent = await sentByWeir({ context_management }, CLAUDE_CODE);
    expect(sent.anthropic_beta).toEqual([
      'interleaved-thinking-2025-05-14',
      'context-management-2025-06-27',
    ]);
    expect(sent.context_management).toEqual(context_management);
    const alone = await sentByWeir({ context_management }, 'claude-code-20250219');
    expect(Object.keys(alone)).not.toContain('anthropic_beta');
    expect(Object.keys(alone)).not.toContain('context_management');
  });

  test('may stand in the body too', async () => {
    upstream.answer = () => Response.json(ANSWER);
    const anthropic_beta = ['effort-2025-11-24', 'oauth-2025-04-20'];
    const sent = await sentByWeir({ anthropic_beta }, 'effort-2025-11-24, context-1m-2025-08-07');
    expect(sent.anthropic_beta).toEqual(['effort-2025-11-24', 'context-1m-2025-08-07']);
  });

  // Opus 4.7 accepted only interleaved-thinking (anthropics/claude-code#49370).
  const refusal = (accepted: string[]) => () => {
    const flags: string[] = bodies().at(-1).anthropic_beta ?? [];
    return flags.every((flag) => accepted.includes(flag))
      ? Response.json(ANSWER)
      : Response.json({ message: 'invalid beta flag' }, { status: 400 });
  };

  test('that a model refuses are left out at once, in this call only', async () => {
    upstream.answer = refusal(['interleaved-thinking-2025-05-14']);
    const sent = await sentByWeir({ context_management }, CLAUDE_CODE);
    expect(sent.anthropic_beta).toEqual(['interleaved-thinking-2025-05-14']);
    expect(Object.keys(sent)).not.toContain('context_management');
    expect(bodies()).toHaveLength(2);
    await sentByWeir({}, CLAUDE_CODE);
    expect(bodies()).toHaveLength(2);
  });

  test('are tried twice at most', async () => {
    upstream.answer = refusal([]);
    await rejection(sentByWeir({}, CLAUDE_CODE));
    expect(bodies()).toHaveLength(2);
  });
});

describe('what Bedrock cannot do is refused by the client’s own name', () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://x.example/cat.png' } };
  const format = { type: 'json_schema', schema: { type: 'object' } };
  const CASES = [
    [
      'anthropic',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, image] }] },
      'messages.0.content.1.source',
    ],
    [
      'anthropic',
      {
        messages: [
          ...MESSAGES,
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [image] }] },
        ],
      },
      'messages.1.content.0.content.0.source',
    ],
    [
      'anthropic',
      { messages: [{ role: 'user', content: [{ ...image, type: 'document' }] }] },
      'messages.0.content.0.source',
    ],
    [
      'openai',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'https://x.example/cat.png' } }],
          },
        ],
      },
      'messages[0].content[0]',
    ],
    [
      'responses',
      {
        input: [
          {
            role: 'user',
            content: [{ type: 'input_image', image_url: 'https://x.example/cat.png' }],
          },
        ],
      },
      'input[0].content[0]',
    ],
    ['anthropic', { messages: MESSAGES, output_config: { format } }, 'output_config.format'],
    [
      'openai',
      {
        messages: MESSAGES,
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } },
      },
      'response_format',
    ],
  ] as const;
  const model = { physical_model: 'global.anthropic.claude-opus-4-7', public_model: 'm' };
  const none = (): FeatureUse[] => [];

  test.each(CASES)('%s %#', (client, body, param) => {
    const uses = () => readRequest(client, body).uses;
    const refusal = bedrockRefusal({ client, body }, model, uses);
    expect(refusal?.details.param).toStartWith(param);
    expect(refusal?.message).toStartWith(param);
  });

  test('and nothing else', () => {
    const inline = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'AA==' },
    };
    const body = { messages: [{ role: 'user', content: [inline] }], tools: [TOOL] };
    expect(bedrockRefusal({ client: 'anthropic', body }, model, none)).toBeUndefined();
    const other = { physical_model: 'anthropic.claude-opus-4-6-v1', public_model: 'm' };
    const schema = { messages: MESSAGES, output_config: { format } };
    expect(bedrockRefusal({ client: 'anthropic', body: schema }, other, none)).toBeUndefined();
  });
});
