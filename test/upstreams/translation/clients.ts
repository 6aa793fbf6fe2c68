/** Test clients of each protocol. They write requests and read answers. */

import type { ChatProtocol, ClientProtocol } from '../../../src/protocols/names.ts';
import type { UpstreamStream } from '../../../src/upstreams/contract.ts';
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
import type { ReadonlyJsonObject } from '../../../src/upstreams/translation/reading.ts';
import { createResponseReader, readResponse, writeResponses } from './responses.ts';

/** The simulator's path for each protocol. */
export const BASES: Record<ChatProtocol, string> = {
  openai: '/openai/v1',
  'openai-responses': '/openai/v1',
  'azure-openai': '/azure/openai/v1',
  anthropic: '/anthropic',
  bedrock: '/bedrock',
  gemini: '/google/v1beta',
  vertex: '/vertex/v1/projects/p/locations/l/publishers/google',
};
/** A test client of each protocol. */
export const CLIENTS: Record<
  ClientProtocol,
  {
    write: (request: NeutralRequest) => Record<string, unknown>;
    read: (answer: ReadonlyJsonObject) => NeutralAnswer;
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
  responses: { write: writeResponses, read: readResponse, reader: createResponseReader },
};

/** Every client protocol with every upstream protocol. */
export const PAIRS = (Object.keys(CLIENTS) as ClientProtocol[]).flatMap((client) =>
  (Object.keys(BASES) as ChatProtocol[]).map((upstream) => [client, upstream] as const),
);

/** Returns the texts and calls of an answer without ids, so that answers can be compared. */
export function contentOf(parts: readonly AssistantPart[]): object[] {
  return parts.flatMap((part): object[] => {
    if (part.type === 'call') return [{ call: part.name, arguments: JSON.parse(part.arguments) }];
    return part.text === '' ? [] : [{ [part.type]: part.text }];
  });
}

/** Reads a stream as its client does. `finals` is the text of the final events, sent after the charge. */
export async function readStreamed(client: ClientProtocol, stream: UpstreamStream) {
  const reader = CLIENTS[client].reader();
  const assembly = new Assembly();
  let finals = '';
  for await (const batch of stream.events) {
    for (const { text, final } of batch) {
      if (final) finals += text;
      for (const frame of text.split('\n\n').filter(Boolean)) {
        const data = frame.slice(frame.indexOf('data: ') + 'data: '.length);
        const event = data === '[DONE]' ? null : JSON.parse(data);
        for (const neutral of reader.read(event)) assembly.add(neutral);
      }
    }
  }
  return { ...assembly.answer(), metered: stream.usage(), finals };
}
