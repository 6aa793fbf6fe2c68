/**
 * What Weir sends to a provider of chat has the type that the provider's own package declares: every
 * conversation, from every client protocol to every upstream protocol, whole and streamed. The compiler
 * checks each body as a literal, so an unknown member is an error too.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type ChatProtocol, CLIENT_PROTOCOLS } from '../../../../src/protocols/names.ts';
import { protocolFor } from '../../../../src/upstreams/chat/protocols.ts';
import type { NeutralRequest } from '../../../../src/upstreams/translation/neutral.ts';
import {
  type DeclaredImports,
  type DeclaredValue,
  typeErrors,
} from '../../../support/declared-types.ts';
import { CLIENTS } from '../../translation/clients.ts';
import { CONVERSATIONS } from '../../translation/conversations.ts';
import { callOf, startUpstream, type Upstream } from '../../upstream.ts';
import { CHAT_WITNESSES } from './table.ts';

setDefaultTimeout(120_000);

const CHAT = {
  type: 'ChatCompletionCreateParams',
  imports: { 'node_modules/openai/resources/chat/completions': ['ChatCompletionCreateParams'] },
};
const GEMINI = {
  type: `OnTheWire<{
    contents: Content[]; systemInstruction?: Content; tools?: Tool[]; toolConfig?: ToolConfig;
    safetySettings?: SafetySetting[]; generationConfig?: GenerationConfig }>`.replaceAll(
    /\s+/g,
    ' ',
  ),
  imports: {
    'node_modules/@google/genai/dist/genai': [
      ...['Content', 'GenerationConfig', 'SafetySetting', 'Tool', 'ToolConfig'],
    ],
    'test/support/on-the-wire': ['OnTheWire'],
  },
};
const MESSAGES = { 'node_modules/@anthropic-ai/sdk/resources/messages': ['MessageCreateParams'] };

/**
 * Parameters of the version 2023-06-01, which Weir sends. The package declares the version 2026-10-21.
 * Their source is @anthropic-ai/sdk 0.122.0, `MessageCreateParamsBase`.
 */
const SAMPLING = '{ temperature?: number; top_p?: number; top_k?: number }';

/**
 * An earlier answer without an id. The package declares it with an id. @ai-sdk/openai sends it without
 * one (`convertToOpenAIResponsesInput`).
 */
const ANSWER =
  "{ type?: 'message'; role: 'assistant'; content: { type: 'output_text'; text: string }[] }";

/** The declared type of a request's body, per protocol. */
const DECLARATIONS: Record<ChatProtocol, { type: string; imports: DeclaredImports }> = {
  openai: CHAT,
  'azure-openai': CHAT,
  'openai-responses': {
    type: `Omit<ResponseCreateParams, 'input'> & { input: (ResponseInputItem | ${ANSWER})[] }`,
    imports: {
      'node_modules/openai/resources/responses/responses': [
        ...['ResponseCreateParams', 'ResponseInputItem'],
      ],
    },
  },
  anthropic: { type: `MessageCreateParams & ${SAMPLING}`, imports: MESSAGES },
  // The package @anthropic-ai/bedrock-sdk moves model and stream to the path, and adds the version.
  bedrock: {
    type: `Omit<MessageCreateParams, 'model' | 'stream'> & ${SAMPLING} & { anthropic_version: 'bedrock-2023-05-31' }`,
    imports: MESSAGES,
  },
  gemini: GEMINI,
  vertex: GEMINI,
};

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
  upstream.answer = () => new Response('{}', { status: 400 });
});
afterAll(() => upstream.stop());

interface Payload extends DeclaredValue {
  readonly call: string;
}

/** Returns each different body that Weir sends to upstreams of a protocol. */
async function payloadsOf(protocol: ChatProtocol): Promise<Payload[]> {
  const payloads = new Map<string, Payload>();
  for (const client of CLIENT_PROTOCOLS) {
    // Passed through as the client wrote it.
    if (client === 'responses' && protocol === 'openai-responses') continue;
    for (const [title, conversation] of Object.entries(CONVERSATIONS)) {
      for (const stream of [false, true]) {
        const request: NeutralRequest = { ...conversation, stream };
        const body: Record<string, unknown> = { ...CLIENTS[client].write(request) };
        if (client !== 'gemini') body['model'] = 'gpt-test';
        upstream.asked.length = 0;
        const changes = { model_max_output_tokens: 64_000 };
        const call = callOf(upstream.url, body, changes);
        const spoken = protocolFor(client, protocol);
        const sent = stream ? spoken.stream(call) : spoken.complete(call);
        await Promise.resolve(sent).catch(() => undefined);
        const text = upstream.asked[0]?.text;
        // Responses have no stop sequences, so Weir refuses them (`docs/protocols.md`).
        if (text === undefined && protocol === 'openai-responses' && conversation.stop.length > 0) {
          continue;
        }
        if (text === undefined) throw new Error(`${client} to ${protocol} sends nothing: ${title}`);
        const { type } = DECLARATIONS[protocol];
        const name = `${client}: ${title}${stream ? ', streamed' : ''}`;
        if (!payloads.has(text)) payloads.set(text, { type, value: JSON.parse(text), call: name });
      }
    }
  }
  return [...payloads.values()];
}

describe.each(Object.keys(DECLARATIONS) as ChatProtocol[])('%s', (protocol) => {
  test('gets only what its package declares', async () => {
    const payloads = await payloadsOf(protocol);
    const errors = await typeErrors(payloads, DECLARATIONS[protocol].imports);
    const wrong = payloads.flatMap(({ call }, at) =>
      (errors[at] ?? []).length > 0 ? [`${call}: ${errors[at]?.slice(-3).join(' ')}`] : [],
    );
    expect(wrong).toEqual([]);
    const row = CHAT_WITNESSES.find((each) => each.protocol === protocol);
    expect({ protocol, types: payloads.length }).toEqual({
      protocol,
      types: row?.payloads.types ?? 0,
    });
  });
});

test('the compiler finds a wrong value and an unknown member', async () => {
  const body = { model: 'x', messages: [{ role: 'user', content: 'x' }] };
  const values = [body, { ...body, stop: 7 }, { ...body, beam_width: 1 }];
  const errors = await typeErrors(
    values.map((value) => ({ type: CHAT.type, value })),
    CHAT.imports,
  );
  expect(errors.map((each) => each.length > 0)).toEqual([false, true, true]);
});
