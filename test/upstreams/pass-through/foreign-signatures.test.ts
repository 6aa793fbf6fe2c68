/**
 * A chat that goes on at another provider's model carries no signature of the first one. The judges:
 * OpenAI's declared types, which have no `extra_content`, and the providers' refusals that users
 * report (ding113/claude-code-hub#518, openai/codex#8145, anomalyco/opencode#4832), which the
 * simulator repeats. A request without a foreign signature keeps all its bytes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { abilitiesOn } from '../../../src/catalogue/abilities.ts';
import type { ChatProtocol, ClientProtocol } from '../../../src/protocols/names.ts';
import { protocolFor, requestProtocolOf } from '../../../src/upstreams/chat/protocols.ts';
import type { UpstreamCall } from '../../../src/upstreams/contract.ts';
import { typeErrors } from '../../support/declared-types.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { CHAT_MODELS, type Json } from '../translation/chat-models.ts';
import { BASES } from '../translation/clients.ts';
import { callOf, startUpstream, type Upstream } from '../upstream.ts';

let upstream: Upstream;
let simulator: RunningSimulator;
beforeAll(async () => {
  upstream = startUpstream();
  upstream.answer = () => new Response('{}', { status: 400 });
  simulator = await startSimulator();
});
afterAll(async () => {
  await upstream.stop();
  await simulator.stop();
});

const MODEL_OF: Record<ChatProtocol, string> = {
  ...{ openai: 'gpt-5', 'azure-openai': 'gpt-4o', 'openai-responses': 'gpt-5.4' },
  ...{ anthropic: 'claude-opus-4-5', bedrock: 'claude-opus-4-5' },
  ...{ gemini: 'gemini-3.5-flash', vertex: 'gemini-3.5-flash' },
};

const modelChanges = (id: string, protocol: ChatProtocol): Partial<UpstreamCall> => {
  const model = CHAT_MODELS.find((each) => each.id === id);
  return {
    ...{ public_model: id, physical_model: id },
    model_max_output_tokens: model?.max_output_tokens ?? 1_000,
    model_abilities: abilitiesOn(model?.abilities, protocol),
  };
};

/** The text that a channel gets for a body that passes through. */
async function sent(
  protocol: ChatProtocol,
  body: string | Json,
  changes: Partial<UpstreamCall> = modelChanges(MODEL_OF[protocol], protocol),
): Promise<string> {
  upstream.asked.length = 0;
  const client = requestProtocolOf(protocol);
  const call = callOf(upstream.url, body, { model_context_window: 100_000, ...changes });
  await protocolFor(client, protocol)
    .complete(call)
    .catch(() => undefined);
  return upstream.asked[0]?.text ?? '';
}

const call = (id: string, more: Json = {}) => ({
  ...{ id, type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
  ...more,
});
const extra_content = { google: { thought_signature: 'CpMEAVSo==' } };
const chatWith = (...tool_calls: Json[]) => ({
  model: 'm',
  messages: [
    { role: 'user', content: 'The weather?' },
    { role: 'assistant', content: null, tool_calls },
    ...tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Rain' })),
  ],
});

describe('chat completions', () => {
  test('OpenAI gets tool calls as its package declares them', async () => {
    const body = chatWith(call('a', { extra_content }), call('b'));
    const imports = {
      'node_modules/openai/resources/chat/completions': ['ChatCompletionCreateParams'],
    };
    const type = 'ChatCompletionCreateParams';
    const values = [body, JSON.parse(await sent('openai', body))];
    const [before, after] = await typeErrors(
      values.map((value) => ({ type, value })),
      imports,
    );
    expect(before?.join()).toContain('extra_content');
    expect(after ?? []).toEqual([]);
    expect(JSON.parse(await sent('azure-openai', body)).messages[1].tool_calls).toEqual([
      ...[call('a'), call('b')],
    ]);
  }, 60_000);

  test('Gemini behind the same protocol keeps its signatures', async () => {
    const body = JSON.stringify(chatWith(call('a', { extra_content })));
    const gemini = modelChanges('gemini-3.5-flash', 'openai');
    expect(await sent('openai', body, gemini)).toContain('thought_signature');
    // Nobody knows the model of an unknown host: it may be Google's.
    expect(await sent('openai', body, {})).toContain('thought_signature');
    const target = { ...callOf(upstream.url, {}).target, dialect: 'mistral' as const };
    expect(await sent('openai', body, { target })).not.toContain('thought_signature');
  });
});

const thinking = (signature?: string) => ({
  ...{ type: 'thinking', thinking: 'Hm.' },
  ...(signature === undefined ? {} : { signature }),
});
const text = { type: 'text', text: 'Hello!' };
const messagesWith = (...content: Json[]) => ({
  model: 'm',
  max_tokens: 100,
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content },
    { role: 'user', content: 'Again' },
  ],
});

describe.each(['anthropic', 'bedrock'] as const)('messages to %s', (protocol) => {
  const contents = async (body: Json, changes?: Partial<UpstreamCall>) =>
    JSON.parse(await sent(protocol, body, changes)).messages.map((each: Json) => each['content']);

  test('only Claude’s own thinking goes along', async () => {
    const own = thinking('EqQBCgIYAhIM+/a==');
    const redacted = { type: 'redacted_thinking', data: 'EmwKAhgB' };
    const body = messagesWith(
      thinking('gemini:CpME=='),
      own,
      redacted,
      thinking(''),
      thinking(),
      text,
    );
    expect(await contents(body)).toEqual(['Hi', [own, redacted, text], 'Again']);
  });

  test('a turn of foreign thinking alone goes', async () => {
    expect(await contents(messagesWith(thinking('gemini:CpME==')))).toEqual(['Hi', 'Again']);
  });

  test('an unknown model may not sign its thinking', async () => {
    const body = messagesWith(thinking('gemini:CpME=='), thinking(''), text);
    expect(await contents(body, {})).toEqual(['Hi', [thinking(''), text], 'Again']);
  });
});

test('responses: only OpenAI’s own reasoning goes along', async () => {
  const item = (encrypted_content: string) => ({
    ...{ type: 'reasoning', summary: [], encrypted_content },
  });
  const own = item('gAAAAABo+/a==');
  const question = { role: 'user', content: 'Hi' };
  const input = [question, item('gemini:CpME=='), item('anthropic:EqQB=='), own, question];
  const body = JSON.parse(await sent('openai-responses', { model: 'm', input }));
  expect(body.input).toEqual([question, own, question]);
});

describe.each(['gemini', 'vertex'] as const)('contents to %s', (protocol) => {
  const functionCall = { name: 'weather', args: { city: 'Rome' } };
  const contentsWith = (...parts: Json[]) => ({
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts },
      { role: 'user', parts: [{ functionResponse: { name: 'weather', response: {} } }] },
    ],
  });
  const partsIn = (body: string) => JSON.parse(body).contents[1].parts;

  test('calls of another provider’s model get the value that Gemini 3 accepts', async () => {
    const skipped = { functionCall, thoughtSignature: 'skip_thought_signature_validator' };
    const unsigned = contentsWith({ text: 'Let me see.' }, { functionCall }, { functionCall });
    expect(partsIn(await sent(protocol, unsigned))).toEqual([
      ...[{ text: 'Let me see.' }, skipped, skipped],
    ]);
    const older = modelChanges('gemini-2.5-flash', protocol);
    expect(partsIn(await sent(protocol, unsigned, older))).toEqual(unsigned.contents[1]?.parts);
  });

  test('a turn with a signature of its own stays as it is', async () => {
    const signed = contentsWith({ functionCall, thoughtSignature: 'CpME==' }, { functionCall });
    expect(partsIn(await sent(protocol, signed))).toEqual(signed.contents[1]?.parts);
  });
});

describe('all other bytes stay', () => {
  const odd = '{"big" : 12345678901234567890, "e":1e2,"\\u00e9":[ ] }';
  const bodies: [ChatProtocol, string, string][] = [
    [
      'openai',
      `{"messages":[ {"role":"user","x":${odd}} , {"role":"assistant","tool_calls":[{"id":"a", "x":${odd}, "extra_content":1},{"id" : "b"}]} ]}`,
      'extra_content',
    ],
    [
      'anthropic',
      `{"messages":[ {"role":"user","content":"a","x":${odd}}, {"role":"assistant","content":[{"type":"text","x":${odd}},{"type":"thinking","signature":"gemini:a"}], "y" : 1.0}]}`,
      'gemini:',
    ],
    [
      'openai-responses',
      `{"input":[ {"role":"user","content":"a","x":${odd}},{"type":"reasoning","encrypted_content":"anthropic:a"}]}`,
      'anthropic:',
    ],
  ];
  test.each(bodies)('%s', async (protocol, body, gone) => {
    const text = await sent(protocol, body);
    expect(text).toContain(odd);
    expect(text).not.toContain(gone);
    // Without anything foreign, only the known edits are made.
    const own = body.replaceAll(
      /, ?"extra_content":1|,\{"type":"(?:thinking|reasoning)"[^}]*\}/g,
      '',
    );
    const kept = /\[.*\]/s.exec(own)?.[0] ?? '';
    if (protocol !== 'openai-responses') expect(await sent(protocol, own)).toContain(kept);
  });
});

/** For each client: a question with a tool, and the next request after an answer with calls. */
const WEATHER = { type: 'object', properties: { city: { type: 'string' } } };
const ASK = 'The weather? [[sim reasoning=5]]';
const LOOPS: Record<
  ClientProtocol,
  {
    first: Json;
    next: (before: Json, answer: Json) => Json;
    again: (before: Json, answer: Json) => Json;
  }
> = {
  openai: {
    first: {
      messages: [{ role: 'user', content: ASK }],
      tools: [{ type: 'function', function: { name: 'weather', parameters: WEATHER } }],
      reasoning_effort: 'low',
    },
    next: (before, { choices: [{ message }] }) => ({
      ...before,
      messages: [
        ...before['messages'],
        message,
        ...message.tool_calls.map(({ id }: Json) => ({
          ...{ role: 'tool', tool_call_id: id, content: 'Rain' },
        })),
      ],
    }),
    again: (before, { choices: [{ message }] }) => ({
      ...{ ...before, messages: [...before['messages'], message, { role: 'user', content: ASK }] },
    }),
  },
  anthropic: {
    first: {
      max_tokens: 4_000,
      messages: [{ role: 'user', content: ASK }],
      tools: [{ name: 'weather', input_schema: WEATHER }],
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    },
    next: (before, { content }) => ({
      ...before,
      messages: [
        ...before['messages'],
        { role: 'assistant', content },
        {
          role: 'user',
          content: content.flatMap(({ type, id }: Json) =>
            type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'Rain' }] : [],
          ),
        },
      ],
    }),
    again: (before, { content }) => ({
      ...before,
      messages: [
        ...before['messages'],
        ...(content.length > 0 ? [{ role: 'assistant', content }] : []),
        { role: 'user', content: ASK },
      ],
    }),
  },
  responses: {
    first: {
      input: [{ role: 'user', content: ASK }],
      tools: [{ type: 'function', name: 'weather', parameters: WEATHER }],
      include: ['reasoning.encrypted_content'],
    },
    next: (before, { output }) => ({
      ...before,
      input: [
        ...before['input'],
        ...output,
        ...output.flatMap(({ type, call_id }: Json) =>
          type === 'function_call'
            ? [{ type: 'function_call_output', call_id, output: 'Rain' }]
            : [],
        ),
      ],
    }),
    again: (before, { output }) => ({
      ...{ ...before, input: [...before['input'], ...output, { role: 'user', content: ASK }] },
    }),
  },
  gemini: {
    first: {
      contents: [{ role: 'user', parts: [{ text: ASK }] }],
      tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: WEATHER }] }],
    },
    next: (before, { candidates: [{ content }] }) => ({
      ...before,
      contents: [
        ...before['contents'],
        content,
        {
          role: 'user',
          parts: content.parts.flatMap(({ functionCall }: Json) =>
            functionCall
              ? [{ functionResponse: { name: functionCall.name, response: { sky: 'Rain' } } }]
              : [],
          ),
        },
      ],
    }),
    again: (before, { candidates: [{ content }] }) => ({
      ...before,
      contents: [...before['contents'], content, { role: 'user', parts: [{ text: ASK }] }],
    }),
  },
};

const STEPS: ChatProtocol[] = ['openai', 'openai-responses', 'anthropic', 'gemini'];
const JOURNEYS = STEPS.flatMap((first) =>
  STEPS.filter((second) => second !== first).map((second) => [first, second] as const),
);

describe.each(Object.keys(LOOPS) as ClientProtocol[])('a chat of %s', (client) => {
  const { first, next, again } = LOOPS[client];
  const answer = async (protocol: ChatProtocol, body: Json): Promise<Json> => {
    const changes = modelChanges(MODEL_OF[protocol], protocol);
    const base = simulator.url + BASES[protocol];
    const { body_text } = await protocolFor(client, protocol).complete(
      callOf(base, { ...(client === 'gemini' ? {} : { model: 'm' }), ...body }, changes),
    );
    return JSON.parse(body_text);
  };

  test.each(JOURNEYS)(
    'goes from %s to %s and back, with calls and thoughts',
    async (one, other) => {
      let body = first;
      for (const protocol of [one, other, one]) {
        // The tools answer to the model that did not call them.
        const called = next(body, await answer(protocol, body));
        const elsewhere = protocol === one ? other : one;
        body = again(called, await answer(elsewhere, called));
      }
    },
  );
});
