/**
 * Every conversation through every pair of protocols, over the wire to the simulated vendor: what the
 * client reads is what the vendor said, whole and streamed, in its own protocol and in every other.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { protocolFor, writtenFor } from '../../../src/upstreams/chat-protocols.ts';
import type { UpstreamCall } from '../../../src/upstreams/contract.ts';
import type { ChatProtocol, ClientProtocol } from '../../../src/upstreams/protocol-names.ts';
import { Assembly } from '../../../src/upstreams/translation/assembly.ts';
import { ChatReader, readChatAnswer } from '../../../src/upstreams/translation/chat-answer.ts';
import { writeChat } from '../../../src/upstreams/translation/chat-write.ts';
import {
  GeminiReader,
  readGeminiAnswer,
} from '../../../src/upstreams/translation/gemini-answer.ts';
import { writeGemini } from '../../../src/upstreams/translation/gemini-write.ts';
import {
  MessagesReader,
  readMessagesAnswer,
} from '../../../src/upstreams/translation/messages-answer.ts';
import { writeMessagesRequest } from '../../../src/upstreams/translation/messages-write.ts';
import type {
  AssistantPart,
  NeutralAnswer,
  NeutralRequest,
  StreamReader,
} from '../../../src/upstreams/translation/neutral.ts';
import type { Json } from '../../../src/upstreams/translation/reading.ts';
import { readRequest, refusalOf } from '../../../src/upstreams/translation/translate.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { callOf } from '../upstream.ts';
import { CONVERSATIONS } from './conversations.ts';
import { readResponse, responseOf, writeResponses } from './responses.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

const BASES: Record<ChatProtocol, string> = {
  openai: '/openai/v1',
  'azure-openai': '/azure/openai/v1',
  anthropic: '/anthropic',
  gemini: '/google/v1beta',
};
const CLIENTS: Record<
  ClientProtocol,
  {
    write: (request: NeutralRequest) => Record<string, unknown>;
    read: (answer: Json) => NeutralAnswer;
    reader: () => StreamReader;
  }
> = {
  openai: {
    write: (request) => ({
      ...writeChat(request),
      ...(request.stream ? { stream_options: { include_usage: true } } : {}),
    }),
    read: readChatAnswer,
    reader: () => new ChatReader(),
  },
  anthropic: {
    write: (request) => writeMessagesRequest(request, 32_000),
    read: readMessagesAnswer,
    reader: () => new MessagesReader(),
  },
  gemini: { write: writeGemini, read: readGeminiAnswer, reader: () => new GeminiReader() },
  responses: { write: writeResponses, read: readResponse, reader: responseOf },
};

function callFor(
  client: ClientProtocol,
  upstream: ChatProtocol,
  request: NeutralRequest,
): UpstreamCall {
  const body = { model: 'gpt-test', ...CLIENTS[client].write(request), stream: request.stream };
  return callOf(simulator.url + BASES[upstream], body, { model_max_output_tokens: 32_000 });
}

/** What was said, whatever it is called. */
function said(parts: readonly AssistantPart[]): object[] {
  return parts.flatMap((part): object[] => {
    if (part.type === 'call') return [{ call: part.name, arguments: JSON.parse(part.arguments) }];
    return part.text === '' ? [] : [{ [part.type]: part.text }];
  });
}

async function whole(client: ClientProtocol, upstream: ChatProtocol, request: NeutralRequest) {
  const answer = await protocolFor(client, upstream).complete(callFor(client, upstream, request));
  return { ...CLIENTS[client].read(JSON.parse(answer.body_text)), metered: answer.usage };
}

async function streamed(client: ClientProtocol, upstream: ChatProtocol, request: NeutralRequest) {
  const call = callFor(client, upstream, { ...request, stream: true });
  const stream = await protocolFor(client, upstream).stream(call);
  const reader = CLIENTS[client].reader();
  const assembly = new Assembly();
  let finals = '';
  for await (const batch of stream.events) {
    for (const { text, final } of batch) {
      if (final) finals += text;
      for (const frame of text.split('\n\n').filter(Boolean)) {
        const data = frame.slice(frame.indexOf('data: ') + 'data: '.length);
        for (const event of reader.read(undefined, data)) assembly.take(event);
      }
    }
  }
  return { ...assembly.answer(), metered: stream.usage(), finals };
}

const PAIRS = (Object.keys(CLIENTS) as ClientProtocol[]).flatMap((client) =>
  (Object.keys(BASES) as ChatProtocol[]).map((upstream) => [client, upstream] as const),
);

describe.each(PAIRS)('a client of %s on an upstream of %s', (client, upstream) => {
  const home = {
    openai: 'openai',
    'azure-openai': 'openai',
    anthropic: 'anthropic',
    gemini: 'gemini',
  } as const;

  test.each(Object.keys(CONVERSATIONS))('%s', async (title) => {
    const request = CONVERSATIONS[title] as NeutralRequest;
    const { uses, request: asked } = readRequest(client, CLIENTS[client].write(request));
    expect(refusalOf(uses, writtenFor(upstream))).toBeUndefined();
    // What the vendor says to its own clients.
    const own = await whole(home[upstream], upstream, asked);
    const seen = await whole(client, upstream, request);
    expect(said(seen.parts)).toEqual(said(own.parts));
    expect(seen.stop).toBe(own.stop);
    expect(seen.metered).toEqual(own.metered);
    const streaming = await streamed(client, upstream, request);
    // The vendor of chat counts its thoughts and does not show them; the others do.
    expect(said(streaming.parts)).toEqual(said(own.parts));
    expect(streaming.stop).toBe(own.stop);
    expect(streaming.metered).toEqual(own.metered);
    expect(streaming.finals).not.toBe('');
    expect({ ...streaming.usage, reasoning_tokens: 0 }).toEqual({
      ...own.usage,
      reasoning_tokens: 0,
    });
  });
});
