import {
  CHAT_PROTOCOLS,
  type ChatProtocol,
  CLIENT_PROTOCOLS,
  type ClientProtocol,
} from '../../protocols/names.ts';
import type { UpstreamProtocol } from '../contract.ts';
import type { RequestProtocol } from '../translation/translate.ts';
import { translateProtocol } from '../translation/translated.ts';
import { anthropicProtocol } from './anthropic.ts';
import { bedrockProtocol } from './bedrock.ts';
import { geminiChatProtocol } from './gemini.ts';
import { azureOpenaiProtocol, openaiProtocol } from './openai.ts';
import { openaiResponsesProtocol } from './openai-responses.ts';
import { vertexProtocol } from './vertex.ts';

/** Each upstream protocol, and the format of the request bodies that it takes (`written`). */
const UPSTREAM_PROTOCOLS: Record<
  ChatProtocol,
  { upstream: UpstreamProtocol; written: RequestProtocol }
> = {
  openai: { upstream: openaiProtocol, written: 'openai' },
  'openai-responses': { upstream: openaiResponsesProtocol, written: 'responses' },
  'azure-openai': { upstream: azureOpenaiProtocol, written: 'openai' },
  anthropic: { upstream: anthropicProtocol, written: 'anthropic' },
  bedrock: { upstream: bedrockProtocol, written: 'anthropic' },
  gemini: { upstream: geminiChatProtocol, written: 'gemini' },
  vertex: { upstream: vertexProtocol, written: 'gemini' },
};

/** Returns the format of the request bodies that an upstream protocol takes. */
export function requestProtocolOf(upstream: ChatProtocol): RequestProtocol {
  return UPSTREAM_PROTOCOLS[upstream].written;
}

function pair(client: ClientProtocol, name: ChatProtocol): UpstreamProtocol {
  const { upstream, written } = UPSTREAM_PROTOCOLS[name];
  // If the client's body already has the upstream's format, it passes through and loses no member.
  return written === client ? upstream : translateProtocol(client, written, upstream);
}

const PAIRS = new Map(
  CLIENT_PROTOCOLS.map((client) => [
    client,
    new Map(CHAT_PROTOCOLS.map((upstream) => [upstream, pair(client, upstream)])),
  ]),
);

/**
 * Returns the implementation for calls whose client speaks `client` and whose upstream speaks
 * `upstream`. If the two formats differ, the implementation translates requests and answers.
 */
export function protocolFor(client: ClientProtocol, upstream: ChatProtocol): UpstreamProtocol {
  return PAIRS.get(client)?.get(upstream) ?? pair(client, upstream);
}
