import type { ChannelProtocol } from '../../protocols/names.ts';
import { cohereDirect } from './cohere.ts';
import type { Embedder, Listener, Ranker, Speaker, Translator } from './contract.ts';
import { deeplDirect } from './deepl.ts';
import { geminiDirect } from './gemini.ts';
import { geminiAudio } from './gemini-audio.ts';
import { azureDirect, openaiDirect } from './openai.ts';

type Spoken<Protocol> = Partial<Record<ChannelProtocol, Protocol>>;

/** Who offers what is answered at once, by the protocol of a channel. */
export const EMBEDDERS: Spoken<Embedder> = {
  openai: openaiDirect,
  'azure-openai': azureDirect,
  gemini: geminiDirect,
};
export const LISTENERS: Spoken<Listener> = {
  openai: openaiDirect,
  'azure-openai': azureDirect,
  gemini: geminiAudio,
};
export const SPEAKERS: Spoken<Speaker> = {
  openai: openaiDirect,
  'azure-openai': azureDirect,
  gemini: geminiAudio,
};
export const RANKERS: Spoken<Ranker> = { cohere: cohereDirect };
export const TRANSLATORS: Spoken<Translator> = { deepl: deeplDirect };
