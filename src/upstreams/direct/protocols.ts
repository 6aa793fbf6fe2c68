import type { ChannelProtocol } from '../../protocols/names.ts';
import { cohereDirect } from './cohere.ts';
import type { Embedder, Reranker, SpeechSynthesizer, Transcriber, Translator } from './contract.ts';
import { deeplDirect } from './deepl.ts';
import { geminiDirect } from './gemini.ts';
import { geminiAudio } from './gemini-audio.ts';
import { azureDirect, openaiDirect } from './openai.ts';

type Spoken<Protocol> = Partial<Record<ChannelProtocol, Protocol>>;

/** This table and those below have the implementations of one kind of call, by protocol. */
export const EMBEDDERS: Spoken<Embedder> = {
  openai: openaiDirect,
  'azure-openai': azureDirect,
  gemini: geminiDirect,
};
export const TRANSCRIBERS: Spoken<Transcriber> = {
  openai: openaiDirect,
  'azure-openai': azureDirect,
  gemini: geminiAudio,
};
export const SYNTHESIZERS: Spoken<SpeechSynthesizer> = {
  openai: openaiDirect,
  'azure-openai': azureDirect,
  gemini: geminiAudio,
};
export const RERANKERS: Spoken<Reranker> = { cohere: cohereDirect };
export const TRANSLATORS: Spoken<Translator> = { deepl: deeplDirect };
