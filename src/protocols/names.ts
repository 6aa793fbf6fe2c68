/** What the clients of the chat routes speak. */
export const CLIENT_PROTOCOLS = ['openai', 'anthropic', 'responses', 'gemini'] as const;

/** What the upstreams of chat models speak. */
export const CHAT_PROTOCOLS = [
  'openai',
  'openai-responses',
  'azure-openai',
  'anthropic',
  'bedrock',
  'gemini',
  'vertex',
] as const;

/** What the providers of images, videos and music speak: one file of `generation/` each. */
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

/** What providers of one thing only speak: one file of `direct/` each. */
const DIRECT_PROTOCOL_NAMES = ['cohere', 'deepl'] as const;

export type ClientProtocol = (typeof CLIENT_PROTOCOLS)[number];
export type ChatProtocol = (typeof CHAT_PROTOCOLS)[number];
export type GenerationProtocolName = (typeof GENERATION_PROTOCOL_NAMES)[number];
type DirectProtocolName = (typeof DIRECT_PROTOCOL_NAMES)[number];
/** What a channel can speak. */
export type ChannelProtocol = ChatProtocol | DirectProtocolName | GenerationProtocolName;

export const CHANNEL_PROTOCOLS: readonly ChannelProtocol[] = [
  ...new Set<ChannelProtocol>([
    ...CHAT_PROTOCOLS,
    ...DIRECT_PROTOCOL_NAMES,
    ...GENERATION_PROTOCOL_NAMES,
  ]),
];

export function isChatProtocol(name: ChannelProtocol): name is ChatProtocol {
  return CHAT_PROTOCOLS.some((each) => each === name);
}
