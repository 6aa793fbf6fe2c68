import { WeirError } from '../../errors/weir-error.ts';
import { exactBody } from '../../json/exact-integers.ts';
import { DIALECTS, type Dialect, dialectOfAddress } from '../../protocols/dialects.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { UpstreamCall } from '../contract.ts';
import { beyondModel, fitToModel } from './abilities.ts';
import { ChatReader, ChatWriter, readChatAnswer, writeChatAnswer } from './chat-answer.ts';
import { readChat } from './chat-request.ts';
import { type ReasoningPlace, writeChat } from './chat-write.ts';
import { FEATURES, type Feature, SUPPORTED_FEATURES } from './features.ts';
import {
  GeminiReader,
  GeminiWriter,
  readGeminiAnswer,
  writeGeminiAnswer,
} from './gemini-answer.ts';
import { readGemini } from './gemini-request.ts';
import { writeGemini } from './gemini-write.ts';
import {
  MessagesReader,
  MessagesWriter,
  readMessagesAnswer,
  writeMessagesAnswer,
} from './messages-answer.ts';
import { readMessagesRequest } from './messages-request.ts';
import { writeMessagesRequest } from './messages-write.ts';
import type {
  AnswerNames,
  FeatureUse,
  NeutralAnswer,
  NeutralRequest,
  ReadRequest,
  StreamReader,
  StreamWriter,
} from './neutral.ts';
import type { ReadonlyJsonObject } from './reading.ts';
import { writeResponse } from './responses-answer.ts';
import { ResponsesReader, readResponsesAnswer } from './responses-read.ts';
import { readResponses } from './responses-request.ts';
import { ResponsesWriter } from './responses-stream.ts';
import { writeResponsesRequest } from './responses-write.ts';

/** A format of request bodies that Weir writes for upstreams. */
export type RequestProtocol = keyof typeof SUPPORTED_FEATURES;

const READERS: Record<ClientProtocol, (body: ReadonlyJsonObject) => ReadRequest> = {
  openai: readChat,
  anthropic: readMessagesRequest,
  responses: readResponses,
  gemini: readGemini,
};

/** Writes answers in a client's protocol. */
interface ClientTranslator {
  readonly answer: (answer: NeutralAnswer, names: AnswerNames) => object;
  readonly stream: (names: AnswerNames) => StreamWriter;
}

/** The functions that write answers for clients, by the client's protocol. */
export const CLIENT_TRANSLATORS: Record<ClientProtocol, ClientTranslator> = {
  openai: { answer: writeChatAnswer, stream: (names) => new ChatWriter(names) },
  anthropic: { answer: writeMessagesAnswer, stream: (names) => new MessagesWriter(names) },
  responses: { answer: writeResponse, stream: (names) => new ResponsesWriter(names) },
  gemini: { answer: writeGeminiAnswer, stream: (names) => new GeminiWriter(names) },
};

/** Writes requests and reads answers in an upstream's protocol. */
interface UpstreamTranslator {
  readonly request: (
    request: NeutralRequest,
    max_output_tokens: number,
    call?: UpstreamCall,
  ) => Record<string, unknown>;
  readonly answer: (answer: ReadonlyJsonObject, request: NeutralRequest) => NeutralAnswer;
  readonly stream: (request: NeutralRequest) => StreamReader;
}

/** The functions that write requests and read answers, by the upstream's protocol. */
export const UPSTREAM_TRANSLATORS: Record<RequestProtocol, UpstreamTranslator> = {
  openai: {
    // The answer to the client needs the usage. OpenAI sends the usage in a stream only with this
    // option.
    request: (request, _, call) => ({
      ...writeChat(request, call && reasoningPlace(call), call?.model_abilities?.signatures),
      ...(request.stream ? { stream_options: { include_usage: true } } : {}),
    }),
    answer: readChatAnswer,
    stream: () => new ChatReader(),
  },
  responses: {
    request: writeResponsesRequest,
    answer: readResponsesAnswer,
    stream: () => new ResponsesReader(),
  },
  anthropic: {
    request: (request, most, call) => writeMessagesRequest(request, most, call?.model_abilities),
    answer: readMessagesAnswer,
    stream: () => new MessagesReader(),
  },
  gemini: {
    request: (request, _, call) => writeGemini(request, call?.model_abilities),
    answer: (answer, request) => readGeminiAnswer(answer, isSerial(request)),
    stream: (request) => new GeminiReader(isSerial(request)),
  },
};

/** Returns where an upstream with chat completions takes the reasoning of earlier turns. */
function reasoningPlace({ target, physical_model }: UpstreamCall): ReasoningPlace | undefined {
  const dialect: Dialect = DIALECTS[target.dialect ?? dialectOfAddress(target.base_url)];
  const { reasoning_member: member, needs_reasoning: models } = dialect;
  if (member === undefined || (models && !models.test(physical_model))) return undefined;
  return { member, isNeeded: models !== undefined };
}

const BY_URL: readonly Feature[] = ['image_url', 'file_url'];

const isSerial = ({ parallel_calls }: NeutralRequest) => parallel_calls === false;

/** Reads a client's request. Throws WeirError (400) if a part of the body has the wrong form. */
export function readRequest(client: ClientProtocol, body: ReadonlyJsonObject): ReadRequest {
  return READERS[client](body);
}

/**
 * Returns a 400 error for the first feature that the upstream's protocol does not support. Returns
 * undefined if the protocol supports all features.
 */
export function untranslatableError(
  uses: readonly FeatureUse[],
  upstream: RequestProtocol,
): WeirError | undefined {
  const use = uses.find(
    ({ feature, media_type }) =>
      !SUPPORTED_FEATURES[upstream].has(feature) ||
      // Gemini needs the media type of a file (@google/genai, FileData.mimeType).
      (upstream === 'gemini' && BY_URL.includes(feature) && media_type === undefined),
  );
  if (!use) return undefined;
  const message = `${use.param}: ${FEATURES[use.feature]} cannot be used with this model on this route.`;
  return new WeirError('invalid_request', message, {
    param: use.param,
    hint: 'Remove the parameter, or use a model or a route that supports it.',
  });
}

/**
 * Translates a client's call to an upstream's protocol. Throws WeirError (400) if the upstream's
 * protocol, or the model, does not support a feature of the request. The error names the parameter.
 */
export function translateCall(
  client: ClientProtocol,
  upstream: RequestProtocol,
  call: UpstreamCall,
): { call: UpstreamCall; request: NeutralRequest } {
  const { request, uses } = readRequest(client, exactBody(call.body, call.body_text));
  const { model_abilities: abilities, model_max_output_tokens } = call;
  const refusal = untranslatableError(uses, upstream) ?? beyondModel({ request, uses }, abilities);
  if (refusal) throw refusal;
  const written = UPSTREAM_TRANSLATORS[upstream].request(
    fitToModel(request, model_max_output_tokens, abilities),
    model_max_output_tokens,
    call,
  );
  const body = { model: call.public_model, ...written };
  const body_text = JSON.stringify(body);
  return { request, call: { ...call, body, body_text, headers: {}, is_translated: true } };
}

/**
 * Returns the last events of a stream that ends early because the money for its call is exhausted.
 * The stop reason of the answer is `length`. `isOpen` is true if a part of the answer is open.
 */
export function writeEarlyEnd(writer: StreamWriter, isOpen: boolean, usage: TokenUsage): string {
  return (
    (isOpen ? writer.write({ type: 'close' }) : '') +
    writer.write({ type: 'usage', usage }) +
    writer.write({ type: 'stop', stop: 'length' }) +
    writer.write({ type: 'end' })
  );
}
