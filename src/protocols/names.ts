/** Protocols of clients on the chat routes. */
export const CLIENT_PROTOCOLS = ['openai', 'anthropic', 'responses', 'gemini'] as const;

/** Protocols of upstreams with chat models. */
export const CHAT_PROTOCOLS = [
  'openai',
  'openai-responses',
  'azure-openai',
  'anthropic',
  'bedrock',
  'gemini',
  'vertex',
] as const;

/**
 * Protocols for images, videos, music, sounds and 3D objects. Their code is in
 * `src/upstreams/generation`.
 */
const GENERATION_PROTOCOL_NAMES = [
  'openai-images',
  'azure-images',
  'gemini',
  'veo',
  'xai',
  'stability',
  'ideogram',
  'bfl',
  'kling',
  'runway',
  'ark',
  'midjourney',
  'suno',
  'fal',
  'replicate',
] as const;

/**
 * Protocols that serve only direct calls, e.g. rerank. Each one has a file in
 * `src/upstreams/direct`.
 */
const DIRECT_PROTOCOL_NAMES = ['cohere', 'deepl'] as const;

/** A protocol of clients on the chat routes. */
export type ClientProtocol = (typeof CLIENT_PROTOCOLS)[number];
/** A protocol of upstreams with chat models. */
export type ChatProtocol = (typeof CHAT_PROTOCOLS)[number];
/** A protocol for images, videos or music. */
export type GenerationProtocolName = (typeof GENERATION_PROTOCOL_NAMES)[number];
type DirectProtocolName = (typeof DIRECT_PROTOCOL_NAMES)[number];
/** A protocol that a channel can be configured with. */
export type ChannelProtocol = ChatProtocol | DirectProtocolName | GenerationProtocolName;

/** All protocols that a channel can be configured with, without duplicates. */
export const CHANNEL_PROTOCOLS: readonly ChannelProtocol[] = [
  ...new Set<ChannelProtocol>([
    ...CHAT_PROTOCOLS,
    ...DIRECT_PROTOCOL_NAMES,
    ...GENERATION_PROTOCOL_NAMES,
  ]),
];

/** True if upstreams with this protocol have chat models. */
export function isChatProtocol(name: ChannelProtocol): name is ChatProtocol {
  return CHAT_PROTOCOLS.some((protocol) => protocol === name);
}
