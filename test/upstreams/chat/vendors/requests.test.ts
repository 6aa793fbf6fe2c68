/** What Weir sends to a vendor is what the vendor's own package sends, as far as names go. */
import { afterAll, describe, expect, test } from 'bun:test';
import {
  DIALECT_NAMES,
  DIALECTS,
  type DialectName,
  dialectOfAddress,
} from '../../../../src/protocols/dialects.ts';
import { openaiProtocol } from '../../../../src/upstreams/chat/openai.ts';
import { protocolFor } from '../../../../src/upstreams/chat/protocols.ts';
import { callOf, readStream, startUpstream, streamed } from '../../upstream.ts';
import { PACKAGE_NAMES, type PackageName, sentBy } from './packages.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());

const STREAM = [
  'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
];

/** Returns the body that the upstream receives for a client's chat completion. */
async function sentByWeir(
  dialect: DialectName,
  body: Record<string, unknown>,
  max_output_tokens?: number,
): Promise<Record<string, unknown>> {
  upstream.answer = ({ text }) =>
    JSON.parse(text).stream ? streamed(STREAM) : Response.json({ choices: [{ message: {} }] });
  const { target, ...rest } = callOf(upstream.url, { model: 'm', ...body });
  const call = { ...rest, target: { ...target, dialect }, max_output_tokens };
  if (body['stream']) await readStream(openaiProtocol, call);
  else await openaiProtocol.complete(call);
  return JSON.parse(upstream.asked.at(-1)?.text ?? '');
}

const MESSAGES = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', content: 'Hi' },
];
const LIMITS = ['max_tokens', 'max_completion_tokens'];
const limitsIn = (body: object) => LIMITS.filter((name) => name in body);
const rolesIn = ({ messages }: Record<string, unknown>) =>
  (messages as { role: string }[]).map(({ role }) => role);

describe.each(PACKAGE_NAMES.map((name) => ({ name })))('the dialect $name', ({ name }) => {
  const streamRequest = { messages: MESSAGES, max_completion_tokens: 50, seed: 7, stream: true };

  test('names the output limit and the seed as the vendor’s package does', async () => {
    const { body } = await sentBy(name, 'doStream');
    const sent = await sentByWeir(name, streamRequest);
    expect(limitsIn(sent)).toEqual(limitsIn(body));
    expect(limitsIn(sent).map((limit) => sent[limit])).toEqual([50]);
    const seeds = ['seed', 'random_seed'].filter((seed) => seed in body);
    if (seeds.length > 0) expect(sent).toMatchObject({ [String(seeds[0])]: 7 });
  });

  test('P2: a limit that Weir adds has the same name', async () => {
    const { body } = await sentBy(name, 'doGenerate');
    const sent = await sentByWeir(name, { messages: MESSAGES }, 30);
    expect(limitsIn(sent)).toEqual(limitsIn(body));
    expect(limitsIn(sent).map((limit) => sent[limit])).toEqual([30]);
  });

  test('sends the roles that the vendor’s package sends', async () => {
    const { body } = await sentBy(name, 'doGenerate');
    expect(rolesIn(await sentByWeir(name, { messages: MESSAGES }))).toEqual(rolesIn(body));
  });

  test('asks for the usage of a stream if the vendor’s package does', async () => {
    const { body } = await sentBy(name, 'doStream');
    const sent = await sentByWeir(name, streamRequest);
    // Groq's package sends no stream_options, because it reads x_groq.usage. Groq accepts them
    // since 2024 (groq-sdk: ChatCompletionStreamOptions).
    if (name !== 'groq') expect(sent['stream_options']).toEqual(body['stream_options']);
  });

  test('is chosen by the address of the vendor’s package', async () => {
    const { url } = await sentBy(name, 'doStream');
    const isVendor = name !== 'compatible';
    expect(dialectOfAddress(url.replace('/chat/completions', ''))).toBe(isVendor ? name : 'openai');
  });
});

test('each host of a dialect chooses it, and no other host does', () => {
  for (const name of DIALECT_NAMES) {
    for (const host of DIALECTS[name].hosts) {
      const address = host.startsWith(':') ? `http://localhost${host}/v1` : `https://${host}/v1`;
      expect(dialectOfAddress(address)).toBe(name);
    }
  }
  for (const other of ['https://evil-api.mistral.ai.example/v1', 'https://xapi.mistral.ai/v1', ''])
    expect(dialectOfAddress(other)).toBe('openai');
});

/**
 * Returns the names of all members that Mistral's package can send (@mistralai/mistralai 2.7.0). The
 * import is not typed, because the package's types change the types of streams everywhere.
 */
async function membersOfMistral(): Promise<string[]> {
  const name: string = '@mistralai/mistralai/models/components';
  const { ChatCompletionStreamRequest$outboundSchema: schema } = await import(name);
  return Object.keys(schema.in.shape).map((member) =>
    member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
}

describe('Mistral, which refuses every member that its package does not know', () => {
  test.each(['anthropic', 'responses', 'gemini', 'openai'] as const)(
    'knows all members of a translated call of a client with the protocol %s',
    async (client) => {
      const known = await membersOfMistral();
      expect(known).toContain('max_tokens');
      upstream.answer = () => streamed(STREAM);
      const { target, ...rest } = callOf(upstream.url, BODIES[client], { max_output_tokens: 40 });
      const call = { ...rest, target: { ...target, dialect: 'mistral' as const } };
      await readStream(protocolFor(client, 'openai'), call);
      const sent = JSON.parse(upstream.asked.at(-1)?.text ?? '{}');
      expect(Object.keys(sent).filter((name) => !known.includes(name))).toEqual([]);
      expect(sent).toMatchObject({ max_tokens: 40, stream: true });
    },
  );
});

/** A stream of each client protocol with the settings that most programs send. */
const BODIES = {
  anthropic: {
    ...{ model: 'm', max_tokens: 100, stream: true, temperature: 0.5, stop_sequences: ['x'] },
    ...{ system: 'Be brief.', messages: [{ role: 'user', content: 'Hi' }] },
    metadata: { user_id: 'user_1' },
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    tool_choice: { type: 'any' },
  },
  responses: {
    ...{ model: 'm', max_output_tokens: 100, stream: true, instructions: 'Be brief.' },
    ...{ input: 'Hi', store: false },
  },
  gemini: {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { maxOutputTokens: 100, seed: 7 },
    stream: true,
  },
  openai: {
    ...{ model: 'm', messages: MESSAGES, max_completion_tokens: 100, seed: 7, user: 'user_1' },
    ...{ stream: true, stream_options: { include_usage: true } },
  },
};

/** The assistant's turn with reasoning and a tool call, as the package and Weir's clients send it. */
const HISTORY = {
  prompt: [
    { role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] },
    {
      role: 'assistant' as const,
      content: [
        { type: 'reasoning' as const, text: 'Let me see.' },
        { type: 'tool-call' as const, toolCallId: 'c', toolName: 'f', input: {} },
      ],
    },
    {
      role: 'tool' as const,
      content: [
        {
          ...{ type: 'tool-result' as const, toolCallId: 'c', toolName: 'f' },
          output: { type: 'text' as const, value: 'done' },
        },
      ],
    },
    { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'Done.' }] },
    { role: 'user' as const, content: [{ type: 'text' as const, text: 'Why?' }] },
  ],
};
const MESSAGES_OF_CLAUDE = [
  { role: 'user', content: 'Hi' },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Let me see.', signature: 'x' },
      { type: 'tool_use', id: 'c', name: 'f', input: {} },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'done' }] },
  { role: 'assistant', content: 'Done.' },
  { role: 'user', content: 'Why?' },
];

/** Returns the reasoning of the assistant's messages in a body. */
const reasoningIn = ({ messages }: Record<string, unknown>) =>
  (messages as Record<string, unknown>[])
    .filter(({ role }) => role === 'assistant')
    .map(({ reasoning_content, reasoning }) => ({ reasoning_content, reasoning }));

test.each([
  ['deepseek', 'deepseek-v4-pro'],
  ['deepseek', 'deepseek-chat'],
  ['moonshot', 'kimi-k2-0905-preview'],
  ['groq', 'openai/gpt-oss-120b'],
  ['compatible', 'own-model'],
] as const)('%s gets the reasoning of earlier turns of %s as in its package', async (name, id) => {
  const { body } = await sentBy(name, 'doGenerate', HISTORY, id);
  upstream.answer = () => Response.json({ choices: [{ message: {} }] });
  const request = { model: 'm', max_tokens: 9, messages: MESSAGES_OF_CLAUDE };
  const { target, ...rest } = callOf(upstream.url, request, { physical_model: id });
  const call = { ...rest, target: { ...target, dialect: name } };
  await protocolFor('anthropic', 'openai').complete(call);
  expect(reasoningIn(JSON.parse(upstream.asked.at(-1)?.text ?? ''))).toEqual(reasoningIn(body));
});

const names: readonly PackageName[] = PACKAGE_NAMES;
test('a dialect without a package is documented as such', () => {
  const unproved = DIALECT_NAMES.filter((name) => !names.some((each) => each === name));
  expect(unproved).toEqual([
    'openai',
    'zhipu',
    'openrouter',
    'together',
    'fireworks',
    'xai',
    'ollama',
  ]);
});
