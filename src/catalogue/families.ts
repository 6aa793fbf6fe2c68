import { CHAT_PROTOCOLS, type ChannelProtocol, type ClientProtocol } from '../protocols/names.ts';
import type { GenerationScene } from './inputs.ts';

type Category = 'chat' | DirectOperation | GenerationScene;

/**
 * Chat families. The models of a family have the same contract, and the protocol of the same
 * provider.
 */
const CHAT_FAMILIES = ['openai-chat', 'anthropic-messages', 'gemini-chat'] as const;
export type ChatFamily = (typeof CHAT_FAMILIES)[number];

const IMAGE_FAMILIES = [
  'token-priced-image',
  'classic-image',
  'gemini-image',
  'grok-image',
  'flux-image',
  'midjourney-image',
  'ideogram-image',
  'stable-diffusion-image',
] as const;
export type ImageFamily = (typeof IMAGE_FAMILIES)[number];

const VIDEO_FAMILIES = [
  'veo-video',
  'kling-video',
  'multimodal-reference-video',
  'runway-video',
  'grok-video',
  'upscaler-video',
] as const;
type VideoFamily = (typeof VIDEO_FAMILIES)[number];

const MUSIC_FAMILIES = ['suno-music'] as const;
type MusicFamily = (typeof MUSIC_FAMILIES)[number];

const SOLID_FAMILIES = ['mesh-3d'] as const;
type SolidFamily = (typeof SOLID_FAMILIES)[number];

const SOUND_FAMILIES = ['sound-effects'] as const;
type SoundFamily = (typeof SOUND_FAMILIES)[number];

/** Families of direct calls: embeddings, speech, transcription, rerank and translation. */
const DIRECT_FAMILIES = [
  'openai-embedding',
  'gemini-embedding',
  'whisper',
  'openai-speech',
  'gemini-speech',
  'cohere-rerank',
  'deepl-translation',
] as const;
export type DirectFamily = (typeof DIRECT_FAMILIES)[number];
/** The operations of direct calls. Each name is also a category (spec: Categories). */
export type DirectOperation = 'embedding' | 'stt' | 'tts' | 'rerank' | 'translation';
export const DIRECT_OPERATIONS: Record<DirectFamily, DirectOperation> = {
  'openai-embedding': 'embedding',
  'gemini-embedding': 'embedding',
  whisper: 'stt',
  'openai-speech': 'tts',
  'gemini-speech': 'tts',
  'cohere-rerank': 'rerank',
  'deepl-translation': 'translation',
};

export type GenerationFamily = ImageFamily | VideoFamily | MusicFamily | SolidFamily | SoundFamily;
export type Family = ChatFamily | DirectFamily | GenerationFamily;
export const FAMILIES: readonly Family[] = [
  ...CHAT_FAMILIES,
  ...DIRECT_FAMILIES,
  ...IMAGE_FAMILIES,
  ...VIDEO_FAMILIES,
  ...MUSIC_FAMILIES,
  ...SOLID_FAMILIES,
  ...SOUND_FAMILIES,
];

/**
 * The protocol that the provider of each chat family uses. A call in this protocol needs no
 * translation, so it loses nothing.
 */
export const PROVIDER_PROTOCOLS: Record<ChatFamily, ClientProtocol> = {
  'openai-chat': 'openai',
  'anthropic-messages': 'anthropic',
  'gemini-chat': 'gemini',
};

/**
 * The channel protocols that can serve each family. A channel with another protocol could serve no
 * call of the family's models.
 */
export const FAMILY_PROTOCOLS: Record<Family, readonly ChannelProtocol[]> = {
  'openai-chat': CHAT_PROTOCOLS,
  'anthropic-messages': ['anthropic', 'bedrock', 'openai', 'azure-openai', 'gemini'],
  'gemini-chat': ['gemini', 'vertex', 'openai', 'azure-openai', 'anthropic'],
  'openai-embedding': ['openai', 'azure-openai'],
  'gemini-embedding': ['gemini'],
  whisper: ['openai', 'azure-openai', 'gemini'],
  'openai-speech': ['openai', 'azure-openai'],
  'gemini-speech': ['gemini'],
  'cohere-rerank': ['cohere'],
  'deepl-translation': ['deepl'],
  'token-priced-image': ['openai-images', 'azure-images', 'fal', 'replicate'],
  'classic-image': ['openai-images', 'azure-images'],
  'gemini-image': ['gemini', 'fal', 'replicate'],
  'grok-image': ['xai', 'fal', 'replicate'],
  'flux-image': ['bfl', 'fal', 'replicate'],
  'midjourney-image': ['midjourney'],
  'ideogram-image': ['ideogram', 'fal', 'replicate'],
  'stable-diffusion-image': ['stability', 'fal', 'replicate'],
  'veo-video': ['veo', 'fal', 'replicate', 'runway'],
  'kling-video': ['kling', 'fal', 'replicate'],
  'multimodal-reference-video': ['ark', 'fal', 'replicate', 'runway'],
  'runway-video': ['runway', 'replicate'],
  'grok-video': ['xai', 'fal', 'replicate'],
  'upscaler-video': ['fal', 'replicate'],
  'suno-music': ['suno'],
  'mesh-3d': ['fal', 'replicate'],
  'sound-effects': ['fal', 'replicate'],
};

/** The scene of a family; undefined for families of chat and direct calls. */
export function sceneOf(family: Family): GenerationScene | undefined {
  if (IMAGE_FAMILIES.some((each) => each === family)) return 'image';
  if (VIDEO_FAMILIES.some((each) => each === family)) return 'video';
  if (MUSIC_FAMILIES.some((each) => each === family)) return 'music';
  if (SOLID_FAMILIES.some((each) => each === family)) return '3d';
  if (SOUND_FAMILIES.some((each) => each === family)) return 'audio';
  return undefined;
}

export function isChatFamily(family: Family): family is ChatFamily {
  return CHAT_FAMILIES.some((each) => each === family);
}

export function isDirectFamily(family: Family): family is DirectFamily {
  return DIRECT_FAMILIES.some((each) => each === family);
}

/** The category of a family's models. */
export function categoryOf(family: Family): Category {
  if (isChatFamily(family)) return 'chat';
  return isDirectFamily(family) ? DIRECT_OPERATIONS[family] : (sceneOf(family) ?? 'image');
}

/** True for a family that makes images, videos, music, 3D objects or sounds. */
export function isGenerationFamily(family: Family): family is GenerationFamily {
  return !isChatFamily(family) && !isDirectFamily(family);
}
