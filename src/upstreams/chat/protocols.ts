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

/** Each upstream protocol and the form in which it takes requests. */
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

/** The request form of an upstream protocol. */
export function requestFormOf(upstream: ChatProtocol): RequestProtocol {
  return UPSTREAM_PROTOCOLS[upstream].written;
}

function pair(client: ClientProtocol, name: ChatProtocol): UpstreamProtocol {
  const { upstream, written } = UPSTREAM_PROTOCOLS[name];
  // If both sides have the same form, the body passes through and loses no member.
  return written === client ? upstream : translateProtocol(client, written, upstream);
}

const PAIRS = new Map(
  CLIENT_PROTOCOLS.map((client) => [
    client,
    new Map(CHAT_PROTOCOLS.map((upstream) => [upstream, pair(client, upstream)])),
  ]),
);

/**
 * Returns the protocol that serves a client of one protocol through an upstream of the same or of
 * another protocol.
 */
export function protocolFor(client: ClientProtocol, upstream: ChatProtocol): UpstreamProtocol {
  return PAIRS.get(client)?.get(upstream) ?? pair(client, upstream);
}
