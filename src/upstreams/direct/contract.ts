/**
 * Calls that are one question and one answer: embeddings, sound into text and text into sound, ranks,
 * translations. One provider per file. All throw RetryableUpstreamError, TerminalUpstreamError, or
 * the signal's reason.
 */
import type { UpstreamCall } from '../contract.ts';

interface Embeddings {
  /** The answer's JSON, made public. */
  readonly body_text: string;
  /** null = the upstream reported none. */
  readonly input_tokens: number | null;
}

/** A stretch of sound with what was said in it (contracts 1.6). */
export interface Segment {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly [member: string]: unknown;
}

export interface Transcript {
  readonly text: string;
  readonly language: string;
  /** Seconds. */
  readonly duration: number;
  readonly segments: readonly Segment[];
  readonly [member: string]: unknown;
}

export interface TranscriptionRequest {
  /** `translations`: into English. */
  readonly task: 'translations' | 'transcriptions';
  readonly file: File;
  readonly prompt?: string;
  readonly temperature?: number;
  /** Of a transcription only: what is spoken. */
  readonly language?: string;
}

export interface Speech {
  /** The sound as it comes; throws like the call. */
  readonly pieces: AsyncGenerator<Uint8Array>;
  /** Where the upstream says it; without it what was asked for is what is charged. */
  readonly usage?: SpeechUsage;
}

interface SpeechUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

interface RerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  readonly top_n?: number;
  readonly max_tokens_per_doc?: number;
}

export interface RerankResult {
  /** The most relevant first; `index` = the document's place in the question. */
  readonly results: readonly { readonly index: number; readonly relevance_score: number }[];
  /** null = the upstream reported none. */
  readonly search_units: number | null;
}

interface TranslationRequest {
  readonly texts: readonly string[];
  readonly target_lang: string;
  readonly source_lang?: string;
  readonly formality?: string;
  readonly context?: string;
}

interface Translations {
  readonly translations: readonly {
    readonly text: string;
    readonly detected_source_language: string;
  }[];
  /** null = the upstream reported none. */
  readonly characters: number | null;
}

export interface Embedder {
  /** `counted` = the tokens of the input by our own count, for an upstream that reports none. */
  embed(call: UpstreamCall, counted: () => number): Promise<Embeddings>;
}
export interface Transcriber {
  transcribe(call: UpstreamCall, what: TranscriptionRequest): Promise<Transcript>;
}
export interface SpeechSynthesizer {
  synthesize(call: UpstreamCall): Promise<Speech>;
}
export interface Reranker {
  rerank(call: UpstreamCall, what: RerankRequest): Promise<RerankResult>;
}
export interface Translator {
  translate(call: UpstreamCall, what: TranslationRequest): Promise<Translations>;
}
