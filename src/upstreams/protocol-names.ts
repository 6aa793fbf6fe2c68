/** What the upstreams of chat families speak. */
export const CHAT_PROTOCOLS = ['openai', 'anthropic'] as const;

/** What the providers of images, videos and music speak: one file of `generation/` each. */
export const GENERATION_PROTOCOL_NAMES = [
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

export type ProtocolName = (typeof CHAT_PROTOCOLS)[number];
export type GenerationProtocolName = (typeof GENERATION_PROTOCOL_NAMES)[number];
/** What a channel can speak. */
export type ChannelProtocol = ProtocolName | GenerationProtocolName;
