/**
 * Refusals of translated calls. Each client gets its own names, or a plain sentence: no name and no
 * phrase that only the upstream's protocol has, and no name of a provider (P5). The errors are those
 * that the providers' APIs send; the names are those of the providers' packages.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ChatProtocol, ClientProtocol } from '../../../src/protocols/names.ts';
import { protocolFor, requestProtocolOf } from '../../../src/upstreams/chat/protocols.ts';
import { TerminalUpstreamError, type UpstreamCall } from '../../../src/upstreams/contract.ts';
import type { NeutralRequest } from '../../../src/upstreams/translation/neutral.ts';
import type { RequestProtocol } from '../../../src/upstreams/translation/translate.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import {
  callOf,
  readStream,
  rejection,
  startUpstream,
  streamed,
  type Upstream,
} from '../upstream.ts';
import { BASES, CLIENTS, PAIRS } from './clients.ts';
import { foreignWords } from './foreign-words.ts';
import { VENDOR_MESSAGES, type VendorMessage } from './vendor-messages.ts';

let upstream: Upstream;
let simulator: RunningSimulator;
beforeAll(async () => {
  upstream = startUpstream();
  simulator = await startSimulator();
});
afterAll(async () => {
  await upstream.stop();
  await simulator.stop();
});

const TRANSLATED = PAIRS.filter(([client, name]) => requestProtocolOf(name) !== client);
/** Names that the client chose itself. */
const OWN = ['get_weather', 'clock', 'city', 'unit', 'call_a1'];
const REQUEST: NeutralRequest = {
  system: ['Be brief.'],
  turns: [
    { role: 'user', parts: [{ type: 'text', text: 'Weather?' }] },
    {
      role: 'assistant',
      parts: [{ type: 'call', id: 'call_a1', name: 'get_weather', arguments: '{"city":"Oslo"}' }],
    },
    {
      role: 'user',
      parts: [
        {
          ...{ type: 'result', call_id: 'call_a1', is_error: false },
          parts: [{ type: 'text', text: 'Rain' }],
        },
        { type: 'text', text: 'So?' },
      ],
    },
  ],
  tools: [
    {
      name: 'get_weather',
      description: 'Of a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
    { name: 'clock', parameters: { type: 'object', properties: {} } },
  ],
  ...{ max_output_tokens: 100, temperature: 0.5, stop: [], stream: false },
};

function callFrom(client: ClientProtocol, name: ChatProtocol, stream: boolean): UpstreamCall {
  const body = { model: 'gpt-test', stream, ...CLIENTS[client].write({ ...REQUEST, stream }) };
  return callOf(`${upstream.url}${BASES[name]}`, body, { public_model: 'chat-model' });
}

/** The error in the envelope of each provider. */
function envelope(name: ChatProtocol, { message, param }: VendorMessage): object {
  switch (requestProtocolOf(name)) {
    case 'anthropic':
      // Other AWS services write `__type`; Bedrock also sends the header `x-amzn-errortype`.
      if (name === 'bedrock') return { __type: 'ValidationException', message };
      return { type: 'error', error: { type: 'invalid_request_error', message } };
    case 'gemini':
      return { error: { code: 400, message, status: 'INVALID_ARGUMENT' } };
    default:
      return {
        error: { message, type: 'invalid_request_error', param: param ?? null, code: null },
      };
  }
}

/** The start of a stream of each form, and its error event. */
const STREAMS: Record<RequestProtocol, (error: VendorMessage) => string[]> = {
  openai: (error) => [
    data({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'physical-9' },
      choices: [{ index: 0, delta: { role: 'assistant', content: 'One' }, finish_reason: null }],
    }),
    data(envelope('openai', error)),
  ],
  responses: ({ message, param }: VendorMessage) => [
    data({ type: 'response.created', sequence_number: 0, response: { id: 'r', output: [] } }),
    data({
      ...{ type: 'response.output_text.delta', sequence_number: 1, delta: 'One' },
      ...{ item_id: 'i', output_index: 0, content_index: 0 },
    }),
    data({
      type: 'error',
      sequence_number: 2,
      code: 'invalid_request_error',
      message,
      param: param ?? null,
    }),
  ],
  anthropic: (error) => [
    data({
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'physical-9', content: [] },
    }),
    data({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'One' } }),
    data(envelope('anthropic', error)),
  ],
  gemini: (error) => [
    data({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'One' }] } }] }),
    data(envelope('gemini', error)),
  ],
};

function data(value: object): string {
  const { type } = value as { type?: string };
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(value)}\n\n`;
}

function expectOwnWords(error: unknown, client: ClientProtocol, name: ChatProtocol, said: string) {
  expect(error).toBeInstanceOf(TerminalUpstreamError);
  const { public_message, param } = error as TerminalUpstreamError;
  expect(public_message).not.toBe('');
  const shown = `${public_message}\n${param === null ? '' : `'${param}'`}`;
  const foreign = foreignWords(shown, client, requestProtocolOf(name), OWN);
  expect({ said, public_message, param, foreign }).toMatchObject({ foreign: [] });
}

describe.each(TRANSLATED)(
  'P5: a %s client on %s gets only words of its own protocol',
  (client, name) => {
    const form = requestProtocolOf(name);
    const protocol = protocolFor(client, name);

    test.each([false, true])('if the upstream refuses the call, streamed: %p', async (stream) => {
      for (const vendor of VENDOR_MESSAGES[form]) {
        upstream.answer = () => Response.json(envelope(name, vendor), { status: 400 });
        const call = callFrom(client, name, stream);
        const error = await rejection(stream ? protocol.stream(call) : protocol.complete(call));
        expectOwnWords(error, client, name, vendor.message);
      }
    });

    // Bedrock's streams have a binary form, which wraps the same events.
    test.skipIf(name === 'bedrock')('if the refusal comes inside the stream', async () => {
      for (const vendor of VENDOR_MESSAGES[form]) {
        upstream.answer = () => streamed(STREAMS[form](vendor));
        const { error } = await readStream(protocol, callFrom(client, name, true));
        expectOwnWords(error, client, name, vendor.message);
      }
    });

    test('if the simulated provider refuses the call', async () => {
      const wrong: Partial<NeutralRequest>[] = [
        { max_output_tokens: -1 },
        { temperature: -3 },
        { top_p: 7 },
        { turns: [] },
        { turns: [{ role: 'user', parts: [] }] },
        { turns: REQUEST.turns.slice(0, 2) },
        { turns: REQUEST.turns.slice(2) },
        { tools: [{ name: 'a tool with blanks', parameters: { type: 'object' } }] },
        { tools: [{ name: 'clock', parameters: 'no schema' }] },
        { tool_choice: { type: 'tool', name: 'missing' } },
      ];
      for (const members of wrong) {
        const body = { model: 'gpt-test', ...CLIENTS[client].write({ ...REQUEST, ...members }) };
        const call = callOf(simulator.url + BASES[name], body, { public_model: 'chat-model' });
        const error = await protocol.complete(call).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        if (error instanceof TerminalUpstreamError) {
          expectOwnWords(error, client, name, JSON.stringify(members));
        }
      }
    });
  },
);

describe('the parameter of a refusal is the client’s own', () => {
  const paramOf = async (client: ClientProtocol, name: ChatProtocol, vendor: VendorMessage) => {
    upstream.answer = () => Response.json(envelope(name, vendor), { status: 400 });
    const call = callFrom(client, name, false);
    const error = await rejection(protocolFor(client, name).complete(call));
    return (error as TerminalUpstreamError).param;
  };

  test.each<[ClientProtocol, ChatProtocol, string, string | null]>([
    ['openai', 'anthropic', 'tools.0.custom.name', 'tools[0].function.name'],
    ['openai', 'anthropic', 'tools.1.custom.input_schema', 'tools[1].function.parameters'],
    [
      'openai',
      'anthropic',
      'tools.0.input_schema.properties.city',
      'tools[0].function.parameters.properties.city',
    ],
    ['openai', 'anthropic', 'messages.0.content', 'messages[1].content'],
    [
      'openai',
      'anthropic',
      'messages.1.content.0.tool_use.input',
      'messages[2].tool_calls[0].function.arguments',
    ],
    [
      'openai',
      'anthropic',
      'messages.2.content.0.tool_result.tool_use_id',
      'messages[3].tool_call_id',
    ],
    ['openai', 'anthropic', 'messages.2.content.1.text', 'messages[4].content'],
    ['openai', 'anthropic', 'system', 'messages[0].content'],
    ['openai', 'anthropic', 'max_tokens', 'max_completion_tokens'],
    ['openai', 'anthropic', 'top_k', 'top_k'],
    ['gemini', 'anthropic', 'tools.1.custom.name', 'tools[0].functionDeclarations[1].name'],
    ['gemini', 'anthropic', 'max_tokens', 'generationConfig.maxOutputTokens'],
    ['responses', 'anthropic', 'messages.1.content.0.tool_use.input', 'input[2].arguments'],
    ['anthropic', 'openai', 'tools[1].function.parameters', 'tools.1.input_schema'],
    ['anthropic', 'openai', 'messages[0].content', 'system'],
    ['anthropic', 'openai', 'messages[3].tool_call_id', 'messages.2.content.0.tool_use_id'],
    ['anthropic', 'openai', 'max_completion_tokens', 'max_tokens'],
    ['anthropic', 'openai-responses', 'input[1].content[0].text', 'messages.0.content'],
    ['gemini', 'openai', 'messages[1].content', 'contents[0].parts[0].text'],
    ['responses', 'openai', 'messages[4].content', 'input[4].content[0].text'],
    ['openai', 'openai-responses', 'max_output_tokens', 'max_completion_tokens'],
  ])('%s on %s: %s is %s', async (client, name, theirs, own) => {
    const message = `${theirs}: Field required`;
    expect(await paramOf(client, name, { message, param: theirs })).toBe(own);
  });

  test.each<[ClientProtocol, string, string | null]>([
    ['openai', 'contents[0].parts[0]', 'messages[1].content'],
    [
      'openai',
      'contents[1].parts[0].function_call.args',
      'messages[2].tool_calls[0].function.arguments',
    ],
    ['openai', 'generation_config.max_output_tokens', 'max_completion_tokens'],
    ['openai', 'generation_config.no_such_member', null],
    ['openai', 'system_instruction', 'messages[0].content'],
    ['anthropic', 'tools[0].function_declarations[1].parameters', 'tools.1.input_schema'],
    ['anthropic', 'contents', 'messages'],
    ['responses', 'contents[2].parts[1]', 'input[4].content[0].text'],
  ])('%s on gemini: %s is %s', async (client, theirs, own) => {
    const message = `* GenerateContentRequest.${theirs}: missing field.\n`;
    expect(await paramOf(client, 'gemini', { message })).toBe(own);
  });
});

describe('the message of a refusal', () => {
  const messageOf = async (client: ClientProtocol, name: ChatProtocol, message: string) => {
    upstream.answer = () => Response.json(envelope(name, { message }), { status: 400 });
    const call = callFrom(client, name, false);
    const error = await rejection(protocolFor(client, name).complete(call));
    return (error as TerminalUpstreamError).public_message;
  };

  test.each<[ClientProtocol, ChatProtocol, string, string]>([
    // The provider's sentence stays if only its path is foreign.
    [
      ...(['openai', 'anthropic'] as const),
      'tools.0.custom.name: String should have at most 128 characters',
      'tools[0].function.name: String should have at most 128 characters',
    ],
    [
      ...(['openai', 'gemini'] as const),
      '* GenerateContentRequest.contents: contents is not specified\n',
      'messages: is required.',
    ],
    [
      ...(['anthropic', 'openai'] as const),
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens: is not supported by the model.',
    ],
    [
      ...(['anthropic', 'gemini'] as const),
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      'prompt is too long: 1200000 tokens > 1048576 maximum',
    ],
    [
      ...(['openai', 'anthropic'] as const),
      'prompt is too long: 250000 tokens > 200000 maximum',
      "This model's maximum context length is 200000 tokens. However, your messages resulted in 250000 tokens. Please reduce the length of the messages.",
    ],
    [
      ...(['openai', 'anthropic'] as const),
      'Claude cannot do that',
      'The model does not accept the request.',
    ],
    [...(['openai', 'anthropic'] as const), 'chat-model is tired', 'chat-model is tired'],
  ])('%s on %s: %s → %s', async (client, name, message, own) => {
    expect(await messageOf(client, name, message)).toBe(own);
  });
});
