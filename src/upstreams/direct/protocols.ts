import type { ChannelProtocol } from '../../protocols/names.ts';
import { cohereDirect } from './cohere.ts';
import type { Embedder, Reranker, SpeechSynthesizer, Transcriber, Translator } from './contract.ts';
import { deeplDirect } from './deepl.ts';
import { geminiDirect } from './gemini.ts';
import { geminiAudio } from './gemini-audio.ts';
import { azureDirect, openaiDirect } from './openai.ts';

type ByProtocol<Implementation> = Partial<Record<ChannelProtocol, Implementation>>;

/** Each table of this file lists the implementations of one kind of direct call, by protocol. */
export const EMBEDDERS: ByProtocol<Embedder> = {
  openai: openaiDirect,
  'azure-openai': azureDirect,
  gemini: geminiDirect,
};
export const TRANSCRIBERS: ByProtocol<Transcriber> = {
  openai: openaiDirect,
  'azure-openai': azureDirect,
  gemini: geminiAudio,
};
export const SYNTHESIZERS: ByProtocol<SpeechSynthesizer> = {
  openai: openaiDirect,
  'azure-openai': azureDirect,
  gemini: geminiAudio,
};
export const RERANKERS: ByProtocol<Reranker> = { cohere: cohereDirect };
export const TRANSLATORS: ByProtocol<Translator> = { deepl: deeplDirect };
